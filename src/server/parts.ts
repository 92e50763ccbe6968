import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceSize = 250;

/** Maps a list in parts; between them other requests have their turn. */
export async function mapYielding<From, To>(list: readonly From[], make: (one: From) => To): Promise<readonly To[]> {
  const made: To[] = [];
  for (let start = 0; start < list.length; start += sliceSize) {
    if (start > 0) await nextTurn();
    for (const one of list.slice(start, start + sliceSize)) made.push(make(one));
  }
  return made;
}
