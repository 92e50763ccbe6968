import { expect, test } from 'vitest';
import { driftDocument } from '../../../../src/report/subjects/drift.ts';
import type { WatchedDrift } from '../../../../src/model/plan/plan.ts';
import type { Headline } from '../../../../src/model/protection/protection.ts';
import { verdictText } from '../../../../src/report/wording/phrases.ts';
import { samplePlan } from '../sample-plan.ts';

function headline(direction: Headline['direction'], name: string): Headline {
  return { direction, text: '1 connection changes', connections: [`Connection/${name}`], tags: {}, causes: [] };
}

const outside: WatchedDrift = {
  changes: ['nightly', 'hourly'].map((name) => ({ id: `RunbookRule/${name}`, happened: 'deleted', fields: [] })),
  headlines: [headline('weakens', 'b')],
  unreadable: [],
  unrecorded: [],
};

test.each<readonly [string, boolean, WatchedDrift | undefined, readonly Headline[], string]>([
  [
    'beside drift that is harmless',
    true,
    outside,
    [headline('strengthens', 'a')],
    ': b changes; a changes. 1 object and 2 objects that no manifest declares changed outside Ostiary.',
  ],
  ['alone', false, outside, [], ': b changes. 2 objects that no manifest declares changed outside Ostiary.'],
  ['without an effect', false, { ...outside, headlines: [] }, [], ': 2 objects that no manifest declares changed outside Ostiary.'],
  [
    'in what manifests leave to the gateway, too',
    false,
    { ...outside, changes: [...outside.changes, { id: 'Connection/b', happened: 'changed', fields: [] }] },
    [],
    ': b changes. 2 objects that no manifest declares and 1 connection in fields that no manifest states changed outside Ostiary.',
  ],
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
