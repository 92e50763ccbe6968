import type { DesiredState } from '../../model/desired.ts';
import type { PartOfGateway } from '../../model/gateway.ts';
import { isConnection, type Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { accessRowsOf } from '../../model/plan/access-rows.ts';
import { type Change, type Diff, type EdgeChange, liveKeyOf } from '../../model/plan/plan.ts';
import { fieldAt } from '../../model/pointer.ts';
import { isOnlyReported, watchedLists } from '../../model/protection/access-objects.ts';
import { kindOf } from '../../model/resource.ts';
import { decidesAccess } from '../../protection/access/deciding-kinds.ts';
import { decidingKindsFor, fieldsRead } from '../../protection/controls/control-table.ts';
import { leadFields } from '../../protection/compare/destinations.ts';

/** A part of a gateway, by the kinds that are listed. */
export type NeededPart = PartOfGateway & { readonly kinds: readonly string[] };

/**
 * Returns the part of a gateway that may show the plan of a selection: what is compared with it, and, where policies, a page or a replay look at it
 * (`isChecked`), what decides access to its connections. Undefined where it may change others: it has rules or successors, or access tests look at
 * every connection.
 */
export function selectedPart(
  { resources, accessTests = [] }: DesiredState,
  { base, registry, isChecked }: { readonly base: DesiredState | undefined; readonly registry: Registry; readonly isChecked: boolean },
): NeededPart | undefined {
  const areOwn = resources.every(
    ({ id, replaces, renamedFrom }) => isConnection(id, registry) && replaces === undefined && renamedFrom === undefined,
  );
  if (!areOwn || resources.length === 0 || accessTests.length > 0) return undefined;
  const objects = new Set(resources.map(({ key }) => key));
  const declared = [...registry.keys()].filter((name) => watchedLists[name] === undefined && fieldsRead(name).length > 0);
  // These look at every field, and at what decides access although nothing changes.
  if (isChecked) return { objects, without: new Set(), kinds: [...declared, ...decidingWatched], lists: 'deciding' };
  const stated = new Set<string>();
  for (const { spec } of [...resources, ...(base?.resources ?? [])]) for (const field in spec) stated.add(field);
  const unstated = [...registry.values()].flatMap(({ fields }) => fields.flatMap(({ name }) => (stated.has(name) ? [] : [name])));
  return { objects, without: new Set(unstated), kinds: declared, lists: 'compared' };
}

/** The kinds that no manifest declares and that decide access to connections. */
const decidingWatched: readonly string[] = Object.keys(watchedLists).filter((name) => !isOnlyReported(name));

/** Returns the part of a gateway that may show the plan of a proposal: all lists, and whole what its manifests state otherwise than the applied ones. */
export function proposedPart(changed: readonly string[], registry: Registry): NeededPart {
  return { objects: new Set(changed), without: new Set(), lists: 'all', kinds: [...registry.keys()] };
}

type Drafted = {
  readonly diff: Diff;
  readonly accepted: { readonly diff: Diff } | undefined;
  readonly prepared: { readonly input: { readonly registry: Registry }; readonly live: LiveState };
};

/**
 * Returns the part that shows the plan of which this is the draft: the same one if it is enough, or one with more objects, and with the kinds that
 * decide what its changes do; undefined if only everything may show it, because other connections can gain or lose something.
 */
export function partFor(draft: Drafted, part: NeededPart): NeededPart | undefined {
  const { diff, accepted } = draft;
  const diffs = accepted === undefined ? [diff] : [diff, accepted.diff];
  if (!diffs.every((one) => isWithin(one, draft))) return undefined;
  const objects = diff.changes.map(liveKeyOf).filter((key) => !part.objects.has(key));
  const kinds = part.lists === 'all' ? [] : kindsFor(diffs).filter((kind) => !part.kinds.includes(kind));
  const isCompared = part.lists === 'compared' && diffs.some(({ changes, edges }) => changes.length > 0 || edges.some(isMoved));
  if (objects.length + kinds.length === 0 && !isCompared) return part;
  return {
    ...part,
    objects: new Set([...part.objects, ...objects]),
    kinds: [...part.kinds, ...kinds],
    lists: isCompared ? 'deciding' : part.lists,
  };
}

/** Lists the watched kinds that decide what changes of connections do. */
function kindsFor(diffs: readonly Diff[]): readonly string[] {
  const fields = diffs.flatMap(({ changes }) => changes.flatMap((change) => change.fields.map(({ path }) => fieldAt(path))));
  const rules = diffs.flatMap(({ edges }) => edges.filter(isMoved).map(({ rule }) => kindOf(rule)));
  const deciding = decidingKindsFor(new Set(fields), new Set(rules));
  return decidingWatched.filter((kind) => deciding.has(kind));
}

const isMoved = ({ action }: EdgeChange): boolean => action !== 'foreign';

/**
 * Returns whether nothing changes but fields of connections, and none of those that decide where these lead or whether access control is on, and
 * rules on connections that decide nothing together: then no other connection can gain or lose anything.
 */
function isWithin({ changes, edges, orphans }: Diff, { prepared: { input, live } }: Drafted): boolean {
  const isOwn = ({ id, action, fields }: Change): boolean =>
    isConnection(id, input.registry) &&
    (action === 'update' || action === 'held') &&
    fields.every(({ path }) => !leadFields.includes(fieldAt(path)));
  return (
    orphans.length === 0 &&
    edges.every((edge) => !isMoved(edge) || !decidesAccess(kindOf(edge.rule))) &&
    changes.every(isOwn) &&
    accessRowsOf(changes, live) === undefined
  );
}
