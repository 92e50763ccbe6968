import { addToGroup } from '../../model/collections.ts';
import type { BaseState } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import {
  isDeletedOutside,
  isWritten,
  liveKeyOf,
  remainingOrphans,
  type Change,
  type EdgeChange,
  type Diff,
  type FieldChange,
} from '../../model/plan/plan.ts';
import { expiryOf } from '../../model/plan/expired-access.ts';
import { tokensOf } from '../../model/pointer.ts';
import type { Drift } from '../../model/result/drift.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';

/** The drift of a plan, and the numbers of its pending and unfinished changes. */
export type DriftResult = { readonly diff: Diff; readonly pending: number; readonly unfinished: number };

type DriftInput = {
  /** The last applied manifests, which separate drift from pending changes; undefined if they are not known. */
  readonly base: BaseState | undefined;
  /** Objects that were deleted outside Ostiary, as far as the manifests show that. */
  readonly deleted?: readonly ResourceId[];
  readonly registry: Registry;
};

/** `all`: drift and conflicts; `only`: drift without conflicts, about which the next apply decides; `expired`: access that has ended, alone. */
export type DriftScope = 'all' | 'only' | 'expired';

type AppliedContext = { readonly applied: ReadonlySet<ResourceId>; readonly registry: Registry };

/**
 * Filters a plan for drift: fields and edges that changed on the gateway since the base, and held ones. Without a base, every
 * difference of a live object counts. Conflicts count too; `only` leaves them out, because the next apply decides about them.
 */
export function filterDrift(given: Diff, { base, deleted = [], registry }: DriftInput, which: DriftScope = 'all'): DriftResult {
  const whole = which === 'expired' ? expiredOnly(given) : given;
  const applied = new Set([...(base?.desired.resources.map(({ id }) => id) ?? []), ...deleted]);
  const isDrift = ({ origin, held }: Pick<FieldChange, 'origin' | 'held'>): boolean =>
    base === undefined || held === true || origin === 'drift' || (which === 'all' && origin === 'both');
  // New objects come with the next apply; with `only`, renamed ones also wait for it.
  const pendingIds = new Set(
    whole.changes.flatMap(({ id, action }) =>
      (action === 'rename' && which === 'only') || (action === 'create' && !applied.has(id)) ? [id] : [],
    ),
  );
  // A deleted object is not created again with less protection than it had.
  const waitingEdges = which === 'all' ? [] : whole.edges.filter((edge) => isDrift(edge) && pendingIds.has(edge.rule));
  const waitingConnections = new Set(waitingEdges.map(({ connection }) => connection));
  for (const { id, action } of whole.changes) if (action === 'create' && waitingConnections.has(id)) pendingIds.add(id);
  const touches = ({ rule, connection }: EdgeChange): boolean => pendingIds.has(rule) || pendingIds.has(connection);
  const edges = whole.edges.filter((edge) => edge.action !== 'foreign' && (edge.action === 'held' || isDrift(edge)) && !touches(edge));
  const writers = new Set(edges.flatMap(({ by }) => by ?? []));
  const blockedEnds = new Set(edges.flatMap((edge) => (edge.action === 'blocked' ? [edge.rule, edge.connection] : [])));
  const changes = whole.changes.flatMap((change) => {
    if (pendingIds.has(change.id)) return [];
    const kept = filterChange(change, isDrift, { applied, registry });
    const writes = writers.has(liveKeyOf(change));
    if (kept === undefined) return [];
    if (
      kept.fields.length === 0 &&
      !writes &&
      !isDeletedOutside(change) &&
      kept.action !== 'create' &&
      !(change.action === 'blocked' && blockedEnds.has(liveKeyOf(change)))
    )
      return [];
    return [writes || kept.action === 'create' ? kept : asHeld(kept)];
  });
  const ids = new Set(changes.map(({ id }) => id));
  const keys = new Set(changes.map(liveKeyOf));
  const rest = whole.changes.filter((change) => !ids.has(change.id) && (isWritten(change) || change.action === 'blocked'));
  const unfinished = rest.filter(isUnfinished).length;
  // An object with drift may also have pending changes.
  const partly = whole.changes.filter(
    (change) => ids.has(change.id) && (change.action === 'rename' || change.fields.some(({ origin }) => origin === 'intent')),
  );
  const stillWritten = edges.filter(({ by }) => by === undefined || keys.has(by));
  const writtenBy = new Map<ResourceId, EdgeChange[]>();
  for (const edge of stillWritten) if (edge.by !== undefined) addToGroup(writtenBy, edge.by, edge);
  return {
    diff: {
      ...whole,
      changes: changes.map((change) => withRemainingNeeds(change, ids, writtenBy.get(liveKeyOf(change)))),
      edges: stillWritten,
      orphans: remainingOrphans(whole),
      unmanaged: [],
    },
    pending: rest.length - unfinished + partly.length,
    unfinished,
  };
}

/** Returns the part of a plan that removes groups whose access has ended, from objects that stay as they are otherwise. */
function expiredOnly(whole: Diff): Diff {
  const changes = whole.changes.flatMap((change) => {
    const fields = change.action === 'update' || change.action === 'blocked' ? change.fields.filter(isExpiry) : [];
    return fields.length === 0 ? [] : [{ ...change, fields }];
  });
  return { ...whole, changes, edges: [], orphans: [] };
}

function isExpiry(field: FieldChange): boolean {
  return expiryOf(field) !== undefined;
}

/** Returns whether there is drift that apply may undo, or an orphan that it leaves live. */
export function isDrifted({ changes, edges, orphans }: Pick<Diff, 'changes' | 'edges' | 'orphans'>): boolean {
  return changes.some(isOurs) || edges.some(isOurs) || orphans.some(({ managedBy }) => managedBy === undefined);
}

/** Returns whether drift has anything to report: a drifted object, a change in no manifest, an apply of a commit that is not reviewed, or a record that is not proven. */
export function needsReport({ plan, unmerged, unproven }: Pick<Drift, 'plan' | 'unmerged' | 'unproven'>): boolean {
  return isDrifted(plan) || (plan.outside?.changes.length ?? 0) > 0 || unmerged !== undefined || unproven !== undefined;
}

function isOurs({ action }: Pick<Change | EdgeChange, 'action'>): boolean {
  return action !== 'blocked';
}

/** Filters one change. Unfinished creations, imports and replacements are no drift. */
function filterChange(change: Change, isDrift: (field: FieldChange) => boolean, { applied, registry }: AppliedContext): Change | undefined {
  if (isUnfinished(change) || change.adoption === true || change.replacedBy !== undefined) return undefined;
  if (change.action === 'delete') return undefined;
  if (change.action !== 'create') {
    const fields = change.fields.filter(isDrift);
    return {
      ...change,
      fields: fields.length === change.fields.length ? fields : fields.filter((field) => !isDerived(change.id, field, registry)),
    };
  }
  // The base was applied with the object, so it was deleted since.
  return applied.has(change.id) ? change : undefined;
}

/** Returns whether a field is derived: it is no drift of its own if some of its sources are left as they are. */
function isDerived(id: ResourceId, { path }: FieldChange, registry: Registry): boolean {
  const field = registry.get(kindOf(id))?.fields.find(({ name }) => name === tokensOf(path)[0]);
  return field?.omitted === 'derived';
}

/** Turns an update with only held fields into a held change. */
function asHeld(change: Change): Change {
  const isHeld = change.action === 'update' && change.fields.every(({ held }) => held === true);
  return isHeld ? { ...change, action: 'held' } : change;
}

/** Drops what does not apply to the filtered change: needs of others, and the reach of a rule whose attachments stay. */
function withRemainingNeeds({ reach, ...change }: Change, ids: ReadonlySet<ResourceId>, own: readonly EdgeChange[] = []): Change {
  return { ...change, ...(reach === undefined || own.length === 0 ? {} : { reach }), needs: change.needs.filter((need) => ids.has(need)) };
}

function isUnfinished({ unfinished }: Change): boolean {
  return unfinished === true;
}

/** The accepted parts of a drift: fields as `ID PATH`, edges as `RULE CONNECTION`. */
type AcceptedSelection = { readonly fields: ReadonlySet<string>; readonly edges: ReadonlySet<string> };

/** Keeps only the fields and edges that are accepted, and the changes that write them. */
export function selectAccepted<C extends Change>(
  whole: { readonly changes: readonly C[]; readonly edges: readonly EdgeChange[] },
  { fields, edges }: AcceptedSelection,
): { readonly changes: readonly C[]; readonly edges: readonly EdgeChange[] } {
  const kept = whole.edges.filter(({ rule, connection }) => edges.has(`${rule} ${connection}`));
  const writers = new Set(kept.flatMap(({ by }) => by ?? []));
  const changes = whole.changes.flatMap((change) => {
    const own = change.fields.filter(({ path }) => fields.has(`${change.id} ${path}`));
    return own.length === 0 && !writers.has(liveKeyOf(change)) ? [] : [{ ...change, fields: own }];
  });
  const ids = new Set(changes.map(({ id }) => id));
  return { changes: changes.map((change) => ({ ...change, needs: change.needs.filter((need) => ids.has(need)) })), edges: kept };
}
