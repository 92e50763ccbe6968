import type { Json } from '../model/json.ts';
import { comma, doubleQuote, listEnd, listStart, mapEnd, mapStart, singleQuote } from './strict-codes.ts';
import { type Cursor, maxDepth, skipSpaces } from './strict-cursor.ts';
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
  let code = skipSpaces(cursor);
  if (code === listEnd) {
    cursor.pos += 1;
    return list;
  }
  for (;;) {
    const value = readFlowValue(cursor, code, depth);
    if (value === undefined) return undefined;
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
  if (skipSpaces(cursor) === mapEnd) {
    cursor.pos += 1;
    return map;
  }
  for (;;) {
    const key = readKey(cursor);
    if (key === undefined || key in map) return undefined;
    const value = readFlowValue(cursor, skipSpaces(cursor), depth);
    if (value === undefined) return undefined;
    map[key] = value;
    const end = skipSpaces(cursor);
    if (end !== comma && end !== mapEnd) return undefined;
    cursor.pos += 1;
    if (end === mapEnd) return map;
    skipSpaces(cursor);
  }
}

function readFlowValue(cursor: Cursor, code: number, depth: number): Json | undefined {
  if (code === doubleQuote || code === singleQuote) return readQuoted(cursor);
  if (code === listStart || code === mapStart) return readFlow(cursor, depth + 1);
  return readFlowPlain(cursor);
}
