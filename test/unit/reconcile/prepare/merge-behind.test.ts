import { expect, test } from 'vitest';
import type { DesiredState } from '../../../../src/model/desired.ts';
import { mergeBehind } from '../../../../src/reconcile/prepare/base-states.ts';
import { accessTestText } from '../../../support/access-test.ts';
import { loadText, policyText, someConnection } from '../../../support/policies.ts';

function load(...documents: readonly string[]): DesiredState {
  const { value, diagnostics } = loadText([someConnection, ...documents].join('---\n'));
  if (value === undefined) throw new Error(JSON.stringify(diagnostics));
  return value;
}

const [loose = '', strict = ''] = ['    - "true"', '    - "1 == 1"'].map((require) => policyText(require));
const [denied = '', allowed = ''] = ['denied', 'allowed'].map((expected) =>
  accessTestText('t', [{ group: 'dev', on: 'orders', expect: expected }]),
);

/** What a branch checks after the merge, and what it is behind by. */
function merged(branch: DesiredState, fork: DesiredState, applied: DesiredState): readonly (readonly string[])[] {
  const { desired, behind } = mergeBehind(branch, fork, applied);
  const expected = (desired.accessTests ?? []).flatMap(({ expectations }) =>
    expectations.map((one) => (one.expect === 'denied' ? 'denied' : 'allowed')),
  );
  return [(desired.policies ?? []).flatMap((one) => one.require.map(({ expression }) => expression)), expected, behind];
}

test('policies and access tests that were applied since a branch started are its own, and none of them is removed', () => {
  const applied = load(strict, denied);
  expect(merged(load(), load(), applied)).toEqual([['1 == 1'], ['denied'], ['AccessTest/t', 'Policy/p']]);
  expect(merged(load(loose, allowed), load(loose, allowed), applied)).toEqual([['1 == 1'], ['denied'], ['AccessTest/t', 'Policy/p']]);
  expect(merged(applied, applied, load())).toEqual([[], [], ['AccessTest/t', 'Policy/p']]);
});

function sending(host: string): DesiredState {
  const { value } = loadText(`${someConnection}  secret: { "envvar:HOST": { value: ${host} } }\n`);
  if (value === undefined) throw new Error(host);
  return value;
}

test('a value in a manifest that was applied since a branch started is that of the branch', () => {
  const [fork, applied] = [sending('one'), sending('two')];
  expect(mergeBehind(sending('one'), fork, applied)).toMatchObject({
    behind: ['Connection/orders'],
    desired: { resources: applied.resources },
  });
});

test('what a branch changes itself of policies and access tests stays', () => {
  const applied = load(strict, denied);
  expect(merged(load(), applied, applied)).toEqual([[], [], []]);
  expect(merged(load(loose, allowed), load(), applied)).toEqual([['true'], ['allowed'], []]);
});
