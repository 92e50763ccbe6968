import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { directionOf } from '../../src/model/spec/direction.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import { isWritten, type Plan, highestPlanRisk, isRiskierThan } from '../../src/model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../src/model/resource.ts';
import { createCauseFinder, diffPostures, snapshotPlan } from '../../src/protection/posture/diff-postures.ts';
import { comparePostures, type ControlDifference } from '../../src/protection/posture/compare-postures.ts';
import { readPostures } from '../../src/protection/posture/posture.ts';
import { riskCodes } from '../../src/protection/risk/risk-codes.ts';
import { connectionRisks, guardrailRisks, maskingRisks, type RiskDraft } from '../../src/protection/risk/field-risks.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { desiredSnapshot, liveSnapshot, plannedSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway, type MemoryGateway } from '../support/memory-gateway.ts';
import { missingControls, postureOf, type ResourceStates } from '../support/posture.ts';
import { applyPlan, checkedPlan, planAgainst } from '../support/run-pipeline.ts';
import { scenario, type Scenario } from '../support/scenario.ts';

function gatewayOf(one: Scenario): MemoryGateway {
  return memoryGateway({ registry, agents: ['default', 'other'], resources: one.live });
}

function connectionsOf(live: LiveState): readonly ResourceId[] {
  return live.resources.map(({ id }) => id).filter((id) => kindOf(id) === 'Connection');
}

/** Compares a connection in two states with a simple model; the gateway's default threshold counts as the weakest. */
function plainly(before: ResourceStates, after: ResourceStates, id: ResourceId): { readonly loses: boolean; readonly gains: boolean } {
  const [had, has] = [postureOf(before, id), postureOf(after, id)];
  if (had === undefined || has === undefined) throw new Error(`${id} is not on both sides`);
  return { loses: missingControls(has, had).length > 0, gains: missingControls(had, has).length > 0 };
}

test('a posture diff contains exactly the connections whose protection changes', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const gateway = gatewayOf(one);
      const before = gateway.state();
      const desired = desiredState(one.manifests);
      const { plan, live } = await planAgainst(gateway, desired);
      const touched = new Map(
        diffPostures(plan, snapshotPlan(plan, live, registry), createCauseFinder(plan, registry)).map((each) => [
          each.change.connection,
          each.differences,
        ]),
      );
      await applyPlan({ gateway, plan, live, desired });
      const wrong = connectionsOf(live).filter((id) => {
        const differences = touched.get(id) ?? [];
        const { loses, gains } = plainly(before, gateway.state(), id);
        const [lost, gained, untold] = (['lost', 'gained', 'incomparable'] as const).map((side) =>
          differences.some((each) => each[side].length > 0),
        );
        const isDoubtful = untold === true || differences.some(({ coexisting }) => coexisting.length > 0);
        const isSilent = (loses || gains) && differences.length === 0;
        const isInvented = (lost === true && !loses) || (gained === true && !gains);
        const isHidden = untold === false && lost !== loses;
        return isSilent || isInvented || isHidden || (!isDoubtful && gained !== gains);
      });
      expect(wrong).toEqual([]);
    }),
    { numRuns: runCount(150) },
  );
});

test('the snapshot after a plan equals the live snapshot after apply', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const gateway = gatewayOf(one);
      const desired = desiredState(one.manifests);
      const { plan, live } = await planAgainst(gateway, desired);
      const foreseen = readPostures(plannedSnapshot(plan, live, registry));
      await applyPlan({ gateway, plan, live, desired });
      const { value: found } = await gateway.readAll([...registry.keys()]);
      if (found === undefined) throw new Error('the list is not whole');
      const real = readPostures(liveSnapshot(found, registry, 'interface'));
      for (const id of connectionsOf(found)) expect([id, foreseen(id)]).toEqual([id, real(id)]);
    }),
    { numRuns: runCount(60) },
  );
});

test('the snapshot of manifests equals the live snapshot after apply to an empty gateway', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ manifests }) => {
      const desired = desiredState(manifests);
      const { value: live } = await memoryGateway({ registry, agents: ['default', 'other'], resources: [] }).readAll([...registry.keys()]);
      const plan = live === undefined ? undefined : checkedPlan(desired, live).value;
      fc.pre(live !== undefined && plan !== undefined);
      const wished = readPostures(desiredSnapshot(desired, registry, 'interface'));
      const foreseen = readPostures(plannedSnapshot(plan, live, registry));
      const ids = desired.resources.map(({ id }) => id).filter((id) => kindOf(id) === 'Connection');
      for (const id of ids) expect([id, wished(id)?.controls]).toEqual([id, foreseen(id)?.controls]);
    }),
    { numRuns: runCount(25) },
  );
});

/** Adding a control next to a similar one takes nothing away, but removing it may. */
function reversed({ aspect, lost, gained, incomparable, coexisting, before, after }: ControlDifference): unknown {
  return { aspect, lost: gained, gained: lost, doubtful: new Set([...incomparable, ...coexisting]), before: after, after: before };
}

test('a change and its inverse swap weakening and strengthening', () => {
  fc.assert(
    fc.property(scenario, scenario, (one, other) => {
      const [before, after] = [one, other].map((each) => {
        const resources = each.live.map(({ id, spec = {}, edges = {} }) => {
          return { id, uid: id, spec, secrets: {}, edges, raw: undefined, unknown: [] };
        });
        return {
          live: { resources, lookups: {} },
          postures: readPostures(liveSnapshot({ resources, lookups: {} }, registry, 'interface')),
        };
      });
      for (const id of connectionsOf(before?.live ?? { resources: [], lookups: {} })) {
        const [had, has] = [before?.postures(id), after?.postures(id)];
        if (had === undefined || has === undefined) continue;
        const there = comparePostures(had, has);
        expect(comparePostures(has, had).map(reversed)).toEqual(
          there.map(({ incomparable, coexisting, ...each }) => ({ ...each, doubtful: new Set([...incomparable, ...coexisting]) })),
        );
        expect(comparePostures(had, had)).toEqual([]);
      }
    }),
    { numRuns: runCount(150) },
  );
});

const opposites: Readonly<Record<string, string>> = {
  added: 'removed',
  attached: 'detached',
  lowered: 'raised',
  opened: 'closed',
  shown: 'hidden',
};
const inverses = new Map(Object.entries(opposites).flatMap(([one, other]) => [[one, other] as const, [other, one] as const]));

function inverse({ name, class: one }: RiskDraft): string {
  const swapped = { weakens: 'strengthens', strengthens: 'weakens' } as const;
  const usual = one ?? riskCodes[name].class;
  const last = name.split('-').at(-1) ?? '';
  return `${name.replace(last, inverses.get(last) ?? last)} ${usual === 'weakens' || usual === 'strengthens' ? swapped[usual] : usual}`;
}

test('the risks of a change and of its inverse swap weakening and strengthening', () => {
  fc.assert(
    fc.property(scenario, scenario, (one, other) => {
      const [before, after] = [one, other].map(({ live }) => {
        const resources = live.map(({ id, spec = {} }) => ({ id, uid: id, spec, secrets: {}, edges: {}, raw: undefined, unknown: [] }));
        const scene = liveSnapshot({ resources, lookups: {} }, registry, 'interface');
        return { specs: new Map(live.map(({ id, spec = {} }) => [id, spec])), postures: readPostures(scene) };
      });
      for (const [id, had] of before?.specs ?? []) {
        const has = after?.specs.get(id);
        const [first, last] = [before?.postures(id), after?.postures(id)];
        if (has === undefined) continue;
        const risks = (from: JsonObject, to: JsonObject, postures: readonly [typeof first, typeof last]): readonly RiskDraft[] => {
          if (kindOf(id) === 'GuardrailRule') return guardrailRisks({ before: from, after: to });
          if (kindOf(id) === 'DataMaskingRule') return maskingRisks({ before: from, after: to });
          const [here, there] = postures;
          return here === undefined || there === undefined
            ? []
            : connectionRisks({ before: from, after: to }, { before: here, after: there });
        };
        const there = risks(had, has, [first, last]).map(({ name, class: own }) => `${name} ${own ?? riskCodes[name].class}`);
        expect(risks(has, had, [last, first]).map(inverse).toSorted()).toEqual(there.toSorted());
        expect(risks(had, had, [first, first])).toEqual([]);
      }
    }),
    { numRuns: runCount(200) },
  );
});

test('risks are never milder than the effect on connections', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const gateway = gatewayOf(one);
      const desired = desiredState(one.manifests);
      const { plan: planned } = await planAgainst(gateway, desired);
      const highest = highestPlanRisk(planned) ?? 'strengthens';
      const least = {
        weakens: 'weakens',
        both: 'weakens',
        unknown: 'unknown',
        neutral: 'strengthens',
        strengthens: 'strengthens',
      } as const;
      const understated = planned.protection.connections.filter(({ way }) => isRiskierThan(least[way], highest));
      expect(understated).toEqual([]);
      for (const { action, risks } of planned.changes) expect(risks.length > 0).toBe(action !== 'blocked' && action !== 'held');
    }),
    { numRuns: runCount(150) },
  );
});

/** Whether a plan changes a field that protects, an edge, or what there is. */
function isProtective({ changes, edges }: Plan): boolean {
  const moved = edges.some(({ action }) => action === 'attach' || action === 'detach');
  return (
    moved ||
    changes.filter(isWritten).some(({ id, action, fields }) => {
      const kind = registry.get(kindOf(id));
      if (kind === undefined || action !== 'update') return true;
      return fields.some((field) => {
        const { strengthens, weakens } = directionOf(kind.fields, field);
        return strengthens || weakens;
      });
    })
  );
}

test('without a changed protecting field or edge there is no diff, and every difference has a cause', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const gateway = gatewayOf(one);
      const { plan, live } = await planAgainst(gateway, desiredState(one.manifests));
      const { headlines, connections, losing, reach = [] } = protectionOf(plan, live, registry);
      expect(isProtective(plan) || headlines.length + connections.length + losing.length === 0).toBe(true);
      const changed = connections.filter(({ comes, goes }) => comes !== true && goes !== true);
      for (const { connection, aspects } of changed) {
        for (const { aspect, causes } of aspects) expect([connection, aspect, causes.length > 0]).toEqual([connection, aspect, true]);
      }
      const planned = new Set(headlines.flatMap((headline) => headline.connections));
      for (const { connection } of changed) expect([connection, planned.has(connection)]).toEqual([connection, true]);
      const weakened = new Set(headlines.flatMap((headline) => (headline.way === 'weakens' ? headline.connections : [])));
      expect([...weakened].toSorted()).toEqual(losing);
      const reached = new Set(reach.flatMap((cause) => cause.connections));
      expect([...reached].toSorted()).toEqual(changed.map(({ connection }) => connection));
      for (const { tags, connections: all } of reach) for (const tag of tags) expect(tag.connections).toBeLessThanOrEqual(all.length);
    }),
    { numRuns: runCount(150) },
  );
});
