import { expect, test } from 'vitest';
import { compareProtection, differenceVerdict } from '../../../src/protection/controls/compare-protection.ts';
import { emptyPosture, type Posture } from '../../../src/protection/controls/control-row.ts';

function named(names: readonly string[]): readonly { readonly name: string }[] {
  return names.map((name) => ({ name }));
}

function verdicts(before: Posture, after: Posture): readonly string[] {
  return compareProtection(before, after)
    .map((difference) => `${difference.control} ${differenceVerdict(difference)}`)
    .toSorted();
}

function posture(rules: readonly string[], reviewers: readonly string[] = []): Posture {
  return { ...emptyPosture, controls: { requests: named(rules), review: named(reviewers) }, approvals: reviewers.length };
}

/** The groups of a rule may approve instead of the reviewers, so a rule beside reviewers is not surely stricter. */
test.each([
  ['the first rule without reviewers', posture([]), posture(['r']), ['requests strengthens'], ['requests weakens']],
  ['the first rule beside reviewers', posture([], ['a']), posture(['r'], ['a']), ['requests unknown'], ['requests weakens']],
  ['one more rule beside reviewers', posture(['r'], ['a']), posture(['r', 's'], ['a']), ['requests unknown'], ['requests unknown']],
  ['one more rule without reviewers, which may govern', posture(['r']), posture(['r', 's']), ['requests unknown'], ['requests unknown']],
  ['one rule for another', posture(['strict']), posture(['weak']), ['requests unknown'], ['requests unknown']],
  [
    'a rule in place of reviewers',
    posture([], ['a']),
    posture(['r']),
    ['requests unknown', 'review weakens'],
    ['requests weakens', 'review strengthens'],
  ],
])('access-request rules: %s', (_, first, second, there, back) => {
  expect(verdicts(first, second)).toEqual(there);
  expect(verdicts(second, first)).toEqual(back);
});

test('the loss of the last rule beside reviewers is no pure loss, so drift that added it is not held', () => {
  const [difference] = compareProtection(posture(['r'], ['a']), posture([], ['a']));
  expect(difference?.incomparable).toEqual(difference?.lost);
});
