import { mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { appAccount, place } from '../../support/github.ts';
import { commentsOn, commitAll, mergePullRequest, openPullRequest, pullRequestPayload, type StepEnded } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject, { account: appAccount });

const secret = { 'envvar:KEY': { valueFrom: { env: 'OSTIARY_SECRET_KEY' } } };
const withSecret = (): Readonly<Record<string, string>> => ({ ...gateway.env(), OSTIARY_SECRET_KEY: 'canary-value' });

type Inputs = Readonly<Record<string, string>>;

/** A pull request that adds a connection, its plan, and the merge of it. */
async function proposed(name: string): Promise<{
  readonly cwd: string;
  readonly plan: (inputs?: Inputs) => Promise<StepEnded>;
  readonly apply: (inputs: Inputs) => Promise<StepEnded>;
  readonly comments: () => Promise<string>;
  readonly number: number;
}> {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()) });
  const base = commitAll(cwd);
  writeFiles(cwd, { 'access/db.yaml': connection(name, { secret }) });
  commitAll(cwd);
  const pull = await openPullRequest(bench.github(), name);
  const payload = pullRequestPayload({ ...pull, base });
  const env = gateway.env();
  let merged: string | undefined;
  return {
    cwd,
    plan: (inputs = {}) => bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan', ...inputs }, env }),
    async apply(inputs) {
      merged ??= await mergePullRequest(bench.github(), pull.number);
      const onMain = { ...withSecret(), GITHUB_SHA: merged };
      return bench.step({ cwd, event: 'push', payload: { after: merged }, inputs: { mode: 'apply', ...inputs }, env: onMain });
    },
    number: pull.number,
    comments: async () => (await commentsOn(bench.github(), pull.number)).map(({ body }) => body).join('\n'),
  };
}

// security: proposal
test('secrets of manifests are not read on a pull request unless secrets: resolve is set', async () => {
  const { plan, comments } = await proposed('unread');
  expect(await plan()).toMatchObject({ code: 0, outputs: { outcome: 'planned', changed: 'true' } });
  expect(await comments()).toContain('env:OSTIARY_SECRET_KEY');
  expect(await plan({ secrets: 'resolve' })).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
});

// security: proposal
test('findings are written through no link that a pull request contains, and nothing is applied before', async () => {
  const { plan, apply, cwd } = await proposed('linked');
  mkdirSync(join(cwd, 'real'));
  symlinkSync('real', join(cwd, 'linked'));
  symlinkSync('ostiary.yaml', join(cwd, 'findings'));
  for (const sarif of ['linked/findings.sarif', 'findings'])
    for (const run of [plan, apply])
      expect(await run({ sarif })).toMatchObject({ code: 3, stdout: expect.stringContaining('report/link') });
  expect(await gateway.names('/connections')).not.toContain('linked');
  expect([readdirSync(join(cwd, 'real')), readFileSync(join(cwd, 'ostiary.yaml'), 'utf8')]).toEqual([[], config(gateway.url())]);
});

describe('digest: comment', () => {
  const agreed = { digest: 'comment' };

  test('applies nothing if the comment was edited, also if the plan runs again after the merge', async () => {
    const { plan, apply, number, comments } = await proposed('edited');
    const { person } = bench.github();
    await plan();
    const [comment] = await commentsOn(bench.github(), number);
    const words = { ...place, comment_id: comment?.id ?? 0, body: comment?.body ?? '' };
    await person.issues.updateComment({ ...words, body: `${words.body} and more` });
    const refused = await apply(agreed);
    expect(refused).toMatchObject({ code: 6, outputs: { outcome: 'refused' } });
    expect(refused.stdout).toMatch(/^::warning title=forge\/no-agreed-plan::.*was edited by octo/m);
    expect(await comments()).toContain('was edited by octo');
    const before = await comments();
    expect(await plan()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^::notice title=forge\/merged::/m) });
    expect(await comments()).toBe(before);
    expect(await apply(agreed)).toMatchObject({ code: 6 });
    expect(await gateway.names('/connections')).not.toContain('edited');
  });

  test('applies the plan that the comment showed at the merge, and nothing if that cannot be verified', async () => {
    const { plan, apply, comments, number, cwd } = await proposed('shown');
    const { intercept, person } = bench.github();
    await plan();
    const [comment] = await commentsOn(bench.github(), number);
    // An edited comment counts once a plan has written it again, also with equal text.
    for (const body of ['Withdrawn.', comment?.body ?? ''])
      await person.issues.updateComment({ ...place, comment_id: comment?.id ?? 0, body });
    const { digest } = (await plan()).outputs;
    const shown = await comments();
    intercept(({ path }) => (path === '/graphql' ? { status: 503, body: { message: 'no' } } : undefined));
    expect(await apply(agreed)).toMatchObject({ code: 4 });
    intercept(undefined);
    expect(await gateway.names('/connections')).not.toContain('shown');
    expect(await apply(agreed)).toMatchObject({ code: 0, outputs: { outcome: 'applied', digest } });
    expect((await gateway.run('apply --yes --no-origin', cwd, withSecret())).code).toBe(0);
    expect(await plan()).toMatchObject({ code: 0, outputs: { changed: 'false' } });
    expect((await comments()).startsWith(shown)).toBe(true);
  });
});
