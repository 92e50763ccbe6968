import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { runCount } from '../support/property-runs.ts';
import { repositoryHistory, type HistoryEvent } from '../support/random-history.ts';

const names = { connections: ['c1', 'c2', 'c3'], rules: ['g1', 'g2'], unmanaged: ['x1', 'x2'] };
const anyName = fc.constantFrom(...names.connections, ...names.rules, ...names.unmanaged);

const applying = fc.record({
  type: fc.constant('apply' as const),
  prune: fc.boolean(),
  fault: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    {
      weight: 2,
      arbitrary: fc.record({ how: fc.constantFrom('before' as const, 'after' as const, 'killed' as const), at: fc.nat({ max: 3 }) }),
    },
  ),
});

const committing: fc.Arbitrary<HistoryEvent> = fc.oneof(
  fc.record({ type: fc.constantFrom('add' as const, 'change' as const, 'change' as const), name: anyName, variant: fc.nat({ max: 2 }) }),
  fc.record({ type: fc.constantFrom('delete' as const, 'rename' as const, 'restore' as const), name: anyName }),
  fc.record({ type: fc.constant('revert' as const), back: fc.integer({ min: 1, max: 3 }) }),
  fc.constant({ type: 'squash' as const }),
);

const outside: fc.Arbitrary<HistoryEvent> = fc.record({
  type: fc.constantFrom('created outside' as const, 'changed outside' as const, 'deleted outside' as const),
  name: anyName,
});

const events = fc.array(
  fc.oneof({ weight: 5, arbitrary: committing }, { weight: 4, arbitrary: applying }, { weight: 1, arbitrary: outside }),
  {
    minLength: 4,
    maxLength: 24,
  },
);

test('after any history of commits, applies, crashes and changes outside, the record states what is ours and live, and nothing else', async () => {
  let applies = 0;
  await fc.assert(
    fc.asyncProperty(events, async (steps) => {
      const history = repositoryHistory();
      for (const step of steps) {
        await history.play(step);
        const { recorded, ours } = await history.compare();
        expect(recorded).toEqual(ours);
      }
      applies += history.applies();
      // A last apply without faults leaves exactly the manifests of HEAD.
      await history.play({ type: 'apply', prune: true, fault: undefined });
      await history.play({ type: 'apply', prune: true, fault: undefined });
      const { recorded, ours } = await history.compare();
      expect(recorded).toEqual(ours);
      expect(history.deletedUnmanaged()).toEqual([]);
    }),
    { numRuns: runCount(100) },
  );
  expect(applies).toBeGreaterThan(160);
});
