import { expect, test } from 'vitest';
import { comparePostures, wayOfDifference } from '../../../src/protection/compare.ts';
import { postureOfNothing, type Part, type Posture } from '../../../src/protection/posture.ts';

const counted: Part = { name: 'DOC /E[0-9]+/', form: 'pattern', of: 'DOC', limit: 0.2 };
const uncounted: Part = { ...counted, limit: 0, own: true };

function masking(...parts: readonly Part[]): Posture {
  return { ...postureOfNothing, parts: { masking: parts } };
}

function way(before: Posture, after: Posture): readonly string[] {
  return comparePostures(before, after).map(wayOfDifference);
}

test('a second rule that masks the same from another score never protects less, and nobody knows what its going takes', () => {
  expect(way(masking(uncounted), masking(uncounted, counted))).toEqual(['strengthens']);
  expect(way(masking(counted), masking(uncounted, counted))).toEqual(['strengthens']);
  expect(way(masking(uncounted, counted), masking(uncounted))).toEqual(['unknown']);
  expect(way(masking(uncounted, counted), masking(counted))).toEqual(['unknown']);
  expect(way(masking(uncounted), masking(counted))).toEqual(['unknown']);
});
