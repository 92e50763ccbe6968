import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { disturbableHoop, disturbableMemory } from '../support/disturbable-gateways.ts';
import { type Disturbance, type DisturbableGateway, interruptedHistory, type InterruptedHistory } from '../support/interrupted-apply.ts';
import { changesOn, type Succession } from '../support/interrupted-changes.ts';
import { runCount } from '../support/property-runs.ts';

type Start = () => DisturbableGateway | Promise<DisturbableGateway>;

/** Runs the work on a gateway to which the first manifests are applied. */
async function onApplied<T>(
  start: Start,
  manifests: Succession,
  work: (history: InterruptedHistory, world: DisturbableGateway) => Promise<T>,
): Promise<T> {
  const world = await start();
  try {
    const history = interruptedHistory(world, manifests);
    expect(await history.apply('before')).toEqual([]);
    return await work(history, world);
  } finally {
    await world.close();
  }
}

type Kind = Omit<Disturbance, 'at'>;

const interruptions: readonly Kind[] = (['killed', 'once', 'from then on'] as const).flatMap((how) =>
  (['before', 'after'] as const).map((when) => ({ how, when })),
);

const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test.each([
  ['the interface', 'interface', disturbableMemory, interruptions, 25],
  // A proxy may deliver a request again.
  ['the public gateway', 'hoop', disturbableHoop, [...interruptions, { how: 'twice', when: 'after' }], 12],
] as const)(
  'an apply to %s that ends at any request is continued or reverted, and nobody else is said to have done what it did',
  { timeout: 0 },
  async (...given) => {
    const [, dialect, start, kinds, runs] = given;
    await fc.assert(
      fc.asyncProperty(changesOn(dialect), fraction, fc.constantFrom(...kinds), fc.boolean(), async (manifests, at, kind, isReverted) => {
        const whole = await onApplied(start, manifests, async (history, world) => {
          const begun = world.requests();
          expect(await history.apply('after')).toEqual([]);
          const requests = world.requests() - begun;
          expect(await history.rest('after')).toEqual([]);
          const state = world.state();
          // Reverted, it takes all names back.
          expect(await history.findBlame('before')).toEqual([]);
          expect(await history.apply('before')).toEqual([]);
          expect(await history.rest('before')).toEqual([]);
          return { requests, state };
        });
        const disturbance = { ...kind, at: 1 + Math.floor(at * whole.requests) };
        await onApplied(start, manifests, async (history, world) => {
          const next = isReverted ? 'before' : 'after';
          const about = { disturbance, next, unfinished: await history.apply('after', disturbance) };
          expect({ about, blame: await history.findBlame(next) }).toEqual({ about, blame: [] });
          expect({ about, failed: await history.apply(next) }).toEqual({ about, failed: [] });
          expect({ about, rest: await history.rest(next) }).toEqual({ about, rest: [] });
          expect(next === 'after' ? world.state() : whole.state).toEqual(whole.state);
        });
      }),
      { numRuns: runCount(runs) },
    );
  },
);
