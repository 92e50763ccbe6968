import type { Json } from '../../model/json.ts';

/** Nesting that a manifest may have, whichever reader reads it. */
export const maxDepth = 64;

/** Where the entries of one map or list begin, by key or index; in maps also where their keys do. */
export type EntryOffsets = Map<string, { readonly key: number; readonly value: number }>;

/**
 * Where the strict reader stands: `indent` is the column of the content at `pos`, -1 at a document's end; `begin` is where
 * the value that was read last begins, -1 where none is written. `marks` takes down where entries begin, map by map and
 * list by list, for a reader that wants to know.
 */
export type YamlCursor = {
  readonly text: string;
  pos: number;
  indent: number;
  valueStart: number;
  readonly offsets: Map<Json, EntryOffsets> | undefined;
};

/** Where to take down the entries of a map or list; nowhere where nobody asks. */
export function recordEntries({ offsets: marks }: YamlCursor, container: Json): EntryOffsets | undefined {
  if (marks === undefined) return undefined;
  const entries: EntryOffsets = new Map();
  marks.set(container, entries);
  return entries;
}

/** Takes down a value that begins where the cursor says, else where its key does. */
export function recordEntry(marks: EntryOffsets | undefined, name: string, key: number, { valueStart: begin }: YamlCursor): void {
  marks?.set(name, { key, value: begin === -1 ? key : begin });
}

/** Moves over spaces, and returns the code behind them. */
export function skipSpaces(cursor: YamlCursor): number {
  const { text } = cursor;
  let { pos } = cursor;
  let code = text.charCodeAt(pos);
  while (code === space) code = text.charCodeAt((pos += 1));
  cursor.pos = pos;
  return code;
}

/** Tells whether nothing but a comment is left of the line, given the code that `skipSpaces` returned. */
export function isLineEnd(code: number): boolean {
  return code === newline || code === hash || Number.isNaN(code);
}

/** Tells whether a list's `- ` stands at the cursor. */
export function isListEntry(cursor: YamlCursor): boolean {
  return cursor.text.charCodeAt(cursor.pos) === dash && isBlank(cursor.text.charCodeAt(cursor.pos + 1));
}

/** Leaves the line, of which only spaces and a comment may be left, for the next content; false where it is not sure. */
export function advanceLine(cursor: YamlCursor): boolean {
  const code = skipSpaces(cursor);
  if (code === newline) return advanceToContent(cursor, cursor.pos + 1);
  if (!isLineEnd(code) || (code === hash && cursor.text.charCodeAt(cursor.pos - 1) !== space)) return false;
  const end = cursor.text.indexOf('\n', cursor.pos);
  return advanceToContent(cursor, end === -1 ? cursor.text.length : end + 1);
}

/** Moves to the first content from a line's start on; false where it is not sure of the indentation. */
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

/** Character codes, by name: comparing numbers is what makes the strict reader fast. */
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

/** Tells whether the character code is a space, a line's end or the text's end. */
export function isBlank(code: number): boolean {
  return code === space || code === newline || Number.isNaN(code);
}
