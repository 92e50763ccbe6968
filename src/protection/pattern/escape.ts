import {
  complement,
  unionOf,
  withBothCases,
  type CharSet,
  nextRune,
  PatternSyntaxError,
  type PatternCursor,
  anyChar,
} from './automaton.ts';

const digit: CharSet = { ranges: [48, 57] };
const space: CharSet = { ranges: [9, 10, 12, 13, 32, 32] };
const word: CharSet = { ranges: [48, 57, 65, 90, 95, 95, 97, 122] };

const perl: Readonly<Record<string, CharSet>> = { d: digit, s: space, w: word };

/** Returns a class, or all characters outside of it; case is ignored in the class, so a letter is outside in both cases or in none. */
function classOf(members: CharSet, { isOutside, fold }: { readonly isOutside: boolean; readonly fold: boolean }): CharSet {
  const set = fold ? withBothCases(members) : members;
  return isOutside ? complement(set) : set;
}

/** The place of a class: whether it is a member of a bracket expression, and whether case is ignored. */
type ClassPlace = { readonly isMember: boolean; readonly fold: boolean };

/** Reads a class escape such as `\d`, `\w` or `\pL`; returns undefined when the cursor is not on one. */
export function takeClassEscape(cursor: PatternCursor, { isMember, fold }: ClassPlace): CharSet | undefined {
  const letter = cursor.text[cursor.at + 1] ?? '';
  const members = Object.hasOwn(perl, letter.toLowerCase()) ? perl[letter.toLowerCase()] : undefined;
  if (members !== undefined) {
    cursor.at += 2;
    return classOf(members, { isOutside: letter !== letter.toLowerCase(), fold });
  }
  if (letter !== 'p' && letter !== 'P') return undefined;
  const start = cursor.at;
  cursor.at += 2;
  const written = classNameAt(cursor, start);
  const isReversed = written.startsWith('^');
  const found = unicodeClass(isReversed ? written.slice(1) : written);
  if (found === undefined) {
    throw new PatternSyntaxError({
      what: `the class ${cursor.text.slice(start, Math.min(cursor.at, start + 40))}`,
      index: start,
      hint: 'use a category such as \\p{L}, or a script of Unicode 15.0 such as \\p{Greek}',
      elsewhere: true,
    });
  }
  const isOutside = (letter === 'P') !== isReversed;
  cursor.rewrites.push({ from: start, to: cursor.at, text: libraryClass(found.name, isOutside, isMember) });
  return classOf(found.members, { isOutside, fold });
}

/** Reads the name of a Unicode class: one letter, or a text in braces. */
function classNameAt(cursor: PatternCursor, start: number): string {
  const letter = String.fromCodePoint(nextRune(cursor));
  if (letter !== '{') return letter;
  const end = cursor.text.indexOf('}', cursor.at);
  if (end === -1) throw new PatternSyntaxError({ what: 'missing closing "}" of a character class', index: start });
  const name = cursor.text.slice(cursor.at, end);
  cursor.at = end + 1;
  return name;
}

/** Returns a Unicode class as the library re2js reads it; it knows ASCII only as a POSIX class. */
function libraryClass(name: string, isOutside: boolean, isMember: boolean): string {
  if (name !== 'ASCII') return `\\${isOutside ? 'P' : 'p'}{${name}}`;
  const text = isOutside ? '[:^ascii:]' : '[:ascii:]';
  return isMember ? text : `[${text}]`;
}

const controls: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

const rewritten: Readonly<Record<string, readonly [string, string]>> = {
  Z: ['\\Z', 'write \\z for the end of the text'],
  G: ['\\G', 'remove it'],
  K: ['\\K', 'remove it'],
  R: ['\\R', 'write \\r?\\n'],
  X: ['\\X', 'write . for a character'],
  C: ['\\C', 'write . for a character'],
  h: ['\\h', 'write [ \\t]'],
  H: ['\\H', 'write [^ \\t]'],
  N: ['\\N', 'write [^\\n]'],
  e: ['\\e', 'write \\x1b'],
  c: ['\\c', 'write the code: \\x01 for \\cA'],
  u: ['\\u', 'write \\x{…} with the code'],
  U: ['\\U', 'write \\x{…} with the code'],
  k: ['a backreference', 'RE2 does not support it: write out the text'],
  g: ['a backreference', 'RE2 does not support it: write out the text'],
  E: ['\\E without \\Q', 'remove it'],
};

/** Reads an escaped character; the cursor is on the backslash. Throws PatternSyntaxError when RE2 rejects it. */
export function takeEscape(cursor: PatternCursor): number {
  const start = cursor.at;
  cursor.at += 1;
  if (cursor.at >= cursor.text.length)
    throw new PatternSyntaxError({ what: 'trailing \\', index: start, hint: 'write \\\\ for the character itself' });
  const rune = nextRune(cursor);
  const letter = String.fromCodePoint(rune);
  if (letter === 'x') return hexadecimal(cursor, start);
  if (/[0-7]/.test(letter)) return octal(cursor, letter, start);
  if (/[89]/.test(letter)) throw backreference(letter, start);
  if (Object.hasOwn(controls, letter)) return controls[letter] ?? 0;
  if (rune < 128 && !/[A-Za-z0-9]/.test(letter)) return rune;
  const [what, hint] = Object.hasOwn(rewritten, letter) ? (rewritten[letter] ?? []) : [];
  throw new PatternSyntaxError({
    what: what ?? `the escape \\${letter}`,
    index: start,
    hint: hint ?? `write ${letter} for the character itself`,
    elsewhere: true,
  });
}

function backreference(number: string, start: number): PatternSyntaxError {
  return new PatternSyntaxError({
    what: `the backreference \\${number}`,
    index: start,
    hint: 'RE2 does not support it: write out the text',
    elsewhere: true,
  });
}

/** Reads an octal code. A single digit other than 0 is a backreference, which RE2 rejects. */
function octal(cursor: PatternCursor, first: string, start: number): number {
  const [digits = ''] = /^[0-7]{0,2}/.exec(cursor.text.slice(cursor.at, cursor.at + 2)) ?? [];
  if (first !== '0' && digits === '') throw backreference(first, start);
  cursor.at += digits.length;
  return Number.parseInt(`${first}${digits}`, 8);
}

function hexadecimal(cursor: PatternCursor, start: number): number {
  const rest = cursor.text.slice(cursor.at, cursor.at + 16);
  const found = /^(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/.exec(rest);
  const code = Number.parseInt(found?.[1] ?? found?.[2] ?? '', 16);
  if (found === null || !(code <= 0x10_ffff))
    throw new PatternSyntaxError({ what: 'an incomplete \\x', index: start, hint: 'write \\x41 or \\x{41}' });
  cursor.at += found[0].length;
  return code;
}

const posix: Readonly<Record<string, CharSet>> = {
  alnum: { ranges: [48, 57, 65, 90, 97, 122] },
  alpha: { ranges: [65, 90, 97, 122] },
  ascii: { ranges: [0, 127] },
  blank: { ranges: [9, 9, 32, 32] },
  cntrl: { ranges: [0, 31, 127, 127] },
  digit,
  graph: { ranges: [33, 126] },
  lower: { ranges: [97, 122] },
  print: { ranges: [32, 126] },
  punct: { ranges: [33, 47, 58, 64, 91, 96, 123, 126] },
  space: unionOf([space, { ranges: [11, 11] }]),
  upper: { ranges: [65, 90] },
  word,
  xdigit: { ranges: [48, 57, 65, 70, 97, 102] },
};

/** Reads a POSIX class such as `[:alpha:]` inside brackets; returns undefined when the cursor is not on one. */
export function takePosixClass(cursor: PatternCursor, fold: boolean): CharSet | undefined {
  if (!cursor.text.startsWith('[:', cursor.at)) return undefined;
  const end = cursor.text.indexOf(':]', cursor.at + 2);
  if (end === -1) return undefined;
  const name = cursor.text.slice(cursor.at + 2, end);
  const plain = name.replace(/^\^/, '');
  const set = Object.hasOwn(posix, plain) ? posix[plain] : undefined;
  if (set === undefined)
    throw new PatternSyntaxError({
      what: `the class [:${name.slice(0, 20)}:]`,
      index: cursor.at,
      hint: 'write [:alpha:], [:digit:], [:space:] and the like',
      elsewhere: true,
    });
  cursor.at = end + 2;
  return classOf(set, { isOutside: plain !== name, fold });
}

/** A class of Unicode characters as a pattern names it: the name that the library re2js knows, and its members. */
type UnicodeClass = { readonly name: string; readonly members: CharSet };

/** The general categories of Go's package unicode, and their long names. */
const categories: Readonly<Record<string, readonly string[]>> = {
  C: ['Other'],
  Cc: ['Control', 'cntrl'],
  Cf: ['Format'],
  Cn: ['Unassigned'],
  Co: ['Private_Use'],
  Cs: ['Surrogate'],
  L: ['Letter'],
  LC: ['Cased_Letter'],
  Ll: ['Lowercase_Letter'],
  Lm: ['Modifier_Letter'],
  Lo: ['Other_Letter'],
  Lt: ['Titlecase_Letter'],
  Lu: ['Uppercase_Letter'],
  M: ['Mark', 'Combining_Mark'],
  Mc: ['Spacing_Mark'],
  Me: ['Enclosing_Mark'],
  Mn: ['Nonspacing_Mark'],
  N: ['Number'],
  Nd: ['Decimal_Number', 'digit'],
  Nl: ['Letter_Number'],
  No: ['Other_Number'],
  P: ['Punctuation', 'punct'],
  Pc: ['Connector_Punctuation'],
  Pd: ['Dash_Punctuation'],
  Pe: ['Close_Punctuation'],
  Pf: ['Final_Punctuation'],
  Pi: ['Initial_Punctuation'],
  Po: ['Other_Punctuation'],
  Ps: ['Open_Punctuation'],
  S: ['Symbol'],
  Sc: ['Currency_Symbol'],
  Sk: ['Modifier_Symbol'],
  Sm: ['Math_Symbol'],
  So: ['Other_Symbol'],
  Z: ['Separator'],
  Zl: ['Line_Separator'],
  Zp: ['Paragraph_Separator'],
  Zs: ['Space_Separator'],
};

/**
 * The scripts of Unicode 15.0 that Go 1.26 finds by name. It compares names without underscores, but not with those of
 * its own table, so it rejects all scripts of two words, such as `Old_Italic`.
 */
const scripts = `Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid
  Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra Duployan Elbasan Elymaic
  Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew Hiragana Inherited Javanese
  Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam
  Mandaic Manichaean Marchen Medefaidrin Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage
  Osmanya Palmyrene Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac
  Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi`.split(
  /\s+/,
);

type Entry = { readonly name: string; readonly expression?: string };

const entries: ReadonlyMap<string, Entry> = new Map([
  ...Object.entries(categories).flatMap(([name, aliases]) =>
    [name, ...aliases].map((alias): readonly [string, Entry] => [canonicalName(alias), { name, expression: `\\p{${name}}` }]),
  ),
  ...scripts.map((name): readonly [string, Entry] => [name, { name, expression: `\\p{Script=${name}}` }]),
  ['Any', { name: 'Any' }],
  ['Assigned', { name: 'Assigned' }],
  ['Ascii', { name: 'ASCII' }],
]);

/** Returns a name as Go compares it: without underscores, blanks and hyphens, one capital, then small letters. */
function canonicalName(name: string): string {
  const letters = name.replaceAll(/[_ -]/g, '').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return letters.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/** Finds a class of Unicode characters by name; undefined when Go 1.26 does not know it. */
function unicodeClass(name: string): UnicodeClass | undefined {
  const entry = entries.get(canonicalName(name));
  return entry === undefined ? undefined : { name: entry.name, members: membersOf(entry) };
}

const known = new Map<string, CharSet>();

function membersOf({ name, expression }: Entry): CharSet {
  if (name === 'Any') return anyChar;
  if (name === 'ASCII') return { ranges: [0, 127] };
  if (expression === undefined) return complement(membersOf({ name: 'Cn', expression: '\\p{Cn}' }));
  const found = known.get(name) ?? { ranges: scan(new RegExp(expression, 'u')) };
  known.set(name, found);
  return found;
}

/** Blocks of characters of which each belongs to the same classes as its first; all other characters are tried one by one. */
const uniform: readonly (readonly [number, number])[] = [
  [0x3_4000, 0xd_ffff],
  [0xe_0200, 0xe_ffff],
  [0xf_0000, 0xf_fffd],
  [0xf_fffe, 0xf_ffff],
  [0x10_0000, 0x10_fffd],
  [0x10_fffe, 0x10_ffff],
];

function scan(expression: RegExp): readonly number[] {
  const ranges: number[] = [];
  const add = (low: number, high: number): void => {
    if (!expression.test(String.fromCodePoint(low))) return;
    if (ranges.at(-1) === low - 1) ranges[ranges.length - 1] = high;
    else ranges.push(low, high);
  };
  let from = 0;
  for (const [low, high] of uniform) {
    for (let rune = from; rune < low; rune += 1) add(rune, rune);
    add(low, high);
    from = high + 1;
  }
  return ranges;
}
