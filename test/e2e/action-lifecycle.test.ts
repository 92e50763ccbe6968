import { afterEach, expect, test } from 'vitest';
import type { ChaosEffect } from '../../src/server/http/chaos.ts';
import { commentsOn, commitAll, git, mergePullRequest, openPullRequest, pullRequestPayload, type StepEnded } from '../support/workflow.ts';
import { config, connection, guardrail, useProjects, writeFiles, type Files } from './project.ts';
import { useAction } from './use-action.ts';
import { useGateway } from './use-gateway.ts';

let chaos: (request: { readonly method: string; readonly path: string }) => ChaosEffect | undefined = () => undefined;
const makeProject = useProjects();
const gateway = useGateway({ chaos: (request) => chaos(request) });
const bench = useAction(makeProject);
afterEach(() => {
  chaos = () => undefined;
});

// Each asks git some fifty times.
const patient = { timeout: 60_000 };

type Pull = Awaited<ReturnType<typeof openPullRequest>>;

/** Makes a clone whose main branch is on origin, and applies it. */
async function appliedClone(files: Files, prune: boolean): Promise<string> {
  const settings = config(gateway.url()).replace("' }", `', prune: ${prune} }`);
  const [origin, cwd] = [makeProject({}), makeProject({ 'ostiary.yaml': settings, ...files })];
  git(origin, 'init --quiet --bare --initial-branch=main');
  commitAll(cwd);
  git(cwd, ['remote', 'add', 'origin', `file://${origin}`]);
  git(cwd, 'push --quiet origin main');
  expect(await step(cwd, git(cwd, 'rev-parse HEAD'))).toMatchObject({ code: 0 });
  return cwd;
}

/** Applies what is checked out, as the push to main does. */
function step(cwd: string, commit: string): Promise<StepEnded> {
  const env = { ...gateway.env(), GITHUB_SHA: commit };
  return bench.step({ cwd, event: 'push', payload: { ref: 'refs/heads/main', after: commit }, inputs: { mode: 'apply' }, env });
}

/** Opens a pull request of a branch with a change, and plans it. */
async function propose(
  cwd: string,
  branch: string,
  change: () => void,
): Promise<Pull & { readonly planned: StepEnded; readonly body: string }> {
  git(cwd, `checkout --quiet -b ${branch}`);
  change();
  commitAll(cwd, branch);
  const pull = await openPullRequest(bench.github(), branch);
  const payload = pullRequestPayload({ ...pull, base: git(cwd, 'rev-parse main') });
  const planned = await bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan' }, env: gateway.env() });
  return { ...pull, planned, body: await bodyOn(pull.number, 'Plan') };
}

/** Merges the pull request and applies it. */
async function merge(cwd: string, branch: string, { number }: Pull): Promise<{ readonly applied: StepEnded; readonly body: string }> {
  git(cwd, 'checkout --quiet main');
  git(cwd, `merge --quiet --no-edit ${branch}`);
  git(cwd, 'push --quiet origin main');
  const commit = await mergePullRequest(bench.github(), number);
  return { applied: await step(cwd, commit), body: await bodyOn(number, 'Apply') };
}

/** Returns the comment that one mode made on a pull request. */
async function bodyOn(number: number, title: 'Plan' | 'Apply'): Promise<string> {
  const bodies = (await commentsOn(bench.github(), number)).flatMap(({ body }) => (body.includes(`### ${title} `) ? [body] : []));
  expect(bodies).toHaveLength(1);
  return bodies.join('');
}

async function isLive(name: string): Promise<boolean> {
  return (await gateway.call('GET', `/connections/${name}`)).status === 200;
}

test('a removal with prune: true is a deletion, before the merge and after it', patient, async () => {
  const cwd = await appliedClone({ 'access/old.yaml': connection('p-old'), 'access/kept.yaml': connection('p-kept') }, true);
  const pull = await propose(cwd, 'remove-p-old', () => git(cwd, 'rm --quiet access/old.yaml'));
  expect(pull.planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(JSON.parse(pull.planned.outputs['counts'] ?? '')).toMatchObject({ delete: 1 });
  expect(pull.body).toMatch(/1 to delete[\s\S]*`Connection\/p-old`/);
  expect(pull.body).not.toContain('No changes');
  const { applied, body } = await merge(cwd, 'remove-p-old', pull);
  expect([applied.code, body]).toEqual([0, expect.stringMatching(/Applied: 1 deleted\.[\s\S]*`Connection\/p-old`/)]);
  expect([await isLive('p-old'), await isLive('p-kept')]).toEqual([false, true]);
});

test('a removal without prune is live and accessible, before the merge and after it', patient, async () => {
  const cwd = await appliedClone({ 'access/old.yaml': connection('n-old'), 'access/kept.yaml': connection('n-kept') }, false);
  const pull = await propose(cwd, 'remove-n-old', () => git(cwd, 'rm --quiet access/old.yaml'));
  const still = '`Connection/n-old` was removed from the manifests but is still live and accessible';
  expect(pull.planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(JSON.parse(pull.planned.outputs['counts'] ?? '')).toMatchObject({ delete: 0, orphaned: 1 });
  expect(pull.planned.stdout).toMatch(/^::warning .*orphan Connection\/n-old/m);
  expect(pull.body).toContain(still);
  expect(pull.body).not.toContain('No changes');
  const { applied, body } = await merge(cwd, 'remove-n-old', pull);
  expect([applied.code, body]).toEqual([0, expect.stringContaining(still)]);
  expect(body).not.toContain('No changes');
  expect(await isLive('n-old')).toBe(true);
  const later = await bench.step({ cwd, event: 'schedule', payload: {}, inputs: { mode: 'drift' }, env: gateway.env() });
  expect(later.summary).toContain(still);
});

test('a replaced certificate is a change of its own, without its content', patient, async () => {
  const secret = { 'filesystem:SSLROOTCERT': { valueFrom: { file: 'certs/ca.pem' } } };
  const cwd = await appliedClone({ 'access/tls.yaml': connection('tls', { secret }), 'certs/ca.pem': 'canary-first\n' }, true);
  const pull = await propose(cwd, 'replace-ca', () => writeFiles(cwd, { 'certs/ca.pem': 'canary-second\n' }));
  expect(pull.planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(pull.body).toMatch(/`Connection\/tls`[\s\S]*filesystem:SSLROOTCERT[\s\S]*changes \(certs\/ca\.pem\)/);
  expect(pull.body).not.toContain('No changes');
  const { applied, body } = await merge(cwd, 'replace-ca', pull);
  expect([applied.code, body]).toEqual([0, expect.stringContaining('Applied: 1 updated.')]);
  const log = applied.stdout.replaceAll(/^::add-mask::.*$/gm, '');
  expect(`${pull.body}${body}${log}${applied.summary}`).not.toContain('canary');
});

test.each([true, false])('the revert of a failed merge shows what that left behind, prune: %s', patient, async (prune) => {
  const made = `made-${prune}`;
  const cwd = await appliedClone({ 'access/a.yaml': connection(`stays-${prune}`) }, prune);
  const pull = await propose(cwd, `fails-${prune}`, () =>
    writeFiles(cwd, { 'access/c.yaml': connection(made), 'access/g.yaml': guardrail(`never-${prune}`) }),
  );
  chaos = ({ method, path }) => (method === 'POST' && path === '/guardrails' ? { status: 500 } : undefined);
  const failed = await merge(cwd, `fails-${prune}`, pull);
  chaos = () => undefined;
  expect([failed.applied.code, failed.body]).toEqual([5, expect.stringContaining('Not finished: 1 created, 1 failed.')]);
  expect(await isLive(made)).toBe(true);
  const revert = await propose(cwd, `revert-${prune}`, () => git(cwd, 'revert --no-edit HEAD'));
  expect(revert.planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(revert.body).not.toContain('No changes');
  const still = `\`Connection/${made}\` was removed from the manifests but is still live and accessible`;
  expect(revert.body).toContain(prune ? '1 to delete' : still);
  const back = await merge(cwd, `revert-${prune}`, revert);
  expect([back.applied.code, back.body]).toEqual([0, expect.stringContaining(prune ? 'Applied: 1 deleted.' : still)]);
  expect(await isLive(made)).toBe(!prune);
});

test('a branch behind main shows its own change alone, and says that it is behind', patient, async () => {
  const cwd = await appliedClone({ 'access/a.yaml': connection('behind-a'), 'access/b.yaml': connection('behind-b') }, true);
  git(cwd, 'branch topic');
  writeFiles(cwd, { 'access/theirs.yaml': guardrail('behind-theirs'), 'access/a.yaml': connection('behind-a', { reviewers: ['dba'] }) });
  git(cwd, 'rm --quiet access/b.yaml');
  expect(await step(cwd, commitAll(cwd))).toMatchObject({ code: 0 });
  git(cwd, 'push --quiet origin main');
  git(cwd, 'checkout --quiet topic');
  const { planned, body } = await propose(cwd, 'behind', () => writeFiles(cwd, { 'access/own.yaml': connection('behind-own') }));
  expect(planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(JSON.parse(planned.outputs['counts'] ?? '')).toMatchObject({ create: 1, update: 0, delete: 0, orphaned: 0 });
  expect(body).toContain('behind by 3 merged changes');
  expect(body).toContain('Connection/behind-own');
  expect(body.replace(/.*git\/behind-applied.*/, '')).not.toMatch(/behind-theirs|behind-b\b/);
});
