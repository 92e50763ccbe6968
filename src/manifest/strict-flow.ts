import type { Json } from '../model/json.ts';
import { comma, doubleQuote, listEnd, listStart, mapEnd, mapStart, singleQuote } from './strict-codes.ts';
import { type Cursor, mark, marksIn, maxDepth, skipSpaces } from './strict-cursor.ts';
import { readKey } from './strict-key.ts';
import { readFlowPlain, readQuoted } from './strict-scalar.ts';

/** Reads a `[…]` or `{…}` of one line; undefined where it is not sure. */
export function readFlow(cursor: Cursor, depth: number): Json | undefined {
  if (depth > maxDepth) return undefined;
  const isList = cursor.text.charCodeAt(cursor.pos) === listStart;
  cursor.pos += 1;
  return isList ? readFlowList(cursor, depth) : readFlowMap(cursor, depth);
}

function readFlowList(cursor: Cursor, depth: number): Json | undefined {
  const list: Json[] = [];
  const marks = marksIn(cursor, list);
  let code = skipSpaces(cursor);
  if (code === listEnd) {
    cursor.pos += 1;
    return list;
  }
  for (;;) {
    const value = readFlowValue(cursor, code, depth);
    if (value === undefined) return undefined;
    mark(marks, String(list.length), cursor.begin, cursor);
    list.push(value);
    const end = skipSpaces(cursor);
    if (end !== comma && end !== listEnd) return undefined;
    cursor.pos += 1;
    if (end === listEnd) return list;
    code = skipSpaces(cursor);
  }
}

function readFlowMap(cursor: Cursor, depth: number): Json | undefined {
  const map: Record<string, Json> = {};
  const marks = marksIn(cursor, map);
  if (skipSpaces(cursor) === mapEnd) {
    cursor.pos += 1;
    return map;
  }
  for (;;) {
    const start = cursor.pos;
    const key = readKey(cursor);
    if (key === undefined || key in map) return undefined;
    const value = readFlowValue(cursor, skipSpaces(cursor), depth);
    if (value === undefined) return undefined;
    map[key] = value;
    mark(marks, key, start, cursor);
    const end = skipSpaces(cursor);
    if (end !== comma && end !== mapEnd) return undefined;
    cursor.pos += 1;
    if (end === mapEnd) return map;
    skipSpaces(cursor);
  }
}

function readFlowValue(cursor: Cursor, code: number, depth: number): Json | undefined {
  const start = cursor.pos;
  let value: Json | undefined;
  if (code === doubleQuote || code === singleQuote) value = readQuoted(cursor);
  else if (code === listStart || code === mapStart) value = readFlow(cursor, depth + 1);
  else value = readFlowPlain(cursor);
  cursor.begin = start;
  return value;
}
