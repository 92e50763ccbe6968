import { isObject, type Json, type JsonObject } from '../model/json.ts';
import type { ReportDocument } from './document.ts';
import { escapeJson } from './escape.ts';
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
