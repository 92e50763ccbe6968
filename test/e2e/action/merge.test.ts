import { describe, expect, test } from 'vitest';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  pushToOrigin,
  type StepEnded,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, guardrail, useProjects, type Files } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

function checkout(files: Files): string {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
  commitAll(cwd);
  return cwd;
}

/** Opens a pull request and merges it; the commit is the one that the merge made. */
async function merge(branch: string): Promise<{ readonly number: number; readonly head: string; readonly commit: string }> {
  const github = bench.github();
  const pull = await openPullRequest(github, branch);
  return { ...pull, commit: await mergePullRequest(github, pull.number) };
}

async function bodiesOn(number: number): Promise<readonly string[]> {
  return (await commentsOn(bench.github(), number)).map(({ body }) => body);
}

/** What was reported of the deployment of a commit. */
function statusesOf(commit: string): readonly unknown[] {
  return bench.github().deployments.find(({ sha }) => sha === commit)?.statuses ?? [];
}

type Applying = { readonly bundled?: true; readonly inputs?: Readonly<Record<string, string>> };

/** Applies on the push that a merge makes. */
function apply(cwd: string, commit: string, { bundled, inputs = {} }: Applying = {}): Promise<StepEnded> {
  const run = bundled === true ? bench.bundled : bench.step;
  const env = { ...gateway.env(), GITHUB_SHA: commit };
  return run({ cwd, event: 'push', payload: { ref: 'refs/heads/main', after: commit }, inputs: { mode: 'apply', ...inputs }, env });
}

describe('apply on merge', () => {
  test('applies, comments once on the merged pull request, and reports the deployment', async () => {
    const github = bench.github();
    const cwd = checkout({ 'access/merged.yaml': connection('merged'), 'access/rule.yaml': guardrail('merged-rule') });
    const origin = pushToOrigin(cwd, makeProject({}));
    const { number, commit } = await merge('merged');
    const applied = await apply(cwd, commit, { bundled: true });
    expect(git(origin, 'rev-parse refs/ostiary/applied/production^1')).toBe(git(cwd, 'rev-parse HEAD'));
    expect(applied.summary).toMatch(/git\/applied-recorded[\s\S]*on origin/);
    expect(applied).toMatchObject({ code: 0, outputs: { outcome: 'applied', changed: 'true' } });
    expect(JSON.parse(applied.outputs['counts'] ?? '')).toMatchObject({ created: 2, failed: 0 });
    expect(await gateway.names('/connections')).toContain('merged');
    const [comment, ...others] = await commentsOn(github, number);
    expect(others).toEqual([]);
    expect(comment?.body).toMatch(/### Apply to `production`[\s\S]*: 2 created\.[\s\S]*`Connection\/merged`/);
    expect(statusesOf(commit)).toEqual([expect.objectContaining({ state: 'success', description: 'Applied: 2 created.' })]);
    const again = await apply(cwd, commit);
    expect(again).toMatchObject({ code: 0, outputs: { outcome: 'applied', changed: 'false' } });
    expect(await commentsOn(github, number)).toEqual([comment]);
    const [deployment, ...more] = github.deployments.filter(({ sha }) => sha === commit);
    expect(more).toEqual([]);
    expect(deployment).toMatchObject({ environment: 'production', statuses: [{ state: 'success' }, { state: 'success' }] });
  });

  test('is rejected for an unmerged pull request', async () => {
    const cwd = checkout({ 'access/early.yaml': connection('early') });
    const pull = await openPullRequest(bench.github(), 'early');
    const payload = pullRequestPayload({ ...pull, base: pull.head });
    const run = { cwd, event: 'pull_request', inputs: { mode: 'apply' }, env: gateway.env() };
    expect(await bench.step({ ...run, payload })).toMatchObject({ code: 3, summary: expect.stringContaining('is not merged') });
    const queued = { merge_group: { base_sha: pull.head, head_sha: pull.head } };
    expect(await bench.step({ ...run, event: 'merge_group', payload: queued })).toMatchObject({
      code: 3,
      summary: expect.stringMatching(/the commit of this .merge_group. is not merged/),
    });
    expect(await gateway.names('/connections')).not.toContain('early');
    const merged = pullRequestPayload({ ...pull, base: pull.head, merged: true });
    expect(await bench.step({ ...run, payload: merged })).toMatchObject({ code: 0 });
    expect(await bodiesOn(pull.number)).toEqual([expect.stringContaining(': 1 created')]);
  });
});

function message(text: string): { readonly message: string } {
  return { message: text };
}

describe('requests that GitHub refuses never fail the run', () => {
  // What each answer is called: unit/github/github-client.
  test('a rate limit without end', async () => {
    const cwd = checkout({ 'access/denied.yaml': connection('denied') });
    const { commit } = await merge('denied');
    const before = bench.github().heard.length;
    const body = message('You have exceeded a secondary rate limit.');
    bench.github().intercept(() => ({ status: 403, body, headers: { 'retry-after': '1' } }));
    const ended = await apply(cwd, commit);
    expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
    expect(ended.stdout).toMatch(/^::warning title=forge\/rate-limited::/m);
    expect(ended.summary).toContain('forge/rate-limited');
    expect(bench.github().heard.length - before).toBeLessThanOrEqual(6);
  });

  test('a missing permission for deployments is not a warning', async () => {
    const github = bench.github();
    const cwd = checkout({ 'access/undeployed.yaml': connection('undeployed') });
    const { number, commit } = await merge('undeployed');
    github.intercept(({ path }) =>
      path.includes('/deployments') ? { status: 403, body: message('Resource not accessible by integration') } : undefined,
    );
    const ended = await apply(cwd, commit);
    expect(ended.stdout).not.toContain('::warning');
    expect(await commentsOn(github, number)).toHaveLength(1);
  });
});
