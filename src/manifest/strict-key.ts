import { colon, doubleQuote, isBlank, isLetter, singleQuote, underscore } from './strict-codes.ts';
import type { Cursor } from './strict-cursor.ts';
import { readQuoted, resolveWord } from './strict-scalar.ts';

/** Keys seen before, by hash: the same key of ten thousand manifests is one string, checked once. */
const known: string[] = Array.from({ length: 1024 }, () => '');
const longestKnown = 40;
const longest = 1000;

/** Characters of a plain key besides `:`: letters, digits and `$ + - . / @ _`. */
const plain = Uint8Array.from({ length: 128 }, (_, code) => (/[\w$+\-./@]/.test(String.fromCharCode(code)) ? 1 : 0));

/** Where the plain key at the position ends, that is its `: `; -1 where none stands there or it is not sure. */
export function keyEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (!isLetter(first) && first !== underscore) return -1;
  for (let pos = start + 1; ; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code === colon) {
      if (isBlank(text.charCodeAt(pos + 1))) return pos;
    } else if (plain[code] !== 1) return -1;
  }
}

/** Reads a key and its colon, after which a blank stands; undefined where it is not sure of either. */
export function readKey(cursor: Cursor): string | undefined {
  const { text, pos } = cursor;
  const first = text.charCodeAt(pos);
  if (first === doubleQuote || first === singleQuote) {
    const key = readQuoted(cursor);
    if (key === undefined || text.charCodeAt(cursor.pos) !== colon || !isBlank(text.charCodeAt(cursor.pos + 1))) return undefined;
    cursor.pos += 1;
    return isUsable(key) ? key : undefined;
  }
  const end = keyEnd(text, pos);
  if (end === -1) return undefined;
  cursor.pos = end + 1;
  return intern(text, pos, end);
}

function intern(text: string, start: number, end: number): string | undefined {
  const length = end - start;
  const slot = (text.charCodeAt(start) * 31 + text.charCodeAt(end - 1) * 7 + text.charCodeAt(start + (length >> 1)) * 131 + length) & 1023;
  const kept = known[slot];
  if (kept !== undefined && kept.length === length && text.startsWith(kept, start)) return kept;
  const key = text.slice(start, end);
  if (!isUsable(key) || resolveWord(key) !== key) return undefined;
  if (length <= longestKnown) known[slot] = key;
  return key;
}

/** Not a name of every object, `__proto__` above all, and not longer than YAML allows. */
function isUsable(key: string): boolean {
  return key.length <= longest && !(key in {});
}
