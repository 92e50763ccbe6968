import fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { Plan } from '../../src/model/plan.ts';
import { planDocument } from '../../src/report/plan-json.ts';
import { desiredState } from '../support/desired.ts';
import { memoryGateway, type MemoryGateway } from '../support/memory-gateway.ts';
import { carryOut, planAgainst, planOf } from '../support/run.ts';
import { scenario, type Scenario } from '../support/scenario.ts';

const runs = { numRuns: 300 };

function gatewayOf(one: Scenario): MemoryGateway {
  return memoryGateway({ registry, agents: ['default', 'other'], resources: one.live });
}

/** What stays when only what apply may not touch is left. */
function remainder(plan: Plan): unknown {
  return {
    changes: plan.changes.filter((change) => change.action !== 'blocked'),
    edges: plan.edges.filter((edge) => edge.action === 'attach' || edge.action === 'detach'),
  };
}

test('a plan after an apply is empty but for what is blocked', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario.filter((one) => one.manifests.length > 0),
      fc.constantFrom(1, 8),
      async (one, concurrency) => {
        const gateway = gatewayOf(one);
        const desired = desiredState(one.manifests);
        const { plan, live } = await planAgainst(gateway, desired);
        const result = await carryOut({ gateway, plan, live, desired, concurrency });
        expect(result.outcomes.filter((outcome) => outcome.status !== 'done' && outcome.status !== 'blocked')).toEqual([]);
        const after = await planAgainst(gateway, desired);
        expect(remainder(after.plan)).toEqual({ changes: [], edges: [] });
        const writes = gateway.writes.length;
        await carryOut({ gateway, plan: after.plan, live: after.live, desired });
        expect(gateway.writes.length).toBe(writes);
      },
    ),
    runs,
  );
});

test('the same input in any order makes the same plan, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario.filter((one) => one.manifests.length > 0),
      fc.nat(),
      async (one, seed) => {
        const { plan, live } = await planAgainst(gatewayOf(one), desiredState(one.manifests));
        const turned = <T>(list: readonly T[]): readonly T[] =>
          list
            .map((_, index) => list[(index + seed) % list.length])
            .flatMap((entry) => (entry === undefined ? [] : [entry]))
            .toReversed();
        const shuffled: LiveState = { ...live, resources: turned(live.resources) };
        const other = planOf(desiredState(turned(one.manifests)), shuffled);
        expect(JSON.stringify(planDocument([other]))).toBe(JSON.stringify(planDocument([plan])));
      },
    ),
    runs,
  );
});

test('no write comes before what it needs, and a plan survives JSON', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario.filter((one) => one.manifests.length > 0),
      async (one) => {
        const gateway = gatewayOf(one);
        const desired = desiredState(one.manifests);
        const { plan, live } = await planAgainst(gateway, desired);
        const copy: Plan = JSON.parse(JSON.stringify(plan));
        expect(copy).toEqual(plan);
        await carryOut({ gateway, plan: copy, live, desired, concurrency: 8 });
        const order = gateway.writes.map((write) => write.id);
        for (const change of plan.changes) {
          for (const need of change.needs) expect(order.indexOf(need)).toBeLessThan(order.indexOf(change.id));
        }
      },
    ),
    runs,
  );
});

test('what is unmanaged or managed is never written, and a foreign edge is never lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario.filter((one) => one.manifests.length > 0),
      async (one) => {
        const gateway = gatewayOf(one);
        const desired = desiredState(one.manifests);
        const { plan, live } = await planAgainst(gateway, desired);
        await carryOut({ gateway, plan, live, desired, concurrency: 8 });
        const ours = new Set(desired.resources.map((resource) => resource.key));
        const managed = new Set(live.resources.filter((resource) => resource.managedBy !== undefined).map((resource) => resource.id));
        for (const write of gateway.writes) {
          expect(ours.has(write.id)).toBe(true);
          expect(managed.has(write.id)).toBe(false);
        }
        const { plan: after } = await planAgainst(gateway, desired);
        const foreign = (planned: Plan): readonly string[] =>
          planned.edges.filter((edge) => edge.action === 'foreign').map((edge) => `${edge.rule} ${edge.connection}`);
        expect(foreign(after)).toEqual(foreign(plan));
      },
    ),
    runs,
  );
});
