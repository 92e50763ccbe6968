import type { ResourceId } from './resource.ts';

/**
 * Makes a function that indexes lists; where two entries have one key the last counts. The index of a list is made when
 * it is first asked for, and is the same one from then on: lists do not change.
 */
export function indexer<T>(keyOf: (entry: T) => ResourceId): (list: readonly T[]) => ReadonlyMap<ResourceId, T> {
  const known = new WeakMap<readonly T[], ReadonlyMap<ResourceId, T>>();
  return (list) => {
    const found = known.get(list);
    if (found !== undefined) return found;
    const index = new Map<ResourceId, T>();
    for (const entry of list) index.set(keyOf(entry), entry);
    known.set(list, index);
    return index;
  };
}

/** Remembers what was made of short texts, up to a few thousand: many objects use the same words again and again. */
export function remembered<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    if (text.length <= longest && known.size < most) known.set(text, made);
    return made;
  };
}

const longest = 60;
const most = 4096;
