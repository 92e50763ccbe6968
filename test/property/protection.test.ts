import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { readableKinds } from '../../src/kinds/watched.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { FieldRule } from '../../src/model/kind.ts';
import { pointer } from '../../src/model/pointer.ts';
import { mergeStrictest } from '../../src/model/spec/merge-strictest.ts';
import type { LiveState } from '../../src/model/live.ts';
import { isWritten, type Plan, highestPlanRisk, isRiskierThan } from '../../src/model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../src/model/resource.ts';
import type { Control } from '../../src/protection/controls/control-row.ts';
import { changedTexts } from '../../src/protection/compare/affected-connections.ts';
import { compareProtection, type ControlDifference } from '../../src/protection/controls/compare-protection.ts';
import { decidesAccess } from '../../src/protection/access/deciding-kinds.ts';
import { controlTable, controlTypesOf, decidesProtection } from '../../src/protection/controls/control-table.ts';
import { compareOwn, ownDirections } from '../../src/protection/compare/own-effects.ts';
import { postureIn } from '../../src/protection/posture/posture.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { desiredSnapshot, liveSnapshot, plannedSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway, type MemoryGateway } from '../support/memory-gateway.ts';
import { applyPlan, checkedPlan, planAgainst } from '../support/run-pipeline.ts';
import { scenario, type Scenario } from '../support/scenario.ts';

function gatewayOf(one: Scenario): MemoryGateway {
  return memoryGateway({ registry, agents: ['default', 'other'], resources: one.live });
}

function connectionsOf(live: LiveState): readonly ResourceId[] {
  return live.resources.map(({ id }) => id).filter((id) => kindOf(id) === 'Connection');
}

test('the snapshot after a plan equals the live snapshot after apply', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const gateway = gatewayOf(one);
      const desired = desiredState(one.manifests);
      const { plan, live } = await planAgainst(gateway, desired);
      const foreseen = plannedSnapshot(plan, live, registry);
      await applyPlan({ gateway, plan, live, desired });
      const { value: found } = await gateway.readAll([...registry.keys()]);
      if (found === undefined) throw new Error('incomplete listing');
      const real = liveSnapshot(found, registry, 'interface');
      for (const id of connectionsOf(found)) expect([id, postureIn(foreseen, id)]).toEqual([id, postureIn(real, id)]);
    }),
    { numRuns: runCount(8) },
  );
});

test('the snapshot of manifests equals the live snapshot after apply to an empty gateway', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ manifests }) => {
      const desired = desiredState(manifests);
      const { value: live } = await memoryGateway({ registry, agents: ['default', 'other'], resources: [] }).readAll([...registry.keys()]);
      const plan = live === undefined ? undefined : checkedPlan(desired, live).value;
      fc.pre(live !== undefined && plan !== undefined);
      const wished = desiredSnapshot(desired, registry, 'interface');
      const foreseen = plannedSnapshot(plan, live, registry);
      const ids = desired.resources.map(({ id }) => id).filter((id) => kindOf(id) === 'Connection');
      for (const id of ids) expect([id, postureIn(wished, id)?.controls]).toEqual([id, postureIn(foreseen, id)?.controls]);
    }),
    { numRuns: runCount(8) },
  );
});

/**
 * Checks that two differences are each other's inverse. Adding a control next to a similar one takes nothing away, but removing it may;
 * and of two controls that replace each other, each is lost in its direction, and not gained in the other one.
 */
/** Returns controls whose limits (`8 h (was 1 h)`) have both values in one order. */
function withSortedLimits(controls: readonly Control[]): readonly Control[] {
  return controls.map((control) => {
    const [, is, was] = /^(.*) \(was (.*)\)$/.exec(control.content ?? '') ?? [];
    return is === undefined || was === undefined ? control : { ...control, content: [is, was].toSorted().join(' and ') };
  });
}

function expectInverse(...sides: readonly [ControlDifference, ControlDifference]): void {
  const [there, back] = sides.map((one) => ({ ...one, lost: withSortedLimits(one.lost), gained: withSortedLimits(one.gained) }));
  if (there === undefined || back === undefined) throw new Error('there are two sides');
  expect(back.control).toEqual(there.control);
  expect(allOf(back)).toEqual(allOf(there));
  for (const [one, other] of [
    [there, back],
    [back, there],
  ] as const) {
    expect(textsOf(other.lost)).toEqual(textsOf([...other.lost, ...one.gained]));
    const gained = textsOf(other.gained);
    const certain = one.lost.filter((control) => !gained.has(JSON.stringify(control)));
    expect(certain.length === 0 || replacing.has(one.control)).toBe(true);
    expect(textsOf(doubtful(other))).toEqual(textsOf([...doubtful(other), ...certain]));
    expect(certain.length === 0 || one.incomparable.length > 0).toBe(true);
  }
}

function textsOf(values: readonly unknown[]): ReadonlySet<string> {
  return new Set(values.map((one) => JSON.stringify(one)));
}

function allOf(one: ControlDifference): ReadonlySet<unknown> {
  return textsOf([...one.lost, ...one.gained, ...doubtful(one)]);
}

function doubtful({ incomparable, coexisting }: ControlDifference): readonly unknown[] {
  return [...incomparable, ...coexisting];
}

/** The control types in which one control can replace another. */
const replacing: ReadonlySet<string> = new Set(['input', 'output', 'masking']);

test('a change and its inverse swap weakening and strengthening', () => {
  fc.assert(
    fc.property(scenario, scenario, (one, other) => {
      const [before, after] = [one, other].map((each) => {
        const resources = each.live.map(({ id, spec = {}, edges = {} }) => {
          return { id, uid: id, spec, secrets: {}, edges, raw: undefined, unknown: [] };
        });
        return {
          live: { resources, lookups: {} },
          state: liveSnapshot({ resources, lookups: {} }, registry, 'interface'),
        };
      });
      for (const id of connectionsOf(before?.live ?? { resources: [], lookups: {} })) {
        const [had, has] = [before, after].map((side) => side && postureIn(side.state, id));
        if (had === undefined || has === undefined) continue;
        const there = compareProtection(had, has);
        const back = compareProtection(has, had);
        expect(back.map(({ control }) => control)).toEqual(there.map(({ control }) => control));
        for (const [index, difference] of there.entries()) {
          const inverse = back[index];
          const [texts, inverted] = [
            changedTexts(difference.control, { before: had, after: has }),
            changedTexts(difference.control, { before: has, after: had }),
          ];
          expect([inverted.before, inverted.after]).toEqual([texts.after, texts.before]);
          if (inverse !== undefined) expectInverse(difference, inverse);
        }
        expect(compareProtection(had, had)).toEqual([]);
      }
    }),
    { numRuns: runCount(15) },
  );
});

/** What the inverse of a direction may be: of a control that is added beside a similar one, and may add nothing, the removal may take nothing away. */
const inverse = { more: ['less'], less: ['more', 'unclear'], unclear: ['unclear', 'more', 'less'] } as const;

test('the directions in which an object and its inverse change differ are swapped', () => {
  fc.assert(
    fc.property(scenario, scenario, (one, other) => {
      const specs = new Map(other.live.map(({ id, spec = {} }) => [id, spec]));
      for (const { id, spec: before = {} } of one.live) {
        const after = specs.get(id);
        if (after === undefined) continue;
        const [there, back] = [ownDirections(id, { before, after }), ownDirections(id, { before: after, after: before })];
        for (const direction of there) {
          // Where one control takes the place of a similar one, what the removed one stopped may return unclear, both ways.
          const isExchange = there.has('unclear') && back.has('unclear');
          const found = isExchange || inverse[direction].some((each) => back.has(each));
          expect([id, before, after, direction, [...back], found]).toEqual([id, before, after, direction, [...back], true]);
        }
        expect(compareOwn(id, { before, after: before })).toEqual({ access: [], aspects: [] });
      }
    }),
    { numRuns: runCount(20) },
  );
});

/** Returns whether a field, or a field of its entries, has a rule for the state between two writes. */
function isMerged(field: FieldRule): boolean {
  return field.protects !== undefined || ('fields' in field && field.fields.some(isMerged));
}

test('exactly the fields that the table of controls names have a rule for the state between two writes', () => {
  for (const { name: kind, fields } of registry.values()) {
    const merged = fields.filter(isMerged).map(({ name }) => name);
    const named = fields.filter(({ name }) => controlTypesOf(kind, pointer(name)).length > 0).map(({ name }) => name);
    // Few objects that decide access with others have a form that is as strict as two.
    expect([kind, merged]).toEqual([kind, decidesAccess(kind) ? named.filter((name) => merged.includes(name)) : named]);
  }
  const known = new Set([...readableKinds.values()].flatMap(({ name: kind, fields }) => fields.map(({ name }) => `${kind}.${name}`)));
  const stated = controlTable.flatMap(({ fields }) =>
    Object.entries(fields).flatMap(([kind, names]) => names.map((name) => `${kind}.${name}`)),
  );
  expect(stated.filter((one) => !known.has(one))).toEqual([]);
});

/** Returns a spec of a connection with the limit that the gateway has where it states none. */
function withLimit(id: ResourceId, spec: JsonObject): JsonObject {
  return kindOf(id) === 'Connection' ? { ...spec, access_max_duration: spec['access_max_duration'] ?? 172_800 } : spec;
}

test('the state between two writes is at least as strict as both, by the same comparison', () => {
  fc.assert(
    fc.property(scenario, scenario, (one, other) => {
      const specs = new Map(other.live.map(({ id, spec = {} }) => [id, spec]));
      for (const { id, spec = {} } of one.live) {
        const kind = registry.get(kindOf(id));
        const found = specs.get(id);
        const empty = Object.fromEntries((kind?.fields ?? []).map((field) => [field.name, field.empty]));
        const [live, desired] = [
          { ...empty, ...spec },
          { ...empty, ...found },
        ];
        // No number can be compared with the gateway's own threshold, so these two states have no state between them.
        const isMixed = typeof live['score_threshold'] !== typeof desired['score_threshold'];
        if (found === undefined || kind === undefined || isMixed) continue;
        const merged = mergeStrictest(kind.fields, desired, live);
        for (const before of [live, desired]) {
          const directions = ownDirections(id, { before: withLimit(id, before), after: withLimit(id, merged) });
          expect([id, before, merged, [...directions].filter((each) => each !== 'less')]).toEqual([id, before, merged, []]);
        }
      }
    }),
    { numRuns: runCount(20) },
  );
});

const review = fc.record({
  reviewers: fc.subarray(['a', 'b', 'c', 'x']),
  min_review_approvals: fc.option(fc.integer({ min: 1, max: 4 })),
});

test('between two writes of reviewers of whom a number is needed, the review is as strict as before and after', () => {
  const id = 'Connection/db';
  fc.assert(
    fc.property(review, review, (live, desired) => {
      const merged = mergeStrictest(registry.get('Connection')?.fields ?? [], desired, live);
      for (const before of [live, desired]) {
        const directions = ownDirections(id, { before, after: merged });
        expect([before, merged, [...directions].filter((one) => one !== 'less')]).toEqual([before, merged, []]);
      }
    }),
    { numRuns: runCount(100) },
  );
});

const groups = fc.option(fc.subarray(['a', 'b', 'everybody']));

test('between two writes of access groups, a connection is reached only by those who reach it before and after', () => {
  fc.assert(
    fc.property(groups, groups, (live, desired) => {
      const merged = mergeStrictest(registry.get('Connection')?.fields ?? [], { access_groups: desired }, { access_groups: live });
      for (const before of [live, desired]) {
        const directions = ownDirections('Connection/db', { before: { access_groups: before }, after: merged });
        expect([before, merged, [...directions].filter((one) => one !== 'less')]).toEqual([before, merged, []]);
      }
    }),
    { numRuns: runCount(70) },
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
      const understated = planned.protection.connections.filter(({ direction }) => isRiskierThan(least[direction], highest));
      expect(understated).toEqual([]);
      for (const { action, risks } of planned.changes) expect(risks.length > 0).toBe(action !== 'blocked' && action !== 'held');
    }),
    { numRuns: runCount(12) },
  );
});

/** Whether a plan changes a field that protects, an edge, or what there is. */
function isProtective({ changes, edges }: Plan): boolean {
  const moved = edges.some(({ action }) => action === 'attach' || action === 'detach');
  return (
    moved ||
    changes.filter(isWritten).some(({ id, action, fields }) => {
      if (action !== 'update') return true;
      return fields.some(({ path }) => decidesProtection(kindOf(id), path));
    })
  );
}

test('without a changed protecting field or edge there is no diff, and every difference has a cause', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      const gateway = gatewayOf(one);
      const { plan, live } = await planAgainst(gateway, desiredState(one.manifests));
      const { headlines, connections, losing } = protectionOf(plan, live, registry);
      expect(isProtective(plan) || headlines.length + connections.length + losing.length === 0).toBe(true);
      const changed = connections.filter(({ created, deleted }) => created !== true && deleted !== true);
      for (const { connection, controls } of changed) {
        for (const { control, causes } of controls) expect([connection, control, causes.length > 0]).toEqual([connection, control, true]);
      }
      const planned = new Set(headlines.flatMap((headline) => headline.connections));
      for (const { connection } of changed) expect([connection, planned.has(connection)]).toEqual([connection, true]);
      const weakened = new Set(headlines.flatMap((headline) => (headline.direction === 'weakens' ? headline.connections : [])));
      expect([...weakened].toSorted()).toEqual(losing);
    }),
    { numRuns: runCount(12) },
  );
});
