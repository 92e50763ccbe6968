import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../../src/model/config.ts';
import type { Action, Change } from '../../../../src/model/plan/plan.ts';
import { type LimitMeasure, massChanges, sortRefusals, unconfirmedImports } from '../../../../src/reconcile/guard/refusals.ts';
import { desiredOf, wantedOf } from '../../../support/resources.ts';

function changes(count: number, action: Action = 'update'): readonly Change[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `Connection/${index}`,
    action,
    fields: [],
    needs: [],
    carried: [],
  }));
}

function measure(given: Partial<LimitMeasure>): LimitMeasure {
  const none = { live: 10, settled: 10 };
  return { objects: none, connections: none, losing: 0, limits: defaultLimits, ...given };
}

describe('refusals', () => {
  it('measures deletes and lost protections like updates, each by its own share', () => {
    const limits = { ...defaultLimits, deletes: 0.2, protections: 0.1 };
    const codes = (count: number, live: number): readonly string[] =>
      massChanges(changes(count, 'delete'), measure({ limits, connections: { live, settled: live }, losing: 2 })).map(({ code }) => code);
    expect(codes(3, 10)).toEqual(['plan/too-many-deletes', 'plan/too-many-lose-protection']);
    expect(codes(2, 20)).toEqual([]);
  });

  it('refuses unrequested imports, which no option can allow', () => {
    const imported = changes(1).map((change) => ({ ...change, adoption: true as const }));
    const found = (imports: readonly string[], adopt = false): readonly string[] =>
      sortRefusals(unconfirmedImports(imported, wantedOf([desiredOf('Connection/0', { adopt })]), imports), [
        { code: 'plan/adoption', reason: 'no' },
      ]).refusals.map(({ code, resource }) => `${code} ${resource}`);
    expect(found([])).toEqual(['plan/adoption Connection/0']);
    expect(found(['Connection/0'])).toEqual([]);
    expect(found([], true)).toEqual([]);
  });

  it.each([
    ['fewer than ten', 9, 9, defaultLimits, false],
    ['ten, exactly the share', 10, 3, defaultLimits, false],
    ['ten, one more', 10, 4, defaultLimits, true],
    ['a share that no float holds', 100, 29, { ...defaultLimits, updates: 0.29 }, false],
    ['that share and one more', 100, 30, { ...defaultLimits, updates: 0.29 }, true],
    ['no share at all', 100, 1, { ...defaultLimits, updates: 0 }, true],
    ['nothing of nothing', 0, 0, { ...defaultLimits, from: 0 }, false],
  ])('measures %s', (_, ours, count, limits, trips) => {
    const refusals = massChanges(changes(count), measure({ objects: { live: ours, settled: ours }, limits }));
    expect(refusals.map(({ code }) => code)).toEqual(trips ? ['plan/too-many-updates'] : []);
  });

  it.each<Action>(['create', 'blocked', 'delete', 'rename'])('counts no %s as an update', (action) => {
    const live = action === 'delete' ? 100 : 10;
    expect(massChanges(changes(10, action), measure({ objects: { live, settled: live } }))).toEqual([]);
  });

  it('prints the share as a percentage, and passes allowed refusals', () => {
    const limits = { ...defaultLimits, updates: 0.125 };
    const allowed = [
      { code: 'plan/too-many-updates', reason: 'CHG-1' },
      { code: 'plan/window', reason: 'not asked for' },
    ];
    const refusals = massChanges(changes(2), measure({ limits }));
    expect(refusals[0]?.message).toBe('2 of 10 live objects would be updated, more than the limit of 12.5 %');
    expect(sortRefusals(refusals, allowed)).toEqual({ refusals: [], used: [allowed[0]] });
  });
});
