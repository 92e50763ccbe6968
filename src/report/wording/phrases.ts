import type { Position } from '../../model/diagnostic.ts';
import { escapeTerminal } from '../escape.ts';
import { clip } from '../wrap.ts';

/** Returns a count with its noun: `1 error`, `2 errors`. */
export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

const longestEntry = 1000;

/** Returns the first entries of a list, clipped, and `and N more` for the rest. */
export function shortList(entries: readonly string[], most: number): readonly string[] {
  const shown = entries.slice(0, most).map((entry) => (entry.length > longestEntry ? clip(entry, longestEntry) : entry));
  return entries.length <= most ? shown : [...shown, `and ${entries.length - most} more`];
}

/** The first line of a report, around the name of its target; the name is empty if the report is about no target. */
export type Verdict = { readonly before: string; readonly name: string; readonly after: string };

/** Returns a verdict as text; each format has its own form of the name. */
export function verdictText({ before, name, after }: Verdict, nameText: (name: string) => string = String): string {
  return `${before}${name === '' ? '' : nameText(name)}${after}`;
}

/** Returns `file:line`, escaped. */
export function shortPosition({ file, line }: Position): string {
  return `${escapeTerminal(file)}:${line}`;
}

const context = 12;

/** Shortens two texts to their difference if one is longer than `most`: shared text at both ends becomes `…`. */
export function distinctParts(before: string, after: string, most: number): readonly [string, string] {
  if (before.length <= most && after.length <= most) return [before, after];
  const left = Array.from(before);
  const right = Array.from(after);
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  const from = start > context * 2 ? start - context : 0;
  return [excerpt(left, from, most), excerpt(right, from, most)];
}

function excerpt(characters: readonly string[], from: number, most: number): string {
  const to = Math.min(characters.length, from + most);
  return `${from > 0 ? '…' : ''}${characters.slice(from, to).join('')}${to < characters.length ? '…' : ''}`;
}
