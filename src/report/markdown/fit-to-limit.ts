import { plural } from '../wording/counts.ts';

/** A part of a document of limited length: blocks of the lowest rank are kept first; `label` names it when it is omitted. */
export type MarkdownBlock = { readonly text: string; readonly rank: number; readonly label: string };

/** A blank line. It is kept as long as the headings. */
export const blank: MarkdownBlock = { text: '\n', rank: 1, label: 'blank' };

/** The longest comment that GitHub accepts, in characters. */
export const commentLimit = 65_536;

const noteRoom = 400;

/** The labels of omitted blocks that are counted, in this order, and a sentence that names the complete reports. */
export type OmissionNote = { readonly labels: readonly string[]; readonly rest?: string };

/** Joins blocks in their order within the limit. If blocks are omitted, a note with their counts comes first. */
export function fitToLimit(blocks: readonly MarkdownBlock[], limit: number, note: OmissionNote): string {
  const whole = blocks.map((block) => block.text).join('');
  if (whole.length <= limit) return whole;
  const order = blocks
    .map((block, index) => ({ block, index }))
    .toSorted((left, right) => left.block.rank - right.block.rank || left.index - right.index);
  const kept = new Set<number>();
  const omitted = new Map<string, number>();
  let room = limit - noteRoom;
  for (const { block, index } of order) {
    if (block.text.length <= room) {
      kept.add(index);
      room -= block.text.length;
    } else omitted.set(block.label, (omitted.get(block.label) ?? 0) + 1);
  }
  const body = blocks.filter((_, index) => kept.has(index)).map((block) => block.text);
  return `${noteText(omitted, note)}${body.join('')}`.slice(0, limit);
}

function noteText(omitted: ReadonlyMap<string, number>, { labels, rest }: OmissionNote): string {
  const counted = labels.flatMap((label) => (omitted.has(label) ? [plural(omitted.get(label) ?? 0, label)] : []));
  return `**Left out for length:** ${counted.join(', ')}.${rest === undefined ? '' : ` ${rest}`}\n\n`;
}
