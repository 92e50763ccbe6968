import type { DesiredState } from '../../model/desired.ts';
import type { PartOfGateway } from '../../model/gateway.ts';
import { closableFields, type Registry } from '../../model/kind.ts';
import type { Change, Diff } from '../../model/plan/plan.ts';
import { tokensOf } from '../../model/pointer.ts';
import { isOnlyReported, watchedLists } from '../../model/protection/access-objects.ts';
import { kindOf } from '../../model/resource.ts';
import { fieldsRead } from '../../protection/controls/control-table.ts';
import { leadFields } from '../../protection/compare/destinations.ts';

/** A part of a gateway, by the kinds that are listed. */
export type NeededPart = PartOfGateway & { readonly kinds: readonly string[] };

/**
 * Returns the parts of a gateway that may show the plan of a selection, the smallest one first: what is compared with it, and what also decides
 * access to its connections. None where it may change others: it has rules or successors, or access tests look at every connection.
 */
export function neededParts(
  { resources, accessTests = [] }: DesiredState,
  { base, registry, isChecked }: { readonly base: DesiredState | undefined; readonly registry: Registry; readonly isChecked: boolean },
): readonly NeededPart[] {
  const areOwn = resources.every(({ id, replaces, renamedFrom }) => {
    const kind = registry.get(kindOf(id));
    return kind !== undefined && closableFields(kind).length > 0 && replaces === undefined && renamedFrom === undefined;
  });
  if (!areOwn || resources.length === 0 || accessTests.length > 0) return [];
  const objects = new Set(resources.map(({ key }) => key));
  const stated = new Set([...resources, ...(base?.resources ?? [])].flatMap(({ spec }) => Object.keys(spec)));
  const unstated = [...registry.values()].flatMap(({ fields }) => fields.flatMap(({ name }) => (stated.has(name) ? [] : [name])));
  // Policies look at every field, and at what decides access although nothing changes.
  const part = { objects, without: new Set(isChecked ? [] : unstated) };
  const declared = [...registry.keys()].filter((name) => watchedLists[name] === undefined && fieldsRead(name).length > 0);
  const watched = Object.keys(watchedLists).filter((name) => !isOnlyReported(name));
  const judged = { ...part, kinds: [...declared, ...watched], groups: true };
  return isChecked ? [judged] : [{ ...part, kinds: declared, groups: false }, judged];
}

/** Returns whether a draft from a part is the one from everything: it changes nothing, or nothing but its own connections where the part judges that. */
export function showsPlan(draft: Drafted, { groups }: NeededPart): boolean {
  const { diff, accepted } = draft;
  return groups ? staysWithin(draft) : accepted === undefined && diff.changes.length + diff.orphans.length === 0 && isWithin(diff);
}

type Drafted = { readonly diff: Diff; readonly accepted: { readonly diff: Diff } | undefined };

/**
 * Returns whether a draft, and the drift that it accepts, change nothing but fields of its own connections, and none of those that decide where
 * these lead or whether access control is on: then no other connection can gain or lose anything.
 */
function staysWithin({ diff, accepted }: Drafted): boolean {
  return isWithin(diff) && (accepted === undefined || isWithin(accepted.diff));
}

const reachingFields: ReadonlySet<string> = new Set([...leadFields, 'access_groups']);

function isWithin({ changes, edges, orphans }: Diff): boolean {
  return orphans.length === 0 && edges.every(({ action }) => action === 'foreign') && changes.every(isOwn);
}

function isOwn({ action, fields }: Change): boolean {
  return (action === 'update' || action === 'held') && fields.every(({ path }) => !reachingFields.has(tokensOf(path)[0] ?? ''));
}
