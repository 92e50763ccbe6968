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
