import { describe, expect, it } from 'vitest';
import { desiredOf, liveOf } from '../../../support/resources.ts';
import { explainCase, id, rowOf, type Case } from './explain-fixtures.ts';

describe('the summary', () => {
  it.each<[string, Case, string]>([
    ['unmanaged', { live: liveOf(id) }, 'unmanaged: '],
    ['managed', { live: liveOf(id, { managedBy: 'platform' }) }, 'managed by platform: '],
    ['new', { desired: desiredOf(id) }, 'it is not live: '],
    ['the same', { desired: desiredOf(id), live: liveOf(id) }, 'no change: '],
    [
      'blocked',
      { desired: desiredOf(id, { spec: { reviewers: ['dba'] } }), live: liveOf(id, { managedBy: 'platform' }) },
      'blocked: it is managed by platform, ',
    ],
  ])('of what is %s', (_, given, expected) => {
    expect(explainCase(given).summary.slice(0, expected.length)).toBe(expected);
  });

  it('has the position of the manifest, if any, and a row for every field', () => {
    expect(explainCase({ desired: desiredOf(id), live: liveOf(id) })).toMatchObject({ id, at: { file: 'access' } });
    expect(explainCase({ live: liveOf(id) })).not.toHaveProperty('at');
    expect(explainCase({ desired: desiredOf(id), live: liveOf(id) }).rows.length).toBeGreaterThan(10);
  });
});

describe('a field', () => {
  const reviewers = { spec: { reviewers: ['dba'] } };

  it.each<[string, Case, string]>([
    ['no manifest declares', { live: liveOf(id, reviewers) }, 'kept'],
    ['the token cannot read', { desired: desiredOf(id, reviewers), live: liveOf(id, { unknown: ['/reviewers'] }) }, 'not compared'],
    ['is ignored', { desired: desiredOf(id, { ...reviewers, ignore: ['/reviewers'] }), live: liveOf(id, reviewers) }, 'ignored'],
    ['is omitted and kept', { desired: desiredOf(id), live: liveOf(id, reviewers) }, 'kept'],
    ['is stated and the same', { desired: desiredOf(id, reviewers), live: liveOf(id, reviewers) }, 'same'],
    ['is stated and differs', { desired: desiredOf(id, reviewers), live: liveOf(id) }, 'differs'],
    ['is ignored in part', { desired: desiredOf(id, { ...reviewers, ignore: ['/reviewers/sre'] }), live: liveOf(id) }, 'differs'],
    ['is omitted', { desired: desiredOf(id, { spec: { reviewers: [] }, stated: new Set() }), live: liveOf(id, reviewers) }, 'differs'],
  ])('that %s', (_, given, status) => {
    expect(rowOf({ ...given, field: 'reviewers' })).toMatchObject({ status });
  });

  it.each<[string, Case, string]>([
    [
      'follows from others',
      {
        desired: desiredOf(id, { spec: { command: ['psql'] }, stated: new Set() }),
        live: liveOf(id, { spec: { command: ['psql'] } }),
        field: 'command',
      },
      'derived',
    ],
    [
      'follows and is empty',
      { desired: desiredOf(id, { spec: { redact_enabled: false }, stated: new Set() }), live: liveOf(id), field: 'redact_enabled' },
      'same',
    ],
    [
      'follows, yet is stated',
      { desired: desiredOf(id, { spec: { command: ['psql'] } }), live: liveOf(id, { spec: { command: ['psql'] } }), field: 'command' },
      'same',
    ],
  ])('that %s', (_, given, status) => {
    expect(rowOf(given)).toMatchObject({ status });
  });
});
