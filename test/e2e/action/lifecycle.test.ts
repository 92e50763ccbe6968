import { afterEach, describe, expect, test } from 'vitest';
import type { ChaosEffect } from '../../support/chaos.ts';
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
import { config, connection, guardrail, useProjects, writeFiles, type Files } from '../project.ts';
import { useAction } from './use-action.ts';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { useGateway } from '../use-gateway.ts';

let chaos: (request: { readonly method: string; readonly path: string }) => ChaosEffect | undefined = () => undefined;
const makeProject = useProjects();
const gateway = useGateway({ chaos: (request) => chaos(request) });
const bench = useAction(makeProject);
afterEach(() => {
  chaos = () => undefined;
});

// Each asks git some fifty times.
const patient = { timeout: 60_000 };

/** A gateway that the action writes to. */
type Place = {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  /** The names of its connections. */
  readonly names: () => Promise<readonly string[]>;
  /** Deletes the connection outside Ostiary, and returns the status. */
  readonly deleteOldDb: () => Promise<number>;
};

function served(): Place {
  return {
    url: gateway.url(),
    env: gateway.env(),
    names: () => gateway.names('/connections'),
    deleteOldDb: async () => (await gateway.call('DELETE', '/connections/old-db')).status,
  };
}

/** Starts a model of the public gateway. */
async function modelled(): Promise<Place> {
  const hoop = await hoopProject();
  return {
    url: hoop.url,
    env: { ...gateway.env(), OSTIARY_TOKEN: adminToken },
    names: () => Promise.resolve([...hoop.model.store.connections.values()].map(({ name }) => name)),
    deleteOldDb: async () => (await hoop.send('DELETE', '/connections/old-db')).status,
  };
}

type Pull = Awaited<ReturnType<typeof openPullRequest>>;

/** Makes a clone whose main branch is on origin, and applies it. */
async function appliedClone(files: Files, prune: boolean, { url, env }: Place = served()): Promise<string> {
  const settings = config(url).replace("' }", `', prune: ${prune} }`);
  const cwd = makeProject({ 'ostiary.yaml': settings, ...files });
  commitAll(cwd);
  pushToOrigin(cwd, makeProject({}));
  expect(await step(cwd, git(cwd, 'rev-parse HEAD'), env)).toMatchObject({ code: 0 });
  return cwd;
}

/** Applies what is checked out, as the push to main does. */
function step(cwd: string, commit: string, env = gateway.env()): Promise<StepEnded> {
  const payload = { ref: 'refs/heads/main', after: commit };
  return bench.step({ cwd, event: 'push', payload, inputs: { mode: 'apply' }, env: { ...env, GITHUB_SHA: commit } });
}

/** Opens a pull request of a branch with a change, and plans it. */
async function propose(
  cwd: string,
  branch: string,
  change: () => void,
  env = gateway.env(),
): Promise<Pull & { readonly planned: StepEnded; readonly body: string }> {
  git(cwd, `checkout --quiet -b ${branch}`);
  change();
  commitAll(cwd, branch);
  const pull = await openPullRequest(bench.github(), branch);
  const payload = pullRequestPayload({ ...pull, base: git(cwd, 'rev-parse main') });
  const planned = await bench.step({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan' }, env });
  return { ...pull, planned, body: await bodyOn(pull.number, 'Plan') };
}

/** Merges the pull request and applies it. */
async function merge(
  cwd: string,
  branch: string,
  { number }: Pull,
  env = gateway.env(),
): Promise<{ readonly applied: StepEnded; readonly body: string }> {
  git(cwd, 'checkout --quiet main');
  git(cwd, `merge --quiet --no-edit ${branch}`);
  git(cwd, 'push --quiet origin main');
  const commit = await mergePullRequest(bench.github(), number);
  return { applied: await step(cwd, commit, env), body: await bodyOn(number, 'Apply') };
}

/** Returns the comment that one mode made on a pull request. */
async function bodyOn(number: number, title: 'Plan' | 'Apply'): Promise<string> {
  const bodies = (await commentsOn(bench.github(), number)).flatMap(({ body }) => (body.includes(`### ${title} `) ? [body] : []));
  expect(bodies).toHaveLength(1);
  return bodies.join('');
}

/** Runs the drift of a schedule. */
function drift(cwd: string, env: Place['env']): Promise<StepEnded> {
  return bench.step({ cwd, event: 'schedule', payload: {}, inputs: { mode: 'drift', 'detailed-exitcode': 'true' }, env });
}

describe.each(['ostiary serve', 'the model of the public gateway'])('the pull request "Remove old-db" on %s', (kind) => {
  const placeOf = (): Place | Promise<Place> => (kind === 'ostiary serve' ? served() : modelled());

  test('with prune: true it is a deletion, from the comment to the next drift run', patient, async () => {
    const place = await placeOf();
    const { env, names } = place;
    const cwd = await appliedClone({ 'access/old.yaml': connection('old-db'), 'access/kept.yaml': connection('p-kept') }, true, place);
    const pull = await propose(cwd, `remove-old-db-${kind.length}`, () => git(cwd, 'rm --quiet access/old.yaml'), env);
    expect(pull.planned).toMatchObject({ code: 0, outputs: { changed: 'true', outcome: 'planned' } });
    expect(JSON.parse(pull.planned.outputs['counts'] ?? '')).toMatchObject({ delete: 1, orphaned: 0 });
    expect(pull.planned.stdout).toMatch(/^::warning .*delete Connection\/old-db/m);
    expect(pull.body).toMatch(/1 to delete[\s\S]*`Connection\/old-db`/);
    expect(pull.body).not.toContain('No changes');
    expect(await names()).toContain('old-db');
    const { applied, body } = await merge(cwd, `remove-old-db-${kind.length}`, pull, env);
    expect([applied.code, body]).toEqual([0, expect.stringMatching(/: 1 deleted\.[\s\S]*`Connection\/old-db`/)]);
    expect(JSON.parse(applied.outputs['counts'] ?? '')).toMatchObject({ deleted: 1, orphaned: 0 });
    expect((await names()).filter((name) => name === 'old-db' || name === 'p-kept')).toEqual(['p-kept']);
    expect(await drift(cwd, env)).toMatchObject({ code: 0, outputs: { changed: 'false', outcome: 'clean' } });
  });

  test('without prune it stays live and accessible, and every report says so until it is deleted', patient, async () => {
    const place = await placeOf();
    const { env, names } = place;
    const cwd = await appliedClone({ 'access/old.yaml': connection('old-db'), 'access/kept.yaml': connection('n-kept') }, false, place);
    const pull = await propose(cwd, `drop-old-db-${kind.length}`, () => git(cwd, 'rm --quiet access/old.yaml'), env);
    const still = '`Connection/old-db` was removed from the manifests but is still live and accessible';
    expect(pull.planned).toMatchObject({ code: 0, outputs: { changed: 'true', outcome: 'planned' } });
    expect(JSON.parse(pull.planned.outputs['counts'] ?? '')).toMatchObject({ delete: 0, orphaned: 1 });
    expect(pull.planned.stdout).toMatch(/^::warning .*orphan Connection\/old-db/m);
    expect(pull.body).toContain(still);
    expect(pull.body).not.toContain('No changes');
    const { applied, body } = await merge(cwd, `drop-old-db-${kind.length}`, pull, env);
    expect([applied.code, body]).toEqual([0, expect.stringContaining(still)]);
    expect(JSON.parse(applied.outputs['counts'] ?? '')).toMatchObject({ deleted: 0, orphaned: 1 });
    expect(body).not.toContain('No changes');
    expect(await names()).toContain('old-db');
    for (const _ of ['first night', 'second night']) {
      const later = await drift(cwd, env);
      expect(later).toMatchObject({ code: 2, outputs: { changed: 'true', outcome: 'drifted' } });
      expect(later.summary).toContain(still);
      expect(JSON.parse(later.outputs['counts'] ?? '')).toMatchObject({ orphaned: 1 });
    }
    expect(await place.deleteOldDb()).toBeLessThan(300);
    expect(await drift(cwd, env)).toMatchObject({ code: 0, outputs: { changed: 'false' } });
  });
});

test('with keep-going, the comment heads with what is blocked, and the rest is applied', patient, async () => {
  const cwd = await appliedClone({ 'access/a.yaml': connection('going-a') }, true);
  const change = (): void =>
    writeFiles(cwd, { 'access/b.yaml': connection('going-b', { agent_id: 'nowhere' }), 'access/c.yaml': connection('going-c') });
  git(cwd, 'checkout --quiet -b going');
  change();
  const commit = commitAll(cwd, 'going');
  const pull = await openPullRequest(bench.github(), 'going');
  const inputs = { mode: 'plan', 'keep-going': 'true' };
  const payload = pullRequestPayload({ ...pull, base: git(cwd, 'rev-parse main') });
  const planned = await bench.step({ cwd, event: 'pull_request', payload, inputs, env: gateway.env() });
  expect(planned).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
  expect(JSON.parse(planned.outputs['counts'] ?? '')).toMatchObject({ create: 1, blocked: 1 });
  expect(planned.stdout).toMatch(/^::error file=access\/b\.yaml,.*blocked Connection\/going-b/m);
  expect(await bodyOn(pull.number, 'Plan')).toMatch(/`?Connection\/going-b`? is blocked:[\s\S]*going-c/);
  git(cwd, 'push --quiet origin going:main');
  const push = { ref: 'refs/heads/main', after: commit };
  const env = { ...gateway.env(), GITHUB_SHA: commit };
  const applied = await bench.step({ cwd, event: 'push', payload: push, inputs: { mode: 'apply', 'keep-going': 'true' }, env });
  expect(applied).toMatchObject({ code: 5, outputs: { outcome: 'unfinished' } });
  expect(JSON.parse(applied.outputs['counts'] ?? '')).toMatchObject({ created: 1, blocked: 1 });
  expect(await gateway.isLive('going-c')).toBe(true);
});

test('a replaced certificate is a change of its own, without its content', patient, async () => {
  const secret = { 'filesystem:SSLROOTCERT': { valueFrom: { file: 'certs/ca.pem' } } };
  const cwd = await appliedClone({ 'access/tls.yaml': connection('tls', { secret }), 'certs/ca.pem': 'canary-first\n' }, true);
  const pull = await propose(cwd, 'replace-ca', () => writeFiles(cwd, { 'certs/ca.pem': 'canary-second\n' }));
  expect(pull.planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(pull.body).toMatch(/`Connection\/tls`[\s\S]*filesystem:SSLROOTCERT[\s\S]*changes \(certs\/ca\.pem\)/);
  expect(pull.body).not.toContain('No changes');
  const { applied, body } = await merge(cwd, 'replace-ca', pull);
  expect([applied.code, body]).toEqual([0, expect.stringContaining(': 1 updated.')]);
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
  expect([failed.applied.code, failed.body]).toEqual([5, expect.stringContaining('not finished: 1 failed, 1 created.')]);
  expect(await gateway.isLive(made)).toBe(true);
  const revert = await propose(cwd, `revert-${prune}`, () => git(cwd, 'revert --no-edit HEAD'));
  expect(revert.planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(revert.body).not.toContain('No changes');
  const still = `\`Connection/${made}\` was removed from the manifests but is still live and accessible`;
  expect(revert.body).toContain(prune ? '1 to delete' : still);
  const back = await merge(cwd, `revert-${prune}`, revert);
  expect([back.applied.code, back.body]).toEqual([0, expect.stringContaining(prune ? ': 1 deleted.' : still)]);
  expect(await gateway.isLive(made)).toBe(!prune);
});

test('a branch behind main shows its own change alone, and says that it is behind', patient, async () => {
  const cwd = await appliedClone({ 'access/a.yaml': connection('behind-a'), 'access/b.yaml': connection('behind-b') }, true);
  git(cwd, 'branch topic');
  writeFiles(cwd, { 'access/theirs.yaml': guardrail('behind-theirs'), 'access/a.yaml': connection('behind-a', { reviewers: ['dba'] }) });
  git(cwd, 'rm --quiet access/b.yaml');
  const merged = commitAll(cwd);
  git(cwd, 'push --quiet origin main');
  expect(await step(cwd, merged)).toMatchObject({ code: 0 });
  git(cwd, 'checkout --quiet topic');
  const { planned, body } = await propose(cwd, 'behind', () => writeFiles(cwd, { 'access/own.yaml': connection('behind-own') }));
  expect(planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(JSON.parse(planned.outputs['counts'] ?? '')).toMatchObject({ create: 1, update: 0, delete: 0, orphaned: 0 });
  expect(body).toContain('behind by 3 merged changes');
  expect(body).toContain('Connection/behind-own');
  expect(body.replace(/.*git\/behind-applied.*/, '')).not.toMatch(/behind-theirs|behind-b\b/);
});
