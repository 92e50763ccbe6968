import { addToGroup } from '../../model/collections.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { ManifestDocument } from '../yaml/parse-documents.ts';
import { fieldNodes, findChildNode, readAnnotation, resolveReference } from '../schema-nodes.ts';
import { isSecretName, parseSecretNotation } from './read-secret.ts';

/** A part of the text that no code frame may show: from after a key to the next key that may be shown. */
type Hidden = { readonly from: Place; readonly to: Place };
type Place = { readonly line: number; readonly column: number };
type Mark = { readonly path: string; readonly key: string; readonly hides: boolean; readonly hidesKey?: boolean };

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
    if (mark.hides) hidden.push({ from: mark.hidesKey === true ? mark.place : afterKey(lines[mark.place.line - 1] ?? '', mark), to: next });
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
    if (hides) continue;
    if (mode === 'base64') collectSecrets(child, at, marks);
    else if (isObject(child)) collect(schema, field, child, at, marks);
    else if (Array.isArray(child)) collectEntries(schema, field, child, at, marks);
  }
}

function collectEntries(schema: JsonObject, node: JsonObject, entries: readonly Json[], path: string, marks: Mark[]): void {
  for (const [index, entry] of entries.entries()) {
    // In a list where the schema has none, every key is unknown.
    const child = findChildNode(schema, node, String(index)) ?? {};
    if (isObject(entry)) collect(schema, child, entry, `${path}/${index}`, marks);
    else if (Array.isArray(entry)) collectEntries(schema, child, entry, `${path}/${index}`, marks);
  }
}

function collectSecrets(value: Json, path: string, marks: Mark[]): void {
  if (!isObject(value)) return;
  for (const [key, child] of Object.entries(value))
    marks.push({ path: path + pointer(key), key, hides: holdsValue(child) || !isSecretName(key), hidesKey: !isSecretName(key) });
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

/** The columns of a part of a line, from 0. */
type Span = { readonly start: number; readonly end: number };

function hide(lines: readonly string[], hidden: readonly Hidden[]): readonly string[] {
  const spans = new Map<number, Span[]>();
  for (const { from, to } of hidden) {
    for (let number = from.line; number <= Math.min(to.line, lines.length); number += 1) {
      const span = { start: number === from.line ? from.column - 1 : 0, end: number === to.line ? to.column - 1 : Infinity };
      addToGroup(spans, number, span);
    }
  }
  return lines.map((line, index) => hideSpans(line, spans.get(index + 1) ?? []));
}

/** Hides parts of a line in one pass, because one line may have most of a file's values. */
function hideSpans(line: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const { start, end } of spans.toSorted((left, right) => left.start - right.start)) {
    const from = Math.max(start, done);
    if (end <= from) continue;
    parts.push(line.slice(done, from), stars(line.slice(from, end)));
    done = end;
  }
  return parts.join('') + line.slice(done);
}

/** Replaces a text by stars, padded so that every column stays. */
function stars(text: string): string {
  if (text.trim() === '') return text;
  const indent = /^\s*/.exec(text)?.[0] ?? '';
  return `${indent}***`.padEnd(text.length).slice(0, text.length);
}

/** Masks user, password and query in URLs. */
export function maskUrlCredentials(text: string): string {
  const masked = text.replaceAll(/\/\/[^/@\s"']+@/g, (login) => `//${'*'.repeat(login.length - 3)}@`);
  return masked.replaceAll(
    /(:\/\/[^\s"'?]{1,2000}\?)([^\s"']+)/g,
    (_, address: string, query: string) => address + '*'.repeat(query.length),
  );
}

// A plain key may contain spaces; a quoted one needs no space after its colon.
const keyText = /("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s{}[\],"'#?][^{}[\],"'#]*?)\s*(?::(?=[\s[\]{},"'|>&*!]|$)|(?<=["']\s*):)|\?(?=\s|$)/g;
const plainLine = /^\s*(?:- +)*(?:"[^"]*"|'[^']*'|[\w.:/@-]+)\s*:(?:\s|$)|^\s*-\s|^(?:---|\.\.\.)/;
// The search for keys takes quadratic time in one line.
const longestLine = 300;
// The key of a secret and the words of its notation. None of them is a value, so they may be shown inside of one.
const notation =
  /^\s*(?:\{\s*)?(?:(?:(?:envvar|filesystem):[A-Z][A-Z0-9_]*|(["'])(?:envvar|filesystem):[A-Z][A-Z0-9_]*\1)\s*:(?=\s|$))?(?:\s*(?:\{\s*)?(?:value|valueFrom|env|file|keep)\s*:(?=\s|$))*/;

/**
 * Masks a text that cannot be parsed: everything after a key that is not a plain field, except the notation of secrets, up to the next line that is not indented
 * deeper, while all brackets and quotes are closed. Before the first plain field of the text it masks everything; returns undefined if
 * there is none, because the text is not a map then.
 */
export function maskUnreadText(text: string, schemas: readonly JsonObject[]): string | undefined {
  const shown = new Set(schemas.flatMap((schema) => plainFields(schema, schema)));
  let hidden: HiddenPart | undefined;
  let isMap = false;
  let isAnyMap = false;
  const lines = text.split('\n').map((line) => {
    const indent = indentOf(line);
    if (hidden !== undefined && (indent > hidden.depth || !plainLine.test(line) || isEntryAt(line, hidden.depth) || isOpen(hidden))) {
      hidden = extendPart(hidden, line);
      return starsAfterNotation(line);
    }
    const part = { depth: indent, brackets: 0, doubles: 0, singles: 0 };
    if (line.length > longestLine) {
      hidden = extendPart(part, line);
      return stars(line);
    }
    const keys = [...line.matchAll(keyText)].map((match) => ({ end: match.index + match[0].length, name: nameOfKey(match[1] ?? '') }));
    const first = keys.find(({ name }) => !shown.has(name));
    isMap = (isMap && !line.startsWith('---')) || keys.some(({ name }) => shown.has(name));
    isAnyMap ||= isMap;
    hidden = first === undefined ? undefined : extendPart(part, line.slice(first.end));
    if (first !== undefined) return line.slice(0, first.end) + starsAfterNotation(line.slice(first.end));
    return isMap ? line : stars(line);
  });
  return isAnyMap ? maskUrlCredentials(lines.join('\n')) : undefined;
}

function starsAfterNotation(text: string): string {
  const shown = notation.exec(text)?.[0] ?? '';
  return shown + stars(text.slice(shown.length));
}

/** Returns the indent of a line; a tab counts as the deepest indent. */
function indentOf(line: string): number {
  const indent = /^\s*/.exec(line)?.[0] ?? '';
  return indent.includes('\t') ? Number.POSITIVE_INFINITY : indent.length;
}

/** Returns whether a line is an entry of a list at the depth of its key. */
function isEntryAt(line: string, depth: number): boolean {
  return /^\s*-\s/.test(line) && indentOf(line) === depth;
}

function nameOfKey(text: string): string {
  return text.replace(/^(?:- +)+/, '').replaceAll(/^["']|["']$/g, '');
}

/** What is hidden: the depth of its key, and its brackets and quotes so far. */
type HiddenPart = { readonly depth: number; readonly brackets: number; readonly doubles: number; readonly singles: number };

function extendPart(part: HiddenPart, text: string): HiddenPart {
  const count = (characters: RegExp): number => text.match(characters)?.length ?? 0;
  return {
    depth: part.depth,
    brackets: part.brackets + count(/[{[]/g) - count(/[}\]]/g),
    doubles: part.doubles + count(/"/g),
    singles: part.singles + count(/'/g),
  };
}

/** Returns whether a bracket or a quote may be open. */
function isOpen({ brackets, doubles, singles }: HiddenPart): boolean {
  return brackets !== 0 || doubles % 2 === 1 || singles % 2 === 1;
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
