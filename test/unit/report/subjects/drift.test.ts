import { expect, test } from 'vitest';
import type { AuditedWrite } from '../../../../src/model/result/drift.ts';
import { driftedObjects } from '../../../../src/report/subjects/drift.ts';
import { samplePlan } from '../sample-plan.ts';

function write(hour: number, by: string): AuditedWrite {
  return {
    at: `2026-11-20T0${hour}:12:00Z`,
    by,
    own: false,
    from: '',
    method: 'PUT',
    path: '/x',
    kind: 'Connection',
    names: [],
  };
}

test('the writers of an object are listed newest first, with the number of further ones', () => {
  const plan = samplePlan();
  const [change] = plan.changes;
  if (change === undefined) throw new Error('the sample has changes');
  const writes = new Map([[change.id, [write(1, 'ada'), write(5, ''), write(3, 'cy'), write(4, 'dee'), write(2, 'eve')]]]);
  const drift = {
    plan: { ...plan, changes: [change], edges: [] },
    pending: 0,
    unfinished: 0,
    protection: { headlines: [], connections: [], losing: [] },
    writes,
  };
  expect(driftedObjects(drift).map(({ writers }) => writers)).toStrictEqual([
    [
      'by an unknown user, 2026-11-20 05:12 UTC (PUT /x)',
      'by dee, 2026-11-20 04:12 UTC (PUT /x)',
      'by cy, 2026-11-20 03:12 UTC (PUT /x)',
      'and 2 more',
    ],
  ]);
});
