import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinedSpecs, orderInput, orderWrites } from '../../src/reconcile/order/order-writes.ts';
import { registry } from '../../src/kinds/index.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { applyPlan, planAgainst } from '../support/run-pipeline.ts';
import { scenario } from '../support/scenario.ts';

test('when rules are written once, the exposed connections are those that the plan names', async () => {
  let [met, open] = [0, 0];
  await fc.assert(
    fc.asyncProperty(scenario, fc.constantFrom(1, 8), async (one, concurrency) => {
      const states: ResourceStates[] = [];
      const gateway = memoryGateway({
        registry,
        agents: ['default', 'other'],
        resources: one.live,
        onWrite: () => void states.push(gateway.state()),
      });
      const before = gateway.state();
      const desired = desiredState(one.manifests);
      const { plan, live } = await planAgainst(gateway, desired);
      const input = orderInput(plan, live, registry);
      const indivisible = new Map([...joinedSpecs(input).keys()].map((id) => [id, 'it is too much']));
      const complete = { ...plan, singleWrites: orderWrites(input, { indivisible }).singleWrites };
      const { outcomes } = await applyPlan({ gateway, plan: complete, live, desired, concurrency });
      expect(outcomes.filter(({ status }) => status !== 'done' && status !== 'blocked')).toEqual([]);
      const after = gateway.state();
      const named = new Set(complete.singleWrites.flatMap((rule) => rule.windows.flatMap(({ connections }) => connections)));
      const found = states.flatMap((state) => exposedConnections(state, before, after)).map((text) => text.split(' ')[0] ?? '');
      expect(found.filter((connection) => !new Set<string>(named).has(connection))).toEqual([]);
      const written = gateway.writes.map(({ id }) => id);
      for (const { id } of complete.singleWrites) expect(written.filter((other) => other === id)).toHaveLength(1);
      met += indivisible.size;
      open += named.size;
    }),
    { numRuns: runCount(15) },
  );
  expect(met).toBeGreaterThan(5);
  expect(open).toBeGreaterThan(1);
  expect(open).toBeLessThan(met * 3);
});
