import { compareText } from './json.ts';
import type { EdgeEnds, ResourceId } from './resource.ts';

/** Appends values to a list. A call with a spread list fails when the list is longer than the stack allows. */
export function appendAll<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one);
}

/** Returns the largest of the numbers, at least the floor. */
export function largestOf(numbers: Iterable<number>, floor: number): number {
  let largest = floor;
  for (const one of numbers) largest = Math.max(largest, one);
  return largest;
}

/** Appends a value to the group of its key. Copying a group for each value would take quadratic time. */
export function addToGroup<Key, Value>(groups: Map<Key, Value[]>, key: Key, value: Value): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}

/** Groups values by key, in the order of each key's first value. */
export function groupBy<Value, Key>(values: Iterable<Value>, keyOf: (value: Value) => Key): ReadonlyMap<Key, readonly [Value, ...Value[]]> {
  const groups = new Map<Key, [Value, ...Value[]]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Returns a function that makes a value when it is first called, and returns the same one afterwards. */
export function onFirstUse<Value>(make: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => (known ??= { value: make() }).value;
}

/** Returns a function that computes something of an object on first use and keeps it with the object, so objects, such as lists, must not change. */
export function memoizeByObject<Owner extends object, Result>(make: (owner: Owner) => Result): (owner: Owner) => Result {
  const known = new WeakMap<Owner, { readonly result: Result }>();
  return (owner) => {
    const found = known.get(owner) ?? { result: make(owner) };
    known.set(owner, found);
    return found.result;
  };
}

/** Returns a function that answers each question about an object once, and reads the object itself once; objects must not change. */
export function onceInEach<Owner extends object, Result>(
  read: (owner: Owner) => (id: ResourceId) => Result,
): (owner: Owner, id: ResourceId) => Result {
  const readerOf = memoizeByObject((owner: Owner) => ({ ask: read(owner), known: new Map<ResourceId, { readonly result: Result }>() }));
  return (owner, id) => {
    const { ask, known } = readerOf(owner);
    const found = known.get(id) ?? { result: ask(id) };
    known.set(id, found);
    return found.result;
  };
}

/** Returns the first of some texts: `a, b and 3 more`. */
export function firstOf(texts: readonly string[], most: number): string {
  const more = texts.length - most;
  return more > 0 ? `${texts.slice(0, most).join(', ')} and ${more} more` : texts.join(', ');
}

/** Returns a function that indexes lists by key; the last entry of a key wins. Lists must not change. */
export function memoizeIndex<T>(keyOf: (entry: T) => ResourceId): (list: readonly T[]) => ReadonlyMap<ResourceId, T> {
  return memoizeByObject((list) => {
    const index = new Map<ResourceId, T>();
    for (const entry of list) index.set(keyOf(entry), entry);
    return index;
  });
}

/** Caches the results for short texts (60 characters, 4096 texts at most): many objects repeat the same words. */
export function memoizeByText<T>(make: (text: string) => T): (text: string) => T {
  return memoizeByKey(make, { keyOf: (text) => text, longest: 60 });
}

/** Caches the results for values with short keys, 4096 keys at most. */
export function memoizeByKey<Given, T>(
  make: (given: Given) => T,
  { keyOf, longest }: { readonly keyOf: (given: Given) => string; readonly longest: number },
): (given: Given) => T {
  const known = new Map<string, T>();
  return (given) => {
    const key = keyOf(given);
    const before = known.get(key);
    if (before !== undefined) return before;
    const made = make(given);
    if (key.length <= longest && known.size < most) known.set(key, made);
    return made;
  };
}

const most = 4096;

/** Returns `a, b and c`. */
export function joinWords(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((text) => text !== '').join(' and ');
}

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
  without(other: Pick<EdgeMap<EdgeEnds>, 'has'>): readonly Edge[] {
    const found: Edge[] = [];
    for (const edges of this.#byRule.values()) for (const edge of edges.values()) if (!other.has(edge)) found.push(edge);
    return found;
  }
}

/** Compares two edges by rule and connection. */
export function compareEdges(left: EdgeEnds, right: EdgeEnds): number {
  return compareText(left.rule, right.rule) || compareText(left.connection, right.connection);
}
