import { plural } from '../wording/counts.ts';

/** A part of a document of limited length: those of the lowest rank are kept first, `label` names it where it is left out. */
export type MarkdownBlock = { readonly text: string; readonly rank: number; readonly label: string };

/** GitHub takes no longer comment. */
export const commentLimit = 65_536;

const noteRoom = 400;

/** What is counted of what was left out, in this order, and where all of it is. */
export type OmissionNote = { readonly labels: readonly string[]; readonly rest?: string };

/** Joins blocks in their order within the limit; a note on what was left out stands first. */
export function fitToLimit(blocks: readonly MarkdownBlock[], limit: number, note: OmissionNote): string {
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
    } else left.set(block.label, (left.get(block.label) ?? 0) + 1);
  }
  const body = blocks.filter((_, index) => kept.has(index)).map((block) => block.text);
  return `${noteText(left, note)}${body.join('')}`.slice(0, limit);
}

function noteText(left: ReadonlyMap<string, number>, { labels, rest }: OmissionNote): string {
  const counted = labels.flatMap((label) => (left.has(label) ? [plural(left.get(label) ?? 0, label)] : []));
  return `**Left out for length:** ${counted.join(', ')}.${rest === undefined ? '' : ` ${rest}`}\n\n`;
}
