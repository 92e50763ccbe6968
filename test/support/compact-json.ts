import { formatPosition } from '../../src/model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';

const widest = 160;

/** Prints JSON with each value on one line if it fits, and otherwise one line for each object below it. */
export function compactJson(value: Json, indent = ''): string {
  const line = JSON.stringify(value);
  if (indent.length + line.length <= widest) return line;
  const inner = `${indent} `;
  if (Array.isArray(value)) return `[\n${value.map((entry: Json) => `${inner}${compactJson(entry, inner)}`).join(',\n')}]`;
  return isObject(value) ? `{${wrapEntries(value, inner)}}` : line;
}

/** Fills lines with the entries that have one line; each of the others ends the line that it begins. */
function wrapEntries(value: JsonObject, indent: string): string {
  const lines: string[] = [];
  let open = false;
  for (const [key, entry] of Object.entries(value)) {
    const text = `${JSON.stringify(key)}:${compactJson(entry, indent)}`;
    const last = lines.at(-1);
    const isShort = !text.includes('\n');
    if (open && last !== undefined && isShort && indent.length + last.length + text.length < widest)
      lines[lines.length - 1] = `${last},${text}`;
    else lines.push(text);
    open = isShort;
  }
  return lines.join(`,\n${indent}`);
}

/**
 * Returns a plan of a document with nothing in it that says nothing: no empty lists, no counts of zero and no absent sides. A position is
 * one word. Values of fields stay as they are.
 */
export function condensePlan(plan: JsonObject): JsonObject {
  const entries = Object.entries(plan).flatMap(([key, entry]): readonly (readonly [string, Json])[] => {
    if (key === 'value') return [[key, entry]];
    if (isAbsent(entry)) return [];
    if (key === 'counts' && isObject(entry)) return [[key, Object.fromEntries(Object.entries(entry).filter(([, count]) => count !== 0))]];
    const condensed = condense(entry);
    return typeof condensed === 'object' && condensed !== null && Object.keys(condensed).length === 0 ? [] : [[key, condensed]];
  });
  return Object.fromEntries(entries);
}

function condense(value: Json): Json {
  if (Array.isArray(value)) return value.map(condense);
  if (!isObject(value)) return value;
  const { file, line, column, ...others } = value;
  const isPosition = typeof file === 'string' && typeof line === 'number' && typeof column === 'number' && Object.keys(others).length === 0;
  return isPosition ? formatPosition({ file, line, column }) : condensePlan(value);
}

function isAbsent(value: Json): boolean {
  return isObject(value) && value['absent'] === true;
}
