import type { LinesBlock } from '../blocks.ts';
import { codeSpan, escapeMarkdown } from '../escape.ts';
import { type LinkOf, positionMarkdown } from '../links.ts';
import { type Piece, piecesOf } from '../marks.ts';
import { blank, equalPlaces, type MarkdownBlock } from './fit-to-limit.ts';

/** Returns lines as a list; a short one leaves out those that are not important. */
export function linesBlocks(
  { part, title, lines, most, rank, label }: LinesBlock,
  { linkOf, isDense }: { readonly linkOf: LinkOf | undefined; readonly isDense: boolean },
): readonly MarkdownBlock[] {
  const limit = most === undefined ? lines.length : isDense ? most.short : most.whole;
  const shown = lines.filter(({ isMinor }, index) => index < limit || isMinor !== true);
  const more = lines.length - shown.length;
  const blocks = shown.map(({ text, aside = '', below = [], places = [] }): MarkdownBlock => {
    const why = lineMarkdown(aside, linkOf);
    const beside = aside === '' ? '' : part === 'permissions' ? ` (${why})` : `: ${why}`;
    const advice = below.map((one) => `  - ${lineMarkdown(one, linkOf)}\n`).join('');
    const list = places.length === 0 ? '' : equalPlaces(places, linkOf);
    return { text: `- ${lineMarkdown(text, linkOf)}${beside}\n${advice}${list}`, rank, label };
  });
  const heading = { text: `**${title ?? ''}:**\n\n`, rank: part === 'refusals' ? 1 : rank, label: part === 'refusals' ? label : 'blank' };
  const rest = { text: `- ${most?.text(more) ?? ''}\n`, rank, label: part === 'permissions' ? 'blank' : label };
  return [...(title === undefined || blocks.length === 0 ? [] : [heading]), ...blocks, ...(more === 0 ? [] : [rest])];
}

/** Returns blocks with a blank line after them, if there are any. */
export function paragraph(blocks: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  return blocks.length === 0 ? [] : [...blocks, blank];
}

function lineMarkdown(line: string, linkOf: LinkOf | undefined): string {
  return piecesOf(line.replaceAll(/ {2,}/g, ' '))
    .map((piece) => pieceMarkdown(piece, linkOf))
    .join('');
}

function pieceMarkdown({ role, text, at }: Piece, linkOf: LinkOf | undefined): string {
  if (at !== undefined) return positionMarkdown(at, linkOf);
  if (role === 'strong') return `**${escapeMarkdown(text)}**`;
  if (role === 'commit') {
    const link = linkOf?.({ commit: text });
    return link === undefined ? codeSpan(text.slice(0, 7)) : `[${codeSpan(text.slice(0, 7))}](${link})`;
  }
  if (role !== 'plain') return codeSpan(text);
  // What joins names and places stays as it is.
  const [, start = '', body = '', end = ''] = /^((?:[ (),;:]|\ball\b|\band \d+ more\b)*)(.*?)( *\(?)$/s.exec(text) ?? [];
  return `${start}${body === '' ? '' : escapeMarkdown(body)}${end}`;
}
