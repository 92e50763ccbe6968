import type { EdgeAction, Origin } from '../../model/plan/plan.ts';
import { isPointerWithin, pointer } from '../../model/pointer.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';
import { edgeKey, type EdgeEnds } from '../../model/live.ts';
import { edgeField, type EdgeIndex } from './edge-index.ts';

/** The action for an edge, the resource that writes it, and the origin of the difference. */
export type EdgeOutcome = { readonly action: EdgeAction; readonly by?: ResourceId; readonly origin?: Origin };

/** Decides about a declared edge: a missing one is attached by an end that can write it. */
export function decideAttach(ends: EdgeEnds, exists: boolean, index: EdgeIndex): EdgeOutcome | 'unwritable' | undefined {
  if (exists) return undefined;
  if (!index.selected.has(ends.rule) && !index.selected.has(ends.connection)) return undefined;
  if (isManaged(ends.connection, index)) return { action: 'blocked' };
  const writers = index.live.has(ends.connection) ? [ends.rule, ends.connection] : [ends.connection, ends.rule];
  const writer = writers.find((id) => canWrite(id, ends, index));
  if (writer !== undefined) return { action: 'attach', by: writer, ...originOf(ends, index) };
  return isManaged(ends.rule, index) ? { action: 'blocked' } : 'unwritable';
}

/**
 * Decides about an edge that no manifest declares. It is detached only if both ends have a manifest, or if the base declared it
 * and no end is an orphan; neither end may be managed or ignore it, and a selected end must be able to write it. An edge that
 * was attached outside Ostiary since the base is held, because detaching it would weaken protection.
 */
export function decideDetach(ends: EdgeEnds, index: EdgeIndex): EdgeOutcome | 'unwritable' | undefined {
  const { rule, connection } = ends;
  const toDelete = [rule, connection].find((id) => index.toDelete.has(id));
  if (toDelete !== undefined) return { action: 'detach', by: toDelete, origin: 'intent' };
  if (!index.selected.has(rule) && !index.selected.has(connection)) return undefined;
  const ours = index.declared.has(rule) && index.declared.has(connection);
  const applied = index.past?.has(edgeKey(ends)) === true;
  const isOrphaned = index.orphans.has(rule) || index.orphans.has(connection);
  if (isOrphaned || !(ours || applied)) return { action: 'foreign' };
  if (isManaged(rule, index) || isManaged(connection, index) || isIgnored(ends, index)) return { action: 'foreign' };
  const reverts = index.reverts.has(rule) || index.reverts.has(connection);
  if (index.past !== undefined && !applied && !reverts) return { action: 'held', origin: 'drift' };
  const writer = [rule, connection].find((id) => canWrite(id, ends, index));
  if (writer === undefined) return [rule, connection].some((id) => isUnselected(id, index)) ? 'unwritable' : { action: 'foreign' };
  if (index.past === undefined) return { action: 'detach', by: writer };
  return { action: 'detach', by: writer, origin: applied ? 'intent' : 'drift' };
}

/** Returns the origin of a missing edge: if the base declared it, it was detached outside Ostiary. */
function originOf(ends: EdgeEnds, { past }: EdgeIndex): Pick<EdgeOutcome, 'origin'> {
  return past === undefined ? {} : { origin: past.has(edgeKey(ends)) ? 'drift' : 'intent' };
}

/** Returns whether the resource has a manifest that is not selected. */
function isUnselected(id: ResourceId, index: EdgeIndex): boolean {
  return index.declared.has(id) && !index.selected.has(id);
}

/** Returns whether an end can write an edge: it is selected, not managed, has a field for it, and the other end exists or will exist. */
function canWrite(id: ResourceId, ends: EdgeEnds, index: EdgeIndex): boolean {
  const other = id === ends.rule ? ends.connection : ends.rule;
  if (!index.selected.has(id) || isManaged(id, index)) return false;
  const there = index.live.has(other) || index.selected.has(other) || index.hidden.has(other) || index.edges.has(edgeKey(ends));
  if (!there) return false;
  return edgeField(index.kinds.get(kindOf(id)), kindOf(other)) !== undefined;
}

function isManaged(id: ResourceId, index: EdgeIndex): boolean {
  return index.live.get(id)?.managedBy !== undefined;
}

function isIgnored(ends: EdgeEnds, index: EdgeIndex): boolean {
  return [ends.rule, ends.connection].some((id) => {
    const other = id === ends.rule ? ends.connection : ends.rule;
    const field = edgeField(index.kinds.get(kindOf(id)), kindOf(other));
    const ignore = index.declared.get(id) ?? [];
    return field !== undefined && ignore.some((path) => isPointerWithin(pointer(field, nameOf(other)), path));
  });
}
