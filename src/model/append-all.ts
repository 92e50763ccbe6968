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
