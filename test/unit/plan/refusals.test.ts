import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../src/model/config.ts';
import type { Action, Change } from '../../../src/model/plan.ts';
import { refusalsOf } from '../../../src/plan/refusals.ts';

function changes(count: number, action: Action = 'update'): readonly Change[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `Connection/${index}`,
    action,
    fields: [],
    needs: [],
    reasons: [],
    carried: [],
  }));
}

describe('refusalsOf', () => {
  it.each([
    ['fewer than ten', 9, 9, defaultLimits, false],
    ['ten, exactly the share', 10, 3, defaultLimits, false],
    ['ten, one more', 10, 4, defaultLimits, true],
    ['a share that no float holds', 100, 29, { ...defaultLimits, updates: 0.29 }, false],
    ['that share and one more', 100, 30, { ...defaultLimits, updates: 0.29 }, true],
    ['no share at all', 100, 1, { ...defaultLimits, updates: 0 }, true],
    ['nothing of nothing', 0, 0, { ...defaultLimits, from: 0 }, false],
  ])('measures %s', (_, ours, count, limits, trips) => {
    const { refusals, used } = refusalsOf(changes(count), { ours, limits, allowed: [] });
    expect(refusals.map(({ code }) => code)).toEqual(trips ? ['plan/too-many-updates'] : []);
    expect(used).toEqual([]);
  });

  it.each<Action>(['create', 'blocked', 'delete', 'rename'])('counts no %s as an update', (action) => {
    expect(refusalsOf(changes(10, action), { ours: 10, limits: defaultLimits, allowed: [] }).refusals).toEqual([]);
  });

  it('says the share as people write it, and lets what is allowed pass', () => {
    const limits = { ...defaultLimits, updates: 0.125 };
    const allowed = [
      { code: 'plan/too-many-updates', reason: 'CHG-1' },
      { code: 'plan/window', reason: 'not asked for' },
    ];
    const [refusal] = refusalsOf(changes(2), { ours: 10, limits, allowed: [] }).refusals;
    expect(refusal?.message).toBe('2 of 10 live objects would be updated, more than 12.5 %');
    expect(refusalsOf(changes(2), { ours: 10, limits, allowed })).toEqual({ refusals: [], used: [allowed[0]] });
  });
});
