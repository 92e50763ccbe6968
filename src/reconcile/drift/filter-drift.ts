import type { BaseState } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import { isWritten, liveKeyOf, type Change, type EdgeChange, type Diff, type FieldChange } from '../../model/plan/plan.ts';
import { tokensOf } from '../../model/pointer.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';

/** A plan narrowed to what the gateway moved, and how much of it was something else. */
export type DriftResult = { readonly diff: Diff; readonly pending: number; readonly unfinished: number };

/** What tells drift from the rest: the manifests that were last applied, where they are known. */
type DriftInput = { readonly base: BaseState | undefined; readonly registry: Registry };

type AppliedContext = { readonly applied: ReadonlySet<ResourceId>; readonly registry: Registry };

/**
 * Narrows a plan to drift: fields and edges that the gateway moved since the base, and those that are held. Without a base
 * whatever differs on an object that is live counts. Where both sides moved it is drift to look at; `only` leaves it out,
 * as the manifests' next apply decides about it.
 */
export function filterDrift(whole: Diff, { base, registry }: DriftInput, which: 'all' | 'only' = 'all'): DriftResult {
  const applied = new Set(base?.desired.resources.map(({ id }) => id));
  const isDrift = ({ origin, held }: Pick<FieldChange, 'origin' | 'held'>): boolean =>
    base === undefined || held === true || origin === 'drift' || (which === 'all' && origin === 'both');
  // What comes with the next apply alone, and what is not written without its next name.
  const coming = new Set(
    whole.changes.flatMap(({ id, action }) =>
      (action === 'rename' && which === 'only') || (action === 'create' && !applied.has(id)) ? [id] : [],
    ),
  );
  // What was deleted does not come back with less protection than it had.
  const waiting = which === 'all' ? [] : whole.edges.filter((edge) => isDrift(edge) && coming.has(edge.rule));
  const later = new Set(waiting.map(({ connection }) => connection));
  for (const { id, action } of whole.changes) if (action === 'create' && later.has(id)) coming.add(id);
  const touches = ({ rule, connection }: EdgeChange): boolean => coming.has(rule) || coming.has(connection);
  const edges = whole.edges.filter((edge) => edge.action !== 'foreign' && (edge.action === 'held' || isDrift(edge)) && !touches(edge));
  const writers = new Set(edges.flatMap(({ by }) => (by === undefined ? [] : [by])));
  const blockedEnds = new Set(edges.flatMap((edge) => (edge.action === 'blocked' ? [edge.rule, edge.connection] : [])));
  const changes = whole.changes.flatMap((change) => {
    if (coming.has(change.id)) return [];
    const kept = narrowed(change, isDrift, { applied, registry });
    const writes = writers.has(liveKeyOf(change));
    if (kept === undefined) return [];
    if (
      kept.fields.length === 0 &&
      !writes &&
      kept.action !== 'create' &&
      !(change.action === 'blocked' && blockedEnds.has(liveKeyOf(change)))
    )
      return [];
    return [writes || kept.action === 'create' ? kept : asHeld(kept)];
  });
  const ids = new Set(changes.map(({ id }) => id));
  const there = new Set(changes.map(liveKeyOf));
  const rest = whole.changes.filter((change) => !ids.has(change.id) && (isWritten(change) || change.action === 'blocked'));
  const unfinished = rest.filter(isUnfinished).length;
  // An object that somebody changed may have something to come, besides.
  const partly = whole.changes.filter(
    (change) => ids.has(change.id) && (change.action === 'rename' || change.fields.some(({ origin }) => origin === 'intent')),
  );
  const stillWritten = edges.filter(({ by }) => by === undefined || there.has(by));
  return {
    diff: {
      ...whole,
      changes: changes.map((change) => withRemainingNeeds(change, ids, stillWritten)),
      edges: stillWritten,
      orphans: [],
      unmanaged: [],
    },
    pending: rest.length - unfinished + partly.length,
    unfinished,
  };
}

/** Returns whether somebody changed something that is ours to undo. */
export function isDrifted({ changes, edges }: Pick<Diff, 'changes' | 'edges'>): boolean {
  return changes.some(({ action }) => action !== 'blocked') || edges.some(({ action }) => action !== 'blocked');
}

/** What an interrupted apply left closed is ours to finish, and what was never applied is no drift. */
function narrowed(change: Change, isDrift: (field: FieldChange) => boolean, { applied, registry }: AppliedContext): Change | undefined {
  if (isUnfinished(change) || change.adoption === true || change.reasons.includes('replaced')) return undefined;
  if (change.action === 'delete') return undefined;
  if (change.action !== 'create') {
    const fields = change.fields.filter(isDrift);
    return {
      ...change,
      fields: fields.length === change.fields.length ? fields : fields.filter((field) => !isDerived(change.id, field, registry)),
    };
  }
  // It was there when the base was applied, so somebody deleted it.
  return applied.has(change.id) ? change : undefined;
}

/** What follows from other fields is no drift of its own where some of them are left as they are. */
function isDerived(id: ResourceId, { path }: FieldChange, registry: Registry): boolean {
  const field = registry.get(kindOf(id))?.fields.find(({ name }) => name === tokensOf(path)[0]);
  return field?.omitted === 'derived';
}

/** A change of which only held fields are left writes nothing. */
function asHeld(change: Change): Change {
  const isHeld = change.action === 'update' && change.fields.every(({ held }) => held === true);
  return isHeld ? { ...change, action: 'held', reasons: ['held'] } : change;
}

/** The reasons and needs that are left of it. */
function withRemainingNeeds(change: Change, ids: ReadonlySet<ResourceId>, edges: readonly EdgeChange[]): Change {
  const own = edges.filter(({ by }) => by === liveKeyOf(change));
  const writes = change.fields.some(({ held }) => held !== true);
  const reasons = change.reasons.filter((reason) => {
    if (reason === 'edge/attach') return own.some(({ action }) => action === 'attach');
    if (reason === 'edge/detach') return own.some(({ action }) => action === 'detach');
    return reason !== 'differs' || writes;
  });
  return { ...change, reasons, needs: change.needs.filter((need) => ids.has(need)) };
}

function isUnfinished({ reasons }: Change): boolean {
  return reasons.includes('unfinished');
}

/** The accepted parts of a drift: fields as `ID PATH`, edges as `RULE CONNECTION`. */
export type AcceptedSelection = { readonly fields: ReadonlySet<string>; readonly edges: ReadonlySet<string> };

/** Keeps only the fields and edges that are accepted, and the changes that write them. */
export function selectAccepted<C extends Change>(
  whole: { readonly changes: readonly C[]; readonly edges: readonly EdgeChange[] },
  { fields, edges }: AcceptedSelection,
): { readonly changes: readonly C[]; readonly edges: readonly EdgeChange[] } {
  const kept = whole.edges.filter(({ rule, connection }) => edges.has(`${rule} ${connection}`));
  const writers = new Set(kept.flatMap(({ by }) => (by === undefined ? [] : [by])));
  const changes = whole.changes.flatMap((change) => {
    const own = change.fields.filter(({ path }) => fields.has(`${change.id} ${path}`));
    return own.length === 0 && !writers.has(liveKeyOf(change)) ? [] : [{ ...change, fields: own }];
  });
  const ids = new Set(changes.map(({ id }) => id));
  return { changes: changes.map((change) => ({ ...change, needs: change.needs.filter((need) => ids.has(need)) })), edges: kept };
}
