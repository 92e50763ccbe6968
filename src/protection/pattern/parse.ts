import { appendAll } from '../../model/collections.ts';
import {
  anyButNewline,
  anyChar,
  complement,
  unionOf,
  withBothCases,
  type CharSet,
  nextRune,
  PatternSyntaxError,
  consumeText,
  type PatternCursor,
  type PatternNode,
  type PatternError,
} from './automaton.ts';
import { takeClassEscape, takeEscape, takePosixClass } from './escape.ts';

/** `fold`: ignore case; `lines`: ^ and $ match at each line; `dots`: a dot matches a line feed. */
type Flags = { readonly fold: boolean; readonly lines: boolean; readonly dots: boolean };

/** The meaning of an opening parenthesis: a group, or flags for the rest of the enclosing group. */
type Opening =
  | { readonly is: 'group'; readonly captures: boolean; readonly flags: Flags }
  | { readonly is: 'flags'; readonly flags: Flags };

const twice = 'use a second entry, or write out the alternatives';

/** Constructs of other engines that begin with `(?`, longest first, with the description and a replacement. */
const foreign: readonly (readonly [RegExp, string, string])[] = [
  [/^\(\?=/, 'a look-ahead (?=', twice],
  [/^\(\?!/, 'a negative look-ahead (?!', twice],
  [/^\(\?<=/, 'a look-behind (?<=', twice],
  [/^\(\?<!/, 'a negative look-behind (?<!', twice],
  [/^\(\?>/, 'an atomic group (?>', 'use (?: instead: RE2 does not backtrack'],
  [/^\(\?#/, 'a comment (?#', 'remove it'],
  [/^\(\?\|/, 'a branch reset (?|', 'use (?: instead'],
  [/^\(\?\(/, 'a condition (?(', 'write both cases, separated by |'],
  [/^\(\?P=/, 'a backreference (?P=', 'RE2 does not support it: write out the text'],
  [/^\(\?(?:P>|&|R\)|[+-]?\d)/, 'a recursion', 'RE2 does not support it: write out the levels'],
  [/^\(\?'/, "a group named in quotes (?'", 'write (?P<name>…)'],
];

/** Reads the beginning of a group; the cursor is on its parenthesis. */
function readGroup(cursor: PatternCursor, flags: Flags, names: Set<string>): Opening {
  const start = cursor.at;
  if (!cursor.text.startsWith('(?', start)) {
    cursor.at += 1;
    return { is: 'group', captures: true, flags };
  }
  const rest = cursor.text.slice(start, start + 300);
  const other = foreign.find(([pattern]) => pattern.test(rest));
  if (other !== undefined) throw new PatternSyntaxError({ what: other[1], index: start, hint: other[2], elsewhere: true });
  if (consumeText(cursor, '(?P<') || consumeText(cursor, '(?<')) return named(cursor, flags, { names, start });
  return flagged(cursor, flags);
}

function named(cursor: PatternCursor, flags: Flags, { names, start }: { readonly names: Set<string>; readonly start: number }): Opening {
  const end = cursor.text.indexOf('>', cursor.at);
  const name = cursor.text.slice(cursor.at, end === -1 ? cursor.at : end);
  if (!/^\w+$/.test(name))
    throw new PatternSyntaxError({
      what: 'an invalid group name',
      index: start,
      hint: 'write (?P<name>…) with letters, digits and _',
    });
  cursor.at = end + 1;
  // Go accepts a second group with the same name, the library does not; a name changes nothing about what matches.
  if (names.has(name)) cursor.rewrites.push({ from: start, to: cursor.at, text: '(' });
  names.add(name);
  return { is: 'group', captures: true, flags };
}

function flagged(cursor: PatternCursor, before: Flags): Opening {
  const start = cursor.at;
  const [text = '', letters = '', minus = '', off = '', close = ''] =
    /^\(\?([A-Za-z]*)(-?)([A-Za-z]*)([):]?)/.exec(cursor.text.slice(start, start + 60)) ?? [];
  const strange = /[^imsU]/.exec(`${letters}${off}`)?.[0];
  if (strange === 'x')
    throw new PatternSyntaxError({
      what: 'the flag x',
      index: start,
      hint: 'remove whitespace and comments from the pattern',
      elsewhere: true,
    });
  const isWrong = strange !== undefined || close === '' || (minus !== '' && off === '');
  if (isWrong) {
    throw new PatternSyntaxError({
      what: strange === undefined ? 'an unknown group (?' : `the flag ${strange}`,
      index: start,
      hint: 'the flags are i, m, s and U; (?:…) is a plain group',
      elsewhere: true,
    });
  }
  cursor.at += text.length;
  const value = (letter: string, earlier: boolean): boolean => (off.includes(letter) ? false : letters.includes(letter) || earlier);
  const flags = { fold: value('i', before.fold), lines: value('m', before.lines), dots: value('s', before.dots) };
  return close === ')' ? { is: 'flags', flags } : { is: 'group', captures: false, flags };
}

/** A parsed pattern, and its text as the library re2js reads it. */
type ParsedPattern = { readonly node: PatternNode; readonly libraryText: string };

/** Parses a pattern with the syntax of RE2 in Go 1.26; an unsupported construct is returned with its index. */
export function parsePattern(text: string): ParsedPattern | { readonly error: PatternError } {
  try {
    const cursor: PatternCursor = { text, at: 0, rewrites: [] };
    const reader: Reader = { cursor, names: new Set(), flags: { fold: false, lines: false, dots: false }, depth: 0 };
    const node = takeEither(reader);
    if (cursor.at < text.length)
      throw new PatternSyntaxError({ what: 'missing opening "("', index: cursor.at, hint: 'write \\) for the character itself' });
    return { node, libraryText: rewritten(cursor) };
  } catch (error) {
    if (error instanceof PatternSyntaxError) return { error: error.error };
    throw error;
  }
}

function rewritten({ text, rewrites }: PatternCursor): string {
  const edges = [...rewrites, { from: text.length, to: text.length, text: '' }];
  return edges.map((rewrite, index) => text.slice(edges[index - 1]?.to ?? 0, rewrite.from) + rewrite.text).join('');
}

type Reader = { readonly cursor: PatternCursor; readonly names: Set<string>; flags: Flags; depth: number };

const maxDepth = 1000;

function takeEither(reader: Reader): PatternNode {
  const { cursor } = reader;
  const parts = [takeJoin(reader)];
  while (consumeText(cursor, '|')) parts.push(takeJoin(reader));
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : { op: 'either', parts };
}

function takeJoin(reader: Reader): PatternNode {
  const { cursor } = reader;
  const parts: PatternNode[] = [];
  let from = cursor.at;
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== '|' && cursor.text[cursor.at] !== ')') {
    if (isRepeat(cursor)) {
      const last = parts.pop();
      if (last === undefined) throw nothingToRepeat(cursor);
      parts.push(takeRepeat(cursor, last, from));
    } else {
      from = cursor.at;
      appendAll(parts, takeAtom(reader));
    }
  }
  const [only] = parts;
  if (parts.length === 0) return { op: 'empty' };
  return only !== undefined && parts.length === 1 ? only : { op: 'join', parts };
}

function nothingToRepeat({ text, at }: PatternCursor): PatternSyntaxError {
  const sign = text[at] ?? '';
  return new PatternSyntaxError({ what: `nothing to repeat before ${sign}`, index: at, hint: `write \\${sign} for the character itself` });
}

/** Reads the next node that may be repeated. Flags produce no node; a quoted text (`\Q…\E`) produces several. */
function takeAtom(reader: Reader): readonly PatternNode[] {
  const { cursor, flags } = reader;
  switch (cursor.text[cursor.at] ?? '') {
    case '(':
      return takeGroup(reader);
    case '[':
      return [{ op: 'char', set: takeBrackets(cursor, flags) }];
    case '.':
      cursor.at += 1;
      return [{ op: 'char', set: flags.dots ? anyChar : anyButNewline }];
    case '^':
      cursor.at += 1;
      return [{ op: 'assert', what: flags.lines ? 'line-start' : 'text-start' }];
    case '$':
      cursor.at += 1;
      return [{ op: 'assert', what: flags.lines ? 'line-end' : 'text-end' }];
    case '\\':
      return takeBackslash(reader);
    default:
      return [{ op: 'char', set: rangeOf(nextRune(cursor), flags) }];
  }
}

/** Returns the characters from `low` to `high`, by default one, in both cases where case is ignored. */
function rangeOf(low: number, { fold }: Flags, high = low): CharSet {
  const set = { ranges: [low, high] };
  return fold ? withBothCases(set) : set;
}

function takeGroup(reader: Reader): readonly PatternNode[] {
  const { cursor, names, flags } = reader;
  const start = cursor.at;
  const group = readGroup(cursor, flags, names);
  if (group.is === 'flags') {
    reader.flags = group.flags;
    return [];
  }
  reader.depth += 1;
  if (reader.depth > maxDepth)
    throw new PatternSyntaxError({
      what: `groups nested more than ${maxDepth} deep`,
      index: start,
      hint: 'write a simpler pattern',
      elsewhere: true,
    });
  reader.flags = group.flags;
  const node = takeEither(reader);
  if (!consumeText(cursor, ')'))
    throw new PatternSyntaxError({ what: 'missing closing ")"', index: start, hint: 'write \\( for the character itself' });
  reader.flags = flags;
  reader.depth -= 1;
  return [group.captures ? { op: 'group', of: node } : node];
}

function takeBackslash({ cursor, flags }: Reader): readonly PatternNode[] {
  if (consumeText(cursor, '\\A')) return [{ op: 'assert', what: 'text-start' }];
  if (consumeText(cursor, '\\z')) return [{ op: 'assert', what: 'text-end' }];
  if (consumeText(cursor, '\\b')) return [{ op: 'assert', what: 'word-edge' }];
  if (consumeText(cursor, '\\B')) return [{ op: 'assert', what: 'no-word-edge' }];
  if (consumeText(cursor, '\\Q')) {
    const end = cursor.text.indexOf('\\E', cursor.at);
    const quoted = cursor.text.slice(cursor.at, end === -1 ? undefined : end);
    cursor.at = end === -1 ? cursor.text.length : end + 2;
    return Array.from(quoted, (one) => ({ op: 'char', set: rangeOf(one.codePointAt(0) ?? 0, flags) }));
  }
  const known = takeClassEscape(cursor, { isMember: false, fold: flags.fold });
  return [{ op: 'char', set: known ?? rangeOf(takeEscape(cursor), flags) }];
}

/** Reads a bracket expression; the cursor is on its opening bracket. */
function takeBrackets(cursor: PatternCursor, flags: Flags): CharSet {
  const start = cursor.at;
  cursor.at += 1;
  const isNegated = consumeText(cursor, '^');
  const sets: CharSet[] = [];
  let isFirst = true;
  while (cursor.text[cursor.at] !== ']' || isFirst) {
    if (cursor.at >= cursor.text.length)
      throw new PatternSyntaxError({ what: 'missing closing "]"', index: start, hint: 'write \\[ for the character itself' });
    isFirst = false;
    sets.push(takeMember(cursor, flags));
  }
  cursor.at += 1;
  const set = unionOf(sets);
  return isNegated ? complement(set) : set;
}

function takeMember(cursor: PatternCursor, flags: Flags): CharSet {
  const { fold } = flags;
  const isEscape = cursor.text[cursor.at] === '\\';
  const known = takePosixClass(cursor, fold) ?? (isEscape ? takeClassEscape(cursor, { isMember: true, fold }) : undefined);
  if (known !== undefined) return known;
  const start = cursor.at;
  const low = takeMemberRune(cursor);
  if (cursor.text[cursor.at] !== '-' || cursor.text[cursor.at + 1] === ']' || cursor.at + 1 >= cursor.text.length)
    return rangeOf(low, flags);
  cursor.at += 1;
  const high = takeMemberRune(cursor);
  if (high < low)
    throw new PatternSyntaxError({
      what: `the range ${cursor.text.slice(start, cursor.at)}, whose start is after its end`,
      index: start,
      hint: 'write the lower character first',
    });
  return rangeOf(low, flags, high);
}

function takeMemberRune(cursor: PatternCursor): number {
  return cursor.text[cursor.at] === '\\' ? takeEscape(cursor) : nextRune(cursor);
}

type Count = { readonly min: number; readonly max: number | undefined; readonly text: string };

const maxRepeats = 1000;

/** Returns whether the cursor is on a repeat count. */
function isRepeat(cursor: PatternCursor): boolean {
  return countAt(cursor) !== undefined;
}

/** Wraps the node in the repeat count at the cursor, if there is one. */
function takeRepeat(cursor: PatternCursor, node: PatternNode, from: number): PatternNode {
  const start = cursor.at;
  const count = countAt(cursor);
  if (count === undefined) return node;
  const { min, max, text } = count;
  if (min > maxRepeats || (max ?? 0) > maxRepeats || (max !== undefined && max < min)) {
    const isBackwards = max !== undefined && max < min && min <= maxRepeats;
    throw new PatternSyntaxError({
      what: isBackwards ? `the repeat count ${text}, whose start is after its end` : `the repeat count ${text}, above ${maxRepeats}`,
      index: start,
      hint: `at most ${maxRepeats} times`,
      elsewhere: true,
    });
  }
  cursor.at += text.length;
  if (cursor.text[cursor.at] === '?') cursor.at += 1;
  const second = countAt(cursor);
  if (second !== undefined) throw doubledRepeatError(cursor, second, start);
  const repeated: PatternNode = { op: 'repeat', of: node, min, max };
  if (repeatsOf(repeated) > maxRepeats)
    throw new PatternSyntaxError({
      what: `nested repeat counts above ${maxRepeats} in total`,
      index: from,
      hint: `at most ${maxRepeats} times in all`,
      elsewhere: true,
    });
  return repeated;
}

function doubledRepeatError({ text }: PatternCursor, second: Count, start: number): PatternSyntaxError {
  const shown = text.slice(start, start + 12);
  if (second.text === '+')
    return new PatternSyntaxError({
      what: `a possessive quantifier ${shown.slice(0, shown.indexOf('+', 1) + 1)}`,
      index: start,
      hint: 'remove the last +: RE2 does not backtrack',
      elsewhere: true,
    });
  return new PatternSyntaxError({ what: 'a repeat of a repeat', index: start, hint: 'put the repeated part in (?:…)' });
}

function countAt({ text, at }: PatternCursor): Count | undefined {
  switch (text[at] ?? '') {
    case '*':
      return { min: 0, max: undefined, text: '*' };
    case '+':
      return { min: 1, max: undefined, text: '+' };
    case '?':
      return { min: 0, max: 1, text: '?' };
    case '{': {
      const found = /^\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/.exec(text.slice(at, at + 40));
      if (found === null) return undefined;
      const [whole, low = '0', comma, high] = found;
      const min = Number(low);
      return { min, max: comma === undefined ? min : high === undefined ? undefined : Number(high), text: whole };
    }
    default:
      return undefined;
  }
}

/** Returns the product of nested repeat counts, as RE2 counts them. */
function repeatsOf(node: PatternNode): number {
  switch (node.op) {
    case 'repeat': {
      const own = node.max ?? node.min;
      const isCounted = node.min >= 2 || (node.max ?? 0) >= 2;
      return (isCounted ? Math.max(own, 1) : 1) * repeatsOf(node.of);
    }
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
