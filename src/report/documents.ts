import { isObject, type Json } from '../model/json.ts';
import { escapeJson, escapeYaml } from './escape.ts';

/** A value as indented JSON that a terminal shows as it is. */
export function jsonText(value: Json): string {
  return `${escapeJson(JSON.stringify(value, null, 2))}\n`;
}

/**
 * A value as YAML that a terminal shows as it is: blocks, with plain words where nothing could be mistaken. With `columns`,
 * lists and small maps of words stand on one line where they fit.
 */
export function yamlText(value: Json, columns = 0): string {
  return `${escapeYaml(blockOf(value, columns).join('\n'))}\n`;
}

/** The lines of a value that stands on lines of its own, with so many columns left. */
function blockOf(value: Json, columns: number): readonly string[] {
  if (isScalar(value)) return [scalarOf(value)];
  if (Array.isArray(value)) return value.flatMap((one: Json) => hung('- ', one, columns));
  return isObject(value) ? Object.entries(value).flatMap(([key, one]) => entryLines(keyOf(key), one, columns)) : [];
}

function entryLines(key: string, value: Json, columns: number): readonly string[] {
  if (key.length > longestKey) return [`? ${key}`, ...hung(': ', value, columns)];
  const flat = flatOf(value, columns - key.length - 2);
  return flat === undefined ? [`${key}:`, ...blockOf(value, columns - 2).map((line) => `  ${line}`)] : [`${key}: ${flat}`];
}

/** The first line behind the mark, the others below it. */
function hung(mark: string, value: Json, columns: number): readonly string[] {
  const flat = flatOf(value, columns - mark.length);
  const lines = flat === undefined ? blockOf(value, columns - mark.length) : [flat];
  return lines.map((line, index) => `${index === 0 ? mark : ' '.repeat(mark.length)}${line}`);
}

/** A value on one line; undefined where it needs several. */
function flatOf(value: Json, columns: number): string | undefined {
  if (isScalar(value)) return scalarOf(value);
  const flat = columns > 0 ? flowOf(value) : undefined;
  return flat !== undefined && flat.length <= columns ? flat : undefined;
}

/** A list or a map of at most three keys between brackets; undefined where something else than words and numbers is inside. */
function flowOf(value: Json): string | undefined {
  if (isScalar(value)) return scalarOf(value);
  if (Array.isArray(value)) return value.every((one: Json) => isScalar(one)) ? `[${value.map(scalarOf).join(', ')}]` : undefined;
  const entries = isObject(value) ? Object.entries(value) : [];
  const parts = entries.map(([, one]) => (isObject(one) && entries.length === 1 ? flowOf(one) : isScalar(one) ? scalarOf(one) : undefined));
  if (entries.length > 3 || parts.includes(undefined)) return undefined;
  return `{ ${entries.map(([key], index) => `${scalarOf(key)}: ${parts[index] ?? ''}`).join(', ')} }`;
}

/** What fits on one line: also lists and maps without anything in them. */
function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

// A key that shares a line with its value may have 1024 characters, escaped.
const longestKey = 100;
// Words that YAML 1.1 or 1.2 reads as something else than text.
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
const plain = /^[A-Za-z][\w./@-]*(?: [\w./@-]+)*$/;
// Names with a colon, such as those of secrets; where a value may follow, such a colon could not be told from another.
const plainKey = /^[A-Za-z]\w*:[A-Za-z_][\w.-]*$/;

// Between single quotes patterns read as they were written.
const readable = /^(?=.*["\\])[ -~]*$/;

function keyOf(key: string): string {
  return plainKey.test(key) ? key : scalarOf(key);
}

function scalarOf(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (plain.test(value) && !reserved.test(value)) return value;
  return readable.test(value) ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}
