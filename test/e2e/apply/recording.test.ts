import { renameSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { useRepositories } from '../../support/repository.ts';
import { withLease } from '../../../src/project/record/record-lease.ts';
import { applied, codes, files, planBase, record, recorderAt } from '../plan/plan-base.ts';
import { connection, guardrail } from '../project.ts';

const { make, makeOrigin, clone } = useRepositories();

describe('recording', () => {
  // security: apply-token
  it('requires the manifests of HEAD, whatever else changed', async () => {
    const { repository, commit } = await applied(make);
    repository.write({ 'README.md': 'changed', 'access/notes.txt': 'new' });
    expect(codes(await record(repository))).toStrictEqual(['notice git/applied-recorded']);
    for (const change of [
      { 'access/a.yaml': connection('a', { reviewers: ['x'] }) },
      { 'access/new.yaml': guardrail('new') },
      { '.gitignore': 'access/x.yaml', 'access/x.yaml': guardrail('x') },
    ]) {
      repository.write(change);
      expect(codes(await record(repository))).toStrictEqual(['warning git/applied-not-recorded']);
      repository.git('clean', '-fdxq');
      repository.git('checkout', '--quiet', '.');
    }
    repository.git('update-index', '--assume-unchanged', 'access/a.yaml');
    repository.write({ 'access/a.yaml': connection('a', { reviewers: ['x'] }) });
    expect(codes(await record(repository))).toStrictEqual(['warning git/applied-not-recorded']);
    expect((await planBase(repository)).base?.commit).toBe(commit);
  });

  it('is not complete after an apply of a selection, which is not called unfinished', async () => {
    const { repository } = await applied(make);
    const writes = { objects: [{ id: 'Connection/a', ours: false, uid: 'uid-a' }], edges: [] } as const;
    const recorder = await recorderAt(repository, 'one', () => new Date(0));
    await recorder.begin(writes);
    const messageOf = async (): Promise<string | undefined> =>
      (await planBase(repository)).diagnostics.find(({ code }) => code === 'git/unfinished-apply')?.message;
    expect(await messageOf()).toMatch(/^the apply of [0-9a-f]{10} has not finished .*; the next apply finishes it$/);
    const changed = repository.save({ 'access/a.yaml': connection('a', { reviewers: ['x'] }) });
    const other = await recorderAt(repository, 'one', () => new Date(0));
    await other.begin(writes);
    await other.end({ complete: false, orphans: [], writes, deleted: new Set() });
    expect(await messageOf()).toMatch(new RegExp(`^only a part of ${changed.slice(0, 10)} is applied .*; the next apply of everything`));
  });

  it('pushes the record to origin for other clones; a rejection is a warning and the local record stays', async () => {
    const repository = make(files);
    const origin = makeOrigin(repository);
    const [recorded] = await record(repository);
    expect(recorded?.message).toContain('here and on origin');
    expect((await planBase(clone(origin, '--depth=1'))).base?.commit).toBe(repository.git('rev-parse', 'HEAD'));
    const next = repository.save({ 'access/c.yaml': connection('c') });
    repository.git('push', '--quiet', 'origin', 'main');
    origin.write({ 'hooks/pre-receive': '#!/bin/sh\nexit 1\n' });
    origin.makeExecutable('hooks/pre-receive');
    const [refused] = await record(repository);
    expect(refused).toMatchObject({
      code: 'git/applied-not-recorded',
      severity: 'warning',
      message: expect.stringContaining('pre-receive hook declined'),
    });
    expect((await planBase(repository)).base?.commit).toBe(next);
  });
});

describe('the lease of an apply', () => {
  const minute = 60_000;
  const writes = { objects: [{ id: 'Connection/a' as const, ours: true }], edges: [] };
  const complete = { complete: true, orphans: [], writes, deleted: new Set<never>() };

  it('is renewed by a timer, and no renewal follows the end', async () => {
    const ours = make(files);
    const lengths: number[] = [];
    const recorder = await recorderAt(ours, 'run', () => new Date(0));
    const renew = async (): Promise<void> => void lengths.push(lengths.length);
    const work = async (): Promise<string> => {
      await expect.poll(() => lengths.length).toBeGreaterThan(1);
      return 'done';
    };
    expect(await withLease({ ...recorder, renew }, work, 10)).toBe('done');
    const count = lengths.length;
    await setTimeout(50);
    expect(lengths).toHaveLength(count);
  });

  it('stops writing when it is past and origin cannot be reached, not before', async () => {
    const ours = make(files);
    const origin = makeOrigin(ours);
    let now = 0;
    const recorder = await recorderAt(ours, 'other-machine:1:a', () => new Date(now));
    await recorder.begin(writes);
    const moved = `${origin.folder}-moved`;
    renameSync(origin.folder, moved);
    now = 9 * minute;
    await recorder.renew();
    expect(await recorder.leaseLoss()).toBeUndefined();
    now = 11 * minute;
    expect(await recorder.leaseLoss()).toMatchObject({ code: 'apply/lease-lost', message: expect.stringContaining('cannot be renewed') });
    renameSync(moved, origin.folder);
    expect(await recorder.leaseLoss()).toBeUndefined();
    expect(codes(await recorder.end(complete))).toStrictEqual(['notice git/applied-recorded']);
  });
});
