import { addToGroup, memoizeByList } from '../../model/collections.ts';
import { specAfter } from '../../model/spec/edit.ts';
import type { FieldRule, Kind, Registry } from '../../model/kind.ts';
import { liveEdges, type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import { isRestored, isWritten, liveKeyOf, otherEnd, type Change, type EdgeChange, type Diff } from '../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { type JsonObject, textsIn } from '../../model/json.ts';
import { isWithinAny, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { attachingAttributes, decidesAccess } from '../../protection/access/deciding-kinds.ts';
import { effectsOfDifferences, type ProtectionEffect } from '../../protection/controls/compare-protection.ts';
import { compareOwn } from '../../protection/posture/own-protection.ts';
import { affectsEveryConnection, allConnections } from '../../protection/posture/protection-snapshot.ts';
import { type BothSnapshots, jointStates, type JointStates } from './joint-states.ts';

/** What a write does to protection. Where both states cannot be compared, it may do both. */
export type Direction = { readonly strengthens: boolean; readonly weakens: boolean };

export const noEffect: Direction = { strengthens: false, weakens: false };

/** Combines directions: each flag is set when any of them sets it. */
export function combineDirections(directions: readonly Direction[]): Direction {
  return { strengthens: directions.some((one) => one.strengthens), weakens: directions.some((one) => one.weakens) };
}

/** Compares two specs of one object by what it brings to every connection. */
export function specDirection(id: ResourceId, before: JsonObject, after: JsonObject): Direction {
  const effects = effectsOfDifferences(compareOwn(id, { before, after }).filter(({ control }) => control !== 'attributes'));
  const isUnknown = effects.has('unknown');
  // What an attribute grants is not compared, but it attaches rules: it is added before something is lost, and removed after.
  const [had, has] = [new Set(textsIn(before['attributes'])), new Set(textsIn(after['attributes']))];
  return {
    strengthens: isUnknown || effects.has('strengthens') || [...has].some((name) => !had.has(name)),
    weakens: isUnknown || effects.has('weakens') || [...had].some((name) => !has.has(name)),
  };
}

/** The effect of one change on protection: by its own fields, and on single connections by the edges that it writes. */
export type Effect = {
  readonly change: Change;
  readonly kind: Kind;
  readonly edges: readonly EdgeChange[];
  readonly content: Direction;
  /** Whether it may weaken by what the gateway saves before it attaches what the object gains late. */
  readonly weakensBeforeGain: boolean;
  readonly attaches: ReadonlySet<ResourceId>;
  readonly detaches: ReadonlySet<ResourceId>;
  /** The connections that a rule protects before or after, including edges that other changes write. */
  readonly connections: ReadonlySet<ResourceId>;
  /** What an object that decides access together with others does to each connection; undefined for all others, which only add. */
  readonly joint?: ReadonlyMap<ResourceId, Direction>;
};

/** Returns whether the objects of a kind protect connections over edges, or decide access to them. */
export function isRule(kind: Kind): boolean {
  return kind.fields.some((field) => field.edge === 'rule') || decidesAccess(kind.name);
}

/** Lists the connections that a change affects. */
export function affectedBy({ change, kind, connections }: Effect): readonly ResourceId[] {
  return isRule(kind) ? [...connections] : [liveKeyOf(change)];
}

/** The effects of all changes of a plan that write, and the states between its writes. */
export type PlanEffects = { readonly effects: readonly Effect[]; readonly states: JointStates };

/** Returns the effects of all changes that write. */
export function effectsOf(
  plan: Pick<Diff, 'changes' | 'edges'>,
  live: LiveState,
  registry: Registry,
  snapshots: () => BothSnapshots,
): PlanEffects {
  const states = jointStates(plan, snapshots);
  const written = plan.changes.filter(isWritten);
  if (written.length === 0) return { effects: [], states };
  const byId = liveById(live.resources);
  const protects = protectedBy(plan, live, registry);
  for (const key of written.map(liveKeyOf)) addEvery(protects, key, states);
  const edgesBy = groupByWriter(plan.edges);
  const effects = written.map((change) => {
    const kind = writtenKind(change, registry);
    const key = liveKeyOf(change);
    const edges = edgesBy.get(key) ?? [];
    const ends = (action: EdgeChange['action']): ReadonlySet<ResourceId> =>
      new Set(edges.filter((edge) => edge.action === action).map((edge) => otherEnd(edge, key)));
    const connections = protects.get(key) ?? new Set();
    return {
      change,
      kind,
      edges,
      content: contentDirection(change, kind, byId.get(key)),
      weakensBeforeGain: (ends('detach').size > 0 || weakensBeforeGain(change, kind, byId.get(key))) && gainsLate(change, kind),
      attaches: ends('attach'),
      detaches: ends('detach'),
      connections,
      ...(decidesAccess(kindOf(key)) ? { joint: jointDirections(key, connections, states) } : {}),
    };
  });
  return { effects, states };
}

/** Compares each connection with and without the change of an object that decides access; those that the plan treats alike only once. */
function jointDirections(key: ResourceId, connections: Iterable<ResourceId>, states: JointStates): ReadonlyMap<ResourceId, Direction> {
  const differencesOn = states.comparisonsOf(key);
  const known = new Map<ResourceId, Direction>();
  return new Map(
    [...connections].map((id) => {
      const first = states.firstAlike(id);
      const direction = known.get(first) ?? directionOf(effectsOfDifferences(differencesOn(first)));
      known.set(first, direction);
      return [id, direction] as const;
    }),
  );
}

/** Adds every connection to those of an object that affects them all. */
function addEvery(protects: Map<ResourceId, Set<ResourceId>>, key: ResourceId, states: JointStates): void {
  if (!decidesAccess(kindOf(key))) return;
  const { before, after } = states.snapshots();
  if (!affectsEveryConnection(key, before, after)) return;
  protects.set(key, new Set([...(protects.get(key) ?? []), ...allConnections(before, after)]));
}

function directionOf(effects: ReadonlySet<ProtectionEffect>): Direction {
  const isUnknown = effects.has('unknown');
  return { strengthens: isUnknown || effects.has('strengthens'), weakens: isUnknown || effects.has('weakens') };
}

/** Returns the kind of a change. Throws for an unknown kind, because no change may be left out silently. */
function writtenKind(change: Change, registry: Registry): Kind {
  const kind = registry.get(kindOf(change.id));
  if (kind === undefined) throw new Error(`${change.id} has an unknown kind`);
  return kind;
}

function contentDirection(change: Change, kind: Kind, live: LiveResource | undefined): Direction {
  if (live === undefined) return { strengthens: true, weakens: false };
  if (change.fields.length === 0) return noEffect;
  const isUnseen = change.fields.some(({ before, after, held }) => held !== true && ('unknown' in before || 'unknown' in after));
  const direction = specDirection(live.id, live.spec, specAfter(change, kind, live.spec));
  return isUnseen ? { strengthens: true, weakens: true } : direction;
}

/** Returns whether a change adds something that the gateway attaches only after it has saved the object. */
export function gainsLate({ fields }: Pick<Change, 'fields'>, kind: Kind): boolean {
  const late = lateFields(kind.fields);
  return fields.some(({ path, after }) => 'value' in after && isWithinAny(path, late));
}

const lateFields = memoizeByList((fields: readonly FieldRule[]): readonly Pointer[] =>
  fields.flatMap(({ name, late }) => (late === true ? [pointer(name)] : [])),
);

function weakensBeforeGain(change: Change, kind: Kind, live: LiveResource | undefined): boolean {
  if (live === undefined) return false;
  const late = lateFields(kind.fields);
  const first = change.fields.filter(({ path }) => !isWithinAny(path, late));
  return first.some(isRestored) || contentDirection({ ...change, fields: first }, kind, live).weakens;
}

function groupByWriter(edges: readonly EdgeChange[]): ReadonlyMap<ResourceId, readonly EdgeChange[]> {
  const groups = new Map<ResourceId, EdgeChange[]>();
  for (const edge of edges) {
    if (edge.by === undefined) continue;
    addToGroup(groups, edge.by, edge);
  }
  return groups;
}

/** Returns the connections that each rule protects before or after the plan, over an edge or a shared attribute. */
function protectedBy(plan: Pick<Diff, 'changes' | 'edges'>, live: LiveState, registry: Registry): Map<ResourceId, Set<ResourceId>> {
  const result = new Map<ResourceId, Set<ResourceId>>();
  const add = (rule: ResourceId, connection: ResourceId): void => {
    const set = result.get(rule);
    if (set === undefined) result.set(rule, new Set([connection]));
    else set.add(connection);
  };
  for (const { rule, connection } of liveEdges(live, registry)) add(rule, connection);
  for (const edge of plan.edges) if (edge.action === 'attach') add(edge.rule, edge.connection);
  const written = new Set(plan.changes.filter(isWritten).map(liveKeyOf));
  for (const { rules, others } of attributesIn(plan, live, registry).values())
    for (const rule of [...rules].filter((id) => written.has(id))) for (const connection of others) add(rule, connection);
  return result;
}

/** The objects with one attribute, before or after the plan. */
type AttributeMembers = { readonly rules: Set<ResourceId>; readonly others: Set<ResourceId> };

function attributesIn({ changes }: Pick<Diff, 'changes'>, live: LiveState, registry: Registry): ReadonlyMap<string, AttributeMembers> {
  const members = new Map<string, AttributeMembers>();
  const add = (id: ResourceId, spec: JsonObject): void => {
    for (const attribute of attachingAttributes(id, spec)) {
      const known = members.get(attribute) ?? { rules: new Set(), others: new Set() };
      const kind = registry.get(kindOf(id));
      (kind !== undefined && isRule(kind) ? known.rules : known.others).add(id);
      members.set(attribute, known);
    }
  };
  for (const { id, spec } of live.resources) add(id, spec);
  // Attributes that a change removes are among the live ones.
  for (const change of changes.filter(isWritten)) {
    add(liveKeyOf(change), {});
    for (const { path, after } of change.fields)
      if (tokensOf(path)[0] === 'attributes' && 'value' in after) add(liveKeyOf(change), { attributes: [after.value].flat() });
  }
  return members;
}

/** Returns the effect of a rule's change on one of its connections. */
export function effectOn(effect: Effect, connection: ResourceId): Direction {
  if (effect.joint !== undefined) return effect.joint.get(connection) ?? noEffect;
  return combineDirections([effect.content, { strengthens: effect.attaches.has(connection), weakens: effect.detaches.has(connection) }]);
}

/** Returns the direction of an effect on all connections together. */
export function totalDirection(effect: Effect): Direction {
  if (effect.joint !== undefined) return combineDirections([...effect.joint.values()]);
  return combineDirections([effect.content, { strengthens: effect.attaches.size > 0, weakens: effect.detaches.size > 0 }]);
}

/** Returns the direction of an object's own change; a new object is an opening, so the gains of its rules must come first. */
export function ownDirection(effect: Effect | undefined): Direction {
  if (effect === undefined) return { strengthens: false, weakens: false };
  return effect.change.action === 'create' ? { strengthens: false, weakens: true } : totalDirection(effect);
}
