import type { Json } from '../../src/model/json.ts';

const widest = 150;

/** Prints JSON with each value on one line if it fits: a fifth of the lines of indented JSON. */
export function compactJson(value: Json, indent = ''): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= widest) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) return `[\n${value.map((entry: Json) => `${inner}${compactJson(entry, inner)}`).join(',\n')}\n${indent}]`;
  const entries = Object.entries(value).map(([key, entry]) => `${inner}${JSON.stringify(key)}: ${compactJson(entry, inner)}`);
  return `{\n${entries.join(',\n')}\n${indent}}`;
}
