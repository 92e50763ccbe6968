import { textsIn } from '../../model/json.ts';
import { type Change, type EdgeChange, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import type { ControlType } from '../../model/protection/protection.ts';
import { type ResourceId, kindOf } from '../../model/resource.ts';
import {
  type ControlDifference,
  type ProtectionEffect,
  compareProtection,
  decidingEffects,
  effectsOfDifferences,
} from '../controls/compare-protection.ts';
import { type GatewayAccess, type RiskDraft, type SpecSides, type Posture, emptyPosture } from '../controls/control-row.ts';
import { controlTable, controlsOfRuleKind } from '../controls/control-table.ts';
import { enforcementOf } from '../controls/enforcement.ts';
import { type PlanSnapshots, type PlannedWrites, affectedIds, affectingEvery, isFirstOpening } from '../posture/diff-postures.ts';
import { attachingAttributes, decidesAccess } from '../access/deciding-kinds.ts';
import { mixSnapshots, type ProtectionSnapshot, readAccessIn, type ResourceSnapshot, rulesOn } from '../posture/protection-snapshot.ts';

/**
 * What a changed field does, as a reason for the risk of its change. The comparison of protection alone decides the class; the
 * usual class of the code only says which reason explains which effect.
 */
export type Reason = RiskDraft & {
  /** The control types in which it may have an effect. */
  readonly controls: readonly ControlType[];
  /** The connections whose edges are the reason, and the position of the first edge. */
  readonly connections?: readonly ResourceId[];
  readonly place?: string;
};

/** Finds what the changed fields of an object do; a reason that several rows of the table give is one with all their types. */
export function fieldReasons(kind: string, sides: SpecSides): readonly Reason[] {
  const reasons = new Map<string, Reason>();
  for (const { type, risks } of controlTable) {
    for (const draft of (risks[kind] ?? []).flatMap(({ find }) => find(sides))) {
      const key = [draft.code.name, ...draft.fields].join('\u0000');
      reasons.set(key, { ...draft, controls: [...(reasons.get(key)?.controls ?? []), type] });
    }
  }
  return [...reasons.values()];
}

/** Returns whether the gateway refuses sessions through a connection's port because the proxy cannot enforce an attached guardrail. */
export function refusesSessions(snapshot: ProtectionSnapshot, connection: ResourceId): boolean {
  const spec = snapshot.resources.get(connection)?.spec;
  if (spec === undefined || enforcementOf(spec).kind !== 'forwards') return false;
  return [...rulesOn(snapshot, connection)].some((rule) => {
    const ruleSpec = snapshot.resources.get(rule)?.spec ?? {};
    return kindOf(rule) === 'GuardrailRule' && controlsOfRuleKind(kindOf(rule)).some(({ read }) => read(ruleSpec, []).length > 0);
  });
}

/** The effects of one change by control type, with the connections that have them. */
export type ChangeEffects = Map<ControlType, Map<ProtectionEffect, Set<ResourceId>>>;

/**
 * Returns what each change contributes to the comparison of every connection, by the live key of the change: the connection with
 * only this change, and with all changes but this one. So no change has a milder effect than the plan as a whole.
 */
export function findContributions(plan: PlannedWrites, snapshots: PlanSnapshots): ReadonlyMap<ResourceId, ChangeEffects> {
  const { before, after, postureBefore, postureAfter, predecessors, compared } = snapshots;
  const changes = new Map(plan.changes.filter(isWritten).map((change) => [liveKeyOf(change), change]));
  const found = new Map<ResourceId, ChangeEffects>();
  const add = (key: ResourceId, connection: ResourceId, differences: readonly ControlDifference[]): void => {
    for (const difference of differences) addDifference(found, { key, connection, difference });
  };
  const writers = writersOf(plan.edges);
  const accessWith = partialAccess(changes.keys(), snapshots);
  const everywhere = affectingEvery(plan, before, after);
  for (const id of affectedIds(plan, before, after)) {
    const [had, has, predecessor] = [postureBefore(id), postureAfter(id), predecessors.get(id)];
    if (has === undefined) continue;
    if (had === undefined || isFirstOpening(changes.get(id), had)) {
      if (predecessor !== undefined) add(id, id, compareProtection(postureBefore(predecessor) ?? emptyPosture, has, compared));
      continue;
    }
    const whole = compareProtection(had, has, compared);
    const keys = involvedKeys(id, { changes, writers: writers.get(id), snapshots, everywhere });
    const state = (includes: (key: ResourceId) => boolean): Posture =>
      stateOf(id, includes, { writers: writers.get(id), snapshots, accessWith });
    const own = new Map<ResourceId, readonly ControlDifference[]>(
      keys.map((key) => [
        key,
        keys.length === 1
          ? whole
          : [
              ...compareProtection(
                had,
                state((other) => other === key),
                compared,
              ),
              ...compareProtection(
                state((other) => other !== key),
                has,
                compared,
              ),
            ],
      ]),
    );
    for (const [key, differences] of own) add(key, id, differences);
    for (const difference of unexplained(whole, [...own.values()].flat())) for (const key of keys) add(key, id, [difference]);
  }
  return found;
}

/** Lists the differences of the whole with an effect that no single change has. */
function unexplained(whole: readonly ControlDifference[], parts: readonly ControlDifference[]): readonly ControlDifference[] {
  return whole.filter((difference) => {
    const single = effectsOfDifferences(parts.filter(({ control }) => control === difference.control));
    return [...effectsOfDifferences([difference])].some((effect) => !single.has(effect));
  });
}

type NewDifference = { readonly key: ResourceId; readonly connection: ResourceId; readonly difference: ControlDifference };

function addDifference(found: Map<ResourceId, ChangeEffects>, { key, connection, difference }: NewDifference): void {
  const effects = found.get(key) ?? new Map<ControlType, Map<ProtectionEffect, Set<ResourceId>>>();
  const byEffect = effects.get(difference.control) ?? new Map<ProtectionEffect, Set<ResourceId>>();
  for (const effect of decidingEffects(difference)) byEffect.set(effect, (byEffect.get(effect) ?? new Set()).add(connection));
  found.set(key, effects.set(difference.control, byEffect));
}

/** The change that writes each attached or detached edge of a connection, by rule. */
type EdgeWriters = ReadonlyMap<ResourceId, ResourceId>;

function writersOf(edges: readonly EdgeChange[]): ReadonlyMap<ResourceId, EdgeWriters> {
  const all = new Map<ResourceId, Map<ResourceId, ResourceId>>();
  for (const { action, by, rule, connection } of edges) {
    if (by === undefined || (action !== 'attach' && action !== 'detach')) continue;
    all.set(connection, (all.get(connection) ?? new Map<ResourceId, ResourceId>()).set(rule, by));
  }
  return all;
}

type InvolvedInput = {
  readonly changes: ReadonlyMap<ResourceId, Change>;
  readonly writers: EdgeWriters | undefined;
  readonly snapshots: PlanSnapshots;
  /** The changes that may affect every connection. */
  readonly everywhere: readonly ResourceId[];
};

/** Lists the changes that may affect a connection: its own, those of its rules, those that write its edges, and those that affect every one. */
function involvedKeys(
  id: ResourceId,
  { changes, writers, snapshots: { before, after }, everywhere }: InvolvedInput,
): readonly ResourceId[] {
  const all = [id, ...rulesOn(before, id), ...rulesOn(after, id), ...(writers?.values() ?? []), ...everywhere];
  return [...new Set(all)].filter((key) => changes.has(key));
}

type StateInput = Pick<InvolvedInput, 'writers' | 'snapshots'> & { readonly accessWith: AccessReader };

/** Returns the posture of a connection with only some of the changes. */
function stateOf(id: ResourceId, includes: (key: ResourceId) => boolean, { writers, snapshots, accessWith }: StateInput): Posture {
  const { before, after, build } = snapshots;
  const resourceOf = (key: ResourceId): ResourceSnapshot | undefined => (includes(key) ? after : before).resources.get(key);
  const resource = resourceOf(id) ?? { spec: {}, unknown: [] };
  const attributes = textsIn(resource.spec['attributes']);
  const isAttached = (rule: ResourceId): boolean =>
    (includes(writers?.get(rule) ?? rule) ? after : before).edges.get(id)?.has(rule) === true ||
    attachingAttributes(rule, resourceOf(rule)?.spec).some((attribute) => attributes.includes(attribute));
  const isMissing = (rule: ResourceId): boolean =>
    resourceOf(rule) === undefined && (before.resources.has(rule) || after.resources.has(rule));
  const sharing = attributes.flatMap((attribute) => [before, after].flatMap((one) => [...(one.rulesByAttribute.get(attribute) ?? [])]));
  const candidates = [...new Set([...rulesOn(before, id), ...rulesOn(after, id), ...sharing])].toSorted();
  const access = accessWith(includes);
  const rules = candidates.filter((rule) => isAttached(rule) && !isMissing(rule)).map((rule) => [rule, resourceOf(rule)] as const);
  return build({ id, resource, rules: new Map(rules), ...(access === undefined ? {} : { access }) });
}

/** Returns what decides access with only some of the changes; undefined where no change can make a difference. */
type AccessReader = (includes: (key: ResourceId) => boolean) => GatewayAccess | undefined;

function partialAccess(changes: Iterable<ResourceId>, { before, after }: PlanSnapshots): AccessReader {
  const deciding = [...changes].filter((id) => decidesAccess(kindOf(id)));
  const known = new Map<string, GatewayAccess>();
  return (includes) => {
    if (deciding.length === 0) return undefined;
    const included = deciding.filter(includes);
    const key = included.join('\u0000');
    const access = known.get(key) ?? readAccessIn(mixSnapshots(before, after, new Set(included)));
    known.set(key, access);
    return access;
  };
}
