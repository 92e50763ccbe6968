import type { PreflightRequest } from '../../../model/gateway.ts';
import { type LiveResource, liveById } from '../../../model/live.ts';
import { liveKeyOf, type OutsideReference } from '../../../model/plan/plan.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../../model/resource.ts';

/** A connection that replaces another one, its predecessor. */
export type ConnectionReplacement = { readonly id: ResourceId; readonly predecessor: LiveResource };

/** Lists the replacements that this plan carries out: it creates the successor, or it closes or deletes the predecessor. */
export function findReplacements({ plan, desired, live }: PreflightRequest): readonly ConnectionReplacement[] {
  const written = new Set(plan.changes.map(liveKeyOf));
  const found = liveById(live.resources);
  return desired.resources.flatMap(({ id, replaces }) => {
    if (replaces === undefined || kindOf(id) !== 'Connection') return [];
    const predecessor = found.get(resourceId('Connection', replaces));
    const isPlanned = predecessor !== undefined && (written.has(predecessor.id) || (written.has(id) && !found.has(id)));
    return isPlanned ? [{ id, predecessor }] : [];
  });
}

/** Returns whether the names include the predecessor and not its successor. */
export function namesOnlyPredecessor(names: readonly unknown[], { id, predecessor }: ConnectionReplacement): boolean {
  return names.includes(nameOf(predecessor.id)) && !names.includes(nameOf(id));
}

/** Returns the reference for things that the gateway does not show to this token: they may name the predecessor. */
export function unreadableReference(sort: string, replacement: ConnectionReplacement): OutsideReference {
  return replacementReference(replacement, { sort, how: 'the gateway does not show them to this token' });
}

/** Returns the reference of something that names the predecessor. */
export function replacementReference(
  { id, predecessor }: ConnectionReplacement,
  reference: Omit<OutsideReference, 'id' | 'replaces'>,
): OutsideReference {
  return { id, replaces: predecessor.id, ...reference };
}
