import { canonical, isObject, type Json } from '../../model/json.ts';

/**
 * Finds for each wanted entry of a list the index of the entry in the text that it keeps, in order: equal entries stay, entries with
 * the same name are edited, and between them as many entries as values are edited one by one. An entry that moved is
 * written anew.
 */
export function matchEntries(had: readonly Json[], wanted: readonly Json[]): readonly (number | undefined)[] {
  const [from, to] = [had.map(toEntryKey), wanted.map(toEntryKey)];
  const forward = matchInOrder(from, to);
  const backward = matchInOrder(from.toReversed(), to.toReversed())
    .map(([left, right]) => [from.length - 1 - left, to.length - 1 - right] as const)
    .toReversed();
  const kept: (number | undefined)[] = wanted.map(() => undefined);
  let [left, right] = [0, 0];
  for (const [nextLeft, nextRight] of [...(forward.length < backward.length ? backward : forward), [from.length, to.length] as const]) {
    const isSameSize = nextLeft - left === nextRight - right;
    for (; right < nextRight; right += 1, left += 1) if (isSameSize && isAlike(had[left], wanted[right])) kept[right] = left;
    if (nextRight < to.length) kept[nextRight] = nextLeft;
    [left, right] = [nextLeft + 1, nextRight + 1];
  }
  return kept;
}

/** Pairs each key with its first occurrence after the previous pair, as indexes. */
function matchInOrder(from: readonly string[], to: readonly string[]): readonly (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  for (const [index, key] of to.entries()) {
    const found = from.indexOf(key, (pairs.at(-1)?.[0] ?? -1) + 1);
    if (found !== -1) pairs.push([found, index]);
  }
  return pairs;
}

/** Returns the name of an entry, or the value of one without a name. */
function toEntryKey(value: Json): string {
  return canonical(isObject(value) && typeof value['name'] === 'string' ? { name: value['name'] } : value);
}

/** Returns whether an entry can be edited until it is the value: both are maps without a name, lists, or scalars. */
function isAlike(left: Json = null, right: Json = null): boolean {
  return isObject(left) ? isObject(right) && left['name'] === undefined : !isObject(right) && Array.isArray(left) === Array.isArray(right);
}
