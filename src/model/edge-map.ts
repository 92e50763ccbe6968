import { compareText } from './json.ts';
import type { EdgeEnds, ResourceId } from './resource.ts';

/** Edges by both of their ends. One text for each of many edges would need more memory and time than the edges themselves. */
export class EdgeMap<Edge extends EdgeEnds> {
  readonly #byRule = new Map<ResourceId, Map<ResourceId, Edge>>();
  #size = 0;

  constructor(edges: readonly Edge[] = []) {
    for (const edge of edges) this.set(edge);
  }

  /** The number of edges. */
  get size(): number {
    return this.#size;
  }

  /** Returns the edge with these ends. */
  get({ rule, connection }: EdgeEnds): Edge | undefined {
    return this.#byRule.get(rule)?.get(connection);
  }

  /** Returns whether an edge has these ends. */
  has({ rule, connection }: EdgeEnds): boolean {
    return this.#byRule.get(rule)?.has(connection) === true;
  }

  /** Adds an edge; it replaces the one with the same ends. */
  set(edge: Edge): void {
    const edges = this.#byRule.get(edge.rule) ?? new Map<ResourceId, Edge>();
    this.#byRule.set(edge.rule, edges);
    if (!edges.has(edge.connection)) this.#size += 1;
    edges.set(edge.connection, edge);
  }

  /** Lists the edges, those of a rule together, in the order in which they were added. */
  values(): readonly Edge[] {
    return [...this.#byRule.values()].flatMap((edges) => [...edges.values()]);
  }

  /** Lists the edges by rule and connection, in the order of their texts. */
  sorted(): readonly Edge[] {
    const rules = [...this.#byRule].toSorted(([left], [right]) => compareText(left, right));
    return rules.flatMap(([, edges]) => [...edges.values()].toSorted((left, right) => compareText(left.connection, right.connection)));
  }

  /** Lists the edges that another map does not have. */
  without(other: EdgeMap<EdgeEnds>): readonly Edge[] {
    const found: Edge[] = [];
    for (const edges of this.#byRule.values()) for (const edge of edges.values()) if (!other.has(edge)) found.push(edge);
    return found;
  }
}

/** Compares two edges by rule and connection. */
export function compareEdges(left: EdgeEnds, right: EdgeEnds): number {
  return compareText(left.rule, right.rule) || compareText(left.connection, right.connection);
}
