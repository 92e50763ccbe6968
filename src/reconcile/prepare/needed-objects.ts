import { desiredByKey, type DesiredState, isSameManifest } from '../../model/desired.ts';
import type { PartOfGateway } from '../../model/gateway.ts';
import { isConnection, type Registry } from '../../model/kind.ts';
import { type Change, type Diff, liveKeyOf } from '../../model/plan/plan.ts';
import { fieldAt } from '../../model/pointer.ts';
import { isOnlyReported, watchedLists } from '../../model/protection/access-objects.ts';
import { fieldsRead } from '../../protection/controls/control-table.ts';
import { leadFields } from '../../protection/compare/destinations.ts';

/** A part of a gateway, by the kinds that are listed. */
export type NeededPart = PartOfGateway & { readonly kinds: readonly string[] };

/**
 * Returns the parts of a gateway that may show the plan of a selection, the smallest one first: what is compared with it, and what also decides
 * access to its connections. None where it may change others: it has rules or successors, or access tests look at every connection.
 */
export function selectedParts(
  { resources, accessTests = [] }: DesiredState,
  { base, registry, isChecked }: { readonly base: DesiredState | undefined; readonly registry: Registry; readonly isChecked: boolean },
): readonly NeededPart[] {
  const areOwn = resources.every(
    ({ id, replaces, renamedFrom }) => isConnection(id, registry) && replaces === undefined && renamedFrom === undefined,
  );
  if (!areOwn || resources.length === 0 || accessTests.length > 0) return [];
  const objects = new Set(resources.map(({ key }) => key));
  const stated = new Set<string>();
  for (const { spec } of [...resources, ...(base?.resources ?? [])]) for (const field in spec) stated.add(field);
  const unstated = [...registry.values()].flatMap(({ fields }) => fields.flatMap(({ name }) => (stated.has(name) ? [] : [name])));
  // Policies look at every field, and at what decides access although nothing changes. What manifests change needs it, too.
  const part = { objects, without: new Set(isChecked ? [] : unstated) };
  const declared = [...registry.keys()].filter((name) => watchedLists[name] === undefined && fieldsRead(name).length > 0);
  const watched = Object.keys(watchedLists).filter((name) => !isOnlyReported(name));
  const judged = { ...part, kinds: [...declared, ...watched], lists: 'deciding' } as const;
  const applied = desiredByKey(base?.resources ?? []);
  const isChanged = resources.some((one) => !isSameManifest(one, applied.get(one.key) ?? one));
  return isChecked || isChanged ? [judged] : [{ ...part, kinds: declared, lists: 'compared' }, judged];
}

/** Returns the part of a gateway that may show the plan of a proposal: all lists, and whole what its manifests state otherwise than the applied ones. */
export function proposedPart(changed: readonly string[], registry: Registry): NeededPart {
  return { objects: new Set(changed), without: new Set(), lists: 'all', kinds: [...registry.keys()] };
}

type Drafted = {
  readonly diff: Diff;
  readonly accepted: { readonly diff: Diff } | undefined;
  readonly prepared: { readonly input: { readonly registry: Registry } };
};

/**
 * Returns the part that shows the plan of which this is the draft: the same one if it is enough, or one with more objects; undefined if only a larger
 * one may. Without what decides access, nothing may change; with it, nothing but fields of connections.
 */
export function partFor(draft: Drafted, part: NeededPart): NeededPart | undefined {
  const { diff, accepted } = draft;
  const isShown = staysWithin(draft) && (part.lists !== 'compared' || (accepted === undefined && diff.changes.length === 0));
  if (!isShown) return undefined;
  const more = diff.changes.map(liveKeyOf).filter((key) => !part.objects.has(key));
  return more.length === 0 ? part : { ...part, objects: new Set([...part.objects, ...more]) };
}

/**
 * Returns whether a draft, and the drift that it accepts, change nothing but fields of its own connections, and none of those that decide where
 * these lead or whether access control is on: then no other connection can gain or lose anything.
 */
function staysWithin({ diff, accepted, prepared }: Drafted): boolean {
  const { registry } = prepared.input;
  return isWithin(diff, registry) && (accepted === undefined || isWithin(accepted.diff, registry));
}

const reachingFields: ReadonlySet<string> = new Set([...leadFields, 'access_groups']);

function isWithin({ changes, edges, orphans }: Diff, registry: Registry): boolean {
  const isOwn = ({ id, action, fields }: Change): boolean =>
    isConnection(id, registry) &&
    (action === 'update' || action === 'held') &&
    fields.every(({ path }) => !reachingFields.has(fieldAt(path)));
  return orphans.length === 0 && edges.every(({ action }) => action === 'foreign') && changes.every(isOwn);
}
