import type { PreflightRequest } from '../../../model/gateway.ts';
import { type LiveResource, liveById } from '../../../model/live.ts';
import { liveKeyOf, type OutsideReference } from '../../../model/plan/plan.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../../model/resource.ts';

/** A connection that a plan puts in the place of another one. */
export type ConnectionReplacement = { readonly id: ResourceId; readonly former: LiveResource };

/** The connections whose place is taken by this plan: what takes it is created, or what is left of the former one is closed or goes. */
export function findReplacements({ plan, desired, live }: PreflightRequest): readonly ConnectionReplacement[] {
  const written = new Set(plan.changes.map(liveKeyOf));
  const found = liveById(live.resources);
  return desired.resources.flatMap(({ id, replaces }) => {
    if (replaces === undefined || kindOf(id) !== 'Connection') return [];
    const former = found.get(resourceId('Connection', replaces));
    const happens = former !== undefined && (written.has(former.id) || (written.has(id) && !found.has(id)));
    return happens ? [{ id, former }] : [];
  });
}

/** Tells whether names are of what is replaced, and not also of what takes its place. */
export function namesOnlyPredecessor(names: readonly unknown[], { id, former }: ConnectionReplacement): boolean {
  return names.includes(nameOf(former.id)) && !names.includes(nameOf(id));
}

/** Things of which the gateway does not tell whether they name what is replaced. */
export function unreadableReference(sort: string, one: ConnectionReplacement): OutsideReference {
  return replacementReference(one, { sort, how: 'the gateway does not show them to this token' });
}

/** Something that names what is replaced. */
export function replacementReference(
  { id, former }: ConnectionReplacement,
  words: Omit<OutsideReference, 'id' | 'replaces'>,
): OutsideReference {
  return { id, replaces: former.id, ...words };
}
