import { specAfter } from '../../model/spec/edit.ts';
import { specDirection } from '../../model/spec/direction.ts';
import type { Registry } from '../../model/kind.ts';
import { type LiveState, liveById } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Change, type EdgeChange } from '../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { liveEdges } from '../../model/edges.ts';

/** How many live connections there are, and which of them a plan leaves with less of some protection. */
export type ProtectionLosses = { readonly connections: number; readonly losing: ReadonlySet<ResourceId> };

/** Finds the connections that lose a protection: by their own change, by that of a rule on them, or by an edge that goes. */
export function findLosses(
  changes: readonly Change[],
  edges: readonly EdgeChange[],
  live: LiveState,
  registry: Registry,
): ProtectionLosses {
  const guarded = guardedKinds(registry);
  const found = liveById(live.resources);
  const going = new Set(changes.flatMap((change) => (change.action === 'delete' ? [liveKeyOf(change)] : [])));
  const weakened = new Set<ResourceId>();
  for (const change of changes) {
    const key = liveKeyOf(change);
    const kind = registry.get(kindOf(key));
    const spec = found.get(key)?.spec;
    // Opening what an earlier apply created closed takes nothing away that anybody had.
    const opens = change.action === 'delete' || change.reasons.includes('unfinished');
    if (kind === undefined || spec === undefined || !isWritten(change) || opens) continue;
    if (specDirection(kind.fields, spec, specAfter(change, kind, spec)).weakens) weakened.add(key);
  }
  const losing = new Set<ResourceId>();
  const lose = (id: ResourceId): void => {
    if (found.has(id) && !going.has(id)) losing.add(id);
  };
  for (const id of weakened) if (guarded.has(kindOf(id))) lose(id);
  if (weakened.size > 0) for (const { rule, connection } of liveEdges(live, registry)) if (weakened.has(rule)) lose(connection);
  for (const { action, connection } of edges) if (action === 'detach') lose(connection);
  let connections = 0;
  for (const { id } of live.resources) if (guarded.has(kindOf(id))) connections += 1;
  return { connections, losing };
}

/** The kinds that rules protect. */
function guardedKinds(registry: Registry): ReadonlySet<string> {
  return new Set(
    [...registry.values()].flatMap(({ fields }) => fields.flatMap(({ edge, refers }) => (edge === 'rule' ? (refers ?? []) : []))),
  );
}
