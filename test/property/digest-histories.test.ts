import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { busyEvents, quietEvents } from '../support/history-events.ts';
import { inlineForms, secretPath } from '../support/history-manifests.ts';
import { runCount } from '../support/property-runs.ts';
import { repositoryHistory, type Try } from '../support/random-history.ts';

test('at any points of a history, two plans with one digest have the same effect on the same gateway', async () => {
  const tally = { manifests: 0, bases: 0, keys: 0, writing: 0 };
  await fc.assert(
    fc.asyncProperty(fc.oneof(busyEvents, quietEvents), async (events) => {
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
          const { effect, saved = one.saved } = other;
          expect({ effect: one.effect, saved: one.saved ?? saved }).toEqual({ effect, saved });
        }
      };
      for (const event of events) {
        await history.play(event);
        for (const one of await history.tryRecent(3)) compare(one);
      }
      for (const one of await history.trySiblings()) compare(one);
    }),
    { numRuns: runCount(3) },
  );
  for (const count of Object.values(tally)) expect(count).toBeGreaterThan(10);
});

test('the plan of a reader restores a secret that an incomplete apply wrote', async () => {
  const [a, b] = inlineForms.slice(1);
  const history = repositoryHistory();
  const apply = { type: 'apply', prune: true } as const;
  await history.play({ type: 'add', name: 'c1', variant: 0, secret: a ?? 0 });
  await history.play({ ...apply, fault: undefined });
  await history.play({ type: 'set secret', name: 'c1', secret: b ?? 0 });
  await history.play({ type: 'add', name: 'c2', variant: 0, secret: 0 });
  await history.play({ ...apply, fault: { how: 'before', at: 1 } });
  await history.play({ type: 'revert', back: 2 });
  const { reviewed } = await history.planHead('reader', false);
  expect(reviewed?.plan).toMatchObject({ changes: [{ id: 'Connection/c1', fields: [{ path: secretPath }] }], notCompared: [] });
  const [admin, reader] = await history.tryRecent(1);
  expect(reader).toMatchObject({ digest: admin?.digest, saved: admin?.saved });
});
