import { Buffer } from 'node:buffer';

/** The length from which a part of a secret counts, in characters. */
const fragmentLength = 6;
/** As many bytes fill at least seven characters of base64, wherever they begin. */
const base64Length = 7;
/** A shorter secret is part of too many words. */
const shortestSecret = 3;

/** Returns whether a text may reveal a secret: it contains a part of one, or parts that may be an encoding of anything. */
export function mayRevealSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.length > 0 && (isOpaque(text) || containsSecret(text, secrets));
}

/**
 * Returns whether a text contains a fragment of a secret, in plain text or base64, with or without escapes of URLs and JSON.
 * Neither case, nor accents, nor the width of letters, nor punctuation between them matters.
 */
export function containsSecret(text: string, secrets: readonly string[]): boolean {
  const fragments = new Set(secrets.flatMap((secret) => [Buffer.from(secret), Buffer.from(secret, 'base64')]).flatMap(fragmentsOf));
  if (fragments.size === 0) return false;
  let [one, next] = ['', text];
  while (one !== next) {
    one = next;
    if (containsFragment(one, fragments)) return true;
    next = unescape(one);
  }
  return false;
}

/** Returns whether a text has parts that may be an encoding of anything: bytes, long words with digits, and character references. */
export function isOpaque(text: string): boolean {
  const rest = text.replaceAll(uuids, '');
  return opaque.some((pattern) => pattern.test(rest)) || (rest.match(longWords) ?? []).some((word) => /\d/.test(word));
}

const uuids = /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi;
const longWords = /[a-z\d]{20,}/gi;
const opaque = [/(?:\b(?:0x|x)?[\da-f]{1,3}\b[^\da-z]*){8,}/i, /&#\w+;/];

/** Returns the parts of a secret by which it is recognized. */
function fragmentsOf(secret: Buffer): readonly string[] {
  if (secret.length < shortestSecret) return [];
  const shifted = [0, 1, 2].map((shift) => Buffer.concat([Buffer.alloc(shift), secret]).toString('base64url'));
  return [...partsOf(secret.toString('utf8'), fragmentLength), ...shifted.flatMap((text) => partsOf(text, base64Length))];
}

function partsOf(text: string, length: number): readonly string[] {
  const forms = comparableForms(text);
  const [plain] = forms;
  if (plain.length < length) return plain.length < shortestSecret ? [] : [plain];
  return forms.flatMap((form) => [...windowsOf(form, length)]);
}

/** Returns the text in lower case and without accents, without spaces too, and its letters and digits alone; both alphabets of base64 are one. */
function comparableForms(text: string): readonly [plain: string, close: string, letters: string] {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('+', '-')
    .replaceAll('/', '_');
  return [plain, plain.replaceAll(/\s+/g, ''), plain.replaceAll(/[^\p{L}\p{N}]+/gu, '')];
}

function* windowsOf(text: string, length: number): Generator<string> {
  for (let start = 0; start + length <= text.length; start += 1) yield text.slice(start, start + length);
}

function containsFragment(text: string, fragments: ReadonlySet<string>): boolean {
  for (const form of comparableForms(text)) {
    for (let length = shortestSecret; length <= base64Length; length += 1)
      for (const window of windowsOf(form, length)) if (fragments.has(window)) return true;
  }
  return false;
}

const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Decodes the escapes of JSON and URLs once. */
function unescape(text: string): string {
  return text.replaceAll(/\\u([\da-f]{4})|\\(.)|(?:%[\da-f]{2})+/gis, (all: string, code?: string, other?: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return other === undefined ? Buffer.from(all.replaceAll('%', ''), 'hex').toString('utf8') : (controls[other] ?? other);
  });
}
