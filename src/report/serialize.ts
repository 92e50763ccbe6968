import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { memoizeByText } from '../model/collections.ts';
import type { ReportDocument } from './document.ts';
import { escapeJson, escapeTerminal, escapeYaml } from './escape.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { diagnosticObjects } from './wording/diagnostics.ts';

/** Renders a document as JSON. */
export function renderJson(document: ReportDocument): string {
  return toJsonText(document.json());
}

/** Returns a value as JSON that a terminal shows as it is: indented, and long lists with one line for each entry. */
export function toJsonText(value: Json): string {
  return [...jsonPieces(value)].join('');
}

/** A JSON text of this length is a piece of its own, about. */
const pieceLength = 65_536;

/**
 * Returns the text of `toJsonText` in pieces: the plan of 50,000 connections is longer than the longest string of V8 (about 512 MiB).
 */
export function* jsonPieces(value: Json): Generator<string> {
  let waiting = '';
  for (const part of jsonParts(value, '', 6)) {
    waiting += part;
    if (waiting.length < pieceLength) continue;
    yield escapeJson(waiting);
    waiting = '';
  }
  yield `${escapeJson(waiting)}\n`;
}

/** Each entry of a longer list has one line: white space is more than half of an indented plan of thousands of objects. */
const mostIndented = 300;

/** Yields the parts of a value's JSON; values below `depth` levels are one part each. */
function* jsonParts(value: Json, indent: string, depth: number): Generator<string> {
  const list = Array.isArray(value);
  if (list && value.length > mostIndented && depth > 0) {
    for (const [index, one] of value.entries()) yield `${index === 0 ? '[' : ','}\n${indent}  ${JSON.stringify(one)}`;
    yield `\n${indent}]`;
    return;
  }
  const entries = list ? value.map((one: Json) => ['', one] as const) : isObject(value) ? definedEntries(value) : [];
  if (entries.length === 0 || depth === 0) {
    yield JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
    return;
  }
  const below = `${indent}  `;
  yield list ? '[' : '{';
  for (const [index, [key, one]] of entries.entries()) {
    yield `${index === 0 ? '' : ','}\n${below}${list ? '' : `${JSON.stringify(key)}: `}`;
    yield* jsonParts(one, below, depth - 1);
  }
  yield `\n${indent}${list ? ']' : '}'}`;
}

/** Returns the entries that JSON has: those that are not undefined. */
function definedEntries(value: JsonObject): readonly (readonly [string, Json])[] {
  return Object.keys(value).flatMap((key) => {
    const one = value[key];
    return one === undefined ? [] : [[key, one] as const];
  });
}

/**
 * Returns a value as YAML that a terminal shows unchanged: blocks, with quotes only where needed. With `columns`, lists and
 * small maps of words go on one line if they fit.
 */
export function toYamlText(value: Json, columns = 0, indent = ''): string {
  return escapeYaml(blockOf(value, { first: indent, indent }, columns));
}

/** The prefix of the next line, and that of the lines below it. */
type Begin = { readonly first: string; readonly indent: string };

/** Returns the lines of a block value; `columns` is the remaining width. */
function blockOf(value: Json, { first, indent }: Begin, columns: number): string {
  if (isScalar(value)) return `${first}${scalarOf(value)}\n`;
  let text = '';
  let start = first;
  if (Array.isArray(value)) {
    for (const one of value) {
      text += hungOf(one, { first: `${start}- `, indent: `${indent}  ` }, columns - 2);
      start = indent;
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const name = yamlKey(key);
      const one = value[key] ?? null;
      const isWord = typeof one !== 'object' && name.length <= longestKey;
      text += isWord ? `${start}${name}: ${scalarOf(one)}\n` : entryOf(name, one, { begin: { first: start, indent }, columns });
      start = indent;
    }
  }
  return text;
}

function entryOf(key: string, value: Json, { begin: { first, indent }, columns }: { begin: Begin; columns: number }): string {
  if (key.length > longestKey) return `${first}? ${key}\n${hungOf(value, { first: `${indent}: `, indent: `${indent}  ` }, columns - 2)}`;
  const flat = flatOf(value, columns - key.length - 2);
  if (flat !== undefined) return `${first}${key}: ${flat}\n`;
  const below = `${indent}  `;
  return `${first}${key}:\n${blockOf(value, { first: below, indent: below }, columns - 2)}`;
}

/** Returns a value whose first line follows a marker such as `- `. */
function hungOf(value: Json, begin: Begin, columns: number): string {
  const flat = flatOf(value, columns);
  return flat === undefined ? blockOf(value, begin, columns) : `${begin.first}${flat}\n`;
}

/** Returns a value on one line; undefined if it needs several. */
function flatOf(value: Json, columns: number): string | undefined {
  if (isScalar(value)) return scalarOf(value);
  const flat = columns > 0 ? flowOf(value) : undefined;
  return flat !== undefined && flat.length <= columns ? flat : undefined;
}

/** Returns a list, or a map of at most three keys, between brackets; undefined if a value in it is not a scalar. The value is not a scalar. */
function flowOf(value: Json): string | undefined {
  if (Array.isArray(value)) return value.every((one: Json) => isScalar(one)) ? `[${value.map(scalarOf).join(', ')}]` : undefined;
  if (!isObject(value)) return undefined;
  const keys = Object.keys(value);
  if (keys.length > 3) return undefined;
  let text = '';
  for (const key of keys) {
    const one = value[key] ?? null;
    const part = isScalar(one) ? scalarOf(one) : isObject(one) && keys.length === 1 ? flowOf(one) : undefined;
    if (part === undefined) return undefined;
    text += `${text === '' ? '' : ', '}${scalarOf(key)}: ${part}`;
  }
  return `{ ${text} }`;
}

/** Returns whether a value is one word; empty lists and maps are, too. */
function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

// A key that shares a line with its value may have 1024 characters, escaped.
const longestKey = 100;
// Words that YAML 1.1 or 1.2 reads as something other than text.
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
const plain = /^[A-Za-z][\w./@-]*(?: [\w./@-]+)*$/;
// Names with a colon, such as those of secrets. Where a value may follow, such a colon would be ambiguous.
const plainKey = /^[A-Za-z]\w*:[A-Za-z_][\w.-]*$/;

// Single quotes keep patterns readable.
const readable = /^(?=.*["\\])[ -~]*$/;

const yamlKey = memoizeByText((key) => (plainKey.test(key) ? key : quoteScalar(key)));

const scalarOf = (value: Json): string => (typeof value === 'string' ? wordOf(value) : JSON.stringify(value));
const wordOf = memoizeByText(quoteScalar);

function quoteScalar(value: string): string {
  if (plain.test(value) && !reserved.test(value)) return value;
  return readable.test(value) ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}

/** A target that could not be finished, the exit code of a run of this target alone, and the reasons; `target` is undefined if the run names none. */
export type TargetFailure = { readonly target: string | undefined; readonly exitCode: number; readonly diagnostics: readonly Diagnostic[] };

/** The name of the list in a command's documents. */
export type DocumentList = 'plans' | 'drifts' | 'targets' | 'diagnostics';

/**
 * Merges the documents of several targets: it concatenates their lists, includes the command's own list, if it has one, even if it is
 * empty, and adds `failures` if a target could not be finished. Without failures, the document has the form of a single target's.
 */
export function fleetDocument(
  list: DocumentList | undefined,
  documents: readonly JsonObject[],
  failures: readonly TargetFailure[],
): JsonObject {
  const whole = mergeDocuments([{ version: 1, ...(list === undefined ? {} : { [list]: [] }) }, ...documents]);
  return failures.length === 0 ? whole : { ...whole, failures: failures.map(failureDocument) };
}

/** Merges documents of one version by concatenating their lists. */
export function mergeDocuments(documents: readonly JsonObject[]): JsonObject {
  const whole: Record<string, Json> = {};
  for (const document of documents) {
    for (const [key, value] of Object.entries(document)) {
      const earlier = whole[key];
      whole[key] = Array.isArray(value) ? [...(Array.isArray(earlier) ? earlier : []), ...value] : value;
    }
  }
  return whole;
}

function failureDocument({ target, exitCode, diagnostics }: TargetFailure): JsonObject {
  return {
    ...(target === undefined ? {} : { target }),
    exitCode,
    diagnostics: diagnosticObjects(diagnostics.filter(({ severity }) => severity === 'error')),
  };
}

const columns = 100;

/** Returns a manifest as people write it, below the comment that names its schema for editors. */
export function manifestText(value: JsonObject, schema: string): string {
  const parts = Object.entries(value).map(([name, part]) => partText(name, part));
  return `${schemaLine(schema)}${parts.join('')}`;
}

/** Returns the comment that names the schema of a file for editors. */
export function schemaLine(schema: string): string {
  return `# yaml-language-server: $schema=${schema}\n`;
}

/** Returns a top-level key; metadata and spec are always blocks. */
function partText(name: string, part: Json): string {
  if (!isObject(part) || Object.keys(part).length === 0) return toYamlText({ [name]: part });
  return `${name}:\n${toYamlText(part, columns, '  ')}`;
}

/** Adds variables without values to a template, one block for each object. Existing text stays unchanged. */
export function environmentText(
  before: string | undefined,
  variables: readonly { readonly name: string; readonly about: string }[],
): string {
  const head =
    before ?? '# Variables with the secrets of the manifests. Copy this file, fill in the values, and keep the copy out of git.\n';
  const known = new Set(head.split('\n').map((line) => line.replace(/=.*$/, '').trim()));
  const missing = variables.filter(({ name }) => !known.has(name));
  const blocks = new Map<string, string>();
  for (const { name, about } of missing) blocks.set(about, `${blocks.get(about) ?? ''}${name}=\n`);
  const added = [...blocks].map(([about, lines]) => `\n# ${escapeTerminal(about)}\n${lines}`);
  return `${head}${head.endsWith('\n') ? '' : '\n'}${added.join('')}`;
}

const removedHead = `# Manifests manage these resources now: Terraform forgets them and destroys nothing.
# Move this file next to the configuration, delete the resource blocks that it names, and apply.
# Requires Terraform 1.7 or OpenTofu 1.10, or later.
`;

/** Adds blocks that make Terraform forget resources. Existing text stays unchanged. */
export function removedBlocks(before: string | undefined, addresses: readonly string[]): string {
  const known = new Set([...(before ?? '').matchAll(/^\s*from\s*=\s*(\S+)/gm)].map(([, address]) => address));
  const missing = addresses.filter((address) => !known.has(address));
  const start = before ?? removedHead;
  return `${start}${start.endsWith('\n') ? '' : '\n'}${missing.map(blockText).join('')}`;
}

function blockText(address: string): string {
  return `\nremoved {\n  from = ${address}\n\n  lifecycle {\n    destroy = false\n  }\n}\n`;
}
