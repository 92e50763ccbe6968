import type { Json } from '../../model/json.ts';

/** The maximum nesting depth of a manifest, for both readers. */
export const maxDepth = 64;

/** The offsets at which the entries of one map or list begin, by key or index; `key` equals `value` in lists. */
export type EntryOffsets = Map<string, { readonly key: number; readonly value: number }>;

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
  readonly offsets: Map<Json, EntryOffsets> | undefined;
};

/** Creates the record of a map's or list's entries; returns undefined if the reader records no offsets. */
export function recordEntries({ offsets: marks }: YamlCursor, container: Json): EntryOffsets | undefined {
  if (marks === undefined) return undefined;
  const entries: EntryOffsets = new Map();
  marks.set(container, entries);
  return entries;
}

/** Records the start of an entry's value, or of its key if the value is absent. */
export function recordEntry(marks: EntryOffsets | undefined, name: string, key: number, { valueStart: begin }: YamlCursor): void {
  marks?.set(name, { key, value: begin === -1 ? key : begin });
}

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
export const newline = 0x0a;
export const space = 0x20;
export const doubleQuote = 0x22;
export const hash = 0x23;
export const singleQuote = 0x27;
export const comma = 0x2c;
export const dash = 0x2d;
export const dot = 0x2e;
export const colon = 0x3a;
export const listStart = 0x5b;
export const backslash = 0x5c;
export const listEnd = 0x5d;
export const underscore = 0x5f;
export const mapStart = 0x7b;
export const mapEnd = 0x7d;
export const tilde = 0x7e;

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

export function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Returns whether the character code is a space, a line break or the end of the text (NaN). */
export function isBlank(code: number): boolean {
  return code === space || code === newline || Number.isNaN(code);
}
