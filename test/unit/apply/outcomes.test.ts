import { describe, expect, it } from 'vitest';
import { isSuccess, outcomeOf, type StepResult } from '../../../src/apply/outcomes.ts';
import type { OutcomeStatus } from '../../../src/model/outcome.ts';
import type { Change } from '../../../src/model/plan.ts';

const change: Change = { id: 'GuardrailRule/a', action: 'update', fields: [], needs: [], reasons: [], carried: [] };
const results = (...statuses: readonly OutcomeStatus[]): readonly StepResult[] =>
  statuses.map((status, index) => ({ status, message: `${index}` }));

describe('outcomeOf', () => {
  it.each<[readonly OutcomeStatus[], OutcomeStatus, string]>([
    [['done'], 'done', '0'],
    [['already', 'done'], 'done', '1'],
    [['already', 'already'], 'already', '0'],
    [['done', 'skipped'], 'skipped', '1'],
    [['interrupted', 'skipped'], 'interrupted', '0'],
    [['skipped', 'failed', 'failed'], 'failed', '1'],
  ])('takes the worst of %j', (statuses, status, message) => {
    expect(outcomeOf(change, results(...statuses))).toEqual({ id: 'GuardrailRule/a', action: 'update', status, message });
  });

  it.each([
    [{ managedBy: 'platform' }, 'managed by platform'],
    [{}, 'managed by somebody else'],
  ])('tells who blocks a change', (manager, message) => {
    expect(outcomeOf({ ...change, action: 'blocked', ...manager }, [])).toMatchObject({ status: 'blocked', code: 'plan/managed', message });
  });
});

describe('isSuccess', () => {
  it.each<[OutcomeStatus | undefined, boolean]>([
    ['done', true],
    ['already', true],
    ['failed', false],
    ['skipped', false],
    ['interrupted', false],
    [undefined, false],
  ])('of %s', (status, expected) => {
    expect(isSuccess(status === undefined ? undefined : { status })).toBe(expected);
  });
});
