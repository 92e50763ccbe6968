import type { Registry } from './kind.ts';
import type { LiveState } from './live.ts';
import { kindOf, type ResourceId } from './resource.ts';

/** The two ends of an edge. */
export type Ends = { readonly rule: ResourceId; readonly connection: ResourceId };

/** One text for an edge. */
export function edgeKey({ rule, connection }: Ends): string {
  return `${rule}\u0000${connection}`;
}

/** All live edges, seen from either side, each once. */
export function liveEdges(live: Pick<LiveState, 'resources'>, registry: Registry): readonly Ends[] {
  const all = new Map<string, Ends>();
  const fields = new Map([...registry].map(([name, kind]) => [name, kind.fields.filter((field) => field.edge !== undefined)]));
  for (const resource of live.resources) {
    for (const field of fields.get(kindOf(resource.id)) ?? []) {
      for (const other of resource.edges[field.name] ?? []) {
        const ends = field.edge === 'rule' ? { rule: resource.id, connection: other } : { rule: other, connection: resource.id };
        all.set(edgeKey(ends), ends);
      }
    }
  }
  return [...all.values()];
}
