import type { Json } from '../../model/json.ts';
import {
  backslash,
  colon,
  comma,
  dash,
  dot,
  doubleQuote,
  hash,
  isBlank,
  isDigit,
  isLetter,
  listEnd,
  listStart,
  mapEnd,
  mapStart,
  newline,
  singleQuote,
  space,
  tilde,
  underscore,
  type YamlCursor,
} from './strict-cursor.ts';

/** Reads a plain scalar up to the end of the line; returns undefined if unsure. */
export function readPlain(cursor: YamlCursor): Json | undefined {
  const { text, pos: start } = cursor;
  let last = start;
  for (let pos = start; pos < text.length; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code <= colon) {
      if (code === newline) break;
      if (code === space) {
        if (text.charCodeAt(pos + 1) === hash) break;
        continue;
      }
      if (code < space) return undefined;
      if (code === colon && isBlank(text.charCodeAt(pos + 1))) return undefined;
    }
    last = pos + 1;
  }
  cursor.pos = last;
  return resolvePlain(text, start, last);
}

/** Reads a plain scalar in a flow collection, up to `,`, `]` or `}`; returns undefined if unsure. */
export function readFlowPlain(cursor: YamlCursor): Json | undefined {
  const { text, pos: start } = cursor;
  let last = start;
  for (let pos = start; ; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code === comma || code === listEnd || code === mapEnd) break;
    if (code === space) {
      if (text.charCodeAt(pos + 1) === hash) return undefined;
      continue;
    }
    if (!(code > space) || code === listStart || code === mapStart) return undefined;
    if (code === colon && !isWordCode(text.charCodeAt(pos + 1))) return undefined;
    last = pos + 1;
  }
  cursor.pos = last;
  return resolvePlain(text, start, last);
}

/** Reads a quoted scalar on one line; returns undefined if unsure. */
export function readQuoted(cursor: YamlCursor): string | undefined {
  const { text } = cursor;
  const start = cursor.pos + 1;
  const mark = text.charCodeAt(cursor.pos);
  let escaped = false;
  for (let pos = start; pos < text.length; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code < space) return undefined;
    if (code === backslash && mark === doubleQuote) {
      escaped = true;
      pos += 1;
    } else if (code === mark) {
      if (mark === singleQuote && text.charCodeAt(pos + 1) === singleQuote) {
        escaped = true;
        pos += 1;
        continue;
      }
      cursor.pos = pos + 1;
      const content = text.slice(start, pos);
      if (!escaped) return content;
      return mark === singleQuote ? content.replaceAll("''", "'") : unescape(content);
    }
  }
  return undefined;
}

/** Resolves the common escapes of double quotes; returns undefined for any other escape. */
function unescape(content: string): string | undefined {
  let result = '';
  let start = 0;
  for (let pos = content.indexOf('\\'); pos !== -1; pos = content.indexOf('\\', start)) {
    const code = content.charCodeAt(pos + 1);
    result += content.slice(start, pos);
    if (code === 0x6e) result += '\n';
    else if (code === 0x74) result += '\t';
    else if (code === backslash || code === doubleQuote || code === 0x2f) result += content.charAt(pos + 1);
    else return undefined;
    start = pos + 2;
  }
  return result + content.slice(start);
}

/** Returns the value of a plain scalar in YAML's core schema; undefined if unsure. */
function resolvePlain(text: string, start: number, end: number): Json | undefined {
  const first = text.charCodeAt(start);
  if (isDigit(first)) return resolveNumber(text, start, end);
  if (first === dash) return isDigit(text.charCodeAt(start + 1)) ? resolveNumber(text, start, end) : undefined;
  if (isLetter(first) || first === underscore || isPlainSign(first) || first > 0xa0) {
    return end - start < 4 || end - start > 5 ? text.slice(start, end) : resolveWord(text.slice(start, end));
  }
  return first === tilde && end === start + 1 ? null : undefined;
}

/** Returns whether the character is `$`, `(` or `/`: a plain scalar that begins with one is a string. */
function isPlainSign(code: number): boolean {
  return code === 0x24 || code === 0x28 || code === 0x2f;
}

/** Resolves a word that may be a boolean or null of the core schema; any other word is a string. */
export function resolveWord(word: string): Json {
  switch (word) {
    case 'true':
    case 'True':
    case 'TRUE':
      return true;
    case 'false':
    case 'False':
    case 'FALSE':
      return false;
    case 'null':
    case 'Null':
    case 'NULL':
      return null;
    default:
      return word;
  }
}

/** Resolves a scalar that begins like a number: a number if it prints as written, a string if no number looks like it (`10.0.0.5`, `30s`), else undefined. */
function resolveNumber(text: string, start: number, end: number): Json | undefined {
  let dots = 0;
  let pos = text.charCodeAt(start) === dash ? start + 1 : start;
  for (; pos < end; pos += 1) {
    const code = text.charCodeAt(pos);
    if (isDigit(code)) continue;
    if (code !== dot) return isWithinNumber(code) ? undefined : text.slice(start, end);
    dots += 1;
  }
  const word = text.slice(start, end);
  if (dots > 1) return word;
  const value = Number(word);
  return String(value) === word && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** Returns whether the character occurs in numbers such as `0x1F`, `0o17` and `1e-3`. */
function isWithinNumber(code: number): boolean {
  const letter = code | 0x20;
  return code === 0x2b || code === dash || letter === 0x78 || letter === 0x6f || (letter >= 0x61 && letter <= 0x66);
}

function isWordCode(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === 0x2f || code === underscore;
}

/** Known keys by hash: a key that occurs in ten thousand manifests is one string and is checked once. */
const known: string[] = Array.from({ length: 1024 }, () => '');
const longestKnown = 40;
const longest = 1000;

/** The characters of a plain key except `:`: letters, digits and `$ + - . / @ _`. */
const plain = Uint8Array.from({ length: 128 }, (_, code) => (/[\w$+\-./@]/.test(String.fromCharCode(code)) ? 1 : 0));

/** Returns the offset of the `: ` that ends a plain key; -1 if there is no key or the reader is unsure. */
export function findKeyEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (!isLetter(first) && first !== underscore) return -1;
  for (let pos = start + 1; ; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code === colon) {
      if (isBlank(text.charCodeAt(pos + 1))) return pos;
    } else if (plain[code] !== 1) return -1;
  }
}

/** Reads a key and the colon after it, which a blank must follow; returns undefined if unsure. */
export function readKey(cursor: YamlCursor): string | undefined {
  const { text, pos } = cursor;
  const first = text.charCodeAt(pos);
  if (first === doubleQuote || first === singleQuote) {
    const key = readQuoted(cursor);
    if (key === undefined || text.charCodeAt(cursor.pos) !== colon || !isBlank(text.charCodeAt(cursor.pos + 1))) return undefined;
    cursor.pos += 1;
    return isUsable(key) ? key : undefined;
  }
  const end = findKeyEnd(text, pos);
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

/** Returns whether the key is not a property of every object, such as `__proto__`, and not longer than YAML allows. */
function isUsable(key: string): boolean {
  return key.length <= longest && !(key in {});
}
