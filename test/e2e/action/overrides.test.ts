import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Reply } from '../../support/actions-cache.ts';
import { place } from '../../support/github.ts';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  pushTo,
  type StepEnded,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

type Inputs = Readonly<Record<string, string>>;

type Story = {
  readonly cwd: string;
  readonly number: number;
  readonly head: string;
  readonly plan: (inputs?: Inputs) => Promise<StepEnded>;
  /** Merges the pull request once, and applies the merge commit. */
  readonly apply: (inputs?: Inputs, event?: string) => Promise<StepEnded>;
  /** Comments on the pull request, by default as another person than its author. */
  readonly say: (body: string, who?: 'person' | 'reviewer' | 'guest') => Promise<number>;
};

/** A project whose limits refuse the update that its pull request proposes. */
async function story(name: string, rules = ''): Promise<Story> {
  const github = bench.github();
  const limited = `${rules}${config(gateway.url()).replace("' }", "', limits: { from: 1, updates: 10% } }")}`;
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
        payload: pullRequestPayload({ number, head, base, author: 'octo' }),
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
    async say(body, who = 'reviewer') {
      const { data } = await github[who].issues.createComment({ ...place, issue_number: number, body });
      return data.id;
    },
  };
}

async function durationOf(name: string): Promise<unknown> {
  const { body } = await gateway.call('GET', `/connections/${name}`);
  return body['access_max_duration'];
}

function allowing(commit: string): string {
  return `/ostiary allow ${commit} plan/too-many-updates=tested`;
}

// security: reviewer
test('a person with write access overrides a refusal once, by a comment', async () => {
  const { number, head, plan, apply, say } = await story('allowed');
  const refused = await plan();
  expect(refused).toMatchObject({ code: 6, outputs: { outcome: 'refused' } });
  // The report names the command, with the whole id.
  const [, command = ''] = /`?(\/ostiary allow [0-9a-f]{40} plan\/too-many-updates=REASON)/.exec(refused.stdout) ?? [];
  expect(command).toContain(head);
  const agreed = command.replace('REASON', 'asked for by the auditors');

  await say(agreed, 'guest');
  await say(allowing('0'.repeat(40)));
  await say(allowing(head.slice(0, 12)));
  await say(`I checked it.\n\n${agreed}`);
  // If one of them decided, the plan would not be refused.
  const ignored = await plan();
  expect(ignored.code).toBe(6);
  expect(ignored.stdout).toMatch(/::warning title=forge\/ignored-override::.*no write access for guest/);
  expect(ignored.stdout).toContain(`the head of the pull request is ${head}`);
  expect(ignored.stdout).toContain(`the whole ID of the commit; write /ostiary allow ${head} `);
  expect((await apply()).code).toBe(6);

  await say(`${agreed}\n\nI checked it.`);
  expect((await plan({ overrides: 'false' })).code).toBe(6);
  expect(await plan()).toMatchObject({ code: 0, outputs: { outcome: 'planned' } });
  expect((await apply({ overrides: 'false' })).code).toBe(6);
  expect(await durationOf('allowed')).not.toBe(600);
  const applied = await apply();
  expect(applied).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  expect(applied.stdout).toContain(`asked for by the auditors (grace, pull request ${number})`);
  expect(await durationOf('allowed')).toBe(600);
});

test('a comment withdraws what it decided when it is edited afterwards', async () => {
  const { head, plan, say, number } = await story('withdrawn');
  const id = await say(allowing(head));
  expect((await plan()).code).toBe(0);
  const [planned = ''] = (await commentsOn(bench.github(), number)).flatMap(({ body }) => (body.includes('Plan for') ? [body] : []));
  expect(planned).toMatch(/\*\*1 decision in comments:\*\*\n\n- `grace`: `[^`]+` \(\[comment\]\(https:/);
  await bench.github().reviewer.issues.updateComment({ ...place, comment_id: id, body: 'I changed my mind' });
  expect((await plan()).code).toBe(6);
});

function coAuthored(who: string): string {
  return `A word\n\nco-authored-by: Linus <linus@example.com>\nCo-Authored-By: ${who} <5+${who}@users.noreply.github.com>`;
}

/** Answers requests for a commit of the pull request. */
function answerCommits(answer: Reply): void {
  bench.github().intercept(({ path, method }) => (method === 'GET' && /\/commits\/[0-9a-f]{40}$/.test(path) ? answer : undefined));
}

function commitBy(author: string | undefined, committer: string | undefined): Reply {
  const [written, committed] = [author, committer].map((login) => (login === undefined ? null : { login }));
  return { status: 200, body: { author: written, committer: committed } };
}

describe('four eyes', () => {
  // security: four-eyes
  test('the author of a pull request does not decide about it, before or after the merge', async () => {
    const { head, plan, apply, say, number } = await story('authored');
    await say(allowing(head), 'person');
    answerCommits(commitBy('linus', 'web-flow'));
    const planned = await plan();
    const reason = `octo made a part of what would be applied (pull request ${number})`;
    expect(planned).toMatchObject({ code: 6, stdout: expect.stringContaining(reason) });
    expect(await apply()).toMatchObject({ code: 6 });
    await say(allowing(head));
    expect(await apply()).toMatchObject({ code: 0 });
    const bodies = (await commentsOn(bench.github(), number)).map(({ body }) => body);
    expect(bodies.find((body) => body.includes('### Apply to'))).toContain(
      `- \`grace\`: \`${allowing(head)}\` ([comment](https://github.test/octo/access/pull/${number}#issuecomment-`,
    );
  });

  // security: four-eyes
  test('the author or committer of a commit does not decide about it; a bot or an unknown one prevents it', async () => {
    const { head, plan, say } = await story('committed');
    await say(allowing(head));
    const own = `grace made a part of what would be applied (commit ${head.slice(0, 12)})`;
    const unknown = `not all authors of what would be applied are known (commit ${head.slice(0, 12)}, by an account that GitHub does not know)`;
    const cases: readonly (readonly [Reply, string])[] = [
      [commitBy('Grace', 'web-flow'), own],
      [commitBy('octo', 'grace'), own],
      [commitBy(undefined, 'web-flow'), unknown],
      [commitBy('octo', undefined), unknown],
      [{ status: 404, body: { message: 'Not Found' } }, unknown],
      [commitBy('dependabot[bot]', 'web-flow'), 'by dependabot[bot], which may act for anybody'],
      [{ status: 200, body: { author: { login: 'Copilot', type: 'Bot' }, committer: { login: 'web-flow' } } }, 'by Copilot[bot]'],
      [{ status: 503, body: { message: 'no' } }, 'forge/unreachable'],
    ];
    for (const [answer, reason] of cases) {
      answerCommits(answer);
      expect(await plan()).toMatchObject({ code: 6, stdout: expect.stringContaining(reason) });
    }
    answerCommits(commitBy('octo', 'web-flow'));
    expect((await plan()).code).toBe(0);
  });

  // security: four-eyes
  test('neither the author of an earlier commit nor a co-author decides', async () => {
    const { cwd, number, say } = await story('earlier');
    git(cwd, 'checkout --quiet topic');
    writeFiles(cwd, { 'README.md': 'A word' });
    const head = commitAll(cwd, coAuthored('dba'));
    let made = await pushTo(bench.github(), 'earlier', 'two');
    bench.github().useCommit(made, head);
    await say(allowing(head));
    let earlier = 'octo';
    bench.github().intercept(({ path, method, body }) => {
      if (path === '/graphql' && body.includes('authors(')) {
        const nodes = [{ email: 'linus@example.com', user: { login: 'linus' } }];
        return { status: 200, body: { data: { repository: { object: { authors: { nodes } } } } } };
      }
      if (method !== 'GET' || !/\/commits\/[0-9a-f]{40}$/.test(path)) return undefined;
      return commitBy(path.endsWith(made) ? 'octo' : earlier, 'web-flow');
    });
    const planned = (commit: string): Promise<StepEnded> => {
      const payload = pullRequestPayload({ number, head: commit, base: git(cwd, 'rev-parse main'), author: 'octo' });
      return bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan', overrides: 'true' }, env: gateway.env() });
    };
    expect((await planned(head)).code).toBe(0);
    earlier = 'grace';
    expect(await planned(head)).toMatchObject({ code: 6, stdout: expect.stringContaining('grace made a part of what would be applied') });
    earlier = 'octo';
    git(cwd, ['commit', '--quiet', '--amend', `--message=${coAuthored('grace')}`]);
    const amended = git(cwd, 'rev-parse HEAD');
    made = await pushTo(bench.github(), 'earlier', 'three');
    bench.github().useCommit(made, amended);
    await say(allowing(amended));
    expect(await planned(amended)).toMatchObject({ code: 6, stdout: expect.stringContaining(`(commit ${amended.slice(0, 12)})`) });
  });

  test('with self_approval the author decides; a pull request cannot set it', async () => {
    const free = await story('self', 'self_approval: true\n');
    await free.say(allowing(free.head), 'person');
    expect((await free.plan()).code).toBe(0);

    const bound = await story('unself');
    git(bound.cwd, 'checkout --quiet topic');
    writeFiles(bound.cwd, { 'ostiary.yaml': `self_approval: true\n${readFileSync(join(bound.cwd, 'ostiary.yaml'), 'utf8')}` });
    const head = commitAll(bound.cwd, 'I may');
    bench.github().useCommit(await pushTo(bench.github(), 'unself', 'two'), head);
    await bound.say(allowing(head), 'person');
    const payload = pullRequestPayload({ number: bound.number, head, base: git(bound.cwd, 'rev-parse main'), author: 'octo' });
    const inputs = { mode: 'plan', overrides: 'true' };
    const planned = await bench.step({ cwd: bound.cwd, event: 'pull_request', payload, inputs, env: gateway.env() });
    expect(planned).toMatchObject({ code: 6, stdout: expect.stringContaining('octo made a part of what would be applied') });
    expect(planned.stdout).toContain('self_approval, from false to true');
    // The rules are those of the last applied commit.
    git(bound.cwd, 'checkout --quiet main');
    expect(await bound.apply()).toMatchObject({ code: 6, stdout: expect.stringContaining('octo made a part of what would be applied') });
  });

  // security: reviewer
  test('approvers limits who decides, by login and by team, and decides beside a bot', async () => {
    const others = await story('approvers', 'approvers: [linus, acme/dba]\n');
    await others.say(allowing(others.head));
    const unread = await others.plan();
    expect(unread).toMatchObject({ code: 6, stdout: expect.stringContaining('grace is not one of the approvers in the config') });
    expect(unread.stdout).toContain('the token may not read the members of acme/dba');
    let state = 'pending';
    bench.github().intercept(({ path }) => {
      if (path === '/orgs/acme/teams/dba') return { status: 200, body: { slug: 'dba' } };
      return path === '/orgs/acme/teams/dba/memberships/grace' ? { status: 200, body: { state } } : undefined;
    });
    expect((await others.plan()).code).toBe(6);
    state = 'active';
    expect((await others.plan()).code).toBe(0);

    const named = await story('named', 'approvers: [Grace]\n');
    await named.say(allowing(named.head));
    for (const [answer, code] of [
      [commitBy('dependabot[bot]', 'web-flow'), 0],
      [commitBy(undefined, 'web-flow'), 0],
      [commitBy('grace', 'web-flow'), 6],
    ] as const) {
      answerCommits(answer);
      expect((await named.plan()).code).toBe(code);
    }
  });
});
