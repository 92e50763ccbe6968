import type { ParsedNode } from 'yaml';
import type { Part } from './site.ts';
import { columnOf, lineEnd, lineStart, nextLine, type Splice } from './splice.ts';
import type { Page } from './replace.ts';

/** The texts of new parts, and the part of the text behind which they come, or none. */
export type FlowAddition = { readonly behind: Part | undefined; readonly texts: readonly string[] };

type Wanted = { readonly kept: ReadonlySet<Part>; readonly additions: readonly FlowAddition[]; readonly padding: string };

/** Takes parts out of a map in braces or a list in brackets, and puts others in. */
export function flowSplices(page: Page, node: ParsedNode, parts: readonly Part[], { kept, additions, padding }: Wanted): readonly Splice[] {
  const { text } = page;
  const [open, close] = [node.range[0], node.range[1] - 1];
  const stays = parts.filter((part) => kept.has(part));
  if (stays.length === 0) {
    const texts = additions.flatMap((addition) => addition.texts);
    const all = { start: open + 1, end: close, text: texts.length === 0 ? '' : padding + texts.join(', ') + padding };
    if (!holdsComment(text, all, parts)) return [all];
    if (!parts.every((part) => standsAlone(text, part))) return [{ ...all, loses: true }];
    const pad = ' '.repeat(columnOf(text, parts[0]?.start ?? open));
    const lines = texts.map((one) => `${pad}${one},${page.newline}`).join('');
    return [...rows(page, parts, kept), at(lineStart(text, parts[0]?.start ?? close), lines)];
  }
  const isRows = stays.every((part) => part === parts[0] || standsAlone(text, part)) && /\n/.test(text.slice(open, close));
  const comma = /^,[ ]*$/.exec(text.slice(parts[0]?.end, parts[1]?.start))?.[0] ?? ', ';
  const added = additions.flatMap(({ behind, texts }) => {
    if (behind === undefined) return inFront(page, stays[0], texts);
    return isRows && standsAlone(text, behind)
      ? addedRows(page, behind, texts, close)
      : [at(behind.end, texts.map((one) => comma + one).join(''))];
  });
  return [...(isRows ? rows(page, parts, kept) : runs(page, parts, kept)), ...added];
}

function inFront({ text, newline }: Page, first: Part | undefined, texts: readonly string[]): readonly Splice[] {
  if (first === undefined) return [];
  const gap = standsAlone(text, first) ? `,${newline}${' '.repeat(columnOf(text, first.start))}` : ', ';
  return [at(first.start, texts.map((one) => one + gap).join(''))];
}

/** Tells whether a part has its lines for itself. */
function standsAlone(text: string, { start, end }: Part): boolean {
  const before = text.slice(lineStart(text, start), start).trim();
  const behind = text.slice(end, lineEnd(text, end)).trim();
  return before === '' && /^,?\s*(?:#.*)?$/.test(behind);
}

/** Behind a part on lines of its own: its comma comes before its comment. */
function addedRows({ text, newline }: Page, behind: Part, texts: readonly string[], close: number): readonly Splice[] {
  const pad = newline + ' '.repeat(columnOf(text, behind.start));
  const comma = /^\s*,/.exec(text.slice(behind.end, close))?.[0];
  const lines = texts.map((one) => pad + one).join(',');
  if (comma === undefined) return [at(behind.end, ','), at(lineEnd(text, behind.end), lines)];
  return [at(lineEnd(text, behind.end + comma.length), `${lines},`)];
}

/** Cuts parts that stand on lines of their own with these, others as runs. */
function rows(page: Page, parts: readonly Part[], kept: ReadonlySet<Part>): readonly Splice[] {
  const { text } = page;
  const gone = parts.filter((part) => !kept.has(part));
  if (!gone.every((part) => standsAlone(text, part))) return runs(page, parts, kept);
  return gone.map(({ start, end }) => ({ start: lineStart(text, start), end: nextLine(text, end), text: '' }));
}

/** Cuts runs of parts with one comma each. */
function runs({ text }: Page, parts: readonly Part[], kept: ReadonlySet<Part>): readonly Splice[] {
  const splices: Splice[] = [];
  let before: Part | undefined;
  for (const [index, part] of parts.entries()) {
    const isFirstOfRun = !kept.has(part) && (index === 0 || before === parts[index - 1]);
    const next = parts.slice(index).find((one) => kept.has(one));
    const last = next === undefined ? parts.at(-1) : parts[parts.indexOf(next) - 1];
    if (isFirstOfRun && before !== undefined && last !== undefined) splices.push({ start: before.end, end: last.end, text: '' });
    else if (isFirstOfRun && next !== undefined) splices.push({ start: part.start, end: next.start, text: '' });
    if (kept.has(part)) before = part;
  }
  return splices.map((splice) => (holdsComment(text, splice, parts) ? { ...splice, loses: true as const } : splice));
}

/** Tells whether a comment stands between the parts that are cut. */
function holdsComment(text: string, { start, end }: Splice, parts: readonly Part[]): boolean {
  let rest = text.slice(start, end);
  for (const part of parts) if (part.start >= start && part.end <= end) rest = rest.replace(text.slice(part.start, part.end), () => '');
  return rest.includes('#');
}

function at(offset: number, text: string): Splice {
  return { start: offset, end: offset, text };
}
