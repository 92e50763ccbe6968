import { PatternSyntaxError, consumeText, type PatternCursor } from './syntax.ts';

/** `fold`: ignore case; `lines`: ^ and $ match at each line; `dots`: a dot matches a line feed. */
export type Flags = { readonly fold: boolean; readonly lines: boolean; readonly dots: boolean };

/** The meaning of an opening parenthesis: a group, or flags for the rest of the enclosing group. */
export type Opening =
  | { readonly is: 'group'; readonly captures: boolean; readonly flags: Flags }
  | { readonly is: 'flags'; readonly flags: Flags };

const twice = 'block it with a second entry, or write out what may stand there';

/** Constructs of other engines that begin with `(?`, longest first, with the description and a replacement. */
const foreign: readonly (readonly [RegExp, string, string])[] = [
  [/^\(\?=/, 'a look-ahead (?=', twice],
  [/^\(\?!/, 'a negative look-ahead (?!', twice],
  [/^\(\?<=/, 'a look-behind (?<=', twice],
  [/^\(\?<!/, 'a negative look-behind (?<!', twice],
  [/^\(\?>/, 'an atomic group (?>', 'write (?: instead: RE2 never goes back'],
  [/^\(\?#/, 'a comment (?#', 'leave it out'],
  [/^\(\?\|/, 'a branch reset (?|', 'write (?: instead'],
  [/^\(\?\(/, 'a condition (?(', 'write both cases, with a | between them'],
  [/^\(\?P=/, 'a backreference (?P=', 'RE2 has none: write out what may be repeated'],
  [/^\(\?(?:P>|&|R\)|[+-]?\d)/, 'a recursion', 'RE2 has none: write out as many levels as are needed'],
  [/^\(\?'/, "a group named in quotes (?'", 'write (?P<name>…)'],
];

/** Reads the beginning of a group; the cursor is on its parenthesis. */
export function readGroup(cursor: PatternCursor, flags: Flags, names: Set<string>): Opening {
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
      what: 'a group without a right name',
      index: start,
      hint: 'write (?P<name>…) with letters, digits and _',
    });
  if (names.has(name))
    throw new PatternSyntaxError({ what: `a second group called ${name}`, index: start, hint: 'give it a name of its own, or none' });
  names.add(name);
  cursor.at = end + 1;
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
      hint: 'write the pattern without blanks and comments',
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
