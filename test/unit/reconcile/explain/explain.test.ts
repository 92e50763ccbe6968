import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { desiredOf, liveOf, stateOf, wantedOf } from '../../../support/resources.ts';
import { planOf } from '../../../support/run-pipeline.ts';
import { explainCase, id, rowOf, type Case } from './explain-fixtures.ts';

describe('the summary', () => {
  const plain = planOf(wantedOf([]), stateOf(liveOf(id)));
  const blocked: Plan = {
    ...plain,
    changes: [{ id, action: 'blocked', fields: [], needs: [], reasons: ['managed'], carried: [], risks: [] }],
  };

  it.each<[string, Case, string]>([
    ['unmanaged', { live: liveOf(id) }, 'unmanaged: it exists on the gateway, and no manifest declares it; Ostiary does not change it'],
    [
      'managed',
      { live: liveOf(id, { managedBy: 'platform' }) },
      'managed by platform: it exists on the gateway, and no manifest declares it; Ostiary does not change it',
    ],
    [
      'not selected',
      { live: liveOf(id), plan: { ...plain, unmanaged: [] } },
      'its manifest is not selected, so this run does not change it',
    ],
    ['new', { desired: desiredOf(id) }, 'it is not live: apply creates it'],
    ['the same', { desired: desiredOf(id), live: liveOf(id) }, 'no change: the gateway matches the manifest'],
    ['different', { desired: desiredOf(id, { spec: { reviewers: ['dba'] } }), live: liveOf(id) }, 'apply updates it: differs'],
    [
      'blocked',
      { desired: desiredOf(id, { spec: { reviewers: ['dba'] } }), live: liveOf(id, { managedBy: 'platform' }) },
      'blocked: it is managed by platform, so Ostiary never writes it',
    ],
    [
      'blocked without a known manager',
      { desired: desiredOf(id), live: liveOf(id), plan: blocked },
      'blocked: it is managed by another manager, so Ostiary never writes it',
    ],
  ])('of what is %s', (_, given, expected) => {
    expect(explainCase(given).summary).toBe(expected);
  });

  it('has the position of the manifest, if any, and a row for every field', () => {
    expect(explainCase({ desired: desiredOf(id), live: liveOf(id) })).toMatchObject({ id, at: { file: 'access' } });
    expect(explainCase({ live: liveOf(id) })).not.toHaveProperty('at');
    expect(explainCase({ desired: desiredOf(id), live: liveOf(id) }).rows.length).toBeGreaterThan(10);
  });
});

describe('a field', () => {
  const reviewers = { spec: { reviewers: ['dba'] } };

  it.each<[string, Case, string, string, string]>([
    ['no manifest declares', { live: liveOf(id, reviewers) }, 'kept', 'no manifest declares the object', 'live'],
    [
      'the token cannot read',
      { desired: desiredOf(id, reviewers), live: liveOf(id, { unknown: ['/reviewers'] }) },
      'not compared',
      'this token may not read it',
      'desired at',
    ],
    [
      'is ignored',
      { desired: desiredOf(id, { ...reviewers, ignore: ['/reviewers'] }), live: liveOf(id, reviewers) },
      'ignored',
      'metadata.ignore excludes it: not compared, kept by every write',
      'desired live at',
    ],
    ['is omitted and kept', { desired: desiredOf(id), live: liveOf(id, reviewers) }, 'kept', 'omitted: apply keeps the live value', 'live'],
    [
      'is stated and the same',
      { desired: desiredOf(id, reviewers), live: liveOf(id, reviewers) },
      'same',
      'declared in the manifest',
      'desired live at',
    ],
    ['is stated and differs', { desired: desiredOf(id, reviewers), live: liveOf(id) }, 'differs', 'declared in the manifest', 'desired at'],
    [
      'is ignored in part',
      { desired: desiredOf(id, { ...reviewers, ignore: ['/reviewers/sre'] }), live: liveOf(id) },
      'differs',
      'declared in the manifest; metadata.ignore excludes parts of it',
      'desired at',
    ],
    [
      'is omitted',
      { desired: desiredOf(id, { spec: { reviewers: [] }, stated: new Set() }), live: liveOf(id, reviewers) },
      'differs',
      'omitted: the desired value is empty, because manifests are complete',
      'desired live',
    ],
  ])('that %s', (_, given, status, why, sides) => {
    expect(rowOf({ ...given, field: 'reviewers' })).toEqual({ status, why, sides });
  });

  it.each<[string, Case, string, string]>([
    [
      'follows from others',
      {
        desired: desiredOf(id, { spec: { command: ['psql'] }, stated: new Set() }),
        live: liveOf(id, { spec: { command: ['psql'] } }),
        field: 'command',
      },
      'derived',
      'omitted: derived from other fields',
    ],
    [
      'follows and is empty',
      { desired: desiredOf(id, { spec: { redact_enabled: false }, stated: new Set() }), live: liveOf(id), field: 'redact_enabled' },
      'same',
      'omitted: derived from other fields',
    ],
    [
      'follows, yet is stated',
      { desired: desiredOf(id, { spec: { command: ['psql'] } }), live: liveOf(id, { spec: { command: ['psql'] } }), field: 'command' },
      'same',
      'declared in the manifest',
    ],
  ])('that %s', (_, given, status, why) => {
    expect(rowOf(given)).toMatchObject({ status, why });
  });
});
