import { describe, expect, it } from 'vitest';
import { InputError } from '../../../src/model/errors.ts';
import type { PlanBase } from '../../../src/project/plan-base.ts';
import { useRepositories } from '../../support/repository.ts';
import { applied, codes, files, planBase, idsOf, record, url } from './plan-base.ts';
import { config, connection } from '../project.ts';

const { make, clone, at, place } = useRepositories();

/** The codes of the diagnostics that a promise is rejected with. */
async function refusalOf(action: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof InputError) return error.diagnostics.map(({ code }) => code);
  throw new Error('it is no refused input', { cause: error });
}

function twoTargets(manifests: string): string {
  const prod = `prod: { url: '${url}', overlays: [overlays/prod] }`;
  return `apiVersion: ostiary/v1\nkind: Config\nmanifests: [${manifests}]\ntargets:\n  ${prod}\n  test: { url: '${url}/test' }\n`;
}

describe('the base', () => {
  it('is undefined without a diagnostic outside git, before the first commit, and for another gateway', async () => {
    const outside = at(place(), true);
    outside.write(files);
    const unborn = make();
    unborn.write(files);
    const { repository } = await applied(make);
    for (const [where, flags] of [
      [outside, {}],
      [unborn, {}],
      [repository, { url: 'https://elsewhere.example.com' }],
      [repository, { base: 'none' }],
    ] as const)
      expect(await planBase(where, flags)).toMatchObject({ base: undefined, own: undefined, diagnostics: [] });
    expect(await record(outside)).toStrictEqual([]);
    expect(codes(await record(unborn))).toStrictEqual(['warning git/applied-not-recorded']);
    expect(await record(repository, { url: 'https://elsewhere.example.com' })).toStrictEqual([]);
  });

  it('shares the manifests of files that the working tree has, and of these alone', async () => {
    const { repository } = await applied(make);
    repository.save({ 'access/a.yaml': connection('a', { reviewers: ['dba'] }) });
    const { base, own } = await planBase(repository, { own: 'main' });
    const [was, is] = [base?.desired.resources ?? [], own?.resources ?? []];
    expect(was[1]).toBe(is[1]);
    expect([was[0], is[0]].map((one) => one?.spec['reviewers'])).toStrictEqual([[], ['dba']]);
    expect(was[0]?.locate('').file).toMatch(/^[\da-f]{10}:access\/a\.yaml$/);
    repository.save({ 'access/_defaults.yaml': 'apiVersion: ostiary/v1\nkind: Defaults\nspec: { Connection: { reviewers: [sre] } }\n' });
    const below = await planBase(repository, { own: 'main' });
    expect(below.base?.desired.resources[1]?.spec['reviewers']).toStrictEqual([]);
  });

  it('is undefined with a notice if nothing was recorded', async () => {
    expect(codes((await planBase(make(files))).diagnostics)).toStrictEqual(['notice git/no-base']);
  });

  it('has the applied manifests whatever was committed since, and the commits that removed them', async () => {
    const { repository, commit } = await applied(make);
    repository.git('mv', 'access/a.yaml', 'access/moved.yaml');
    repository.save({ 'access/moved.yaml': connection('a', { reviewers: ['dba'] }), 'access/c.yaml': connection('c') });
    repository.remove('access/b.yaml');
    const removed = repository.commit();
    repository.save({ 'README.md': '' });
    const { base, diagnostics } = await planBase(repository);
    expect(diagnostics).toStrictEqual([]);
    expect(base?.commit).toBe(commit);
    expect(idsOf(base?.desired)).toStrictEqual(['Connection/a', 'Connection/b']);
    expect(base?.desired.resources[0]?.spec['reviewers']).toStrictEqual([]);
    expect([...(base?.removedIn ?? [])]).toMatchObject([['Connection/b', { id: removed }]]);
    expect(base?.desired.resources[0]?.locate('').file).toBe(`${commit.slice(0, 10)}:access/a.yaml`);
  });

  it('finds out that HEAD is older than the applied commit and the manifests differ', async () => {
    const { repository, commit } = await applied(make);
    repository.save({ 'README.md': '' });
    const readme = repository.git('rev-parse', 'HEAD');
    repository.save({ 'access/a.yaml': connection('a', { reviewers: ['dba'] }) });
    await record(repository);
    const behind = async (): Promise<PlanBase['behind']> => (await planBase(repository)).behind;
    const last = repository.git('rev-parse', 'HEAD');
    expect(await behind()).toBeUndefined();
    for (const early of [commit, readme]) {
      repository.git('checkout', '--quiet', early);
      expect(await behind()).toStrictEqual({ head: early, applied: last });
    }
    const diverged = repository.save({ 'access/c.yaml': connection('c') });
    const found = await behind();
    expect(found).toMatchObject({ head: diverged, applied: last });
    expect(idsOf(found?.fork)).toStrictEqual(['Connection/a', 'Connection/b']);
    repository.git('checkout', '--quiet', 'main');
    repository.git('revert', '--no-edit', 'HEAD');
    expect(await behind()).toBeUndefined();
  });

  it('does not read secrets', async () => {
    const secret = { 'envvar:P': { valueFrom: { env: 'OSTIARY_SECRET_P' } }, 'envvar:F': { valueFrom: { file: 'ca.pem' } } };
    const { repository } = await applied(make, { 'access/a.yaml': connection('a', { secret }) });
    const { base } = await planBase(repository);
    expect(base?.desired.resources[0]?.secrets).toStrictEqual({
      '/secret/envvar:P': { state: 'unresolved', source: 'env:OSTIARY_SECRET_P' },
      '/secret/envvar:F': { state: 'unresolved', source: 'file:ca.pem' },
    });
  });

  it('reads folders, overlays and targets of the config at that commit', async () => {
    const overlay = connection('a', { reviewers: ['security'] });
    const repository = make({ 'ostiary.yaml': twoTargets('before/'), 'before/a.yaml': connection('a'), 'overlays/prod/a.yaml': overlay });
    const flags = { target: 'prod' };
    expect(codes(await record(repository, flags))).toStrictEqual(['notice git/applied-recorded']);
    repository.git('mv', 'before', 'after');
    repository.save({ 'ostiary.yaml': twoTargets('after/'), 'overlays/prod/a.yaml': connection('a', { reviewers: ['dba'] }) });
    const { base } = await planBase(repository, flags);
    expect(base?.desired.resources.map(({ id, spec }) => [id, spec['reviewers']])).toStrictEqual([['Connection/a', ['security']]]);
    expect(base?.removedIn.size).toBe(0);
    expect(codes((await planBase(repository, { target: 'test' })).diagnostics)).toStrictEqual(['notice git/no-base']);
  });

  it('is found after the config file moved, from any folder, and in a worktree', async () => {
    const { repository, commit } = await applied(make);
    repository.remove('ostiary.yaml', 'access');
    const moved = {
      'infra/ostiary.yaml': files['ostiary.yaml'],
      'infra/access/a.yaml': files['access/a.yaml'],
      'infra/access/b.yaml': files['access/b.yaml'],
    };
    const next = repository.save(moved);
    const { base } = await planBase(repository, {}, 'infra/access');
    expect([base?.commit, base?.removedIn.size]).toStrictEqual([commit, 0]);
    expect(codes(await record(repository, {}, { below: 'infra' }))).toStrictEqual(['notice git/applied-recorded']);
    const worktree = at(place());
    repository.git('worktree', 'add', '--quiet', '--detach', worktree.folder, 'HEAD');
    expect((await planBase(worktree, {}, 'infra')).base?.commit).toBe(next);
  });

  it("is undefined with a warning after the target's URL changed", async () => {
    const { repository } = await applied(make);
    repository.save({ 'ostiary.yaml': config('https://moved.example.com') });
    const { base, diagnostics } = await planBase(repository);
    expect([base, codes(diagnostics)]).toStrictEqual([undefined, ['warning git/other-gateway']]);
    expect((await planBase(repository, { base: 'HEAD~1' })).base).toBeDefined();
  });

  it('throws if it cannot be loaded, instead of counting as empty', async () => {
    const { repository } = await applied(make);
    const broken = repository.save({
      'access/a.yaml': 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: a }\nspec: { type: 7 }\n',
    });
    const none = repository.save({ 'access/a.yaml': '# nothing\n', 'access/b.yaml': '# nothing\n' });
    repository.remove('ostiary.yaml');
    const without = repository.commit();
    const latin = repository.save({ ...files, 'access/b.yaml': '\uFFFE' });
    repository.save({ ...files, 'ostiary.yaml': config({ other: `${url}/elsewhere` }) });
    const other = repository.git('rev-parse', 'HEAD');
    repository.save(files);
    expect(await refusalOf(planBase(repository, { base: broken }))).toContain('manifest/wrong-type');
    expect(await refusalOf(planBase(repository, { base: none }))).toStrictEqual(['git/base-unreadable', 'manifest/none']);
    expect(await refusalOf(planBase(repository, { base: without }))).toStrictEqual(['git/base-unreadable', 'git/no-config']);
    expect((await refusalOf(planBase(repository, { base: latin })))[0]).toBe('git/base-unreadable');
    expect(await refusalOf(planBase(repository, { base: other }))).toStrictEqual(['git/base-unreadable', 'git/no-target']);
    await expect(planBase(repository, { base: 'nowhere' })).rejects.toMatchObject({ code: 'git/no-such-commit', exitCode: 3 });
    await expect(planBase(repository, { base: '--output=x' })).rejects.toMatchObject({ code: 'git/bad-ref', exitCode: 3 });
  });

  it('throws outside git if --base or --own is set', async () => {
    const outside = at(place(), true);
    outside.write(files);
    for (const flags of [{ base: 'main' }, { own: 'main' }])
      await expect(planBase(outside, flags)).rejects.toMatchObject({ code: 'git/no-repository', exitCode: 3 });
  });
});

describe('--own', () => {
  it('has the manifests at the branch point', async () => {
    const repository = make(files);
    repository.git('checkout', '--quiet', '-b', 'topic');
    repository.save({ 'access/c.yaml': connection('c') });
    repository.git('checkout', '--quiet', 'main');
    repository.save({ 'access/d.yaml': connection('d') });
    repository.git('checkout', '--quiet', 'topic');
    const { own, diagnostics } = await planBase(repository, { own: 'main', base: 'none' });
    expect([idsOf(own), diagnostics]).toStrictEqual([['Connection/a', 'Connection/b'], []]);
  });

  it('is undefined with a warning if it cannot be loaded', async () => {
    const repository = make({ ...files, 'access/a.yaml': 'a: [\n' });
    repository.git('branch', 'before');
    repository.save(files);
    const { own, diagnostics } = await planBase(repository, { own: 'before', base: 'none' });
    expect([own, codes(diagnostics)]).toStrictEqual([undefined, ['warning git/own-unreadable']]);
  });

  it('uses the branch itself if a shallow clone hides the branch point', async () => {
    const repository = make(files);
    repository.save({ 'access/c.yaml': connection('c') });
    const shallow = clone(repository, '--depth=1');
    shallow.git('fetch', '--quiet', '--depth=1', 'origin', repository.git('rev-parse', 'HEAD~1'));
    shallow.git('branch', 'before', 'FETCH_HEAD');
    const { own, diagnostics } = await planBase(shallow, { own: 'before', base: 'none' });
    expect(idsOf(own)).toStrictEqual(['Connection/a', 'Connection/b']);
    expect(codes(diagnostics)).toStrictEqual(['warning git/no-merge-base']);
    expect(diagnostics[0]?.hint).toContain('fetch-depth: 0');
  });
});
