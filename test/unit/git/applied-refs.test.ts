import * as fc from 'fast-check';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import {
  appliedRefName,
  appliedRef,
  setAppliedRef,
  pushAppliedRef,
  parseAppliedRefName,
  readAppliedRefs,
  findLastApplied,
  type LastApplied,
  type RecordOwner,
  type RenamedTargets,
} from '../../../src/git/applied-refs.ts';
import { openRepository } from '../../../src/git/repository.ts';
import { installProgram } from '../../support/git-repository.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';

const { make, makeOrigin, clone, place } = useRepositories();
const configs = ['ostiary.yaml', 'ostiary.yml'];

/** Recognizes no target under another name. */
const noRenames: RenamedTargets = { url: '', isCurrent: () => true, ownerOf: () => Promise.resolve('unknown'), writtenAt: () => 0 };

/** Returns the commit of the record, without the parts that only the recorder needs. */
async function lastApplied(
  repository: TestRepository,
  folder = '',
  target = 'prod',
  origin = true,
): Promise<{ readonly commit: string | undefined; readonly diagnostics: LastApplied['diagnostics'] }> {
  const { commit, diagnostics } = await findLastApplied(await repository.open(folder), { target, configs, origin, renames: noRenames });
  return { commit: commit?.id, diagnostics };
}

/** Records HEAD, as apply does. */
async function record(repository: TestRepository, name = 'prod'): Promise<string> {
  const [opened, commit] = [await repository.open(), repository.git('rev-parse', 'HEAD')];
  const expected = (await readAppliedRefs(opened)).origin.get(name)?.id ?? '';
  await setAppliedRef(opened, name, commit);
  expect(await pushAppliedRef(opened, name, { id: commit, expected })).toBeUndefined();
  return commit;
}

/** A repository with an origin, and a clone of it. */
function pair(): { readonly ours: TestRepository; readonly origin: TestRepository; readonly theirs: TestRepository } {
  const ours = make({ 'ostiary.yaml': 'a: 1\n' });
  const origin = makeOrigin(ours);
  return { ours, origin, theirs: clone(origin) };
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

test('a name keeps folder and target apart, and every name is a valid ref', () => {
  const { git } = make();
  fc.assert(
    fc.property(
      fc.oneof(fc.constant(''), text),
      text.filter((name) => !name.includes('/')),
      (folder, target) => {
        const name = appliedRefName(folder, target);
        expect(name).toMatch(/^[\w%-]+$/);
        expect(parseAppliedRefName(name)).toStrictEqual({ folder, target });
      },
    ),
  );
  for (const target of ['prod', 'a..b', 'x.lock', '@{', '.', '-x', 'ä', '%2F', 'HEAD']) {
    git('check-ref-format', appliedRef(appliedRefName('', target)));
    git('check-ref-format', appliedRef(appliedRefName('teams/a b', target)));
  }
  expect(appliedRef(appliedRefName('', 'prod'))).toBe('refs/ostiary/applied/prod');
  expect(appliedRef(appliedRefName('teams/orders', 'prod'))).toBe('refs/ostiary/applied/teams%2Forders%2Fprod');
});

async function ownerOf(name: string): Promise<RecordOwner> {
  return name === 'b' ? 'this' : 'another';
}

describe('findLastApplied', () => {
  it('finds the record of another clone in a fresh, a shallow and a detached clone', async () => {
    const { ours, origin } = pair();
    const commit = await record(ours);
    ours.save({ 'x.yaml': '' });
    ours.git('push', '--quiet', 'origin', 'main');
    for (const args of [[], ['--depth=1'], ['--depth=1', '--no-single-branch']]) {
      const fresh = clone(origin, ...args);
      fresh.git('checkout', '--quiet', '--detach');
      expect(await lastApplied(fresh)).toStrictEqual({ commit, diagnostics: [] });
      expect(fresh.git('cat-file', '-t', `${commit}:ostiary.yaml`)).toBe('blob');
      expect(fresh.git('rev-list', '--count', 'HEAD')).toBe(args.length === 0 ? '2' : '1');
      expect(fresh.git('tag', '--list')).toBe('');
    }
  });

  it('follows origin when another clone applies, also an earlier commit', async () => {
    const { ours, theirs } = pair();
    const first = await record(ours);
    expect(await lastApplied(theirs)).toMatchObject({ commit: first });
    theirs.save({ 'x.yaml': '' });
    const second = await record(theirs);
    expect(await lastApplied(ours)).toMatchObject({ commit: second });
    ours.git('checkout', '--quiet', first);
    expect(await record(ours)).toBe(first);
    expect(await lastApplied(theirs)).toMatchObject({ commit: first });
  });

  it('records an apply in a clone that fetches all refs of origin, where the push itself moves the ref', async () => {
    const { ours } = pair();
    ours.git('config', '--replace-all', 'remote.origin.fetch', '+refs/*:refs/*');
    const [opened, commit] = [await ours.open(), ours.git('rev-parse', 'HEAD')];
    expect(await pushAppliedRef(opened, 'prod', { id: commit, expected: '' })).toBeUndefined();
    await setAppliedRef(opened, 'prod', commit, '');
    const other = ours.git('commit-tree', '-m', 'other', 'HEAD^{tree}');
    await expect(setAppliedRef(opened, 'prod', other, '')).rejects.toMatchObject({ code: 'git/locked' });
    expect(ours.git('rev-parse', appliedRef('prod'))).toBe(commit);
  });

  it('finds a commit that a forced push removed from every branch', async () => {
    const { ours, origin, theirs } = pair();
    ours.save({ 'lost.yaml': '' });
    const commit = await record(ours);
    ours.git('reset', '--quiet', '--hard', 'HEAD~1');
    ours.git('push', '--quiet', '--force', 'origin', 'main');
    origin.git('reflog', 'expire', '--expire=now', '--all');
    origin.git('gc', '--quiet', '--prune=now');
    expect(await lastApplied(theirs)).toStrictEqual({ commit, diagnostics: [] });
    expect(theirs.git('show', `${commit}:lost.yaml`)).toBe('');
  });

  it('warns without origin if this clone has a record; otherwise fails, unless origin is disabled', async () => {
    const { ours, origin, theirs } = pair();
    const commit = await record(ours);
    rmSync(origin.folder, { recursive: true });
    const { diagnostics, ...rest } = await lastApplied(ours);
    expect(rest).toStrictEqual({ commit });
    expect(diagnostics).toMatchObject([{ code: 'git/origin-unreachable', severity: 'warning' }]);
    await expect(lastApplied(theirs)).rejects.toMatchObject({ code: 'git/origin-unreachable', exitCode: 4 });
    expect(await lastApplied(theirs, '', 'prod', false)).toStrictEqual({ commit: undefined, diagnostics: [] });
    expect(await lastApplied(ours, '', 'prod', false)).toStrictEqual({ commit, diagnostics: [] });
  });

  it('uses the record of origin if this clone has the commit but cannot write the ref', async () => {
    const { ours, theirs } = pair();
    const commit = await record(ours);
    theirs.write({ '.git/refs/ostiary/origin/prod.lock': '' });
    expect(await lastApplied(theirs)).toStrictEqual({ commit, diagnostics: [] });
  });

  it('finds the later record if origin gets one between the list and the fetch', async () => {
    const { ours, origin, theirs } = pair();
    await record(ours);
    const later = origin.git('commit-tree', '-m', 'unrelated', 'HEAD^{tree}');
    const fetch = `case "$*" in *' fetch '*) git --git-dir='${origin.folder}' update-ref ${appliedRef('prod')} ${later};; esac`;
    const env = { ...gitEnv, ...(await installProgram(place(), 'git', `PATH='${gitEnv['PATH']}'; ${fetch}; exec git "$@"`)) };
    const opened = await openRepository({ folder: theirs.folder, env });
    if (opened === undefined) throw new Error('no repository found');
    const found = await findLastApplied(opened, { target: 'prod', configs, origin: true, renames: noRenames });
    expect(found).toMatchObject({ originId: later, commit: { id: later }, diagnostics: [] });
    expect(theirs.git('rev-parse', appliedRef('prod'))).toBe(later);
  });

  it('reads the records of a fleet in one fetch for a target that has none', async () => {
    const { ours, origin, theirs } = pair();
    for (const name of ['a', 'b', 'c']) await record(ours, name);
    const later = origin.git('commit-tree', '-m', 'unrelated', 'HEAD^{tree}');
    await setAppliedRef(await theirs.open(), 'b', theirs.git('rev-parse', 'HEAD'));
    origin.git('update-ref', appliedRef('b'), later);
    const log = join(origin.folder, 'fetches');
    const script = `PATH='${gitEnv['PATH']}'; case "$*" in *' fetch '*) echo fetch >> '${log}';; esac; exec git "$@"`;
    const opened = await openRepository({ folder: theirs.folder, env: { ...gitEnv, ...(await installProgram(place(), 'git', script)) } });
    if (opened === undefined) throw new Error('no repository found');
    const renames = { url: '', isCurrent: () => true, ownerOf, writtenAt: () => 0 };
    const found = await findLastApplied(opened, { target: 'new', configs, origin: true, renames });
    expect(found).toMatchObject({ name: 'b', localId: '', originId: '', commit: { id: later }, diagnostics: [] });
    expect(readFileSync(log, 'utf8')).toBe('fetch\n');
    expect(theirs.git('rev-parse', appliedRef('b'))).toBe(later);
  });

  it('takes the record of another target under the same name for none, and writes beside it', async () => {
    const { ours } = pair();
    await record(ours, 'a');
    const renames = { url: 'https://a.example.com', isCurrent: () => true, ownerOf, writtenAt: () => 0 };
    const found = await findLastApplied(await ours.open(), { target: 'a', configs, origin: true, renames });
    const ownName = appliedRefName('', 'a', renames.url);
    expect(found).toMatchObject({ name: ownName, ownName, localId: '', originId: '', commit: undefined });
    expect(parseAppliedRefName(ownName)).toStrictEqual({ folder: '', target: 'a', isBeside: true });
  });

  it('keeps configs of several folders apart, and follows a moved config', async () => {
    const ours = make({ 'a/ostiary.yaml': '', 'b/ostiary.yaml': '' });
    const commit = ours.git('rev-parse', 'HEAD');
    await setAppliedRef(await ours.open(), appliedRefName('a', 'prod'), commit);
    expect(await lastApplied(ours, 'a')).toMatchObject({ commit });
    expect(await lastApplied(ours, 'b')).toMatchObject({ commit: undefined });
    expect(await lastApplied(ours)).toMatchObject({ commit: undefined });
    ours.git('mv', 'a/ostiary.yaml', 'ostiary.yaml');
    expect(await lastApplied(ours)).toMatchObject({ commit });
    expect(await lastApplied(ours, '', 'other')).toMatchObject({ commit: undefined });
  });
});

describe('pushApplied', () => {
  it('runs no hook of this clone, and reports a hook of origin that refuses', async () => {
    const { ours, origin } = pair();
    ours.write({ '.git/hooks/pre-push': '#!/bin/sh\nexit 1\n' });
    ours.makeExecutable('.git/hooks/pre-push');
    await record(ours);
    origin.write({ 'hooks/pre-receive': '#!/bin/sh\necho "not you" >&2\nexit 1\n' });
    origin.makeExecutable('hooks/pre-receive');
    const commit = ours.save({ 'x.yaml': '' });
    const expected = origin.git('rev-parse', appliedRef('prod'));
    const failure = await pushAppliedRef(await ours.open(), 'prod', { id: commit, expected });
    expect(failure).toMatchObject({ code: 'git/failed', message: expect.stringContaining('pre-receive hook declined') });
    expect((await readAppliedRefs(await ours.open())).origin.get('prod')?.id).not.toBe(commit);
  });

  it('does not overwrite a record that another clone made in the meantime', async () => {
    const { ours, origin, theirs } = pair();
    await record(ours);
    theirs.save({ 'x.yaml': '' });
    await lastApplied(theirs);
    const second = await record(theirs);
    const third = ours.save({ 'y.yaml': '' });
    const expected = ours.git('rev-parse', 'refs/ostiary/origin/prod');
    expect(await pushAppliedRef(await ours.open(), 'prod', { id: third, expected })).toMatchObject({ code: 'git/locked' });
    expect(origin.git('rev-parse', appliedRef('prod'))).toBe(second);
  });
});
