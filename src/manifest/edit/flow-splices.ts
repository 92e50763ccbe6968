import { appendAll } from '../../model/collections.ts';
import type { ParsedNode } from 'yaml';
import {
  type SourceText,
  displayColumn,
  lineEnd,
  lineStart,
  nextLineStart,
  type Splice,
  type SourceItem,
  insertion,
} from './source-text.ts';

/** The texts of new items, and the item that precedes them, if any. */
type FlowAddition = { readonly behind: SourceItem | undefined; readonly texts: readonly string[] };

/** The items to keep and to add; `padding` is the space inside brackets that show none. */
type WantedFlow = { readonly kept: ReadonlySet<SourceItem>; readonly additions: readonly FlowAddition[]; readonly padding: string };

/** Removes items from a map in braces or a list in brackets, and adds others. */
export function createFlowSplices(
  source: SourceText,
  node: ParsedNode,
  parts: readonly SourceItem[],
  wanted: WantedFlow,
): readonly Splice[] {
  const { kept, additions } = wanted;
  const { text } = source;
  const [open, close] = [node.range[0], node.range[1] - 1];
  const stays = parts.filter((part) => kept.has(part));
  const [first, last] = [stays[0], stays.at(-1)];
  if (first === undefined || last === undefined) return replaceAllItems(source, { open, close, parts }, wanted);
  const isRows = stays.every((part) => part === parts[0] || standsAlone(text, part)) && /\n/.test(text.slice(open, close));
  const comma = /^,[ ]*$/.exec(text.slice(parts[0]?.end, parts[1]?.start))?.[0] ?? ', ';
  const endsOpen = last !== parts.at(-1) && commaBehind(text, parts.at(-1), close) === undefined;
  const added = additions.flatMap(({ behind, texts }) => {
    if (behind === undefined) return inFront(source, first, texts);
    return isRows && standsAlone(text, behind)
      ? addedRows(source, behind, texts, { close, endsOpen: endsOpen && behind === last })
      : [insertion(behind.end, texts.map((one) => comma + one).join(''))];
  });
  const cut = cutRuns(source, parts, kept);
  const isLeft = endsOpen && cut.every(({ start }) => start !== last.end) && additions.every(({ behind }) => behind !== last);
  const end = isLeft ? commaBehind(text, last, close) : undefined;
  return [...cut, ...(end === undefined ? [] : [{ start: end - 1, end, text: '' }]), ...added];
}

type Whole = { readonly open: number; readonly close: number; readonly parts: readonly SourceItem[] };

/** Replaces all items by others or none; comments on their own lines stay. */
function replaceAllItems({ text }: SourceText, { open, close, parts }: Whole, { additions, padding }: WantedFlow): readonly Splice[] {
  const texts = additions.flatMap((addition) => addition.texts);
  const [first] = parts;
  const blanks = first === undefined ? padding : text.slice(open + 1, first.start);
  const pad = /^[ \t]*$/.test(blanks) ? blanks : padding;
  const all = { start: open + 1, end: close, text: texts.length === 0 ? '' : pad + texts.join(', ') + pad };
  if (!holdsComment(text, all, parts)) return [all];
  if (first === undefined || !parts.every((part) => standsAlone(text, part))) return [{ ...all, loses: true }];
  const column = ' '.repeat(displayColumn(text, first.start));
  const comma = commaBehind(text, parts.at(-1), close) === undefined ? '' : ',';
  const lines = texts.map((one, index) => `${column}${one}${index < texts.length - 1 ? ',' : comma}\n`).join('');
  return [...parts.map((part) => cutRow(text, part)), insertion(lineStart(text, first.start), lines)];
}

/** Returns the offset after the comma that follows an item, if there is one. */
function commaBehind(text: string, part: SourceItem | undefined, close: number): number | undefined {
  if (part === undefined) return undefined;
  const comma = /^\s*(?:#.*\n\s*)*,/.exec(text.slice(part.end, close))?.[0];
  return comma === undefined ? undefined : part.end + comma.length;
}

function inFront({ text }: SourceText, first: SourceItem | undefined, texts: readonly string[]): readonly Splice[] {
  if (first === undefined) return [];
  const gap = standsAlone(text, first) ? `,\n${' '.repeat(displayColumn(text, first.start))}` : ', ';
  return [insertion(first.start, texts.map((one) => one + gap).join(''))];
}

/** Returns whether an item shares its lines with no other. */
function standsAlone(text: string, { start, end }: SourceItem): boolean {
  const before = text.slice(lineStart(text, start), start).trim();
  const behind = text.slice(end, lineEnd(text, end)).trim();
  return before === '' && /^,?\s*(?:#.*)?$/.test(behind);
}

type Row = { readonly close: number; readonly endsOpen: boolean };

/** Adds rows after an item on its own lines: its comma is inserted before its comment. `endsOpen` means that no comma follows the last item. */
function addedRows({ text }: SourceText, behind: SourceItem, texts: readonly string[], { close, endsOpen }: Row): readonly Splice[] {
  const pad = `\n${' '.repeat(displayColumn(text, behind.start))}`;
  const comma = /^\s*,/.exec(text.slice(behind.end, close))?.[0];
  const lines = texts.map((one) => pad + one).join(',');
  if (comma === undefined) return [insertion(behind.end, ','), insertion(lineEnd(text, behind.end), lines)];
  return [insertion(lineEnd(text, behind.end + comma.length), endsOpen ? lines : `${lines},`)];
}

/** Cuts runs of items: whole lines if they have their own, else each item with one comma. */
function cutRuns({ text }: SourceText, parts: readonly SourceItem[], kept: ReadonlySet<SourceItem>): readonly Splice[] {
  const splices: Splice[] = [];
  let before: SourceItem | undefined;
  for (const [index, part] of parts.entries()) {
    const isFirstOfRun = !kept.has(part) && (index === 0 || before === parts[index - 1]);
    const next = parts.slice(index).find((one) => kept.has(one));
    const end = next === undefined ? parts.length : parts.indexOf(next);
    if (isFirstOfRun) appendAll(splices, cutRun(text, parts.slice(index, end), { before, next }));
    if (kept.has(part)) before = part;
  }
  return splices;
}

type Between = { readonly before: SourceItem | undefined; readonly next: SourceItem | undefined };

function cutRun(text: string, run: readonly SourceItem[], { before, next }: Between): readonly Splice[] {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return [];
  const isRows = run.every((part) => standsAlone(text, part) && ((next === undefined && part === last) || hasComma(text, part)));
  if (isRows) return run.map((part) => cutRow(text, part));
  const cut = before === undefined ? { start: first.start, end: next?.start ?? last.end } : { start: before.end, end: last.end };
  return [{ ...cut, text: '', ...(holdsComment(text, cut, run) ? { loses: true } : {}) }];
}

/** Cuts an item on its own lines, with its comma and comment. */
function cutRow(text: string, { start, end }: SourceItem): Splice {
  return { start: lineStart(text, start), end: nextLineStart(text, end), text: '' };
}

function hasComma(text: string, { end }: SourceItem): boolean {
  return /^[ \t]*,/.test(text.slice(end, lineEnd(text, end)));
}

/** Returns whether a comment is between the items that are cut. */
function holdsComment(text: string, { start, end }: Pick<Splice, 'start' | 'end'>, parts: readonly SourceItem[]): boolean {
  let rest = text.slice(start, end);
  for (const part of parts) if (part.start >= start && part.end <= end) rest = rest.replace(text.slice(part.start, part.end), () => '');
  return rest.includes('#');
}
