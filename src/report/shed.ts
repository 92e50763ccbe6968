/** A part of a document of limited length: those of the lowest rank are kept first, `sort` names it where it is left out. */
export type Block = { readonly text: string; readonly rank: number; readonly sort: string };

/** GitHub takes no longer comment. */
export const commentLimit = 65_536;

const noteRoom = 400;

/** Joins blocks in their order within the limit; `note` tells what was left out and stands first. */
export function shed(blocks: readonly Block[], limit: number, note: (left: ReadonlyMap<string, number>) => string): string {
  const whole = blocks.map((block) => block.text).join('');
  if (whole.length <= limit) return whole;
  const order = blocks
    .map((block, index) => ({ block, index }))
    .toSorted((left, right) => left.block.rank - right.block.rank || left.index - right.index);
  const kept = new Set<number>();
  const left = new Map<string, number>();
  let room = limit - noteRoom;
  for (const { block, index } of order) {
    if (block.text.length <= room) {
      kept.add(index);
      room -= block.text.length;
    } else left.set(block.sort, (left.get(block.sort) ?? 0) + 1);
  }
  const body = blocks.filter((_, index) => kept.has(index)).map((block) => block.text);
  return `${note(left)}${body.join('')}`.slice(0, limit);
}
