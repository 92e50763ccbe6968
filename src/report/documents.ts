import { isObject, type Json } from '../model/json.ts';
import { escapeJson, escapeYaml } from './escape.ts';

/** A value as indented JSON that a terminal shows as it is. */
export function jsonText(value: Json): string {
  return `${escapeJson(JSON.stringify(value, null, 2))}\n`;
}

/** A value as YAML that a terminal shows as it is: blocks, with plain words where nothing could be mistaken. */
export function yamlText(value: Json): string {
  return `${escapeYaml(blockOf(value).join('\n'))}\n`;
}

/** The lines of a value that stands on lines of its own. */
function blockOf(value: Json): readonly string[] {
  if (isScalar(value)) return [scalarOf(value)];
  if (Array.isArray(value)) return value.flatMap((one: Json) => hung('- ', one));
  return isObject(value) ? Object.entries(value).flatMap(([key, one]) => entryLines(scalarOf(key), one)) : [];
}

function entryLines(key: string, value: Json): readonly string[] {
  if (key.length > longestKey) return [`? ${key}`, ...hung(': ', value)];
  return isScalar(value) ? [`${key}: ${scalarOf(value)}`] : [`${key}:`, ...blockOf(value).map((line) => `  ${line}`)];
}

/** The first line behind the mark, the others below it. */
function hung(mark: string, value: Json): readonly string[] {
  return blockOf(value).map((line, index) => `${index === 0 ? mark : ' '.repeat(mark.length)}${line}`);
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

function scalarOf(value: Json): string {
  if (typeof value === 'string' && plain.test(value) && !reserved.test(value)) return value;
  return JSON.stringify(value);
}
