import type { Json } from '../../model/json.ts';
import { type EntryOffsets, type ParsedDocument, recordEntries, type TextOffsets } from './offsets.ts';
import {
  doubleQuote,
  listStart,
  mapStart,
  singleQuote,
  type YamlCursor,
  isListEntry,
  isLineEnd,
  maxDepth,
  advanceLine,
  skipSpaces,
  advanceToContent,
  comma,
  listEnd,
  mapEnd,
  findKeyEnd,
  readKey,
  readPlain,
  readQuoted,
  readFlowPlain,
} from './strict-scalar.ts';

/**
 * Reads the subset of YAML in which nearly all manifests are written: many times faster than `yaml`, with the same
 * result, and records the offsets of all values on request. Returns undefined for any text that it is not sure of; `yaml` reads that text.
 */
export function readStrictly(text: string, offsets?: TextOffsets): readonly ParsedDocument[] | undefined {
  if (text.includes('\r')) return undefined;
  const cursor: YamlCursor = { text, pos: 0, indent: 0, valueStart: -1, offsets };
  if (!advanceToContent(cursor, 0)) return undefined;
  const documents: ParsedDocument[] = [];
  for (let index = 0; cursor.pos < text.length; index += 1) {
    if (cursor.indent === -1) {
      cursor.pos += 3;
      if (!advanceLine(cursor)) return undefined;
      if (cursor.indent === -1) continue;
    }
    const start = cursor.pos;
    const code = text.charCodeAt(start);
    const value = code === mapStart ? readInline(cursor, code, 0) : readBlock(cursor, 1);
    if (value === undefined || cursor.indent !== -1) return undefined;
    documents.push({ index, value, start });
  }
  return documents;
}

/** Reads the map or list whose first line contains the cursor. */
function readBlock(cursor: YamlCursor, depth: number): Json | undefined {
  if (depth > maxDepth) return undefined;
  const start = cursor.pos;
  const value = isListEntry(cursor) ? readList(cursor, depth) : readMap(cursor, depth);
  cursor.valueStart = start;
  return value;
}

function readMap(cursor: YamlCursor, depth: number): Json | undefined {
  const column = cursor.indent;
  const map: Record<string, Json> = {};
  const entries = recordEntries(cursor.offsets, map);
  do {
    const start = cursor.pos;
    const key = readKey(cursor);
    if (key === undefined || key in map) return undefined;
    const value = readValue(cursor, column, depth);
    if (value === undefined) return undefined;
    map[key] = value;
    entries?.set(key, offsetsOf(cursor, start, value));
  } while (cursor.indent === column);
  return cursor.indent > column ? undefined : map;
}

/** Reads the value after a key's colon, on the same line or below it. */
function readValue(cursor: YamlCursor, column: number, depth: number): Json | undefined {
  const code = skipSpaces(cursor);
  if (!isLineEnd(code)) return readInline(cursor, code, depth);
  if (!advanceLine(cursor)) return undefined;
  return cursor.indent > column || (cursor.indent === column && isListEntry(cursor)) ? readBlock(cursor, depth + 1) : readNothing(cursor);
}

function readNothing(cursor: YamlCursor): null {
  cursor.valueStart = -1;
  return null;
}

function readList(cursor: YamlCursor, depth: number): Json | undefined {
  const column = cursor.indent;
  const list: Json[] = [];
  const entries = recordEntries(cursor.offsets, list);
  while (cursor.indent === column && isListEntry(cursor)) {
    const value = readEntry(cursor, column, depth);
    // Only `yaml` knows the position of an empty entry.
    if (value === undefined || (entries !== undefined && cursor.valueStart === -1)) return undefined;
    entries?.set(String(list.length), offsetsOf(cursor, cursor.valueStart, value));
    list.push(value);
  }
  return cursor.indent > column ? undefined : list;
}

/** Reads the value after a `-`: a value on the line, or a map or list that begins there. */
function readEntry(cursor: YamlCursor, column: number, depth: number): Json | undefined {
  const dash = cursor.pos;
  cursor.pos += 1;
  const code = skipSpaces(cursor);
  if (isLineEnd(code)) {
    if (!advanceLine(cursor)) return undefined;
    return cursor.indent > column ? readBlock(cursor, depth + 1) : readNothing(cursor);
  }
  if (!isListEntry(cursor) && findKeyEnd(cursor.text, cursor.pos) === -1) return readInline(cursor, code, depth);
  cursor.indent = column + cursor.pos - dash;
  return readBlock(cursor, depth + 1);
}

/** Returns the offsets of the last value, which is where its key is if it is absent. */
function offsetsOf({ valueStart }: YamlCursor, key: number, node: Json): EntryOffsets {
  return { key, value: valueStart === -1 ? key : valueStart, node };
}

/** Reads a value that ends on its line, and moves to the next line. */
function readInline(cursor: YamlCursor, code: number, depth: number): Json | undefined {
  const start = cursor.pos;
  let value: Json | undefined;
  if (code === doubleQuote || code === singleQuote) value = readQuoted(cursor);
  else if (code === listStart || code === mapStart) value = readFlow(cursor, depth + 1);
  else value = readPlain(cursor);
  cursor.valueStart = start;
  return value !== undefined && advanceLine(cursor) ? value : undefined;
}

/** Reads a `[…]` or `{…}` on one line; returns undefined if unsure. */
function readFlow(cursor: YamlCursor, depth: number): Json | undefined {
  if (depth > maxDepth) return undefined;
  const isList = cursor.text.charCodeAt(cursor.pos) === listStart;
  cursor.pos += 1;
  return isList ? readFlowList(cursor, depth) : readFlowMap(cursor, depth);
}

function readFlowList(cursor: YamlCursor, depth: number): Json | undefined {
  const list: Json[] = [];
  const entries = recordEntries(cursor.offsets, list);
  let code = skipSpaces(cursor);
  if (code === listEnd) {
    cursor.pos += 1;
    return list;
  }
  for (;;) {
    const value = readFlowValue(cursor, code, depth);
    if (value === undefined) return undefined;
    entries?.set(String(list.length), offsetsOf(cursor, cursor.valueStart, value));
    list.push(value);
    const end = skipSpaces(cursor);
    if (end !== comma && end !== listEnd) return undefined;
    cursor.pos += 1;
    if (end === listEnd) return list;
    code = skipSpaces(cursor);
  }
}

function readFlowMap(cursor: YamlCursor, depth: number): Json | undefined {
  const map: Record<string, Json> = {};
  const entries = recordEntries(cursor.offsets, map);
  if (skipSpaces(cursor) === mapEnd) {
    cursor.pos += 1;
    return map;
  }
  for (;;) {
    const start = cursor.pos;
    const key = readKey(cursor, true);
    if (key === undefined || key in map) return undefined;
    const value = readFlowValue(cursor, skipSpaces(cursor), depth);
    if (value === undefined) return undefined;
    map[key] = value;
    entries?.set(key, offsetsOf(cursor, start, value));
    const end = skipSpaces(cursor);
    if (end !== comma && end !== mapEnd) return undefined;
    cursor.pos += 1;
    if (end === mapEnd) return map;
    skipSpaces(cursor);
  }
}

function readFlowValue(cursor: YamlCursor, code: number, depth: number): Json | undefined {
  const start = cursor.pos;
  let value: Json | undefined;
  if (code === doubleQuote || code === singleQuote) value = readQuoted(cursor);
  else if (code === listStart || code === mapStart) value = readFlow(cursor, depth + 1);
  else value = readFlowPlain(cursor);
  cursor.valueStart = start;
  return value;
}
