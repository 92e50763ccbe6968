import { describe, expect, test } from 'vitest';
import { idOf } from '../../server/client.ts';
import { commitRecord } from '../../support/commit-record.ts';
import type { TestRepository } from '../../support/repository.ts';
import { connection } from '../project.ts';
import { ref, useAppliedProjects } from './applied-projects.ts';

const { gateway, make, clone, configWith, appliedProject, run, push } = useAppliedProjects();
const day = 86_400_000;

/** Changes fields of a live connection outside Ostiary. */
async function changeLive(name: string, fields: object): Promise<void> {
  const found = await gateway.call('GET', `/connections/${name}`);
  expect((await gateway.call('PUT', `/connections/${idOf(found)}`, { body: { ...found.body, ...fields } })).status).toBe(200);
}

/** Creates a connection that no manifest declares. */
async function createUnmanaged(name: string): Promise<void> {
  const { spec } = JSON.parse(connection(name, { reviewers: ['hr'] }));
  const { agent_id: agent } = (await gateway.call('GET', `/connections/${await someConnection()}`)).body;
  expect((await gateway.call('POST', '/connections', { body: { name, ...spec, agent_id: agent } })).status).toBe(201);
}

async function someConnection(): Promise<string> {
  return (await gateway.names('/connections'))[0] ?? '';
}

/** Pushes a record as anyone could who may push refs. */
function forge(repository: TestRepository, record: object): void {
  repository.git('push', '--quiet', '--force', 'origin', `${commitRecord(repository, record)}:${ref}`);
}

// security: push
describe('a record that a contributor forged', () => {
  const cases: readonly (readonly [string, string, (theirs: TestRepository, name: string) => void])[] = [
    [
      'an unrelated commit as the base',
      'git/unmerged-base',
      (theirs, name) => {
        theirs.git('checkout', '--quiet', '--orphan', 'x');
        const access = {
          'access/hr.yaml': connection(`${name}-hr`),
          'access/a.yaml': connection(name, { reviewers: ['dba', 'security'] }),
        };
        forge(theirs, { commit: theirs.save(access) });
      },
    ],
    [
      'a commit upon main as the base',
      'git/unmerged-base',
      (theirs, name) => {
        forge(theirs, { commit: theirs.save({ 'access/hr.yaml': connection(`${name}-hr`) }) });
      },
    ],
    ['no record at all', 'git/no-record', (theirs) => void theirs.git('push', '--quiet', 'origin', `:${ref}`)],
    [
      'an orphan that no commit declares',
      'git/unproven-object',
      (theirs, name) => {
        const commit = theirs.git('rev-parse', 'HEAD');
        forge(theirs, { commit, orphans: [{ id: `Connection/${name}-hr`, commit }] });
      },
    ],
    [
      'an orphan that only a commit of the contributor declares',
      'git/unproven-object',
      (theirs, name) => {
        const commit = theirs.git('rev-parse', 'HEAD');
        const own = theirs.save({ 'access/hr.yaml': connection(`${name}-hr`) });
        forge(theirs, { commit, orphans: [{ id: `Connection/${name}-hr`, commit: own }] });
      },
    ],
    [
      'pending writes that no commit declares',
      'git/unproven-object',
      (theirs, name) => {
        const commit = theirs.git('rev-parse', 'HEAD');
        const objects = [{ id: `Connection/${name}-hr`, ours: true }];
        const pending = [
          { commit, objects, edges: [] },
          { objects, edges: [] },
        ];
        forge(theirs, { commit, pending });
      },
    ],
  ];

  test.each(cases.map((one, index) => [...one, `forged-${index}`] as const))('%s: %s', async (_, code, forging, name) => {
    const { origin } = await appliedProject({ 'access/a.yaml': connection(name, { reviewers: ['dba'] }) });
    await createUnmanaged(`${name}-hr`);
    await changeLive(name, { reviewers: ['dba', 'security'], min_review_approvals: 2 });
    forging(clone(origin), name);
    const isIgnored = code === 'git/unproven-object';
    const [exit, stream] = isIgnored ? ([0, 'stderr'] as const) : ([6, 'stdout'] as const);
    // The apply of an unproven object repairs the record.
    for (const options of isIgnored || name !== 'forged-0' ? [['--depth=1']] : [[], ['--depth=1']]) {
      const job = clone(origin, ...options);
      expect(await run('plan', job)).toMatchObject({ code: exit, [stream]: expect.stringContaining(code) });
      expect(await run('apply --yes', job)).toMatchObject({ code: exit });
      expect(await gateway.names('/connections')).toContain(`${name}-hr`);
      expect((await gateway.call('GET', `/connections/${name}`)).body).toMatchObject({ reviewers: ['dba', 'security'] });
    }
  });

  test('a base upon main is repaired by an override, which the record keeps', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('repaired') });
    const main = ours.git('rev-parse', 'HEAD');
    const theirs = clone(origin);
    forge(theirs, { commit: theirs.save({ 'access/b.yaml': connection('repaired-b') }) });
    const job = clone(origin);
    expect(await run('drift', job)).toMatchObject({ code: 2, stdout: expect.stringContaining('which main does not contain') });
    expect(await run('apply --yes --allow git/unmerged-base=forged', job)).toMatchObject({ code: 0 });
    const record = JSON.parse(origin.git('log', '-1', '--format=%b', ref));
    expect(record).toMatchObject({ commit: main, overrides: [{ code: 'git/unmerged-base', reason: 'forged' }] });
    expect((await run('drift', job)).code).toBe(0);
  });

  // security: push
  test('a lease that ends later than any apply takes it blocks nothing; a right one does', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('leased') });
    ours.save({ 'access/a.yaml': connection('leased', { reviewers: ['dba'] }) });
    push(ours);
    const commit = ours.git('rev-parse', 'HEAD~1');
    const leaseUntil = (time: number): object => ({ commit, lease: { run: 'other:1:x', until: new Date(time).toISOString() } });
    const theirs = clone(origin);
    forge(theirs, leaseUntil(Date.now() + 600_000));
    expect(await run('apply --yes', clone(origin))).toMatchObject({ code: 6, stderr: expect.stringContaining('git/locked') });
    for (const time of [Date.now() + day, Date.parse('9999-01-01T00:00:00Z')]) {
      forge(theirs, leaseUntil(time));
      expect(await run('apply --yes', clone(origin))).toMatchObject({ code: 0 });
    }
  });
});

type Planned = {
  readonly base: string;
  readonly orphans: readonly { readonly id: string }[];
  readonly changes: readonly { readonly id: string; readonly action: string }[];
};

async function planOf(repository: TestRepository): Promise<Planned> {
  const { code, stdout } = await run('plan --format json', repository);
  expect(code).toBe(0);
  return JSON.parse(stdout).plans[0];
}

// security: push
describe('what a contributor with push rights still can do without a record key', () => {
  test('a text that is no record, which blocks plans and applies until the ref is deleted', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('still-text') });
    forge(clone(origin), { version: 3 });
    const job = clone(origin);
    for (const line of ['plan', 'apply --yes'])
      expect(await run(line, job)).toMatchObject({ code: 3, stderr: expect.stringContaining('git/record-unreadable') });
    expect(await run('plan --base HEAD', job)).toMatchObject({ code: 0 });
    ours.git('push', '--quiet', 'origin', `:${ref}`);
    expect(await run('apply --yes', clone(origin))).toMatchObject({ code: 0, stderr: expect.stringContaining('git/applied-recorded') });
  });
});

// security: fork
test('a contributor without push rights writes no record: that of a fork does not count, and a plan writes none', async () => {
  const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('fork-a', { reviewers: ['dba'] }) });
  const base = ours.git('rev-parse', 'HEAD');
  const records = (): string => origin.git('for-each-ref', 'refs/ostiary');
  const before = records();
  expect(before).toContain(ref);
  const fork = clone(origin, '--bare');
  const theirs = clone(fork);
  const record = commitRecord(theirs, { commit: theirs.save({ 'access/a.yaml': connection('fork-a') }) });
  theirs.git('push', '--quiet', '--force', 'origin', 'HEAD:refs/heads/topic', `${record}:${ref}`);
  const job = clone(origin);
  job.git('fetch', '--quiet', `file://${fork.folder}`, 'topic');
  job.git('checkout', '--quiet', '--detach', 'FETCH_HEAD');
  expect((await planOf(job)).base).toBe(base);
  expect(await run('apply --yes', job)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unmerged-commit') });
  expect(records()).toBe(before);
});

describe('a missing record', () => {
  // security: no-record
  test('refuses changes of live objects, unless they are imported or the refusal is overridden', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('lost-a'), 'access/b.yaml': connection('lost-b') });
    ours.save({
      'access/a.yaml': connection('lost-a', { reviewers: ['dba'] }),
      'access/b.yaml': connection('lost-b', { reviewers: ['dba'] }),
    });
    push(ours);
    ours.git('push', '--quiet', 'origin', `:${ref}`);
    const job = clone(origin);
    expect(await run('apply --yes --import Connection/lost-a', job)).toMatchObject({
      code: 6,
      stdout: expect.stringMatching(/git\/no-record\s+no apply to "production" is recorded, but Connection\/lost-b is live/),
    });
    expect(await run('apply --yes --import Connection/lost-a --import Connection/lost-b', job)).toMatchObject({ code: 0 });
    ours.save({ 'access/a.yaml': connection('lost-a', { reviewers: ['sre'] }) });
    push(ours);
    ours.git('push', '--quiet', 'origin', `:${ref}`);
    expect(await run('apply --yes --allow git/no-record=restored', clone(origin))).toMatchObject({ code: 0 });
  });
});

describe('a commit that is not merged', () => {
  // security: push, apply-token
  test('is not applied without a reason; main reports it, and repairs the gateway', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('unmerged', { reviewers: ['dba'] }) });
    ours.git('checkout', '--quiet', '-b', 'feature');
    const feature = ours.save({ 'access/a.yaml': connection('unmerged', { reviewers: [] }), 'access/b.yaml': connection('unmerged-b') });
    // Only apply needs a reviewed commit.
    expect((await run('plan', ours)).code).toBe(0);
    expect(await run('apply --yes', ours)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unmerged-commit') });
    expect((await gateway.call('GET', '/connections/unmerged')).body).toMatchObject({ reviewers: ['dba'] });
    expect(await run('apply --yes --allow git/unmerged-commit=incident-42', ours)).toMatchObject({ code: 0 });
    expect((await gateway.call('GET', '/connections/unmerged')).body).toMatchObject({ reviewers: [] });

    for (const reader of [clone(origin), clone(origin, '--depth=1')]) {
      const drifted = await run('drift', reader);
      expect([drifted.code, drifted.stdout.replaceAll(/\s+/g, ' ')]).toEqual([
        2,
        expect.stringContaining(`applied from ${feature.slice(0, 7)}, which main does not contain (allowed: incident-42)`),
      ]);
      expect(drifted.stdout).not.toContain('No drift');
      expect(await run('plan', reader)).toMatchObject({ code: 0, stderr: expect.stringContaining('git/unmerged-apply') });
      const { unmerged } = JSON.parse((await run('drift --format json', reader)).stdout).drifts[0];
      expect(unmerged).toEqual({ commit: feature, branch: 'main', reason: 'incident-42' });
    }
    expect(await run('apply --yes', clone(origin))).toMatchObject({ code: 0 });
    expect((await gateway.call('GET', '/connections/unmerged')).body).toMatchObject({ reviewers: ['dba'] });
    expect(await run('drift', clone(origin))).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift') });
  });

  test('is reported by drift also if it changed nothing on the gateway', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('unmerged-same') });
    ours.git('checkout', '--quiet', '-b', 'feature');
    const feature = ours.save({ 'README.md': 'Not merged' });
    expect(await run('apply --yes --allow git/unmerged-commit=incident-43', ours)).toMatchObject({ code: 0 });
    const { code, stdout } = await run('drift', clone(origin));
    expect([code, stdout.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(`applied from ${feature.slice(0, 7)}, which main`)]);
    expect(stdout).not.toContain('No drift');
  });

  test('counts as reviewed once it is merged', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('merged-later') });
    ours.git('checkout', '--quiet', '-b', 'feature');
    const feature = ours.save({ 'access/b.yaml': connection('merged-later-b') });
    expect(await run('apply --yes --allow git/unmerged-commit=hotfix', ours)).toMatchObject({ code: 0 });
    ours.git('push', '--quiet', 'origin', 'feature:main');
    expect(await run('drift', clone(origin))).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift') });
    const { plans } = JSON.parse((await run('plan --format json', clone(origin))).stdout);
    expect(plans[0]).toMatchObject({ base: feature, changes: [] });
  });

  // security: push
  test('is applied where the config of the default branch says so, not where its own config does', async () => {
    const files = { 'access/a.yaml': connection('atlantis') };
    const { ours } = await appliedProject(files);
    ours.git('checkout', '--quiet', '-b', 'feature');
    ours.save({ 'ostiary.yaml': configWith('reviewed: any\n'), 'access/a.yaml': connection('atlantis', { reviewers: ['dba'] }) });
    expect(await run('apply --yes', ours)).toMatchObject({ code: 6, stdout: expect.stringContaining('git/unmerged-commit') });
    ours.git('checkout', '--quiet', 'main');
    ours.save({ 'ostiary.yaml': configWith('reviewed: any\n') });
    push(ours);
    ours.git('checkout', '--quiet', 'feature');
    ours.git('merge', '--quiet', '--no-edit', 'main');
    expect(await run('apply --yes', ours)).toMatchObject({ code: 0 });
    // Another branch, which started earlier, would undo that.
    ours.git('checkout', '--quiet', '-b', 'other', 'main');
    ours.save({ 'access/b.yaml': connection('atlantis-b') });
    const refused = await run('apply --yes', ours);
    expect([refused.code, refused.stdout.replaceAll(/\s+/g, ' ')]).toEqual([
      6,
      expect.stringMatching(/git\/diverged-commit .* this reverts its changes of Connection\/atlantis /),
    ]);
    expect((await gateway.call('GET', '/connections/atlantis')).body).toMatchObject({ reviewers: ['dba'] });
    ours.git('merge', '--quiet', '--no-edit', 'feature');
    expect(await run('apply --yes', ours)).toMatchObject({ code: 0 });
  });

  test('is one that the branch of the config does not contain', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('released-branch') });
    ours.git('push', '--quiet', 'origin', 'HEAD:refs/heads/release');
    ours.save({ 'ostiary.yaml': configWith('reviewed: release\n') });
    push(ours);
    expect(await run('apply --yes', clone(origin, '--depth=1'))).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('release does not contain it'),
    });
    ours.git('push', '--quiet', 'origin', 'HEAD:refs/heads/release');
    expect(await run('apply --yes', clone(origin, '--depth=1'))).toMatchObject({ code: 0 });
  });

  test('is none in a checkout as actions/checkout makes it: one commit, and no name of the default branch', async () => {
    const { ours, origin } = await appliedProject({ 'access/a.yaml': connection('checkout') });
    for (const text of ['1', '2', '3']) ours.save({ 'README.md': text });
    const head = ours.save({ 'access/a.yaml': connection('checkout', { reviewers: ['dba'] }) });
    push(ours);
    const job = make();
    job.git('remote', 'add', 'origin', `file://${origin.folder}`);
    job.git('fetch', '--quiet', '--no-tags', '--depth=1', 'origin', `+${head}:refs/remotes/origin/main`);
    job.git('checkout', '--quiet', '--detach', head);
    expect(await run('plan', job)).toMatchObject({ code: 0, stderr: '' });
    expect(await run('apply --yes', job)).toMatchObject({ code: 0, stderr: expect.stringContaining('here and on origin') });
  });
});
