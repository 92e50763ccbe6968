import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { busyEvents } from '../support/history-events.ts';
import { runCount } from '../support/property-runs.ts';
import { repositoryHistory, type Try } from '../support/random-history.ts';

test('at any points of a history, two plans with one digest have the same effect on the same gateway', async () => {
  const tally = { manifests: 0, bases: 0, keys: 0, writing: 0 };
  await fc.assert(
    fc.asyncProperty(busyEvents, async (events) => {
      const history = repositoryHistory();
      const known = new Map<string, Try[]>();
      const compare = (one: Try): void => {
        const place = `${one.at} ${one.digest}`;
        const others = known.get(place) ?? [];
        known.set(place, [...others, one]);
        for (const other of others) {
          tally.manifests += other.tree === one.tree ? 0 : 1;
          tally.bases += other.base === one.base ? 0 : 1;
          tally.keys += other.key === one.key ? 0 : 1;
          tally.writing += one.writes ? 1 : 0;
          expect(one.effect).toEqual(other.effect);
        }
      };
      for (const event of events) {
        await history.play(event);
        for (const one of await history.tryRecent(3)) compare(one);
      }
      for (const one of await history.trySiblings()) compare(one);
    }),
    { numRuns: runCount(15) },
  );
  for (const count of Object.values(tally)) expect(count).toBeGreaterThan(10);
});
