import type { LiveResource } from '../model/live.ts';
import type { Inherited, Owned } from '../model/result/pull-result.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import type { StateObject } from './terraform-state.ts';

/** A state's objects, each with the live object that it is, if there is one. */
export type Matched = readonly (StateObject & { readonly live?: ResourceId })[];

/** Finds the live objects that a state owns: by their names, and by the gateway's own ids where a name is not known. */
export function matchState(objects: readonly StateObject[], live: readonly LiveResource[]): Matched {
  const ids = new Set(live.map(({ id }) => id));
  const byUid = new Map(live.map(({ id, uid }) => [uid, id]));
  return objects.map((one) => {
    const other = one.uid === undefined ? undefined : byUid.get(one.uid);
    const same = other !== undefined && (one.id === undefined || kindOf(other) === kindOf(one.id)) ? other : undefined;
    const found = one.id !== undefined && ids.has(one.id) ? one.id : same;
    return found === undefined ? one : { ...one, live: found };
  });
}

/**
 * Tells what Terraform may forget: what has a manifest now. A removed block names all instances of a resource, so a
 * resource with one that must stay stays whole.
 */
export function inheritState(
  objects: Matched,
  declared: ReadonlySet<ResourceId>,
  reasons: ReadonlyMap<ResourceId, string>,
): Omit<Inherited, 'file'> & { readonly blocks: readonly string[] } {
  const stays = new Map(objects.flatMap((one) => reasonToStay(one, declared, reasons)));
  const held = new Set(objects.filter(({ address }) => stays.has(address)).map(({ block }) => block));
  const gone = objects.filter(({ address, live, id }) => live === undefined && id !== undefined && !stays.has(address));
  const ours = objects.filter(({ live, address }) => live !== undefined && !stays.has(address));
  const taken = ours.filter(({ block }) => !held.has(block));
  const siblings = ours.filter(({ block }) => held.has(block));
  return {
    taken: taken.map(ownedOf),
    gone: gone.map(ownedOf),
    kept: [
      ...withoutDoubles(objects).flatMap((one) => keptOf(one, stays.get(one.address))),
      ...siblings.map((one) => ({ ...ownedOf(one), reason: 'it has a manifest now, but another instance of its resource stays' })),
    ],
    blocks: [...new Set(taken.map(({ block }) => block))].toSorted(),
  };
}

/** One of each address: what is being replaced stands beside what it is replaced by. */
function withoutDoubles(objects: Matched): Matched {
  return [...new Map(objects.map((one) => [one.address, one])).values()];
}

function reasonToStay(
  { address, kind, id, live, deposed }: Matched[number],
  declared: ReadonlySet<ResourceId>,
  reasons: ReadonlyMap<ResourceId, string>,
): readonly (readonly [string, string])[] {
  if (deposed === true) return [[address, 'it is being replaced: let Terraform finish first']];
  if (kind === undefined) return [[address, 'no manifest stands for this type']];
  if (id === undefined && live === undefined) return [[address, 'the state does not name it']];
  return live === undefined || declared.has(live) ? [] : [[address, reasons.get(live) ?? 'it has no manifest']];
}

function keptOf(one: StateObject, reason: string | undefined): readonly (Owned & { readonly reason: string })[] {
  return reason === undefined ? [] : [{ ...ownedOf(one), reason }];
}

/** What names it in a report: what the state holds as sensitive is not repeated. */
function ownedOf({ address, id, secret }: StateObject): Owned {
  return { address, ...(id === undefined || secret === true ? {} : { id }) };
}
