import { expect, test } from 'vitest';
import { compareProtection } from '../../../../src/protection/controls/compare-protection.ts';
import { emptyPosture, type Control, type Posture } from '../../../../src/protection/controls/control-row.ts';

const counted: Control = { name: 'PERSON', limit: 0.2 };
const uncounted: Control = { ...counted, limit: 0, relativeToGateway: true };

function masking(...parts: readonly Control[]): Posture {
  return { ...emptyPosture, controls: { masking: parts } };
}

function direction(before: Posture, after: Posture): readonly string[] {
  return compareProtection(before, after).flatMap(({ lost, gained, coexisting, incomparable }) => [
    ...lost.map(() => 'weakens'),
    ...[...gained, ...coexisting].map(() => 'strengthens'),
    ...(incomparable.length > 0 ? ['unknown'] : []),
  ]);
}

test('a second masking rule with another score never weakens, and the effect of its removal is unknown', () => {
  expect(direction(masking(uncounted), masking(uncounted, counted))).toEqual(['strengthens']);
  expect(direction(masking(counted), masking(uncounted, counted))).toEqual(['strengthens']);
  expect(direction(masking(uncounted, counted), masking(uncounted))).toEqual(['unknown']);
  expect(direction(masking(uncounted, counted), masking(counted))).toEqual(['unknown']);
  expect(direction(masking(uncounted), masking(counted))).toEqual(['unknown']);
});
