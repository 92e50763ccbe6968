import { anyChar, type CharSet } from './automaton.ts';

const digit: CharSet = { ranges: [48, 57] };
const word: CharSet = { ranges: [48, 57, 65, 90, 95, 95, 97, 122] };

/** The classes of Perl, by their small letters. */
export const perlClasses: Readonly<Record<string, CharSet>> = { d: digit, s: { ranges: [9, 10, 12, 13, 32, 32] }, w: word };

/** The classes of POSIX, such as `[:alpha:]`. */
export const posixClasses: Readonly<Record<string, CharSet>> = {
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
  space: { ranges: [9, 13, 32, 32] },
  upper: { ranges: [65, 90] },
  word,
  xdigit: { ranges: [48, 57, 65, 70, 97, 102] },
};

/** A class of Unicode characters as a pattern names it: the name that the library re2js knows, and its members. */
type UnicodeClass = { readonly name: string; readonly members: CharSet };

/** The general categories of Go's package unicode, each with its other names. */
const categories = `C=Other Cc=Control=cntrl Cf=Format Cn=Unassigned Co=Private_Use Cs=Surrogate L=Letter LC=Cased_Letter
  Ll=Lowercase_Letter Lm=Modifier_Letter Lo=Other_Letter Lt=Titlecase_Letter Lu=Uppercase_Letter M=Mark=Combining_Mark
  Mc=Spacing_Mark Me=Enclosing_Mark Mn=Nonspacing_Mark N=Number Nd=Decimal_Number=digit Nl=Letter_Number No=Other_Number
  P=Punctuation=punct Pc=Connector_Punctuation Pd=Dash_Punctuation Pe=Close_Punctuation Pf=Final_Punctuation
  Pi=Initial_Punctuation Po=Other_Punctuation Ps=Open_Punctuation S=Symbol Sc=Currency_Symbol Sk=Modifier_Symbol Sm=Math_Symbol
  So=Other_Symbol Z=Separator Zl=Line_Separator Zp=Paragraph_Separator Zs=Space_Separator`;

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
  Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi`;

type Entry = { readonly name: string; readonly expression?: string };

const entries: ReadonlyMap<string, Entry> = new Map([
  ...categories.split(/\s+/).flatMap((names) => {
    const [name = '', ...aliases] = names.split('=');
    return [name, ...aliases].map((alias): readonly [string, Entry] => [canonicalName(alias), { name, expression: `\\p{${name}}` }]);
  }),
  ...scripts.split(/\s+/).map((name): readonly [string, Entry] => [name, { name, expression: `\\p{Script=${name}}` }]),
  ['Any', { name: 'Any' }],
  ['Assigned', { name: 'Assigned', expression: '\\P{Cn}' }],
  ['Ascii', { name: 'ASCII' }],
]);

/** Returns a name as Go compares it: without underscores, blanks and hyphens, one capital, then small letters. */
function canonicalName(name: string): string {
  const letters = name.replaceAll(/[_ -]/g, '').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return letters.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/** Finds a class of Unicode characters by name; undefined when Go 1.26 does not know it. */
export function classNamed(name: string): UnicodeClass | undefined {
  const entry = entries.get(canonicalName(name));
  return entry === undefined ? undefined : { name: entry.name, members: membersOf(entry) };
}

const known = new Map<string, CharSet>();

function membersOf({ name, expression }: Entry): CharSet {
  if (expression === undefined) return name === 'Any' ? anyChar : { ranges: [0, 127] };
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
