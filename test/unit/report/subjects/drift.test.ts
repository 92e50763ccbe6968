import { expect, test } from 'vitest';
import type { AuditedWrite } from '../../../../src/model/result/drift.ts';
import { driftDocument, driftedObjects } from '../../../../src/report/subjects/drift.ts';
import type { OutsideAccess } from '../../../../src/model/protection/outside-access.ts';
import type { Headline } from '../../../../src/model/protection/protection.ts';
import { verdictText } from '../../../../src/report/wording/summary.ts';
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

function headline(direction: Headline['direction'], name: string): Headline {
  return { direction, text: '', connections: [`Connection/${name}`], tags: {}, causes: [] };
}

const outside: OutsideAccess = {
  changes: ['nightly', 'hourly'].map((name) => ({ list: 'runbook-rules', name, happened: 'deleted', fields: [] })),
  headlines: [headline('weakens', 'b')],
  unreadable: [],
  unrecorded: [],
};

test.each<readonly [string, boolean, OutsideAccess | undefined, readonly Headline[], string]>([
  [
    'beside drift that is harmless',
    true,
    outside,
    [headline('strengthens', 'a')],
    ': Weakens protection of 1 connection. 1 object and 2 objects that no manifest declares changed outside Ostiary.',
  ],
  ['alone', false, outside, [], ': Weakens protection of 1 connection. 2 objects that no manifest declares changed outside Ostiary.'],
  ['without an effect', false, { ...outside, headlines: [] }, [], ': 2 objects that no manifest declares changed outside Ostiary.'],
  ['not at all', false, undefined, [], '.'],
])('the first line counts what changed in no manifest: %s', (_, isDrifted, found, headlines, expected) => {
  const { outside: __, ...plan } = samplePlan();
  const drift = {
    plan: {
      ...plan,
      changes: isDrifted ? plan.changes.slice(0, 1) : [],
      edges: [],
      orphans: [],
      notCompared: [],
      ...(found === undefined ? {} : { outside: found }),
    },
    pending: 0,
    unfinished: 0,
    protection: { headlines, connections: [], losing: [] },
  };
  const [section] = driftDocument([drift]).sections();
  expect(section?.verdict && verdictText(section.verdict).replace(/^.*rift on [^:.]*/, '')).toBe(expected);
});
