import { addToGroup, memoizeByObject, onFirstUse } from '../../model/collections.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { isClosable, type FieldRule, type Kind, type Registry } from '../../model/kind.ts';
import { type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import { isWritten, liveKeyOf, otherEnd, type Change, type EdgeChange, type Diff } from '../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { type JsonObject, textsIn } from '../../model/json.ts';
import { isWithinAny, pointer, type Pointer } from '../../model/pointer.ts';
import { attachingAttributes, decidesAccess } from '../../protection/access/deciding-kinds.ts';
import { decidesProtection } from '../../protection/controls/control-table.ts';
import { ownDirections } from '../../protection/compare/own-effects.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import { affectsEveryConnection, allConnections, connectionsByRule } from '../../protection/posture/protection-snapshot.ts';

/** What a write may do to protection. Where both states cannot be compared, it may do both. */
export type Direction = { readonly strengthens: boolean; readonly weakens: boolean };

export const noEffect: Direction = { strengthens: false, weakens: false };
export const anyEffect: Direction = { strengthens: true, weakens: true };

/** The effect of one change on protection: by its own fields, and on single connections by the edges that it writes. */
export type Effect = {
  readonly change: Change;
  readonly kind: Kind;
  readonly edges: readonly EdgeChange[];
  /** What its own fields do on each connection that it affects. */
  readonly content: Direction;
  readonly attaches: ReadonlySet<ResourceId>;
  readonly detaches: ReadonlySet<ResourceId>;
  /** What it does to a connection depends on what else decides about it. */
  readonly isJoint: boolean;
  /** What it grants while its list has another object; without one, the gateway grants everything. Absent where its list always has one. */
  readonly grant?: Direction;
  /** The connections that it affects: the changed one, or those of a rule before or after, including edges that other changes write. */
  readonly connections: ReadonlySet<ResourceId>;
};

/** Returns whether the objects of a kind protect connections over edges, or decide access to them. */
export function isRule(kind: Kind): boolean {
  return kind.fields.some((field) => field.edge === 'rule') || decidesAccess(kind.name);
}

/** Returns the effects of all changes that write. Throws for an unknown kind, because no change may be left out silently. */
export function effectsOf(
  plan: Pick<Diff, 'changes' | 'edges'>,
  live: LiveState,
  registry: Registry,
  snapshots: () => PlanSnapshots,
): readonly Effect[] {
  const written = plan.changes.filter(isWritten);
  if (written.length === 0) return [];
  const byId = liveById(live.resources);
  const byRule = onFirstUse(() => connectionsByRule(snapshots().before, snapshots().after));
  const edgesBy = groupByWriter(plan.edges);
  return written.map((change) => {
    const kind = registry.get(kindOf(change.id));
    if (kind === undefined) throw new Error(`${change.id} has an unknown kind`);
    const key = liveKeyOf(change);
    const edges = edgesBy.get(key) ?? [];
    const ends = (action: EdgeChange['action']): ReadonlySet<ResourceId> =>
      new Set(edges.filter((edge) => edge.action === action).map((edge) => otherEnd(edge, key)));
    const isGoverned = kind.combines === 'governed';
    const isJoint = isGoverned || (change.action === 'delete' && linksRules(key, snapshots()));
    const content = isJoint ? anyEffect : contentDirection(change, kind, { live: byId.get(key), edges });
    const everywhere = decidesAccess(kindOf(key)) ? affectsEveryConnection(key, snapshots().before, snapshots().after) : undefined;
    const named = isRule(kind) ? (byRule().get(key) ?? new Set()) : new Set(isClosable(kind) ? [key] : []);
    return {
      change,
      kind,
      edges,
      content: everywhere === undefined ? content : anyEffect,
      attaches: ends('attach'),
      detaches: ends('detach'),
      isJoint: isJoint || everywhere === 'by-itself',
      ...(everywhere === 'while-empty' ? { grant: content } : {}),
      connections: everywhere === undefined ? named : new Set([...named, ...allConnections(snapshots().before, snapshots().after)]),
    };
  });
}

/** Returns whether an object attaches rules as an attribute, which its deletion takes from connections. */
function linksRules(id: ResourceId, { before }: PlanSnapshots): boolean {
  return attachingAttributes(id).some((name) => [...(before.rulesByAttribute.get(name) ?? [])].some((rule) => rule !== id));
}

type Own = { readonly live: LiveResource | undefined; readonly edges: readonly EdgeChange[] };

/** What an object does at most: protection adds up, and so do grants; of rules that govern, one decides. */
function contentDirection(change: Change, kind: Kind, { live, edges }: Own): Direction {
  const { action, fields } = change;
  const isGrant = kind.combines === 'granted' || !isRule(kind);
  if (action === 'delete') return isGrant ? { strengthens: true, weakens: false } : { strengthens: false, weakens: true };
  if (action === 'create' || live === undefined)
    return isGrant ? { strengthens: false, weakens: true } : { strengthens: true, weakens: false };
  const written = fields.filter(({ held }) => held !== true);
  if (!isRule(kind)) return edges.length > 0 || written.some(({ path }) => decidesProtection(kind.name, path)) ? anyEffect : noEffect;
  if (written.length === 0) return noEffect;
  if (written.some(({ before, after }) => 'unknown' in before || 'unknown' in after)) return anyEffect;
  return specDirection(kind, live.id, { before: live.spec, after: specAfter(change, kind, live.spec) });
}

/** Compares two specs of one object by what it brings to every connection. */
export function specDirection(kind: Kind, id: ResourceId, specs: { readonly before: JsonObject; readonly after: JsonObject }): Direction {
  const directions = ownDirections(id, specs);
  const { before, after } = specs;
  const isUnknown = directions.has('unclear');
  const [had, has] = [new Set(textsIn(before['attributes'])), new Set(textsIn(after['attributes']))];
  const isMore = [...has].some((name) => !had.has(name));
  const isLess = [...had].some((name) => !has.has(name));
  // What an attribute attaches protects, or grants.
  const isEither = kind.combines === 'granted' && (isMore || isLess);
  return {
    strengthens: isUnknown || directions.has('less') || isMore || isEither,
    weakens: isUnknown || directions.has('more') || isLess || isEither,
  };
}

/** Returns whether a change writes something that the gateway saves only after the rest of the object. */
export function writesLate({ fields }: Pick<Change, 'fields'>, kind: Kind): boolean {
  const late = lateFields(kind.fields);
  return fields.some(({ path, held }) => held !== true && isWithinAny(path, late));
}

const lateFields = memoizeByObject((fields: readonly FieldRule[]): readonly Pointer[] =>
  fields.flatMap(({ name, late }) => (late === undefined ? [] : [pointer(name)])),
);

function groupByWriter(edges: readonly EdgeChange[]): ReadonlyMap<ResourceId, readonly EdgeChange[]> {
  const groups = new Map<ResourceId, EdgeChange[]>();
  for (const edge of edges) {
    if (edge.by === undefined) continue;
    addToGroup(groups, edge.by, edge);
  }
  return groups;
}

/** Returns the effect of a whole change on one of the connections that it affects. */
export function effectOn({ kind, isJoint, content, attaches, detaches }: Effect, connection: ResourceId): Direction {
  if (!isRule(kind) || isJoint) return content;
  const [added, removed] = [attaches.has(connection), detaches.has(connection)];
  const [more, less] = kind.combines === 'granted' ? [removed, added] : [added, removed];
  return { strengthens: content.strengthens || more, weakens: content.weakens || less };
}
