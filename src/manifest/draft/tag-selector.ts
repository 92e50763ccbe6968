import { addToGroup } from '../../model/collections.ts';
import { compareText } from '../../model/json.ts';

/** Tags of connections by name. */
export type TagsByName = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Fewer names are as easy to read as a selector, and say less by chance. */
const fewest = 3;

/**
 * Finds the tags that exactly the named connections have, of all that have a manifest: one tag, or two; undefined if there are none. With several answers,
 * the first in alphabetical order.
 */
export function findTagSelector(names: readonly string[], tags: TagsByName): Readonly<Record<string, string>> | undefined {
  const [first = '', ...others] = names;
  if (names.length < fewest) return undefined;
  const shared = Object.entries(tags.get(first) ?? {})
    .filter(([key, value]) => others.every((name) => tags.get(name)?.[key] === value))
    .toSorted(([left], [right]) => compareText(left, right));
  const counts = new Map<string, string[]>();
  for (const [name, own] of tags) for (const [key, value] of shared) if (own[key] === value) addToGroup(counts, key, name);
  const isExact = (keys: readonly string[]): boolean => {
    const [some = [], ...rest] = keys.map((key) => counts.get(key) ?? []);
    const sets = rest.map((more) => new Set(more));
    return some.filter((name) => sets.every((set) => set.has(name))).length === names.length;
  };
  const found = [...shared.map((one) => [one]), ...pairsOf(shared)].find((some) => isExact(some.map(([key]) => key)));
  return found && Object.fromEntries(found);
}

function pairsOf<T>(all: readonly T[]): readonly (readonly [T, T])[] {
  return all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other] as const));
}
