import { Buffer } from 'node:buffer';

const longest = 300;
const shortestSecret = 3;

/** Makes text from the gateway safe to print: replaces known secrets, joins lines, escapes control characters, and cuts it to 300 characters. */
export function makePrintable(text: string, secrets: readonly string[]): string {
  const line = withoutSecrets(text, secrets).replaceAll(/\s+/g, ' ').trim();
  const escaped = line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return escaped.length > longest ? `${escaped.slice(0, longest)}…` : escaped;
}

/** Replaces every known secret, in each of its spellings, by `***`. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const spellings = [...new Set(secrets.flatMap((secret) => spellingsOf(secret)))];
  const known = spellings.filter((spelling) => spelling.length >= shortestSecret);
  return known.toSorted((left, right) => right.length - left.length).reduce((safe, spelling) => safe.replaceAll(spelling, '***'), text);
}

function spellingsOf(secret: string): readonly string[] {
  const decoded = Buffer.from(secret, 'base64').toString('utf8');
  const plain = decoded.includes('\uFFFD') ? [secret] : [secret, decoded];
  return plain.flatMap((value) => [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(Buffer.from(value).toString('utf8')),
    Buffer.from(value).toString('base64').replace(/=+$/, ''),
    ...value.split('\n').filter((line) => line.length >= 8),
  ]);
}
