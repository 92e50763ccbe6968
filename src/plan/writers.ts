import type { Write } from '../model/drift.ts';
import type { LiveState } from '../model/live.ts';
import { keyOf, type Plan } from '../model/plan.ts';
import { kindOf, nameOf, type ResourceId } from '../model/resource.ts';

/** Finds the writes to each object that a plan changes, and to both ends of each edge; in the order of the log. */
export function writersOf(
  { changes, edges }: Pick<Plan, 'changes' | 'edges'>,
  live: LiveState,
  writes: readonly Write[],
): ReadonlyMap<ResourceId, readonly Write[]> {
  const uids = new Map(live.resources.map(({ id, uid }) => [id, uid]));
  const ids = new Set([...changes.map(keyOf), ...edges.flatMap(({ rule, connection }) => [rule, connection])]);
  const byName = new Map<string, Write[]>();
  for (const write of writes) {
    for (const name of new Set(write.names)) {
      const key = `${write.kind}/${name}`;
      byName.set(key, [...(byName.get(key) ?? []), write]);
    }
  }
  const found = [...ids].map((id): readonly [ResourceId, readonly Write[]] => {
    const kind = kindOf(id);
    const named = [nameOf(id), uids.get(id)].flatMap((name) => (name === undefined ? [] : (byName.get(`${kind}/${name}`) ?? [])));
    return [id, writes.filter((write) => named.includes(write))];
  });
  return new Map(found.filter(([, own]) => own.length > 0));
}
