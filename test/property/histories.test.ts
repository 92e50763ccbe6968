import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { runCount } from '../support/property-runs.ts';
import { historyEvents } from '../support/history-events.ts';
import { repositoryHistory } from '../support/random-history.ts';

test('after any history of commits, applies, crashes and changes outside, the record states what is ours and live, and nothing else', async () => {
  let applies = 0;
  await fc.assert(
    fc.asyncProperty(historyEvents(1, 24), async (steps) => {
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
    { numRuns: runCount(60) },
  );
  expect(applies).toBeGreaterThan(160);
});
