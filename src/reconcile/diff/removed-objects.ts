import { type BaseState, type DeclaredEdge, desiredById, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import { comparePositions, type Position } from '../../model/diagnostic.ts';
import { compareText, equal, type JsonObject } from '../../model/json.ts';
import { closableFields, comparedFields, isClosable, isOpen, type Kind, type Registry } from '../../model/kind.ts';
import type { LiveResource } from '../../model/live.ts';
import { type FieldChange, type Orphan, otherEnd } from '../../model/plan/plan.ts';
import { type EdgeEnds, type ResourceId, kindOf } from '../../model/resource.ts';
import { wholeFields } from '../cells/compare-specs.ts';
import type { ChangeDraft } from './draft-change.ts';

/** A live object that the base declares and no manifest does. */
export type RemovedObject = { readonly base: DesiredResource; readonly live: LiveResource };

/** The live objects, the manifests of objects that are ours beyond the base, and the objects that stay live on purpose. */
type RemovalContext = {
  readonly live: ReadonlyMap<ResourceId, LiveResource>;
  readonly beyond?: readonly DesiredResource[];
  readonly released?: readonly string[] | undefined;
};

/** Finds the live objects that are ours and that no manifest declares, except released ones; with a selection there are none. */
export function findRemoved(
  base: BaseState | undefined,
  { resources, unselected, partial }: DesiredState,
  { live, beyond = [], released = [] }: RemovalContext,
): readonly RemovedObject[] {
  if (partial === true) return [];
  const declared = new Set<string>([...resources.map(({ key }) => key), ...unselected.map(({ key }) => key), ...released]);
  return [...(base?.desired.resources ?? []), ...beyond]
    .flatMap((resource) => {
      const found = live.get(resource.key);
      return found === undefined || declared.has(resource.key) || declared.has(resource.id) ? [] : [{ base: resource, live: found }];
    })
    .toSorted((one, other) => compareText(one.base.key, other.base.key));
}

/** The orphans that a prune deletes, and the reasons why it keeps the others. */
export type PruneDecision = { readonly toDelete: readonly RemovedObject[]; readonly kept: ReadonlyMap<ResourceId, string> };

/** Finds the orphans that may be deleted: not managed, not protected, and without effect on unmanaged objects. */
export function decidePrune(removed: readonly RemovedObject[], edges: readonly EdgeEnds[], known: PruneContext): PruneDecision {
  const orphans = new Set(removed.map(({ live: { id } }) => id));
  const kept = new Map<ResourceId, string>();
  for (const one of removed) {
    const reason =
      ownReason(one, known) ?? referenceReason(known.referencesTo(one.live.id)) ?? edgeReason(one.live.id, edges, { ...known, orphans });
    if (reason !== undefined) kept.set(one.live.id, reason);
  }
  return { toDelete: removed.filter(({ live: { id } }) => !kept.has(id)), kept };
}

/** Lookups about managers, and about the edges and objects of the manifests and the base. */
type PruneContext = {
  readonly isManaged: (id: ResourceId) => boolean;
  readonly isDeclared: (id: ResourceId) => boolean;
  /** Whether the base declared the edge. */
  readonly isApplied: (ends: EdgeEnds) => boolean;
  /** Where manifests declare edges to the object, one position for each manifest. */
  readonly referencesTo: (id: ResourceId) => readonly Position[];
  /** The blocked object that a connection depends on. */
  readonly blockedBy: (id: ResourceId) => ResourceId | undefined;
  /** Whether something else may have created the object. */
  readonly isUncertain: (id: ResourceId) => boolean;
};

function ownReason({ base, live }: RemovedObject, { isUncertain }: PruneContext): string | undefined {
  if (live.managedBy !== undefined) return `managed by ${live.managedBy}`;
  if (isUncertain(live.id))
    return 'an interrupted apply may have created it, but it differs from that manifest: delete it on the gateway, or list it under released';
  return base.protect ? 'its last manifest sets metadata.protect' : undefined;
}

/** Returns where manifests declare edges to each object, by file and line, one position for each manifest. */
export function referencesByEnd(
  edges: readonly DeclaredEdge[],
  { resources }: Pick<DesiredState, 'resources'>,
): ReadonlyMap<ResourceId, readonly Position[]> {
  const byId = desiredById(resources);
  const places = new Map<ResourceId, Map<ResourceId, Position>>();
  for (const { rule, connection, declarations } of edges)
    for (const { by, path } of declarations) {
      const at = byId.get(by)?.locate(path);
      if (at === undefined) continue;
      for (const end of [rule, connection]) places.set(end, (places.get(end) ?? new Map<ResourceId, Position>()).set(by, at));
    }
  return new Map([...places].map(([end, found]) => [end, [...found.values()].toSorted(comparePositions)]));
}

/** Names the first manifest that refers to an object, and counts the others. */
function referenceReason([first, ...others]: readonly Position[]): string | undefined {
  if (first === undefined) return undefined;
  const more = others.length === 0 ? 'refers' : `and ${others.length} more ${others.length === 1 ? 'manifest' : 'manifests'} refer`;
  return `${first.file}:${first.line} ${more} to it`;
}

/** Returns why an edge keeps its rule: deleting the rule would also detach managed connections, or edges that were never applied. */
function edgeReason(
  id: ResourceId,
  edges: readonly EdgeEnds[],
  { isManaged, isDeclared, isApplied, blockedBy, orphans }: PruneContext & { readonly orphans: ReadonlySet<ResourceId> },
): string | undefined {
  for (const ends of edges) {
    if (ends.rule !== id && ends.connection !== id) continue;
    const other = otherEnd(ends, id);
    if (isManaged(other)) return `${other}, to which it is attached, is managed`;
    const blocker = ends.rule === id ? blockedBy(other) : undefined;
    if (blocker !== undefined) return `it protects ${other}, and ${blocker} is blocked`;
    if (ends.rule === id && !isDeclared(other) && !orphans.has(other) && !isApplied(ends)) return `it protects the unmanaged ${other}`;
  }
  return undefined;
}

/** What describes an orphan: the commits that removed manifests, the reasons why a prune keeps objects, and the objects that the plan closes. */
type OrphanContext = {
  readonly removedIn: BaseState['removedIn'];
  readonly kept: PruneDecision['kept'];
  readonly closed: ReadonlySet<ResourceId>;
  readonly registry: Registry;
};

/** Describes an orphan for reports. */
export function orphanOf(
  { base: { id, key }, live }: RemovedObject,
  { removedIn, kept: reasons, closed, registry }: OrphanContext,
): Orphan {
  const commit = removedIn.get(id) ?? removedIn.get(key);
  const kept = reasons.get(live.id);
  const kind = registry.get(kindOf(id));
  return {
    id,
    ...(isClosable(kind) ? { accessible: !closed.has(id) && isOpen(kind, live.spec) } : {}),
    ...(live.managedBy === undefined ? {} : { managedBy: live.managedBy }),
    ...(commit === undefined ? {} : { removedIn: commit.id, subject: commit.subject }),
    ...(kept === undefined ? {} : { kept }),
  };
}

/** Drafts the change that closes a replaced object; undefined if it is closed already. */
export function draftClose(kind: Kind, live: LiveResource, successor: Pick<DesiredResource, 'id' | 'locate'>): ChangeDraft | undefined {
  const fields = closableFields(kind).flatMap(({ path, name, value, empty }): readonly FieldChange[] => {
    const found = live.spec[name] ?? empty;
    return equal(found, value) ? [] : [{ path, before: { value: found }, after: { value } }];
  });
  if (fields.length === 0) return undefined;
  const side = (which: 'before' | 'after'): JsonObject =>
    Object.fromEntries(fields.flatMap(({ path, [which]: one }) => ('value' in one ? [[path.slice(1), one.value] as const] : [])));
  return {
    id: live.id,
    action: 'update',
    replacedBy: successor.id,
    uid: live.uid,
    at: successor.locate(''),
    ...(live.managedBy === undefined ? {} : { managedBy: live.managedBy }),
    fields,
    positions: { byPath: Object.fromEntries(fields.map(({ path }) => [path, successor.locate('')])) },
    carried: [],
    touched: { before: side('before'), after: side('after') },
  };
}

/** Drafts the deletion of an orphan, with all its fields and secrets. */
export function draftDelete(kind: Kind, { base: { id, key }, live }: RemovedObject): ChangeDraft {
  const secrets = Object.keys(live.secrets)
    .toSorted(compareText)
    .map((path): FieldChange => ({ path, before: { secret: 'live', state: 'removed' }, after: { absent: true } }));
  return {
    id,
    ...(key === id ? {} : { key }),
    action: 'delete',
    ...(isOpen(kind, live.spec) ? { closed: 'first' as const } : {}),
    uid: live.uid,
    fields: [...wholeFields(comparedFields(kind), live.spec, 'before'), ...secrets],
    carried: [],
    touched: { before: live.spec, after: {} },
  };
}
