import type { ResourceId } from './resource.ts';

/**
 * Returns a function that indexes lists by key; the last entry of a key wins. The index of a list is built on first use
 * and reused, so lists must not change.
 */
export function memoizeIndex<T>(keyOf: (entry: T) => ResourceId): (list: readonly T[]) => ReadonlyMap<ResourceId, T> {
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
