import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { ManifestDocument } from '../yaml/parse-documents.ts';
import { readAnnotation, findChildNode, resolveReference, fieldNodes } from '../validate/schema-diagnostics.ts';
import { parseSecretNotation } from './secret-notation.ts';

/** A part of the text that no code frame may show: from after a key to the next key that may be shown. */
type Hidden = { readonly from: Place; readonly to: Place };
type Place = { readonly line: number; readonly column: number };
type Mark = { readonly path: string; readonly key: string; readonly hides: boolean };

const unknownSchema: JsonObject = { properties: { apiVersion: {}, kind: {}, metadata: { additionalProperties: {} } } };

/**
 * Masks possible secrets in a file: the values of secret fields and of unknown fields, because a misspelled secret field is
 * unknown. Columns do not move.
 */
export function maskSecrets(
  text: string,
  documents: readonly ManifestDocument[],
  schemaOf: (document: ManifestDocument) => JsonObject | undefined,
): string {
  const lines = text.split('\n');
  const marks = documents.flatMap((document) => {
    const schema = schemaOf(document) ?? unknownSchema;
    const found: Mark[] = [];
    if (isObject(document.value)) collect(schema, schema, document.value, '', found);
    return found.map((mark) => ({ ...mark, place: document.locate(mark.path, 'key') }));
  });
  const hidden: Hidden[] = [];
  let next: Place = { line: lines.length + 1, column: 1 };
  for (const mark of marks.toSorted((left, right) => compare(right.place, left.place))) {
    if (mark.hides) hidden.push({ from: afterKey(lines[mark.place.line - 1] ?? '', mark), to: next });
    next = mark.place;
  }
  return maskUrlCredentials(hide(lines, hidden).join('\n'));
}

function collect(schema: JsonObject, node: JsonObject, value: JsonObject, path: string, marks: Mark[]): void {
  for (const [key, child] of Object.entries(value)) {
    const at = path + pointer(key);
    const field = findChildNode(schema, node, key);
    const mode = readAnnotation(field, 'x-ostiary-secret');
    const hides =
      field === undefined || 'not' in field || (mode !== undefined && !(mode === 'base64' && isObject(child)) && holdsValue(child));
    marks.push({ path: at, key, hides: hides || mode === 'base64' });
    if (hides || field === undefined) continue;
    if (mode === 'base64') collectSecrets(child, at, marks);
    else if (isObject(child)) collect(schema, field, child, at, marks);
    else if (Array.isArray(child)) collectEntries(schema, field, child, at, marks);
  }
}

function collectEntries(schema: JsonObject, node: JsonObject, entries: readonly Json[], path: string, marks: Mark[]): void {
  for (const [index, entry] of entries.entries()) {
    const child = findChildNode(schema, node, String(index));
    if (isObject(entry) && child !== undefined) collect(schema, child, entry, `${path}/${index}`, marks);
  }
}

function collectSecrets(value: Json, path: string, marks: Mark[]): void {
  if (!isObject(value)) return;
  for (const [key, child] of Object.entries(value)) marks.push({ path: path + pointer(key), key, hides: holdsValue(child) });
}

/** Returns whether a secret may contain its value: all notations except a well-formed source and `keep`. */
function holdsValue(value: Json): boolean {
  const form = parseSecretNotation(value);
  if (form === undefined || !isObject(value) || Object.keys(value).length !== 1) return true;
  if (form.is === 'keep') return false;
  if (form.is === 'env') return !/^[A-Z_][A-Z0-9_]*$/.test(form.name);
  return form.is !== 'file';
}

function afterKey(line: string, mark: Mark & { readonly place: Place }): Place {
  const rest = line.slice(mark.place.column - 1);
  const quote = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(rest)?.[0];
  const length = quote?.length ?? (rest.startsWith(mark.key) ? mark.key.length : 0);
  const colon = /^\s*:/.exec(rest.slice(length))?.[0] ?? '';
  return { line: mark.place.line, column: mark.place.column + length + colon.length };
}

function compare(left: Place, right: Place): number {
  return left.line - right.line || left.column - right.column;
}

function hide(lines: readonly string[], hidden: readonly Hidden[]): readonly string[] {
  const masked = [...lines];
  for (const { from, to } of hidden) {
    for (let number = from.line; number <= Math.min(to.line, lines.length); number += 1) {
      const line = masked[number - 1] ?? '';
      const start = number === from.line ? from.column - 1 : 0;
      const end = number === to.line ? to.column - 1 : line.length;
      masked[number - 1] = `${line.slice(0, start)}${stars(line.slice(start, end))}${line.slice(end)}`;
    }
  }
  return masked;
}

/** Replaces a text by stars, padded so that every column stays. */
function stars(text: string): string {
  if (text.trim() === '') return text;
  const indent = /^\s*/.exec(text)?.[0] ?? '';
  return `${indent}***`.padEnd(text.length).slice(0, text.length);
}

/** Masks user and password in URLs. */
export function maskUrlCredentials(text: string): string {
  return text.replaceAll(/\/\/[^/@\s"']+@/g, (login) => `//${'*'.repeat(login.length - 3)}@`);
}

const keyText = /("[^"]*"|'[^']*'|(?<![\w.:/@-])[\w.:/@-]+)\s*:(?=\s|$)/g;
const plainLine = /^\s*(?:- +)*(?:"[^"]*"|'[^']*'|[\w.:/@-]+)\s*:(?:\s|$)|^\s*-\s|^(?:---|\.\.\.)/;

/** Masks a text that cannot be parsed: everything after a key that is not a plain field, up to the next line that is not indented deeper. */
export function maskUnreadText(text: string, schemas: readonly JsonObject[]): string {
  const shown = new Set(schemas.flatMap((schema) => plainFields(schema, schema)));
  let depth: number | undefined;
  const lines = text.split('\n').map((line) => {
    const indent = /^\s*/.exec(line)?.[0].length ?? 0;
    if (depth !== undefined && (indent > depth || !plainLine.test(line))) return stars(line);
    const key = [...line.matchAll(keyText)].find(([, name = '']) => !shown.has(name.replaceAll(/^["']|["']$/g, '')));
    depth = key === undefined ? undefined : indent;
    if (key === undefined) return line;
    const start = key.index + key[0].length;
    return line.slice(0, start) + stars(line.slice(start));
  });
  return maskUrlCredentials(lines.join('\n'));
}

/** Lists the names of all fields that hold no secret. */
function plainFields(schema: JsonObject, node: JsonObject): readonly string[] {
  const own = Object.entries(fieldNodes(node)).flatMap(([name, field]) => {
    if (!isObject(field) || 'not' in field || field['x-ostiary-secret'] !== undefined) return [];
    return [name, ...plainFields(schema, resolveReference(schema, field))];
  });
  const below = [node['items'], node['additionalProperties']].flatMap((child) =>
    isObject(child) ? plainFields(schema, resolveReference(schema, child)) : [],
  );
  return [...own, ...below];
}
