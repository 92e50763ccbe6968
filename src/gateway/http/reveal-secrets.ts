import { Buffer } from 'node:buffer';

/** The length from which a part of a secret counts, in characters. */
const fragmentLength = 6;
/** A shorter secret is part of too many words. */
const shortestSecret = 3;
/** The nesting of encodings that is searched; a text with more of them counts as one that contains a secret. */
const maxTexts = 2000;

/**
 * Returns whether a text may contain a fragment of a secret, in plain text or in any nesting of HTML entities, JSON and other backslash
 * escapes, percent encoding with plus, base64, base64url, hexadecimal and decimal bytes. Neither case nor punctuation between matters.
 */
export function mayRevealSecret(text: string, secrets: readonly string[]): boolean {
  const fragments = new Set(secrets.flatMap((secret) => formsOf(secret)).flatMap((form) => fragmentsOf(form)));
  if (fragments.size === 0) return false;
  const seen = new Set([text]);
  for (const one of seen) {
    if (containsFragment(one, fragments) || seen.size > maxTexts) return true;
    for (const decode of decoders) for (const decoded of decode(one)) seen.add(decoded);
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

/** Returns the text in lower case, and its letters and digits alone. */
function comparableForms(text: string): readonly [plain: string, letters: string] {
  const plain = text.toLowerCase();
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

/** Each returns what a text may decode to; the text itself where it contains nothing to decode. */
const decoders: readonly ((text: string) => readonly string[])[] = [
  (text) => [text.replaceAll(markup, decodeMarkup)],
  (text) => [text.replaceAll(backslashes, decodeBackslash)],
  (text) => [text.replaceAll(/(?:[%=][\da-f]{2})+/gi, (run) => fromBytes(Buffer.from(run.replaceAll(/[%=]/g, ''), 'hex')))],
  (text) => [text.replaceAll(/(?:\\x[\da-f]{2})+/gi, (run) => fromBytes(Buffer.from(run.replaceAll(/\\x/gi, ''), 'hex')))],
  (text) => [text.replaceAll('+', ' ')],
  (text) => [text.replaceAll(/\s+/g, ''), text.replaceAll(/(?!\s)[\p{Cc}\p{Cf}]+/gu, '')],
  (text) => [0, 1, 2, 3].flatMap((offset) => decodeRuns(text, /[\w+/-]{8,}/g, (run) => Buffer.from(run.slice(offset), 'base64'))),
  (text) => [0, 1].flatMap((offset) => decodeRuns(text, hexRuns, (run) => Buffer.from(hexDigits(run).slice(offset), 'hex'))),
  (text) => decodeRuns(text, /(?:\b\d{1,3}\b[\s,;]*){6,}/g, (run) => Buffer.from((run.match(/\d+/g) ?? []).map(Number))),
];

const hexRuns = /(?:(?:0x|\\x)?[\da-f]{2}[\s:,;_-]*){6,}/gi;

function hexDigits(run: string): string {
  return run.replaceAll(/0x|\\x|[^\da-f]/gi, '');
}

// Bytes that are no text have nothing to find, and would be decoded again and again.
const readable = /(?:[^\p{Cc}\p{Cs}\p{Co}\p{Cn}\uFFFD]|\s){6,}/u;

/** Returns the readable decodings of all runs of a text. */
function decodeRuns(text: string, runs: RegExp, decode: (run: string) => Buffer): readonly string[] {
  return (text.match(runs) ?? []).map((run) => decode(run).toString('utf8')).filter((decoded) => readable.test(decoded));
}

function fromBytes(bytes: Buffer): string {
  const decoded = bytes.toString('utf8');
  return decoded.includes('\uFFFD') ? bytes.toString('latin1') : decoded;
}

const backslashes = /\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|([0-7]{3})|(.))/gs;
const controls: Readonly<Record<string, string>> = { a: '\u0007', b: '\b', e: '\u001B', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function decodeBackslash(_: string, ...groups: readonly (string | undefined)[]): string {
  const [braced, short, long, byte, octal, other = ''] = groups;
  const hex = braced ?? short ?? long ?? byte;
  if (hex !== undefined) return characterOf(Number.parseInt(hex, 16));
  return octal === undefined ? (controls[other] ?? other) : characterOf(Number.parseInt(octal, 8));
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
  `&(?:#x([\\da-f]{1,6})|#(\\d{1,7})|(${[...entities.keys()].toSorted((left, right) => right.length - left.length).join('|')}));?`,
  'gi',
);

function decodeMarkup(all: string, hex?: string, decimal?: string, name?: string): string {
  if (hex !== undefined) return characterOf(Number.parseInt(hex, 16));
  if (decimal !== undefined) return characterOf(Number(decimal));
  return entities.get(name ?? '') ?? entities.get((name ?? '').toLowerCase()) ?? all;
}
