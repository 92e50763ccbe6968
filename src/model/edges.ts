import type { Registry } from './kind.ts';
import type { LiveState } from './live.ts';
import { kindOf, type ResourceId } from './resource.ts';

/** The two ends of an edge. */
export type EdgeEnds = { readonly rule: ResourceId; readonly connection: ResourceId };

/** Returns a text that identifies an edge. */
export function edgeKey({ rule, connection }: EdgeEnds): string {
  return `${rule}\u0000${connection}`;
}

/** Lists all live edges, each once, whichever end shows it. */
export function liveEdges(live: Pick<LiveState, 'resources'>, registry: Registry): readonly EdgeEnds[] {
  const all = new Map<string, EdgeEnds>();
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
