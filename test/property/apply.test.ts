import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import type { DesiredState } from '../../src/model/desired.ts';
import { kindOf, type ResourceId } from '../../src/model/resource.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway, type MemoryGateway, type MemoryOptions } from '../support/memory-gateway.ts';
import type { MemoryResource } from '../support/memory-store.ts';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { applyPlan, planAgainst } from '../support/run-pipeline.ts';
import { manifestId, scenario, type Scenario } from '../support/scenario.ts';

function gatewayOf(one: Scenario, options: Partial<MemoryOptions> = {}): MemoryGateway {
  const listsVersions = one.manifests.length % 2 === 0;
  return memoryGateway({ registry, agents: ['default', 'other'], resources: one.live, listsVersions, ...options });
}

/** What the first run of a scenario asked for, and what the gateway holds when nothing disturbs it. */
async function undisturbed(one: Scenario, desired: DesiredState): Promise<{ readonly requests: number; readonly state: ResourceStates }> {
  const gateway = gatewayOf(one);
  const { plan, live } = await planAgainst(gateway, desired);
  await applyPlan({ gateway, plan, live, desired });
  return { requests: gateway.requests.length, state: gateway.state() };
}

test('a failed write skips only its dependents, and opens nothing', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.nat(), fc.constantFrom(1, 8), async (one, choice, concurrency) => {
      const desired = desiredState(one.manifests);
      const { state } = await undisturbed(one, desired);
      const gateway = gatewayOf(one);
      const before = gateway.state();
      const first = await planAgainst(gateway, desired);
      const ids = first.plan.changes.filter(({ action }) => action !== 'blocked').map((change) => change.key ?? change.id);
      const broken = ids[choice % Math.max(1, ids.length)];
      gateway.setFault(({ method, id }) => ((method === 'PUT' || method === 'POST') && id === broken ? 'before' : undefined));
      const { outcomes } = await applyPlan({ gateway, ...first, desired, concurrency });
      expect(exposedConnections(gateway.state(), before, state)).toEqual([]);
      expect(outcomes.filter(({ status }) => status === 'failed').length).toBe(broken === undefined ? 0 : 1);
      const skipped = outcomes.filter(({ status }) => status === 'skipped');
      expect(
        skipped.filter(
          ({ message }) =>
            !/^(created, still closed: |already exists, may still be closed: |first of two writes done, second not started: )?it depends on /.test(
              message ?? '',
            ),
        ),
      ).toEqual([]);
      gateway.setFault(undefined);
      await applyPlan({ gateway, ...(await planAgainst(gateway, desired)), desired });
      expect(gateway.state()).toEqual(state);
    }),
    { numRuns: runCount(8) },
  );
});

test('edges that other users attach during an apply neither fail it nor are lost', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.infiniteStream(fc.nat({ max: 8 })), async (one, choices) => {
      const ours = new Set(one.manifests.map(manifestId));
      const attached: (readonly [ResourceId, ResourceId])[] = [];
      const gateway = gatewayOf(one, {
        onWrite({ method }) {
          const there = Object.values(gateway.state());
          const pick = (kind: string): MemoryResource | undefined => {
            const some = there.filter(({ id }) => kindOf(id) === kind && (kind === 'Connection' || !ours.has(id)));
            return some[(choices.next().value ?? 0) % Math.max(1, some.length)];
          };
          const [rule, connection] = [pick('GuardrailRule'), pick('Connection')];
          if (method !== 'PUT' || rule === undefined || connection === undefined || attached.length === 2) return;
          attached.push([rule.id, connection.id]);
          gateway.put({ ...rule, edges: { connection_ids: [...(rule.edges?.['connection_ids'] ?? []), connection.id] } });
        },
      });
      const desired = desiredState(one.manifests);
      const { outcomes } = await applyPlan({ gateway, ...(await planAgainst(gateway, desired)), desired });
      expect(outcomes.filter(({ status }) => !['done', 'already', 'blocked'].includes(status))).toEqual([]);
      const after = gateway.state();
      for (const [rule, connection] of attached) expect(after[rule]?.edges?.['connection_ids']).toContain(connection);
    }),
    { numRuns: runCount(8) },
  );
});
