import { appendAll } from '../../model/collections.ts';
import { anyButNewline, anyChar, type CharSet, complement, type PatternNode, unionOf, withBothCases } from './automaton.ts';
import { classNamed, perlClasses, posixClasses } from './classes.ts';

/** A place where RE2 rejects a pattern (from 0); `elsewhere` means that other engines accept what is there. */
export type RejectedPlace = { readonly index: number; readonly elsewhere: boolean };

/** Aborts the parsing of a pattern; it never leaves this file. */
class Rejection extends Error {
  readonly place: RejectedPlace;

  constructor(index: number, elsewhere = false) {
    super('rejected');
    this.place = { index, elsewhere };
  }
}

/** `fold`: ignore case; `lines`: ^ and $ match at each line; `dots`: a dot matches a line feed. */
type Flags = { readonly fold: boolean; readonly lines: boolean; readonly dots: boolean };

/** A part of a pattern that the library re2js does not accept although Go does, and the text that it accepts instead. */
type Rewrite = { readonly from: number; readonly to: number; readonly text: string };

/** The text of a pattern, the index of the next character, and what is known so far. */
type Reader = {
  readonly text: string;
  at: number;
  readonly rewrites: Rewrite[];
  readonly names: Set<string>;
  flags: Flags;
  depth: number;
};

/** A parsed pattern, and its text as the library re2js reads it. */
type ParsedPattern = { readonly node: PatternNode; readonly libraryText: string };

/** Parses a pattern with the syntax of RE2 in Go 1.26. */
export function parsePattern(text: string): ParsedPattern | { readonly rejected: RejectedPlace } {
  const flags: Flags = { fold: false, lines: false, dots: false };
  const reader: Reader = { text, at: 0, rewrites: [], names: new Set(), flags, depth: 0 };
  try {
    const node = takeEither(reader);
    if (reader.at < text.length) throw new Rejection(reader.at);
    return { node, libraryText: rewritten(reader) };
  } catch (error) {
    if (error instanceof Rejection) return { rejected: error.place };
    throw error;
  }
}

function rewritten({ text, rewrites }: Reader): string {
  const edges = [...rewrites, { from: text.length, to: text.length, text: '' }];
  return edges.map((rewrite, index) => text.slice(edges[index - 1]?.to ?? 0, rewrite.from) + rewrite.text).join('');
}

/** Reads what a sticky expression matches at the next character. */
function take(reader: Reader, expression: RegExp): RegExpExecArray | undefined {
  expression.lastIndex = reader.at;
  const found = expression.exec(reader.text) ?? undefined;
  reader.at += found?.[0].length ?? 0;
  return found;
}

function takeText(reader: Reader, text: string): boolean {
  if (!reader.text.startsWith(text, reader.at)) return false;
  reader.at += text.length;
  return true;
}

function takeRune(reader: Reader): number {
  const rune = reader.text.codePointAt(reader.at) ?? 0;
  reader.at += rune > 0xffff ? 2 : 1;
  return rune;
}

function takeEither(reader: Reader): PatternNode {
  const parts = [takeJoin(reader)];
  while (takeText(reader, '|')) parts.push(takeJoin(reader));
  return oneOf(parts) ?? { op: 'either', parts };
}

function oneOf(parts: readonly PatternNode[]): PatternNode | undefined {
  return parts.length === 1 ? parts[0] : undefined;
}

function takeJoin(reader: Reader): PatternNode {
  const parts: PatternNode[] = [];
  let from = reader.at;
  while (reader.at < reader.text.length && !/[|)]/.test(reader.text.charAt(reader.at))) {
    const start = reader.at;
    const count = takeCount(reader);
    if (count === undefined) {
      from = start;
      appendAll(parts, takeAtom(reader));
    } else {
      const last = parts.pop();
      if (last === undefined) throw new Rejection(start);
      parts.push(repeatOf(reader, last, { ...count, start, from }));
    }
  }
  return parts.length === 0 ? { op: 'empty' } : (oneOf(parts) ?? { op: 'join', parts });
}

/** Reads the next node that may be repeated. Flags produce no node; a quoted text (`\Q…\E`) produces several. */
function takeAtom(reader: Reader): readonly PatternNode[] {
  const { flags } = reader;
  if (reader.text.startsWith('(', reader.at)) return takeGroup(reader);
  if (reader.text.startsWith('\\', reader.at)) return takeBackslash(reader);
  if (takeText(reader, '.')) return [{ op: 'char', set: flags.dots ? anyChar : anyButNewline }];
  if (takeText(reader, '^')) return [{ op: 'assert', what: flags.lines ? 'line-start' : 'text-start' }];
  if (takeText(reader, '$')) return [{ op: 'assert', what: flags.lines ? 'line-end' : 'text-end' }];
  return [{ op: 'char', set: takeBrackets(reader) ?? rangeOf(takeRune(reader), flags) }];
}

/** Returns the characters from `low` to `high`, by default one, in both cases where case is ignored. */
function rangeOf(low: number, { fold }: Flags, high = low): CharSet {
  const set = { ranges: [low, high] };
  return fold ? withBothCases(set) : set;
}

const maxDepth = 1000;

/** Reads a group, or flags for the rest of the enclosing group. */
function takeGroup(reader: Reader): readonly PatternNode[] {
  const { at: start, flags, names } = reader;
  const opening = take(reader, /\((?:(?!\?)|\?P?<(\w+)>|\?([imsU]*)(?:-([imsU]+))?([:)]))/y);
  if (opening === undefined) throw new Rejection(start, !/\(\?P?<(?![=!])/y.test(reader.text.slice(start, start + 5)));
  const [, name, on = '', off = '', close] = opening;
  // Go accepts a second group with the same name, the library does not; a name changes nothing about what matches.
  if (name !== undefined && names.has(name)) reader.rewrites.push({ from: start, to: reader.at, text: '(' });
  if (name !== undefined) names.add(name);
  const value = (letter: string, earlier: boolean): boolean => !off.includes(letter) && (on.includes(letter) || earlier);
  reader.flags = { fold: value('i', flags.fold), lines: value('m', flags.lines), dots: value('s', flags.dots) };
  if (close === ')') return [];
  reader.depth += 1;
  if (reader.depth > maxDepth) throw new Rejection(start, true);
  const node = takeEither(reader);
  if (!takeText(reader, ')')) throw new Rejection(start);
  reader.flags = flags;
  reader.depth -= 1;
  return [close === undefined ? { op: 'group', of: node } : node];
}

const assertions = { A: 'text-start', z: 'text-end', b: 'word-edge', B: 'no-word-edge' } as const;

function takeBackslash(reader: Reader): readonly PatternNode[] {
  const { flags } = reader;
  for (const letter of ['A', 'z', 'b', 'B'] as const)
    if (takeText(reader, `\\${letter}`)) return [{ op: 'assert', what: assertions[letter] }];
  if (takeText(reader, '\\Q')) {
    const [, quoted = ''] = take(reader, /([\s\S]*?)(?:\\E|$)/y) ?? [];
    return Array.from(quoted, (one) => ({ op: 'char', set: rangeOf(one.codePointAt(0) ?? 0, flags) }));
  }
  return [{ op: 'char', set: takeClass(reader, false) ?? rangeOf(takeEscape(reader), flags) }];
}

/** Reads a class such as `\d` or `\pL`; `isMember`: inside brackets. Returns undefined when the next character begins none. */
function takeClass(reader: Reader, isMember: boolean): CharSet | undefined {
  const start = reader.at;
  const [, perl, letter, sign, long, short = ''] = take(reader, /\\(?:([dswDSW])|([pP])(?:\{(\^?)([^}]*)\}|([\s\S])))/uy) ?? [];
  if (perl !== undefined) return setOf(reader, perlClasses[perl.toLowerCase()], perl !== perl.toLowerCase());
  if (letter === undefined) return undefined;
  const found = classNamed(long ?? short);
  if (found === undefined) throw new Rejection(start, short !== '{');
  const isOutside = (letter === 'P') !== (sign === '^');
  // The library knows ASCII only as a POSIX class.
  const ascii = isOutside ? '[:^ascii:]' : '[:ascii:]';
  const text = found.name === 'ASCII' ? (isMember ? ascii : `[${ascii}]`) : `\\${isOutside ? 'P' : 'p'}{${found.name}}`;
  reader.rewrites.push({ from: start, to: reader.at, text });
  return setOf(reader, found.members, isOutside);
}

/** Returns a class, or all characters outside of it; case is ignored in the class, so a letter is outside in both cases or in none. */
function setOf({ flags }: Reader, members: CharSet = anyChar, isOutside = false): CharSet {
  const set = flags.fold ? withBothCases(members) : members;
  return isOutside ? complement(set) : set;
}

const controls: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

/** Reads an escaped character. A single digit other than 0 is a backreference, which RE2 rejects. */
function takeEscape(reader: Reader): number {
  const { text, at: start } = reader;
  const [whole, long, short, octal, control, sign] =
    take(
      reader,
      /\\(?:x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))|(0[0-7]{0,2}|[1-7][0-7]{1,2})|([aftnrv])|([^A-Za-z0-9\u0080-\u{10ffff}]))/uy,
    ) ?? [];
  const hexadecimal = long ?? short;
  const code = Number.parseInt(hexadecimal ?? octal ?? '', hexadecimal === undefined ? 8 : 16);
  const rune = control === undefined ? (sign?.codePointAt(0) ?? code) : (controls[control] ?? 0);
  if (whole === undefined || rune > 0x10_ffff) throw new Rejection(start, /[^x]/y.test(text.charAt(start + 1)));
  return rune;
}

/** Reads a bracket expression; returns undefined when the next character is no bracket. */
function takeBrackets(reader: Reader): CharSet | undefined {
  const start = reader.at;
  const opening = take(reader, /\[\^?/y);
  if (opening === undefined) return undefined;
  const sets: CharSet[] = [];
  while (sets.length === 0 || !takeText(reader, ']')) {
    if (reader.at >= reader.text.length) throw new Rejection(start);
    sets.push(takeMember(reader));
  }
  const set = unionOf(sets);
  return opening[0] === '[^' ? complement(set) : set;
}

function takeMember(reader: Reader): CharSet {
  const start = reader.at;
  const posix = take(reader, /\[:(\^?)([\s\S]*?):\]/y);
  if (posix !== undefined) {
    const [, sign, name = ''] = posix;
    if (!Object.hasOwn(posixClasses, name)) throw new Rejection(start, true);
    return setOf(reader, posixClasses[name], sign === '^');
  }
  const known = takeClass(reader, true);
  if (known !== undefined) return known;
  const low = takeMemberRune(reader);
  const high = take(reader, /-(?!\]|$)/y) === undefined ? low : takeMemberRune(reader);
  if (high < low) throw new Rejection(start);
  return rangeOf(low, reader.flags, high);
}

function takeMemberRune(reader: Reader): number {
  return reader.text.startsWith('\\', reader.at) ? takeEscape(reader) : takeRune(reader);
}

type Count = { readonly min: number; readonly max: number | undefined };

/** Reads a repeat count; returns undefined when there is none. */
function takeCount(reader: Reader): Count | undefined {
  const found = take(reader, /[*+?]|\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/y);
  if (found === undefined) return undefined;
  const [sign, low, comma, high] = found;
  if (low === undefined) return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : undefined };
  const min = Number(low);
  return { min, max: comma === undefined ? min : high === undefined ? undefined : Number(high) };
}

const maxRepeats = 1000;

type RepeatedPlace = Count & { readonly start: number; readonly from: number };

/** Returns a repeated node; `start` is the place of its count, and `from` its own. */
function repeatOf(reader: Reader, of: PatternNode, { min, max, start, from }: RepeatedPlace): PatternNode {
  if (min > maxRepeats || (max !== undefined && (max > maxRepeats || max < min))) throw new Rejection(start, true);
  takeText(reader, '?');
  const isPossessive = reader.text.startsWith('+', reader.at);
  if (takeCount(reader) !== undefined) throw new Rejection(start, isPossessive);
  const repeated: PatternNode = { op: 'repeat', of, min, max };
  if (repeatsOf(repeated) > maxRepeats) throw new Rejection(from, true);
  return repeated;
}

/** Returns the product of nested repeat counts, as RE2 counts them. */
function repeatsOf(node: PatternNode): number {
  switch (node.op) {
    case 'repeat':
      return Math.max(node.max ?? node.min, 1) * repeatsOf(node.of);
    case 'group':
      return repeatsOf(node.of);
    case 'join':
    case 'either':
      return node.parts.reduce((highest, part) => Math.max(highest, repeatsOf(part)), 1);
    case 'empty':
    case 'char':
    case 'assert':
      return 1;
  }
}
