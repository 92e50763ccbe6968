import { Buffer } from 'node:buffer';

/** The length from which a part of a secret counts, in characters. */
const fragmentLength = 6;
/** A shorter secret is part of too many words. */
const shortestSecret = 3;
/** The nesting of encodings that is searched; a text with more of them counts as one that contains a secret. */
const maxTexts = 1000;

/**
 * Returns whether a text may contain a fragment of a secret, in plain text or in any nesting of the encodings that `decodeOnce`
 * knows. Neither case, nor accents, nor the width of letters, nor punctuation between them matters.
 */
export function mayRevealSecret(text: string, secrets: readonly string[]): boolean {
  const fragments = new Set(secrets.flatMap((secret) => formsOf(secret)).flatMap((form) => fragmentsOf(form)));
  if (fragments.size === 0) return false;
  const seen = new Set([text]);
  for (const one of seen) {
    if (containsFragment(one, fragments) || seen.size > maxTexts) return true;
    for (const decoded of decodeOnce(one)) seen.add(decoded);
  }
  return false;
}

/** Returns a secret, and what it decodes to: secrets travel in base64. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'base64');
  const decoded = bytes.toString('utf8');
  return [secret, decoded.includes('\uFFFD') ? bytes.toString('hex') : decoded];
}

function fragmentsOf(form: string): readonly string[] {
  const [plain, letters] = comparableForms(form);
  if (plain.length < fragmentLength) return plain.length < shortestSecret ? [] : [plain];
  return [...windowsOf(plain, fragmentLength), ...windowsOf(letters, fragmentLength)];
}

/** Returns the text in lower case and without accents, and its letters and digits alone. */
function comparableForms(text: string): readonly [plain: string, letters: string] {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toUpperCase()
    .toLowerCase();
  return [plain, plain.replaceAll(/[^\p{L}\p{N}]+/gu, '')];
}

function* windowsOf(text: string, length: number): Generator<string> {
  for (let start = 0; start + length <= text.length; start += 1) yield text.slice(start, start + length);
}

function containsFragment(text: string, fragments: ReadonlySet<string>): boolean {
  for (const form of comparableForms(text)) {
    for (let length = shortestSecret; length <= fragmentLength; length += 1)
      for (const window of windowsOf(form, length)) if (fragments.has(window)) return true;
  }
  return false;
}

/** Returns all that a text may decode to, one encoding at a time; the text itself where it contains nothing to decode. */
function decodeOnce(text: string): readonly string[] {
  return decoders.flatMap((decode) => decode(text));
}

const decoders: readonly ((text: string) => readonly string[])[] = [
  (text) => [text.replaceAll(markup, decodeMarkup)],
  (text) => [text.replaceAll(backslashes, decodeBackslash)],
  (text) => [text.replaceAll(/(?:[%=][\da-f]{2})+/gi, (run) => fromBytes(bytesOfHex(run.replaceAll(/[%=]/g, ''))))],
  (text) => [text.replaceAll(/(?:\\x[\da-f]{2})+/gi, (run) => fromBytes(bytesOfHex(run.replaceAll(/\\x/gi, ''))))],
  (text) => [text.replaceAll(/(?:\\[0-3]?[0-7]{1,2})+/g, (run) => fromBytes(Buffer.from(numbersOf(run, 8))))],
  (text) => [text.replaceAll('+', ' '), text.normalize('NFKD').replaceAll(/\p{M}+/gu, '')],
  // Quoted-printable breaks lines after `=`.
  (text) => [text.replaceAll(/=\s+/g, ''), text.replaceAll(mimeWords, decodeMimeWord)],
  (text) => [/\s+/g, /[\s"',+-]+/g].map((separators) => text.replaceAll(separators, '')),
  (text) => [text.replaceAll(/(?!\s)[\p{Cc}\p{Cf}]+/gu, '')],
  // Tags of HTML, colors of a terminal, and the keys of a list that is written as a map.
  (text) => [text.replaceAll(/<[^<>]*>/g, ''), text.replaceAll(colors, ''), text.replaceAll(/"?\d+"?\s*[:=]\s*(?=\d)/g, '')],
  // UTF-8 that was read as Latin-1.
  (text) => (/^[\0-\xFF]*$/.test(text) ? [Buffer.from(text, 'latin1').toString('utf8')] : []),
  (text) => [0, 1, 2, 3].flatMap((offset) => decodeRuns(text, /[\w+/-]{8,}/g, (run) => Buffer.from(run.slice(offset), 'base64'))),
  (text) => [0, 1].flatMap((offset) => decodeRuns(text, hexRuns, (run) => bytesOfHex(hexDigits(run).slice(offset)))),
  (text) =>
    [base32, base32Hex].flatMap((digits) =>
      base32Offsets.flatMap((offset) => decodeRuns(text, /[\da-z]{10,}/gi, (run) => bytesOfBase32(run.slice(offset), digits))),
    ),
  (text) => decodeRuns(text, /[01]{48,}/g, (run) => Buffer.from((run.match(/[01]{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))),
  (text) => decodeRuns(text, /(?:[012]\d\d){6,}/g, (run) => Buffer.from((run.match(/\d{3}/g) ?? []).map(Number))),
  (text) => [16, 10, 8, 2].flatMap((base) => decodeNumbers(text, base)),
];

const hexRuns = /(?:(?:0x|\\x)?[\da-f]{2}[\s:,;_-]*){6,}/gi;

function hexDigits(run: string): string {
  return run.replaceAll(/0x|\\x|[^\da-f]/gi, '');
}

function bytesOfHex(digits: string): Buffer {
  return Buffer.from(digits, 'hex');
}

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
const base32Hex = '0123456789abcdefghijklmnopqrstuv';
const base32Offsets = Array.from({ length: 8 }, (_, index) => index);

function bytesOfBase32(run: string, digits: string): Buffer {
  const bits = Array.from(run.toLowerCase(), (digit) => Math.max(0, digits.indexOf(digit)).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/[01]{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Returns the texts of all lists of numbers, as bytes and as characters, whatever is between and in front of the numbers. */
function decodeNumbers(text: string, base: number): readonly string[] {
  const numbers = numbersOf(text, base);
  const characters = numbers.map((number) => characterOf(Number.isNaN(number) ? 0x0a : number)).join('');
  // Between lists of bytes are words, which are no numbers.
  const lists = numbers.some((number) => number > 0xff) ? [] : splitAtNaN(numbers);
  return [characters, ...lists.flatMap((list) => readingsOf(Buffer.from(list)))].filter(isReadable);
}

function splitAtNaN(numbers: readonly number[]): readonly (readonly number[])[] {
  const lists: number[][] = [[]];
  for (const number of numbers)
    if (Number.isNaN(number)) lists.push([]);
    else lists.at(-1)?.push(number);
  return lists;
}

const digitsOfBase: Readonly<Record<number, RegExp>> = { 2: /^[01]+$/, 8: /^[0-7]+$/, 10: /^\d+$/, 16: /^[\da-f]+$/i };

/** Returns the numbers of a text, without prefixes such as `0x` and `U+`; NaN for each word that is no number. */
function numbersOf(text: string, base: number): readonly number[] {
  return (text.match(/[\da-z]+/gi) ?? []).flatMap((word) => {
    const digits = word.replace(/^(?:0[xob]|[xu])/i, '');
    if (digits === '') return [];
    return digitsOfBase[base]?.test(digits) === true ? Number.parseInt(digits, base) : Number.NaN;
  });
}

const mimeWords = /=\?[\w-]+\?([bq])\?([^?]*)\?=\s*/gi;

function decodeMimeWord(_: string, encoding: string, content: string): string {
  return /b/i.test(encoding) ? Buffer.from(content, 'base64').toString('utf8') : content.replaceAll('_', ' ');
}

const colors = /\p{Cc}\[[\d;]*m/gu;

// Bytes that are no text have nothing to find, and would be decoded again and again.
const readable = /(?:[^\p{Cc}\p{Cs}\p{Co}\p{Cn}\uFFFD]|[\s\u0080-\u009F]){6,}/u;

function isReadable(text: string): boolean {
  return readable.test(text.replaceAll(colors, ''));
}

/** Returns the readable decodings of all runs of a text. */
function decodeRuns(text: string, runs: RegExp, decode: (run: string) => Buffer): readonly string[] {
  return (text.match(runs) ?? []).flatMap((run) => readingsOf(decode(run))).filter(isReadable);
}

/** Returns the text of bytes in UTF-8, and in UTF-16 if most characters are of an alphabet below U+0800. */
function readingsOf(bytes: Buffer): readonly string[] {
  const pairs = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  const wide = [pairs, Buffer.from(pairs).swap16()].map((one) => one.toString('utf16le'));
  return [bytes.toString('utf8'), ...wide.filter((text) => text.length <= 2 * (text.match(/[ -\u07FF]/g) ?? []).length)];
}

function fromBytes(bytes: Buffer): string {
  const decoded = bytes.toString('utf8');
  return decoded.includes('\uFFFD') ? bytes.toString('latin1') : decoded;
}

const backslashes = /\\(?:u\{0*([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|(.))/gs;
const controls: Readonly<Record<string, string>> = { a: '\u0007', b: '\b', e: '\u001B', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function decodeBackslash(_: string, ...groups: readonly (string | undefined)[]): string {
  const [braced, short, long, byte, other = ''] = groups;
  const hex = braced ?? short ?? long ?? byte;
  return hex === undefined ? (controls[other] ?? other) : characterOf(Number.parseInt(hex, 16));
}

/** Returns the character of a code; as `fromCharCode`, half of a surrogate pair stays half of one. */
function characterOf(code: number): string {
  return code > 0x10_ff_ff ? '\uFFFD' : code > 0xff_ff ? String.fromCodePoint(code) : String.fromCharCode(code);
}

// The names of HTML 4 for U+00A0 to U+00FF in their order, and the names of HTML 5 for punctuation.
const latinNames =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const punctuationNames =
  'Tab \t NewLine \n excl ! quot " num # dollar $ percnt % amp & apos \' lpar ( rpar ) ast * plus + comma , period . sol / colon : semi ; lt < equals = gt > quest ? commat @ lsqb [ lbrack [ bsol \\ rsqb ] rbrack ] Hat ^ lowbar _ UnderBar _ grave ` lcub { lbrace { verbar | vert | VerticalLine | rcub } rbrace }';

const entities: ReadonlyMap<string, string> = new Map([
  ...latinNames.split(' ').map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
  ...[...punctuationNames.matchAll(/(\w+) (.|\n) ?/gs)].map(([, name = '', character = '']) => [name, character] as const),
]);

const markup = new RegExp(
  `&(?:#x0*([\\da-f]{1,6})|#0*(\\d{1,7})|(${[...entities.keys()].toSorted((left, right) => right.length - left.length).join('|')}));?`,
  'gi',
);

function decodeMarkup(all: string, hex?: string, decimal?: string, name?: string): string {
  if (hex !== undefined) return characterOf(Number.parseInt(hex, 16));
  if (decimal !== undefined) return characterOf(Number(decimal));
  return entities.get(name ?? '') ?? entities.get((name ?? '').toLowerCase()) ?? all;
}
