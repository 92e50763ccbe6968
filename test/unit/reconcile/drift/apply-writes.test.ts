import { expect, test } from 'vitest';
import type { AuditedWrite } from '../../../../src/model/result/drift.ts';
import { withoutApplyWrites, type ApplyRecordOfWrites } from '../../../../src/reconcile/drift/find-writers.ts';

function writeOf(at: string, by = 'ci', names: readonly string[] = ['a']): AuditedWrite {
  return { at, by, own: by === 'ci', from: '', method: 'PUT', path: '', kind: 'Connection', names };
}

const day = '2026-11-20T';
const ended: ApplyRecordOfWrites = {
  pending: [],
  applies: [
    { principal: 'ci', after: `${day}10:00:00.5Z`, until: `${day}10:00:09Z` },
    { principal: 'ada', after: `${day}11:00:00Z`, until: `${day}11:00:09.123456Z` },
  ],
};
const interrupted: ApplyRecordOfWrites = {
  applies: [{ principal: 'ci', after: '' }],
  pending: [{ objects: [{ id: 'Connection/a', uid: 'uid-a', ours: false }], edges: [] }],
  lease: { run: 'x', until: `${day}10:15:00.000Z` },
};

test.each<[string, ApplyRecordOfWrites | undefined, AuditedWrite, 'apply' | 'own' | 'other']>([
  ['in the apply', ended, writeOf(`${day}10:00:00.501Z`), 'apply'],
  ['at its end', ended, writeOf(`${day}10:00:09.000Z`), 'apply'],
  ['just after it', ended, writeOf(`${day}10:00:09.000000001Z`), 'other'],
  ['of the newest entry before it', ended, writeOf(`${day}10:00:00.500Z`), 'own'],
  ['before all recorded applies', ended, writeOf(`${day}09:00:00Z`), 'own'],
  ['by another caller at that time', ended, writeOf(`${day}10:00:05Z`, 'ada'), 'other'],
  ['in a later apply with another key', ended, writeOf(`${day}11:00:09.12Z`, 'ada'), 'apply'],
  ['of the second, by the first caller', ended, writeOf(`${day}11:00:05Z`), 'other'],
  ['a killed apply, an object that it was about to write', interrupted, writeOf(`${day}10:05:00Z`), 'apply'],
  ['the same by its gateway id', interrupted, writeOf(`${day}10:05:00Z`, 'ci', ['uid-a']), 'apply'],
  ['a killed apply, another object', interrupted, writeOf(`${day}10:05:00Z`, 'ci', ['b']), 'other'],
  ['a killed apply, after its lease', interrupted, writeOf(`${day}10:16:00Z`), 'other'],
  ['a killed apply, another caller', interrupted, writeOf(`${day}10:05:00Z`, 'ada'), 'other'],
  ['no record', undefined, writeOf(`${day}10:05:00Z`), 'own'],
  ['no recorded apply', { pending: [] }, writeOf(`${day}10:05:00Z`), 'own'],
])('a write %s', (_, record, write, expected) => {
  const listed = withoutApplyWrites([write], record).get(write);
  expect(listed === undefined ? 'apply' : listed.own ? 'own' : 'other').toBe(expected);
});
