import { describe, expect, it } from 'vitest';
import { countsByStatus, isSuccess, outcomeOf, type ExecutedStep } from '../../../src/apply/apply.ts';
import type { OutcomeStatus } from '../../../src/model/result/outcome.ts';
import type { Change } from '../../../src/model/plan/plan.ts';

const change: Change = { id: 'GuardrailRule/a', action: 'update', fields: [], needs: [], reasons: [], carried: [] };
const results = (...statuses: readonly OutcomeStatus[]): readonly ExecutedStep[] =>
  statuses.map((status, index) => ({ part: 'whole', result: { status, message: `${index}` } }));

describe('outcomeOf', () => {
  it.each<[readonly OutcomeStatus[], OutcomeStatus, string]>([
    [['done'], 'done', '0'],
    [['already', 'done'], 'done', '1'],
    [['already', 'already'], 'already', '0'],
    [['interrupted', 'skipped'], 'interrupted', '0'],
    [['skipped', 'failed', 'failed'], 'failed', '1'],
  ])('takes the worst of %j', (statuses, status, message) => {
    expect(outcomeOf(change, results(...statuses))).toEqual({ id: 'GuardrailRule/a', action: 'update', status, message });
  });

  it.each<[ExecutedStep['part'], OutcomeStatus, OutcomeStatus, string]>([
    ['closed', 'done', 'interrupted', 'created, still closed: interrupted before opening'],
    ['closed', 'done', 'skipped', 'created, still closed: why'],
    ['closed', 'done', 'failed', 'created closed, opening failed: why'],
    ['closed', 'already', 'interrupted', 'already exists, may still be closed: interrupted before opening'],
    ['gain', 'done', 'interrupted', 'first of two writes done, second not started: interrupted'],
    ['gain', 'done', 'skipped', 'first of two writes done, second not started: why'],
    ['gain', 'already', 'failed', 'first of two writes done, second failed: why'],
  ])('describes the effect of a %s write that is %s when the last one is %s', (part, first, status, message) => {
    const last = { part: part === 'closed' ? 'open' : 'whole', result: { status, message: 'why' } } as const;
    const outcome = outcomeOf(change, [{ part, result: { status: first } }, last]);
    expect(outcome).toEqual({ id: 'GuardrailRule/a', action: 'update', status, begun: true, message });
  });

  it.each([
    [{ managedBy: 'platform' }, 'managed by platform'],
    [{}, 'managed by another manager'],
  ])('names the manager that blocks a change', (manager, message) => {
    expect(outcomeOf({ ...change, action: 'blocked', ...manager }, [])).toMatchObject({ status: 'blocked', code: 'plan/managed', message });
  });
});

describe('countsByStatus', () => {
  it('counts every status', () => {
    const outcomes = (['done', 'failed', 'done'] as const).map((status) => ({ id: change.id, action: change.action, status }));
    expect(countsByStatus(outcomes)).toEqual({ done: 2, already: 0, failed: 1, skipped: 0, blocked: 0, held: 0, interrupted: 0 });
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
