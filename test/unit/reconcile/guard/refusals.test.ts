import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../../src/model/config.ts';
import type { Action, Change } from '../../../../src/model/plan/plan.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { type LimitMeasure, limitRefusals } from '../../../../src/reconcile/guard/refusals.ts';

function changes(count: number, action: Action = 'update'): readonly Change[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `Connection/${index}`,
    action,
    fields: [],
    needs: [],
    carried: [],
  }));
}

const guarded = new Set(['Connection']);

function measure(given: Partial<LimitMeasure>): LimitMeasure {
  const losses = { connections: 0, losing: new Set<ResourceId>(), guarded };
  return { ours: 10, resumed: [], limits: defaultLimits, allowed: [], losses, adopts: new Set(), formerOf: () => undefined, ...given };
}

describe('refusalsOf', () => {
  it('measures deletes and lost protections like updates, each by its own share', () => {
    const losing = new Set(['Connection/a', 'Connection/b'] as const);
    const limits = { ...defaultLimits, deletes: 0.2, protections: 0.1 };
    const codes = (count: number, connections: number): readonly string[] =>
      limitRefusals(changes(count, 'delete'), [], measure({ limits, losses: { connections, losing, guarded } })).refusals.map(
        ({ code }) => code,
      );
    expect(codes(3, 10)).toEqual(['plan/too-many-deletes', 'plan/too-many-lose-protection']);
    expect(codes(2, 20)).toEqual([]);
  });

  it('refuses unrequested imports, which no option can allow', () => {
    const [adoption] = changes(1).map((change) => ({ ...change, adoption: true as const }));
    const found = (given: Partial<LimitMeasure>): readonly string[] =>
      limitRefusals(adoption === undefined ? [] : [adoption], [], measure(given)).refusals.map(
        ({ code, resource }) => `${code} ${resource}`,
      );
    expect(found({ allowed: [{ code: 'plan/adoption', reason: 'no' }] })).toEqual(['plan/adoption Connection/0']);
    expect(found({ adopts: new Set(['Connection/0']) })).toEqual([]);
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
    const { refusals, used } = limitRefusals(changes(count), [], measure({ ours, limits }));
    expect(refusals.map(({ code }) => code)).toEqual(trips ? ['plan/too-many-updates'] : []);
    expect(used).toEqual([]);
  });

  it.each<Action>(['create', 'blocked', 'delete', 'rename'])('counts no %s as an update', (action) => {
    expect(limitRefusals(changes(10, action), [], measure({ ours: action === 'delete' ? 100 : 10 })).refusals).toEqual([]);
  });

  it('prints the share as a percentage, and passes allowed refusals', () => {
    const limits = { ...defaultLimits, updates: 0.125 };
    const allowed = [
      { code: 'plan/too-many-updates', reason: 'CHG-1' },
      { code: 'plan/window', reason: 'not asked for' },
    ];
    const [refusal] = limitRefusals(changes(2), [], measure({ limits })).refusals;
    expect(refusal?.message).toBe('2 of 10 live objects would be updated, more than the limit of 12.5 %');
    expect(limitRefusals(changes(2), [], measure({ limits, allowed }))).toEqual({ refusals: [], used: [allowed[0]] });
  });
});
