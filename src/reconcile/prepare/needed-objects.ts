import type { DesiredState } from '../../model/desired.ts';
import { closableFields, type Registry } from '../../model/kind.ts';
import type { Change, Diff } from '../../model/plan/plan.ts';
import { tokensOf } from '../../model/pointer.ts';
import { isOnlyReported } from '../../model/protection/access-objects.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { leadFields } from '../../protection/compare/destinations.ts';

/** The part of a gateway that the plan of a selection needs: these objects whole, of others their lists, and no list of other kinds. */
export type NeededPart = { readonly objects: ReadonlySet<ResourceId>; readonly kinds: readonly string[] };

/**
 * Returns the part of a gateway that shows whether a selection changes only its own connections; undefined where it may change others: it has
 * rules or successors, or access tests look at every connection.
 */
export function neededPart({ resources, accessTests = [] }: DesiredState, registry: Registry): NeededPart | undefined {
  const areOwn = resources.every(({ id, replaces, renamedFrom }) => {
    const kind = registry.get(kindOf(id));
    return kind !== undefined && closableFields(kind).length > 0 && replaces === undefined && renamedFrom === undefined;
  });
  if (!areOwn || resources.length === 0 || accessTests.length > 0) return undefined;
  return { objects: new Set(resources.map(({ key }) => key)), kinds: [...registry.keys()].filter((name) => !isOnlyReported(name)) };
}

/**
 * Returns whether a draft, and the drift that it accepts, change nothing but fields of its own connections, and none of those that decide where
 * these lead or whether access control is on: then no other connection can gain or lose anything.
 */
export function staysWithin({ diff, accepted }: { readonly diff: Diff; readonly accepted: { readonly diff: Diff } | undefined }): boolean {
  return isWithin(diff) && (accepted === undefined || isWithin(accepted.diff));
}

const reachingFields: ReadonlySet<string> = new Set([...leadFields, 'access_groups']);

function isWithin({ changes, edges, orphans }: Diff): boolean {
  return orphans.length === 0 && edges.every(({ action }) => action === 'foreign') && changes.every(isOwn);
}

function isOwn({ action, fields }: Change): boolean {
  return (action === 'update' || action === 'held') && fields.every(({ path }) => !reachingFields.has(tokensOf(path)[0] ?? ''));
}
