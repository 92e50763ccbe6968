import { expect, test } from 'vitest';
import { place } from '../../support/github.ts';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  type StepEnded,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

// Several runs with some twenty git processes each.
const patient = { timeout: 60_000 };

type Inputs = Readonly<Record<string, string>>;

type Story = {
  readonly cwd: string;
  readonly number: number;
  readonly head: string;
  readonly plan: (inputs?: Inputs) => Promise<StepEnded>;
  /** Merges the pull request once, and applies the merge commit. */
  readonly apply: (inputs?: Inputs, event?: string) => Promise<StepEnded>;
  readonly say: (body: string, who?: 'person' | 'guest') => Promise<number>;
};

/** A project whose limits refuse the update that its pull request proposes. */
async function story(name: string): Promise<Story> {
  const github = bench.github();
  const limited = config(gateway.url()).replace("' }", "', limits: { from: 1, updates: 10% } }");
  const cwd = makeProject({ 'ostiary.yaml': limited, 'access/a.yaml': connection(name) });
  const base = commitAll(cwd);
  expect((await gateway.run('apply --yes --no-origin', cwd)).code).toBe(0);
  git(cwd, 'checkout --quiet -b topic');
  writeFiles(cwd, { 'access/a.yaml': connection(name, { access_max_duration: 600 }) });
  const head = commitAll(cwd, 'Shorter sessions');
  const { number, head: made } = await openPullRequest(github, name);
  github.useCommit(made, head);
  const run = { cwd, env: gateway.env() };
  let merged: string | undefined;
  return {
    cwd,
    number,
    head,
    plan: (inputs = {}) =>
      bench.step({
        ...run,
        event: 'pull_request',
        payload: pullRequestPayload({ number, head, base }),
        inputs: { mode: 'plan', overrides: 'true', ...inputs },
      }),
    async apply(inputs = {}, event = 'push') {
      if (merged === undefined) {
        git(cwd, 'checkout --quiet main');
        git(cwd, ['merge', '--quiet', '--no-ff', '--message=Merge', 'topic']);
        merged = git(cwd, 'rev-parse HEAD');
        github.useCommit(await mergePullRequest(github, number), merged);
      }
      return bench.step({ ...run, event, payload: {}, inputs: { mode: 'apply', overrides: 'true', ...inputs } });
    },
    async say(body, who = 'person') {
      const { data } = await github[who].issues.createComment({ ...place, issue_number: number, body });
      return data.id;
    },
  };
}

async function durationOf(name: string): Promise<unknown> {
  const { body } = await gateway.call('GET', `/connections/${name}`);
  return body['access_max_duration'];
}

test('a person with write access overrides a refusal once, by a comment', patient, async () => {
  const { number, head, plan, apply, say } = await story('allowed');
  const refused = await plan();
  expect(refused).toMatchObject({ code: 6, outputs: { outcome: 'refused' } });
  // The report names the command.
  const [, command = ''] = /`?(\/ostiary allow [0-9a-f]{12} plan\/too-many-updates=REASON)/.exec(refused.stdout) ?? [];
  expect(command).toContain(head.slice(0, 12));
  const agreed = command.replace('REASON', 'asked for by the auditors');

  await say(agreed, 'guest');
  const guest = await plan();
  expect(guest.code).toBe(6);
  expect(guest.stdout).toMatch(/::warning title=github\/ignored-override::.*no write access for guest/);
  await say(`/ostiary allow ${'0'.repeat(12)} plan/too-many-updates=for an earlier commit`);
  expect(await plan()).toMatchObject({ code: 6, stdout: expect.stringContaining(`the head of the pull request is ${head.slice(0, 12)}`) });
  expect((await apply()).code).toBe(6);

  await say(`I checked it.\n\n${agreed}`);
  expect((await plan({ overrides: 'false' })).code).toBe(6);
  expect(await plan()).toMatchObject({ code: 0, outputs: { outcome: 'planned' } });
  expect((await apply({ overrides: 'false' })).code).toBe(6);
  expect(await durationOf('allowed')).not.toBe(600);
  const applied = await apply();
  expect(applied).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  expect(applied.stdout).toContain(`asked for by the auditors (octo, pull request ${number})`);
  expect(await durationOf('allowed')).toBe(600);
});

test('a comment that another account edited overrides nothing', async () => {
  const { head, plan, say } = await story('edited');
  const id = await say('Looks good');
  const words = `/ostiary allow ${head.slice(0, 12)} plan/too-many-updates=smuggled`;
  const asGuest = await say(words, 'guest');
  await bench.github().person.issues.updateComment({ ...place, comment_id: asGuest, body: `${words} in` });
  expect((await plan()).code).toBe(6);
  await bench.github().person.issues.updateComment({ ...place, comment_id: id, body: words });
  expect((await plan()).code).toBe(0);
});

test('after plan/other-digest a comment or a run by hand agrees to the new plan', patient, async () => {
  const { number, apply, plan, say, cwd } = await story('digest');
  const allow = 'plan/too-many-updates=tested';
  expect((await plan({ allow })).code).toBe(0);
  const { body } = await gateway.call('GET', '/connections/digest');
  await gateway.call('PUT', '/connections/digest', { body: { ...body, access_max_duration: 7200 } });
  const refused = await apply({ digest: 'comment' });
  expect(refused).toMatchObject({ code: 6, summary: expect.stringContaining('plan/other-digest') });
  const { digest = '' } = refused.outputs;
  expect(refused.stdout).toContain(`comments on pull request ${number}: /ostiary apply ${digest}`);
  await say(`/ostiary apply ${digest}`, 'guest');
  expect((await apply({ digest: 'comment' })).code).toBe(6);
  await say(`/ostiary apply ${digest}`);
  expect(await apply({ digest: 'comment' })).toMatchObject({ code: 0, outputs: { outcome: 'applied', digest } });
  expect(await durationOf('digest')).toBe(600);

  // By hand: the inputs of the workflow.
  await gateway.call('PUT', '/connections/digest', { body: { ...body, access_max_duration: 7200 } });
  const again = (await bench.step({ cwd, event: 'workflow_dispatch', payload: {}, inputs: { mode: 'plan' }, env: gateway.env() })).outputs;
  expect(await apply({ digest: again['digest'] ?? '', allow }, 'workflow_dispatch')).toMatchObject({ code: 0 });
  expect(await durationOf('digest')).toBe(600);
  expect(await commentsOn(bench.github(), number)).not.toEqual([]);
});
