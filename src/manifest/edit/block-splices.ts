import { type SourceText, columnOf, lastOffset, lineBreakBefore, lineEnd, lineStart, nextLineStart, type Splice } from './source-text.ts';
import type { SourceItem } from './value-site.ts';

/** The lines of new items, and the item that precedes them, if any. */
export type BlockAddition = { readonly behind: SourceItem | undefined; readonly lines: readonly string[] };

type WantedBlock = { readonly kept: ReadonlySet<SourceItem>; readonly additions: readonly BlockAddition[] };

/** Removes items from a block map or list and adds lines; at least one item stays or is added. */
export function createBlockSplices(source: SourceText, parts: readonly SourceItem[], { kept, additions }: WantedBlock): readonly Splice[] {
  const [first] = parts;
  if (first === undefined) return [];
  const isCompact = !standsAlone(source.text, first);
  const gone = parts.filter((part) => !kept.has(part));
  const front = additions.filter(({ behind }) => behind === undefined).flatMap(({ lines }) => lines);
  const rest = additions.filter(({ behind }) => behind !== undefined);
  const added = rest.flatMap(({ behind, lines }) => (behind === undefined ? [] : [addedBehind(source, behind, lines)]));
  if (!isCompact) return [...frontSplice(source, first, kept.has(first), front), ...gone.map((part) => cutLines(source, part)), ...added];
  const others = gone.filter((part) => part !== first);
  if (kept.has(first)) return [...compactFront(source, first, front), ...others.map((part) => cutLines(source, part)), ...added];
  const next = parts.find((part) => kept.has(part));
  return [...compactReplaced(source, parts, next, front), ...added];
}

/** Tells whether only blanks precede an item on its line. */
function standsAlone(text: string, { start }: SourceItem): boolean {
  return text.slice(lineStart(text, start), start).trim() === '';
}

/** Inserts lines before the first item: above its comments if it stays, else in its place. */
function frontSplice({ text }: SourceText, first: SourceItem, stays: boolean, lines: readonly string[]): readonly Splice[] {
  if (lines.length === 0) return [];
  const start = stays ? aboveComments(text, lineStart(text, first.start)) : lineStart(text, first.start);
  return [{ start, end: start, text: lines.map((line) => `${line}\n`).join('') }];
}

/** Returns the start of the comments directly above a line. */
function aboveComments(text: string, line: number): number {
  let start = line;
  while (start > 0 && /^[ \t]*#/.test(text.slice(lineStart(text, start - 1), start))) start = lineStart(text, start - 1);
  return start;
}

/** Inserts lines before a first item that shares its line with a dash. */
function compactFront({ text }: SourceText, first: SourceItem, lines: readonly string[]): readonly Splice[] {
  if (lines.length === 0) return [];
  const pad = ' '.repeat(columnOf(text, first.start));
  return [{ start: first.start, end: first.start, text: `${lines.join('\n').trimStart()}\n${pad}` }];
}

/** Replaces a first item that shares its line with a dash: by the next items, or by new lines. */
function compactReplaced(
  source: SourceText,
  parts: readonly SourceItem[],
  next: SourceItem | undefined,
  lines: readonly string[],
): readonly Splice[] {
  const { text } = source;
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return [];
  if (next === undefined) return [{ start: first.start, end: lastOffset(text, last.end), text: lines.join('\n').trimStart() }];
  const pad = ' '.repeat(columnOf(text, first.start));
  const put = lines.length === 0 ? '' : `${lines.join('\n').trimStart()}\n${pad}`;
  const between = text.slice(parts[parts.indexOf(next) - 1]?.end ?? first.end, next.start);
  const later = parts.slice(parts.indexOf(next) + 1);
  if (!/#|\n[ \t]*\n/.test(between) || lines.length > 0) return [{ start: first.start, end: next.start, text: put }];
  const blanks = /[ \t]*$/.exec(text.slice(0, first.start))?.[0].length ?? 0;
  const others = parts.slice(1, parts.indexOf(next));
  return [
    { start: first.start - blanks, end: lineEnd(text, lastOffset(text, first.end)), text: '' },
    ...[...others, ...later].flatMap((part) => (others.includes(part) ? [cutLines(source, part)] : [])),
  ];
}

/** Inserts lines after an item and its comments. */
function addedBehind({ text }: SourceText, part: SourceItem, lines: readonly string[]): Splice {
  const end = endWithComments(text, part);
  if (text[end - 1] === '\n') return { start: end, end, text: lines.map((line) => `${line}\n`).join('') };
  return { start: end, end, text: lines.map((line) => `\n${line}`).join('') };
}

/** Cuts the lines of an item; at the end of the text also the line break before them. */
function cutLines({ text }: SourceText, part: SourceItem): Splice {
  const start = lineStart(text, part.start);
  const last = endWithComments(text, part);
  const end = text[last - 1] === '\n' ? last : nextLineStart(text, last);
  const isLast = end === text.length && text[end - 1] !== '\n';
  return { start: isLast ? lineBreakBefore(text, start) : start, end, text: '' };
}

/** Returns the end of an item's last line, and of the comments directly below it that are indented deeper. */
function endWithComments(text: string, { start, end }: SourceItem): number {
  const column = columnOf(text, start);
  let last = text[end - 1] === '\n' ? end : lineEnd(text, end);
  for (;;) {
    const from = text[last - 1] === '\n' ? last : nextLineStart(text, last);
    const line = text.slice(from, lineEnd(text, from));
    const indent = /^ *(?=#)/.exec(line)?.[0].length;
    if (indent === undefined || indent <= column || from <= last - 1) return last;
    last = lineEnd(text, from);
  }
}
