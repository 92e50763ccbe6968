/** An assertion between two characters. */
export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

/** A node of a parsed pattern. */
export type PatternNode =
  | { readonly op: 'empty' }
  | { readonly op: 'char'; readonly set: CharSet }
  | { readonly op: 'assert'; readonly what: Assertion }
  | { readonly op: 'join'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'either'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'group'; readonly of: PatternNode }
  | { readonly op: 'repeat'; readonly of: PatternNode; readonly min: number; readonly max: number | undefined };

/**
 * A construct that RE2 rejects: its description, its index (from 0), and a replacement. `elsewhere` means that other engines
 * accept it.
 */
export type PatternError = { readonly what: string; readonly index: number; readonly hint?: string; readonly elsewhere?: true };

/** Aborts the parsing of a pattern; it never leaves this folder. */
export class PatternSyntaxError extends Error {
  readonly error: PatternError;

  constructor(error: PatternError) {
    super(error.what);
    this.error = error;
  }
}

/** A part of a pattern that the library re2js does not accept although Go does, and the text that it accepts instead. */
type Rewrite = { readonly from: number; readonly to: number; readonly text: string };

/** The text of a pattern, the index of the next character, and the rewrites so far. */
export type PatternCursor = { readonly text: string; at: number; readonly rewrites: Rewrite[] };

/** Reads the code point at the cursor and moves past it. */
export function nextRune(cursor: PatternCursor): number {
  const rune = cursor.text.codePointAt(cursor.at) ?? 0;
  cursor.at += rune > 0xffff ? 2 : 1;
  return rune;
}

/** Moves past the given text; returns false when the cursor is not on it. */
export function consumeText(cursor: PatternCursor, text: string): boolean {
  if (!cursor.text.startsWith(text, cursor.at)) return false;
  cursor.at += text.length;
  return true;
}

/** A set of characters: pairs of code points (first, last), sorted. */
export type CharSet = { readonly ranges: readonly number[] };

const last = 0x10_ffff;

/** Every character. */
export const anyChar: CharSet = { ranges: [0, last] };

/** Every character except the line feed. */
export const anyButNewline: CharSet = { ranges: [0, 9, 11, last] };

/** Returns the set of one character. */
export function oneChar(rune: number): CharSet {
  return { ranges: [rune, rune] };
}

/** Returns the union of sets, with sorted and disjoint ranges. */
export function unionOf(sets: readonly CharSet[]): CharSet {
  return { ranges: tidy(sets.map(({ ranges }) => ranges)) };
}

/** Returns the complement of a set. */
export function complement({ ranges }: CharSet): CharSet {
  const rest: number[] = [];
  let from = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    const low = ranges[index] ?? 0;
    if (low > from) rest.push(from, low - 1);
    from = (ranges[index + 1] ?? 0) + 1;
  }
  if (from <= last) rest.push(from, last);
  return { ranges: rest };
}

/** Adds the other case of all Latin letters in the set. */
export function withBothCases(set: CharSet): CharSet {
  const others = [...shifted(set, 65, 32), ...shifted(set, 97, -32)];
  return others.length === 0 ? set : unionOf([set, { ranges: others }]);
}

function shifted({ ranges }: CharSet, first: number, by: number): readonly number[] {
  const found: number[] = [];
  for (let index = 0; index < ranges.length; index += 2) {
    const low = Math.max(ranges[index] ?? 0, first);
    const high = Math.min(ranges[index + 1] ?? 0, first + 25);
    if (low <= high) found.push(low + by, high + by);
  }
  return found;
}

/** Returns a character that is in both sets, preferably `a` or `!`. */
export function someCommon(one: CharSet | undefined, other: CharSet | undefined): string | undefined {
  let found: number | undefined;
  const [left, right] = [one?.ranges ?? [], other?.ranges ?? []];
  for (let first = 0, second = 0; first < left.length && second < right.length;) {
    const [low, high] = [left[first] ?? 0, left[first + 1] ?? 0];
    const [from, to] = [right[second] ?? 0, right[second + 1] ?? 0];
    const [start, end] = [Math.max(low, from), Math.min(high, to)];
    for (const best of [97, 33]) if (start <= best && best <= end) return String.fromCodePoint(best);
    if (start <= end) found ??= start;
    if (high < to) first += 2;
    else second += 2;
  }
  return found === undefined ? undefined : String.fromCodePoint(found);
}

/** Returns whether the code point is in the set. */
export function contains(set: CharSet | undefined, rune: number): boolean {
  const ranges = set?.ranges ?? [];
  for (let index = 0; index < ranges.length; index += 2) {
    if ((ranges[index] ?? 0) <= rune && rune <= (ranges[index + 1] ?? 0)) return true;
  }
  return false;
}

function tidy(lists: readonly (readonly number[])[]): readonly number[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const pairs = lists.flatMap((list) => list.flatMap((low, index) => (index % 2 === 0 ? [[low, list[index + 1] ?? low] as const] : [])));
  const ranges: number[] = [];
  for (const [low, high] of pairs.toSorted(([one], [other]) => one - other)) {
    const end = ranges.at(-1);
    if (end !== undefined && low <= end + 1) ranges[ranges.length - 1] = Math.max(end, high);
    else ranges.push(low, high);
  }
  return ranges;
}
