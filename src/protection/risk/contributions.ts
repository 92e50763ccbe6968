import { addToGroup } from '../../model/collections.ts';
import { textsIn } from '../../model/json.ts';
import { type Change, type EdgeChange, isWritten, liveKeyOf } from '../../model/plan/plan.ts';
import { isRequestRule } from '../../model/protection/access-objects.ts';
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
import { type AlikeConnections, type EdgeWriters, groupAlike } from '../posture/alike-connections.ts';
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
 * only this change, and with all changes but this one. So no change has a milder effect than the plan as a whole. Connections
 * that share their rules share the comparison.
 */
export function findContributions(plan: PlannedWrites, snapshots: PlanSnapshots): ReadonlyMap<ResourceId, ChangeEffects> {
  const { before, after, postureBefore, postureAfter, predecessors, compared } = snapshots;
  const changes = new Map(plan.changes.filter(isWritten).map((change) => [liveKeyOf(change), change]));
  const found = new Map<ResourceId, ChangeEffects>();
  const writers = writersOf(plan.edges);
  const everywhere = affectingEvery(plan, before, after);
  const isNew = (id: ResourceId): boolean => isFirstOpening(changes.get(id), postureBefore(id));
  const kept = affectedIds(plan, before, after).filter((id) => postureAfter(id) !== undefined);
  for (const id of kept.filter(isNew)) {
    const [predecessor, has] = [predecessors.get(id), postureAfter(id)];
    if (predecessor === undefined || has === undefined) continue;
    const effects = readEffects(compareProtection(postureBefore(predecessor) ?? emptyPosture, has, compared));
    addEffects(found, effects, { keyFor: () => id, members: [id] });
  }
  const context = { changes, snapshots, everywhere, accessWith: partialAccess(changes.keys(), snapshots) };
  const groups = groupAlike(
    kept.filter((id) => !isNew(id)),
    { snapshots, isChanged: (id) => changes.has(id), writersOf: (id) => writers.get(id) },
  );
  for (const group of groups) addGroup(found, group, { ...context, writersOf: (id) => writers.get(id) });
  return found;
}

type GroupContext = Omit<InvolvedInput, 'writers'> & {
  readonly accessWith: AccessReader;
  readonly writersOf: (id: ResourceId) => EdgeWriters | undefined;
};

/** One connection, and the comparisons that show what each change does to it. */
type ComparedConnection = {
  readonly keys: readonly ResourceId[];
  readonly whole: readonly ControlDifference[];
  /** With only one change, and with all but this one. */
  readonly compareChange: (key: ResourceId) => readonly ControlDifference[];
  /** What all changes together leave to the gateway itself. */
  readonly compareRest: () => readonly ControlDifference[];
};

function comparisonsOf(id: ResourceId, { snapshots, writersOf: writersFor, ...context }: GroupContext): ComparedConnection {
  const { postureBefore, postureAfter, compared } = snapshots;
  const [had, has] = [postureBefore(id) ?? emptyPosture, postureAfter(id) ?? emptyPosture];
  const input = { ...context, snapshots, writers: writersFor(id) };
  const fromBefore = (includes: (key: ResourceId) => boolean): readonly ControlDifference[] =>
    compareProtection(had, stateOf(id, includes, input), compared);
  const toAfter = (includes: (key: ResourceId) => boolean): readonly ControlDifference[] =>
    compareProtection(stateOf(id, includes, input), has, compared);
  return {
    keys: involvedKeys(id, input),
    whole: compareProtection(had, has, compared),
    compareChange: (key) => [...fromBefore((other) => other === key), ...toAfter((other) => other !== key)],
    compareRest: () => toAfter(() => true),
  };
}

/**
 * Adds what each change does to the connections of a group. A rule that only adds is compared once for all of them; a change that decides
 * access together with others, or that is the connection's own, once for each list of alike connections.
 */
function addGroup(found: Map<ResourceId, ChangeEffects>, { members, alike }: AlikeConnections, context: GroupContext): void {
  const [first] = members;
  if (first === undefined) return;
  const shared = comparisonsOf(first, context);
  const isOnly = shared.keys.length === 1;
  const ofRules = shared.keys
    .filter((key) => !isOnly && isSharedRule(key, first))
    .map((key) => [key, readEffects(shared.compareChange(key).filter(isOfRules))] as const);
  for (const [key, effects] of ofRules) addEffects(found, effects, { keyFor: () => key, members });
  const explainedByRules = uniteEffects(ofRules.map(([, effects]) => effects));
  for (const list of alike) {
    const [id] = list;
    if (id === undefined) continue;
    const { keys, whole: differences, compareChange, compareRest } = comparisonsOf(id, context);
    const whole = readEffects(differences);
    const rest = readEffects(ofRules.length === 0 ? [] : compareRest().filter((difference) => !isOfRules(difference)));
    // A connection that one access-request rule lets go and another one takes has none of them only between two writes.
    const isMoved = keys.filter(isRequestRule).length > 1;
    const ownOf = (key: ResourceId): EffectsByControl => {
      const own = readEffects(compareChange(key));
      return isMoved && isRequestRule(key) ? new Map([...own].filter(([control]) => whole.has(control))) : own;
    };
    const parts = keys.map((key) => [key, isOnly ? whole : isSharedRule(key, id) ? rest : ownOf(key)] as const);
    const add = (key: ResourceId, effects: EffectsByControl): void =>
      addEffects(found, effects, { keyFor: (member) => (key === id ? member : key), members: list });
    for (const [key, effects] of parts) add(key, effects);
    const united = uniteEffects(
      parts.map(([, effects]) => effects),
      explainedByRules,
    );
    const left = unexplained(whole, united);
    for (const key of keys) add(key, left);
  }
}

/** Returns the effects of the whole that no single change has. */
function unexplained(whole: EffectsByControl, explained: ExplainedEffects): EffectsByControl {
  return new Map([...whole].filter(([control, { all }]) => [...all].some((effect) => explained.get(control)?.has(effect) !== true)));
}

/** Returns whether a change does the same to every connection with the same rules: it is not the connection's own, and decides no access. */
function isSharedRule(key: ResourceId, id: ResourceId): boolean {
  return key !== id && !decidesAccess(kindOf(key));
}

const typesOfRules = new Set(controlTable.filter(({ ofRules }) => ofRules !== undefined).map(({ type }) => type));

function isOfRules({ control }: ControlDifference): boolean {
  return typesOfRules.has(control);
}

/** All effects of differences by control type, and those that decide their verdicts. */
type EffectsByControl = ReadonlyMap<
  ControlType,
  { readonly all: ReadonlySet<ProtectionEffect>; readonly deciding: readonly ProtectionEffect[] }
>;

function readEffects(differences: readonly ControlDifference[]): EffectsByControl {
  const byControl = new Map<ControlType, ControlDifference[]>();
  for (const difference of differences) addToGroup(byControl, difference.control, difference);
  return new Map(
    [...byControl].map(([control, own]) => [
      control,
      { all: effectsOfDifferences(own), deciding: own.flatMap((difference) => [...decidingEffects(difference)]) },
    ]),
  );
}

type ExplainedEffects = ReadonlyMap<ControlType, ReadonlySet<ProtectionEffect>>;

function uniteEffects(all: readonly EffectsByControl[], known: ExplainedEffects = new Map()): ExplainedEffects {
  const united = new Map(known);
  for (const effects of all)
    for (const [control, { all: own }] of effects) united.set(control, new Set([...(united.get(control) ?? []), ...own]));
  return united;
}

type AffectedMembers = { readonly members: readonly ResourceId[]; readonly keyFor: (member: ResourceId) => ResourceId };

/** Adds connections to the effects of a change; `keyFor` names the change of each. */
function addEffects(found: Map<ResourceId, ChangeEffects>, effects: EffectsByControl, { members, keyFor }: AffectedMembers): void {
  if (effects.size === 0) return;
  for (const member of members) {
    const key = keyFor(member);
    const own = found.get(key) ?? new Map<ControlType, Map<ProtectionEffect, Set<ResourceId>>>();
    found.set(key, own);
    for (const [control, { deciding }] of effects) {
      const byEffect = own.get(control) ?? new Map<ProtectionEffect, Set<ResourceId>>();
      own.set(control, byEffect);
      for (const effect of deciding) byEffect.set(effect, (byEffect.get(effect) ?? new Set()).add(member));
    }
  }
}

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
