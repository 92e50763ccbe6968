import { expect, test } from 'vitest';
import { changesSincePlan } from '../../../src/apply/fingerprint.ts';
import { connection } from '../../../src/kinds/connection.ts';
import type { Json } from '../../../src/model/json.ts';
import { liveOf } from '../../support/resources.ts';
import { changeOf, fieldOf } from '../protection/protection-fixtures.ts';

const change = changeOf('Connection/db', [
  fieldOf('/reviewers/a', undefined, 'a'),
  fieldOf('/reviewers/x', 'x', undefined),
  fieldOf('/min_review_approvals', 3, 1),
]);

test.each<[string, readonly string[], Json, readonly string[]]>([
  ['the state between the two writes', ['a', 'x'], null, []],
  ['the state before', ['x'], 3, []],
  ['another number', ['a', 'x'], 2, ['/min_review_approvals']],
])('reviewers and their number that change together: %s', (_, reviewers, needed, moved) => {
  const live = liveOf('Connection/db', { spec: { reviewers, min_review_approvals: needed } });
  expect(changesSincePlan(change, connection, live).map(({ path }) => path)).toEqual(moved);
});

test('an entry that the plan lets go of in between is only missing by itself once the plan has begun to write the object', () => {
  const restored = changeOf('Connection/db', [fieldOf('/attributes/pci', 'pci', 'pci')]);
  const [whole, without] = [['pci'], []].map((attributes) => liveOf('Connection/db', { spec: { attributes } }));
  const movedIn = (live: typeof whole, hasBegun: boolean): readonly string[] =>
    live === undefined ? [] : changesSincePlan(restored, connection, live, { hasBegun }).map(({ path }) => path);
  expect([movedIn(whole, false), movedIn(whole, true), movedIn(without, true)]).toEqual([[], [], []]);
  expect(movedIn(without, false)).toEqual(['/attributes/pci']);
});
