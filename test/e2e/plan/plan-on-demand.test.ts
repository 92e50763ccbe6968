import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { place } from '../../support/github.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { commentsOn, commitAll, git, mergePullRequest, openPullRequest, type Proposal, type StepEnded } from '../../support/workflow.ts';
import { useAction } from '../action/use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
let requests = 0;
const gateway = useGateway({
  chaos: () => {
    requests += 1;
    return undefined;
  },
});
const bench = useAction(makeProject);

type Request = Proposal & {
  readonly cwd: string;
  /** The head of the default branch, which these events run for. */
  readonly main: string;
};

/** The head of the emulator's default branch. */
let made: string | undefined;

/** A pull request, checked out with depth 1 from the ref of its test merge, as the example does. */
async function proposed(name: string): Promise<Request> {
  const origin = makeProject({ 'ostiary.yaml': config(gateway.url()) });
  const main = commitAll(origin);
  git(origin, 'checkout --quiet -b topic');
  writeFiles(origin, { 'access/db.yaml': connection(name) });
  const head = commitAll(origin);
  const pull = await openPullRequest(bench.github(), name);
  bench.github().useCommit(pull.head, head);
  git(origin, 'checkout --quiet -b merged main');
  git(origin, ['merge', '--quiet', '--no-ff', '--message=Test merge', 'topic']);
  git(origin, `update-ref refs/pull/${pull.number}/merge merged`);
  git(origin, 'checkout --quiet main');
  const cwd = makeProject({});
  git(cwd, 'init --quiet --initial-branch=main');
  git(cwd, `remote add origin file://${origin}`);
  git(cwd, 'fetch --quiet --depth=1 origin main');
  git(cwd, `fetch --quiet --depth=1 origin refs/pull/${pull.number}/merge`);
  git(cwd, 'checkout --quiet --detach FETCH_HEAD');
  made ??= (await bench.github().person.git.getRef({ ...place, ref: 'heads/main' })).data.object.sha;
  bench.github().useCommit(made, main);
  return { ...pull, head, cwd, main };
}

type Comment = { readonly body?: string; readonly login?: string; readonly type?: string; readonly action?: string };

/** More inputs and variables of the step. */
type Given = { readonly inputs?: Readonly<Record<string, string>>; readonly env?: Readonly<Record<string, string>> };

const pullRequestLink = { pull_request: { url: 'https://github.test/pulls' } };

/** Runs the step for a comment. */
function commentOn(
  { number, cwd, main }: Request,
  { body = '/ostiary plan', login = 'grace', type = 'User', action = 'created' }: Comment = {},
  given: Given = {},
): Promise<StepEnded> {
  const payload = { action, issue: { number, ...pullRequestLink }, comment: { id: 1, body, user: { login, type } } };
  return run(cwd, 'issue_comment', payload, main, given);
}

/** Runs the step after another workflow. */
function runAfter({ head, cwd, main }: Request, branch: string, owner: string = place.owner, event = 'pull_request'): Promise<StepEnded> {
  const payload = { workflow_run: { event, head_sha: head, head_branch: branch, head_repository: { owner: { login: owner } } } };
  return run(cwd, 'workflow_run', payload, main);
}

function run(cwd: string, event: string, payload: object, main: string, { inputs, env }: Given = {}): Promise<StepEnded> {
  return bench.step({ cwd, event, payload, inputs: { mode: 'plan', ...inputs }, env: { ...gateway.env(), GITHUB_SHA: main, ...env } });
}

async function bodiesOn({ number }: Request): Promise<readonly string[]> {
  return (await commentsOn(bench.github(), number)).map(({ body }) => body);
}

/** Lets GitHub answer that the pull request comes from a fork, or from another author. */
function asFork(
  request: Request,
  { login = 'mallory', repo = 'mallory/access' }: { readonly login?: string; readonly repo?: string } = {},
): void {
  const { number, head, main } = request;
  const data = {
    number,
    merged: false,
    user: { login },
    head: { ref: 'topic', sha: head, repo: { full_name: repo } },
    base: { ref: 'main', sha: main, repo: { full_name: `${place.owner}/${place.repo}` } },
  };
  bench.github().intercept(({ method, path, query }) => {
    if (method !== 'GET') return undefined;
    if (path.endsWith(`/pulls/${number}`)) return { status: 200, body: data };
    return path.endsWith('/pulls') && query.get('head')?.startsWith('mallory:') === true ? { status: 200, body: [data] } : undefined;
  });
}

describe('/ostiary plan', () => {
  test('by a person with write access plans the head of the pull request, and updates its comment', async () => {
    const request = await proposed('demanded');
    expect(await commentOn(request)).toMatchObject({ code: 0, outputs: { outcome: 'planned', changed: 'true' } });
    const [body, ...others] = await bodiesOn(request);
    expect(body).toMatch(
      new RegExp(
        `^### Plan for \`production\`: .*1 to create\\.\\n<!-- ostiary [0-9a-f]{32} [0-9a-f]{32} -->\\n<!-- ostiary plan [0-9a-f]{32} [0-9a-f]{64} of ${request.head} -->\\n`,
      ),
    );
    await commentOn(request, { body: '/ostiary plan  \r\nplease' });
    expect([others, (await bodiesOn(request)).length]).toEqual([[], 1]);
  });

  test.each<readonly [string, Comment, string]>([
    ['of a person without write access', { login: 'guest' }, 'forge/ignored-override'],
    ['of a bot', { login: 'helper[bot]', type: 'Bot' }, 'forge/ignored-override'],
    ['below other text', { body: 'Look:\n/ostiary plan' }, 'forge/no-command'],
    ['in a quotation', { body: '> /ostiary plan' }, 'forge/no-command'],
    ['that was edited', { action: 'edited' }, 'forge/no-command'],
  ])('%s starts nothing', async (_, comment, code) => {
    const request = await proposed(`ignored-${code.slice(7)}-${String(comment.body ?? comment.login ?? comment.action).length}`);
    const before = requests;
    const ended = await commentOn(request, comment);
    expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'skipped' }, stdout: expect.stringContaining(`title=${code}::`) });
    expect([await bodiesOn(request), requests]).toEqual([[], before]);
  });

  test('on a pull request from a fork, and of Dependabot, only checks the manifests, whatever secrets the run has', async () => {
    const request = await proposed('forked');
    for (const who of [{}, { login: 'dependabot[bot]', repo: `${place.owner}/${place.repo}` }]) {
      asFork(request, who);
      expect(await commentOn(request)).toMatchObject({ code: 0, outputs: { outcome: 'valid' } });
      expect(await bodiesOn(request)).toEqual([expect.stringContaining('Ostiary checked the manifests without the gateway')]);
    }
  });

  test('on a pull request from a fork plans from a snapshot, with its key and without a token', async () => {
    const request = await proposed('forked-plan');
    const main = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/first.yaml': connection('first') });
    const key = { OSTIARY_SNAPSHOT_KEY: 'a-random-text-of-enough-characters-0123' };
    const snapshot = join(main, 'snapshot.bin');
    const taken = await ostiaryInProcess(['drift', '--snapshot', snapshot], { cwd: main, env: { ...gateway.env(), ...key } });
    expect(taken).toMatchObject({ code: 0 });
    asFork(request);
    const before = requests;
    const ended = await commentOn(request, {}, { inputs: { snapshot }, env: { ...key, OSTIARY_TOKEN: '' } });
    expect([ended.code, ended.outputs['outcome'], ended.outputs['digest'], ended.outputs['plan-path'], requests]).toEqual([
      0,
      'planned',
      undefined,
      undefined,
      before,
    ]);
    const [body = ''] = await bodiesOn(request);
    expect(body).toMatch(/^### Plan for `production` from a snapshot \d+ s old: .*1 to create\.\n/);
    expect([body.includes('<!-- ostiary plan'), body.includes('It approves no apply.')]).toEqual([false, true]);
    // Without the key, the fork is checked as before.
    expect(await commentOn(request, {}, { inputs: { snapshot } })).toMatchObject({ code: 0, outputs: { outcome: 'valid' } });
  });

  test('needs the checkout of the pull request', async () => {
    const request = await proposed('elsewhere');
    git(request.cwd, `fetch --quiet --depth=1 origin main`);
    git(request.cwd, 'checkout --quiet --detach FETCH_HEAD');
    const failed = await commentOn(request);
    expect(failed).toMatchObject({ code: 3, stdout: expect.stringContaining('title=forge/other-checkout::') });
    expect(failed.summary).toContain(`refs/pull/${request.number}/merge`);
    expect(await bodiesOn(request)).toEqual([]);
  });
});

describe('after another workflow', () => {
  test('plans the pull request whose head it ran for', async () => {
    const request = await proposed('followed');
    expect(await runAfter(request, 'followed')).toMatchObject({ code: 0, outputs: { outcome: 'planned' } });
    expect(await bodiesOn(request)).toEqual([expect.stringContaining('1 to create')]);
    expect(await runAfter({ ...request, head: '1'.repeat(40) }, 'followed')).toMatchObject({ code: 0, outputs: { outcome: 'skipped' } });
  });

  test('comments on a pull request from a fork what a check of its manifests finds', async () => {
    const request = await proposed('followed-fork');
    asFork(request);
    expect(await runAfter(request, 'topic', 'mallory')).toMatchObject({ code: 0, outputs: { outcome: 'valid' } });
    expect(await bodiesOn(request)).toEqual([expect.stringContaining('comes from a fork')]);
  });
});

test('a comment on a merged pull request starts nothing', async () => {
  const request = await proposed('too-late');
  await mergePullRequest(bench.github(), request.number);
  const ended = await commentOn(request);
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'skipped' }, stdout: expect.stringContaining('title=forge/merged::') });
  expect(await bodiesOn(request)).toEqual([]);
});
