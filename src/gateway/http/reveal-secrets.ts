import { Buffer } from 'node:buffer';
import { decodeOnce } from './decode-once.ts';

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
