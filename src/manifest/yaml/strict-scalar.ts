import type { Json } from '../../model/json.ts';
import type { TextOffsets } from './offsets.ts';

/** The maximum nesting depth of a manifest, for both readers. */
export const maxDepth = 64;

/**
 * The position of the strict reader. `indent` is the column of the content at `pos`, or -1 at the end of a document.
 * `valueStart` is the offset of the last value, or -1 if that value is absent. `offsets` records where the entries of each
 * map and list begin, if the caller needs them.
 */
export type YamlCursor = {
  readonly text: string;
  pos: number;
  indent: number;
  valueStart: number;
  readonly offsets: TextOffsets | undefined;
};

/** Skips spaces and returns the character code after them. */
export function skipSpaces(cursor: YamlCursor): number {
  const { text } = cursor;
  let { pos } = cursor;
  let code = text.charCodeAt(pos);
  while (code === space) code = text.charCodeAt((pos += 1));
  cursor.pos = pos;
  return code;
}

/** Returns whether only a comment may follow on the line, given the code that `skipSpaces` returned. */
export function isLineEnd(code: number): boolean {
  return code === newline || code === hash || Number.isNaN(code);
}

/** Returns whether a list entry (`- `) begins at the cursor. */
export function isListEntry(cursor: YamlCursor): boolean {
  return cursor.text.charCodeAt(cursor.pos) === dash && isBlank(cursor.text.charCodeAt(cursor.pos + 1));
}

/** Moves from the end of a line, which may contain spaces and a comment, to the next content; returns false if unsure. */
export function advanceLine(cursor: YamlCursor): boolean {
  const code = skipSpaces(cursor);
  if (code === newline) return advanceToContent(cursor, cursor.pos + 1);
  if (!isLineEnd(code) || (code === hash && cursor.text.charCodeAt(cursor.pos - 1) !== space)) return false;
  const end = cursor.text.indexOf('\n', cursor.pos);
  return advanceToContent(cursor, end === -1 ? cursor.text.length : end + 1);
}

/** Moves from the start of a line to the first content; returns false if unsure of the indentation. */
export function advanceToContent(cursor: YamlCursor, lineStart: number): boolean {
  const { text } = cursor;
  let start = lineStart;
  for (;;) {
    let pos = start;
    let code = text.charCodeAt(pos);
    while (code === space) code = text.charCodeAt((pos += 1));
    if (code === hash) {
      const end = text.indexOf('\n', pos);
      pos = end === -1 ? text.length : end;
      code = text.charCodeAt(pos);
    }
    if (code === newline) {
      start = pos + 1;
      continue;
    }
    cursor.pos = pos;
    const atEnd = Number.isNaN(code) || (pos === start && code === dash && isMarker(text, pos));
    cursor.indent = atEnd ? -1 : pos - start;
    return atEnd || code > space;
  }
}

function isMarker(text: string, pos: number): boolean {
  return text.charCodeAt(pos + 1) === dash && text.charCodeAt(pos + 2) === dash && isBlank(text.charCodeAt(pos + 3));
}

/** Character codes by name. Comparing numbers makes the strict reader fast. */
const newline = 0x0a;
const space = 0x20;
export const doubleQuote = 0x22;
const hash = 0x23;
export const singleQuote = 0x27;
export const comma = 0x2c;
export const dash = 0x2d;
const dot = 0x2e;
export const colon = 0x3a;
export const listStart = 0x5b;
export const backslash = 0x5c;
export const listEnd = 0x5d;
const underscore = 0x5f;
export const mapStart = 0x7b;
export const mapEnd = 0x7d;
const tilde = 0x7e;

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Returns whether the character code is a space, a line break or the end of the text (NaN). */
function isBlank(code: number): boolean {
  return code === space || code === newline || Number.isNaN(code);
}

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
function resolveWord(word: string): Json {
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

/** Reads a key and the colon after it, which a blank must follow, except a quoted key in a flow map; returns undefined if unsure. */
export function readKey(cursor: YamlCursor, isInFlow = false): string | undefined {
  const { text, pos } = cursor;
  const first = text.charCodeAt(pos);
  if (first === doubleQuote || first === singleQuote) {
    const key = readQuoted(cursor);
    if (key === undefined || text.charCodeAt(cursor.pos) !== colon) return undefined;
    cursor.pos += 1;
    if (!isInFlow && !isBlank(text.charCodeAt(cursor.pos))) return undefined;
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
  const key = text.slice(start, end);
  if (kept === key) return kept;
  if (!isUsable(key) || resolveWord(key) !== key) return undefined;
  if (length <= longestKnown) known[slot] = key;
  return key;
}

/** Returns whether the key is not a property of every object, such as `__proto__`, and not longer than YAML allows. */
function isUsable(key: string): boolean {
  return key.length <= longest && !(key in {});
}
