import fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { kindOf } from '../../src/model/resource.ts';
import { desiredState } from '../support/desired.ts';
import { memoryGateway, type MemoryFault } from '../support/memory-gateway.ts';
import { isClosed, missing, postureOf, type World } from '../support/posture.ts';
import { carryOut, planAgainst } from '../support/run.ts';
import { scenario, type Scenario } from '../support/scenario.ts';

const some = scenario.filter((one) => one.manifests.length > 0);

test('no intermediate state is less protected than both ends', async () => {
  await fc.assert(
    fc.asyncProperty(some, fc.constantFrom(1, 8), fc.infiniteStream(fc.nat({ max: 3 })), async (one, concurrency, delays) => {
      const states: World[] = [];
      const gateway = memoryGateway({
        registry,
        agents: ['default', 'other'],
        resources: one.live,
        onWrite: async () => {
          const turns = delays.next().value ?? 0;
          for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
          states.push(gateway.state());
        },
      });
      const before = gateway.state();
      const desired = desiredState(one.manifests);
      const { plan, live } = await planAgainst(gateway, desired);
      await carryOut({ gateway, plan, live, desired, concurrency });
      const after = gateway.state();
      for (const state of [...states, after]) expect(windows(state, before, after)).toEqual([]);
    }),
    { numRuns: 600 },
  );
});

/** The connections that a state protects less than it protects them both before and after. */
function windows(state: World, before: World, after: World): readonly string[] {
  return Object.values(state).flatMap(({ id }) => {
    const [now, first, last] = [postureOf(state, id), postureOf(before, id), postureOf(after, id)];
    if (kindOf(id) !== 'Connection' || now === undefined || last === undefined) return [];
    if (first === undefined)
      return isClosed(now) || missing(now, last).length === 0 ? [] : [`${id} is open without ${missing(now, last).join(', ')}`];
    const lost = missing(now, first).length > 0 && missing(now, last).length > 0;
    return lost ? [`${id} lacks ${missing(now, first).join(', ')} of before, ${missing(now, last).join(', ')} of after`] : [];
  });
}

/** What the first run of a scenario asked for, and what the gateway holds when nothing disturbs it. */
async function undisturbed(one: Scenario): Promise<{ readonly requests: number; readonly state: World }> {
  const gateway = memoryGateway({ registry, agents: ['default', 'other'], resources: one.live });
  const desired = desiredState(one.manifests);
  const { plan, live } = await planAgainst(gateway, desired);
  await carryOut({ gateway, plan, live, desired });
  return { requests: gateway.requests.length, state: gateway.state() };
}

test('an apply stopped at any request, planned and applied again, ends where an undisturbed one does', async () => {
  await fc.assert(
    fc.asyncProperty(some, fc.constantFrom<MemoryFault>('before', 'after'), async (one, kind) => {
      const { requests, state } = await undisturbed(one);
      for (let stop = 1; stop < requests; stop += 1) {
        const gateway = memoryGateway({ registry, agents: ['default', 'other'], resources: one.live });
        const before = gateway.state();
        const desired = desiredState(one.manifests);
        const first = await planAgainst(gateway, desired);
        gateway.setFault((request) => (request.index === stop ? kind : request.index > stop ? 'before' : undefined));
        await carryOut({ gateway, ...first, desired });
        expect(windows(gateway.state(), before, state)).toEqual([]);
        gateway.setFault(undefined);
        const second = await planAgainst(gateway, desired);
        const result = await carryOut({ gateway, ...second, desired });
        expect(result.outcomes.filter((outcome) => outcome.status !== 'done' && outcome.status !== 'blocked')).toEqual([]);
        expect(gateway.state()).toEqual(state);
      }
    }),
    { numRuns: 25 },
  );
});
