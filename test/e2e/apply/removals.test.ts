import { afterEach, describe, expect, test } from 'vitest';
import type { ChaosEffect } from '../../support/chaos.ts';
import { useRepositories, withPush, type TestRepository } from '../../support/repository.ts';
import { connection, guardrail, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

let chaos: (request: { readonly method: string; readonly path: string }) => ChaosEffect | undefined = () => undefined;
const gateway = useGateway({ chaos: (request) => chaos(request) });
const { make, makeOrigin, clone } = useRepositories();
afterEach(() => {
  chaos = () => undefined;
});

const ref = 'refs/ostiary/applied/production';

function configWith(more: string): string {
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access]\ntargets:\n  production:\n    url: '${gateway.url()}'\n${more}`;
}

/** Makes a project with an origin and applies it. Its `save` pushes. */
async function appliedProject(files: Files, more = ''): Promise<{ readonly ours: TestRepository; readonly origin: TestRepository }> {
  const ours = withPush(make({ 'ostiary.yaml': configWith(more), ...files }));
  const origin = makeOrigin(ours);
  expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
  return { ours, origin };
}

/** Removes files, commits and pushes. */
function drop({ git, remove, commit }: TestRepository, ...paths: readonly string[]): void {
  remove(...paths);
  commit('Remove');
  git('push', '--quiet', 'origin', 'main');
}

/** Returns the commit of a record that remembers nothing else than the times of applies. */
function recordedCommit({ git }: TestRepository): unknown {
  const { applies: _, ...record } = JSON.parse(git('log', '-1', '--format=%b', ref));
  expect(record).toEqual({ version: 1, commit: expect.any(String), orphans: [], pending: [] });
  return record.commit;
}

const still = (name: string): string => `Connection/${name} was removed from the manifests but is still live and accessible`;

/** Returns text as a terminal of any width shows it, on one line. */
function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

describe('removing a manifest', () => {
  test('without prune: an object that a prune would keep is not announced as deleted by --prune', async () => {
    const protectedOne = connection('r0-old').replace('"name"', '"protect": true, "name"');
    const { ours } = await appliedProject({ 'access/kept.yaml': connection('r0-kept'), 'access/old.yaml': protectedOne });
    drop(ours, 'access/old.yaml');
    for (const command of ['plan', 'apply --yes', 'drift']) {
      const { stdout } = await gateway.run(command, ours.folder);
      expect(flat(stdout)).toContain(still('r0-old'));
      expect(flat(stdout)).toContain('--prune does not delete it: its last manifest sets metadata.protect');
      expect(flat(stdout)).not.toContain('--prune deletes it');
    }
    expect(await gateway.run('apply --yes --prune', ours.folder)).toMatchObject({ code: 0 });
    expect(await gateway.isLive('r0-old')).toBe(true);
  });

  test('without prune: every plan and drift report names the object, in every clone, until it is deleted', async () => {
    const { ours, origin } = await appliedProject({ 'access/kept.yaml': connection('r1-kept'), 'access/old.yaml': connection('r1-old') });
    drop(ours, 'access/old.yaml');
    const planned = await gateway.run('plan --detailed-exitcode', ours.folder);
    expect(planned.code).toBe(2);
    expect(flat(planned.stdout)).toContain(still('r1-old'));
    expect(planned.stdout).not.toContain('No changes');
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    ours.save({ 'README.md': 'later' });
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    for (const reader of [ours, clone(origin), clone(origin, '--depth=1')]) {
      const drifted = await gateway.run('drift', reader.folder);
      expect(drifted.code).toBe(2);
      expect(flat(drifted.stdout)).toContain(still('r1-old'));
      expect(await gateway.run('plan --detailed-exitcode', reader.folder)).toMatchObject({ code: 2 });
    }
    const fresh = clone(origin);
    expect(await gateway.run('plan --prune', fresh.folder)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to delete') });
    expect(await gateway.run('apply --yes --prune', fresh.folder)).toMatchObject({ code: 0 });
    expect([await gateway.isLive('r1-old'), await gateway.isLive('r1-kept')]).toEqual([false, true]);
    expect(await gateway.run('drift', ours.folder)).toMatchObject({ code: 0 });
    expect(recordedCommit(origin)).toBe(fresh.git('rev-parse', 'HEAD'));
  });
});

describe('a branch behind the applied commit', () => {
  test('shows only its own changes, and says by how many it is behind', async () => {
    const { ours } = await appliedProject({ 'access/a.yaml': connection('b1-a'), 'access/b.yaml': connection('b1-b') });
    ours.git('checkout', '--quiet', '-b', 'topic');
    ours.save({ 'access/own.yaml': connection('b1-own') });
    ours.git('checkout', '--quiet', 'main');
    ours.remove('access/b.yaml');
    ours.save({ 'access/a.yaml': connection('b1-a', { reviewers: ['dba'] }), 'access/g.yaml': guardrail('b1-g') });
    expect(await gateway.run('apply --yes --prune', ours.folder)).toMatchObject({ code: 0 });
    ours.git('checkout', '--quiet', 'topic');
    const planned = await gateway.run('plan --own main --format json', ours.folder);
    expect(planned).toMatchObject({ code: 0, stderr: expect.stringMatching(/git\/behind-applied.*behind by 3 merged changes/) });
    expect(JSON.parse(planned.stdout).plans[0].changes).toMatchObject([{ id: 'Connection/b1-own', action: 'create', own: true }]);
    ours.git('merge', '--quiet', '--no-edit', 'main');
    const merged = await gateway.run('plan --own main --format json', ours.folder);
    expect(merged).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(merged.stdout).plans[0].digest).toBe(JSON.parse(planned.stdout).plans[0].digest);
  });

  test.each([
    ['the applied commits', 'main', 'topic'],
    ['the branch', 'topic', 'main'],
  ])('shows the attachments of a rule that %s renamed', async (_, renames, changes) => {
    const ends = ['1', '2', '3'].map((end) => `b5-${renames}-${end}`);
    const [former, name] = [`b5-${renames}-old`, `b5-${renames}-new`];
    const files = Object.fromEntries(ends.map((end) => [`access/${end}.yaml`, connection(end)]));
    const { ours } = await appliedProject({ ...files, 'access/g.yaml': guardrail(former, ['DROP'], { connection_ids: ends.slice(0, 2) }) });
    ours.git('branch', 'topic');
    ours.git('checkout', '--quiet', changes);
    ours.save({ 'access/g.yaml': guardrail(former, ['DROP'], { connection_ids: ends.slice(1) }) });
    ours.git('checkout', '--quiet', renames);
    ours.save({ 'access/g.yaml': guardrail(name, ['DROP'], { connection_ids: ends.slice(0, 2) }, { renamedFrom: former }) });
    ours.git('checkout', '--quiet', 'main');
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    ours.git('checkout', '--quiet', 'topic');
    const behind = await gateway.run('plan --own main --format json', ours.folder);
    ours.git('merge', '--quiet', '--no-edit', 'main');
    const merged = await gateway.run('plan --own main --format json', ours.folder);
    const [plan, later] = [behind, merged].map(({ stdout }) => JSON.parse(stdout).plans[0]);
    expect(plan.edges).toHaveLength(renames === 'main' ? 2 : 0);
    expect(plan.digest).toBe(later.digest);
  });

  test('an older commit is not applied without a reason', async () => {
    const { ours } = await appliedProject({ 'access/a.yaml': connection('b2-a') });
    ours.save({ 'access/a.yaml': connection('b2-a', { reviewers: ['dba'] }) });
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    ours.git('checkout', '--quiet', 'HEAD~1');
    expect(await gateway.run('plan', ours.folder)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/older-commit') });
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 6 });
    expect(await gateway.reviewersOf('b2-a')).toEqual(['dba']);
    expect(await gateway.run('apply --yes --allow git/older-commit=rollback', ours.folder)).toMatchObject({ code: 0 });
    expect(await gateway.reviewersOf('b2-a')).toEqual([]);
  });

  test('a shallow checkout of an older commit, as in a job that runs again, is not applied either', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('b3-a') });
    const first = ours.git('rev-parse', 'HEAD').trim();
    for (const group of ['dba', 'sre', 'security']) {
      ours.save({ 'access/a.yaml': connection('b3-a', { reviewers: [group] }) });
      ours.git('push', '--quiet', 'origin', 'main');
      expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    }
    const job = clone(origin, '--depth=1');
    job.git('fetch', '--quiet', '--depth=1', 'origin', first);
    job.git('checkout', '--quiet', first);
    expect(await gateway.run('apply --yes', job.folder)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/older-commit') });
    expect(await gateway.reviewersOf('b3-a')).toEqual(['security']);
    ours.save({ 'access/b.yaml': connection('b3-b') });
    ours.git('push', '--quiet', 'origin', 'main');
    expect(await gateway.run('apply --yes', clone(origin, '--depth=1').folder)).toMatchObject({ code: 0 });
  });

  test('a plan does not shorten the history of a shallow clone', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('b4-a') });
    for (const text of ['1', '2', '3', '4']) ours.save({ 'README.md': text });
    expect(await gateway.run('apply --yes', ours.folder)).toMatchObject({ code: 0 });
    expect(ours.git('rev-parse', `${ref}^1`)).toBe(ours.git('rev-parse', 'HEAD'));
    for (const text of ['5', '6']) ours.save({ 'README.md': text });
    ours.git('push', '--quiet', 'origin', 'main');
    const shallow = clone(origin, '--depth=5');
    expect(await gateway.run('plan', shallow.folder)).toMatchObject({ code: 0 });
    expect(Number(shallow.git('rev-list', '--count', 'HEAD'))).toBeGreaterThanOrEqual(5);
  });
});
