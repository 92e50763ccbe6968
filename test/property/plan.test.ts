import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { isObject, type JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { Plan } from '../../src/model/plan/plan.ts';
import { planDocument } from '../../src/report/subjects/plan.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway, type MemoryGateway, type MemoryOptions } from '../support/memory-gateway.ts';
import { applyPlan, checkedPlan, planAgainst, planOf } from '../support/run-pipeline.ts';
import { manifestId, scenario, type Scenario } from '../support/scenario.ts';

const runs = { numRuns: runCount(8) };

function gatewayOf(one: Scenario, options: Partial<MemoryOptions> = {}): MemoryGateway {
  return memoryGateway({ registry, agents: ['default', 'other'], resources: one.live, ...options });
}

/** Returns the part of the state that an apply must not change. */
function remainder(plan: Plan): unknown {
  return {
    changes: plan.changes.filter((change) => change.action !== 'blocked'),
    edges: plan.edges.filter((edge) => edge.action === 'attach' || edge.action === 'detach'),
  };
}

test('a plan after an apply contains only blocked changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario,
      fc.constantFrom(1, 8),
      fc.constantFrom('shown' as const, 'hidden-kept' as const),
      async (one, concurrency, secrets) => {
        const gateway = gatewayOf(one, { secrets });
        const desired = desiredState(one.manifests);
        const { plan, live } = await planAgainst(gateway, desired);
        const result = await applyPlan({ gateway, plan, live, desired, concurrency });
        expect(result.outcomes.filter((outcome) => outcome.status !== 'done' && outcome.status !== 'blocked')).toEqual([]);
        const after = await planAgainst(gateway, desired);
        expect(remainder(after.plan)).toEqual({ changes: [], edges: [] });
        const writes = gateway.writes.length;
        await applyPlan({ gateway, plan: after.plan, live: after.live, desired });
        expect(gateway.writes.length).toBe(writes);
      },
    ),
    runs,
  );
});

test('the same input in any order gives the same plan, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.nat(), async (one, seed) => {
      const { plan, live } = await planAgainst(gatewayOf(one), desiredState(one.manifests));
      const turned = <T>(list: readonly T[]): readonly T[] =>
        list
          .map((_, index) => list[(index + seed) % list.length])
          .flatMap((entry) => (entry === undefined ? [] : [entry]))
          .toReversed();
      const shuffled: LiveState = { ...live, resources: turned(live.resources) };
      const other = planOf(desiredState(turned(one.manifests)), shuffled);
      expect(JSON.stringify(planDocument([other]).json())).toBe(JSON.stringify(planDocument([plan]).json()));
    }),
    runs,
  );
});

function foreignOf(plan: Plan): readonly string[] {
  return plan.edges.filter((edge) => edge.action === 'foreign').map((edge) => `${edge.rule} ${edge.connection}`);
}

test('unmanaged objects and objects with a manager are never written, and a foreign edge is never lost', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const gateway = gatewayOf(one);
      const desired = desiredState(one.manifests);
      const { plan, live } = await planAgainst(gateway, desired);
      await applyPlan({ gateway, plan, live, desired, concurrency: 8 });
      const ours = new Set(desired.resources.map((resource) => resource.key));
      const managed = new Set(live.resources.filter((resource) => resource.managedBy !== undefined).map((resource) => resource.id));
      for (const write of gateway.writes) {
        expect(ours.has(write.id)).toBe(true);
        expect(managed.has(write.id)).toBe(false);
      }
      const { plan: after } = await planAgainst(gateway, desired);
      expect(foreignOf(after)).toEqual(foreignOf(plan));
    }),
    runs,
  );
});

/** The entries of a rule's input by their names, an unnamed one by none. */
function inputsOf(spec: JsonObject | undefined): ReadonlyMap<string, JsonObject> {
  const input = spec?.['input'];
  const entries = isObject(input) && Array.isArray(input['rules']) ? input['rules'].filter(isObject) : [];
  return new Map(
    entries.flatMap((entry) => (typeof entry['name'] === 'string' && entry['name'] !== '' ? [[entry['name'], entry] as const] : [])),
  );
}

test('unknown keys stay with the entries of their name', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const gateway = gatewayOf(one);
      const before = gateway.state();
      const desired = desiredState(one.manifests);
      await applyPlan({ gateway, ...(await planAgainst(gateway, desired)), desired, concurrency: 8 });
      for (const { id, spec } of Object.values(gateway.state())) {
        const first = inputsOf(before[id]?.spec);
        const stayed = [...inputsOf(spec)].filter(([name]) => first.has(name));
        expect(stayed.map(([, entry]) => entry['severity'])).toEqual(stayed.map(([name]) => first.get(name)?.['severity']));
      }
    }),
    { numRuns: runCount(6) },
  );
});

test('a selection plans and writes only the selected resources', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.nat(), async (one, choice) => {
      const ids = one.manifests.map(manifestId);
      const only = ids.filter((_, index) => (choice >> index) % 2 === 1 || index === choice % ids.length);
      const desired = desiredState(one.manifests, { only });
      const gateway = gatewayOf(one);
      const before = gateway.state();
      const { value: live } = await gateway.readAll([...registry.keys()]);
      if (live === undefined) throw new Error('incomplete listing');
      const checked = checkedPlan(desired, live);
      const codes = checked.diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
      expect(codes.filter((code) => code !== 'plan/needs-unselected')).toEqual([]);
      fc.pre(checked.value !== undefined);
      expect(only).toEqual(expect.arrayContaining(checked.value.changes.map(({ id }) => id)));
      await applyPlan({ gateway, plan: checked.value, live, desired, concurrency: 8 });
      const keys = new Set<string>(desired.resources.map(({ key }) => key));
      const others = (resources: typeof before): unknown =>
        Object.values(resources).flatMap(({ id, spec, secrets }) => (keys.has(id) ? [] : [{ id, spec, secrets }]));
      expect(others(gateway.state())).toEqual(others(before));
      expect(remainder((await planAgainst(gateway, desired)).plan)).toEqual({ changes: [], edges: [] });
    }),
    { numRuns: runCount(8) },
  );
});
