import { Lexer } from 'yaml';
import type { Checked, Diagnostic, SourceFile } from '../../model/diagnostic.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { maskFrames } from '../source-map.ts';
import { parseDocuments } from '../yaml/parse-documents.ts';
import { compose } from '../yaml/read-yaml.ts';
import { orderFields } from './order-fields.ts';

/** The schemas of documents by kind. */
export type DocumentSchemas = ReadonlyMap<string, JsonObject>;

/** Lays out YAML text; rejects text that it cannot lay out. */
export type Layout = (text: string) => Promise<string>;

/**
 * Returns the text of a file with its fields in the order of the schema of its kind, laid out uniformly. Documents keep their values and all comments;
 * where that is impossible the fields keep their order. A file without a document of Ostiary is unchanged. Invalid YAML is a diagnostic.
 */
export async function formatFile(file: SourceFile, schemas: DocumentSchemas, layOut: Layout): Promise<Checked<string>> {
  const { value: documents, diagnostics } = parseDocuments(file);
  if (documents === undefined) return { diagnostics: maskFrames(file, diagnostics, [...schemas.values()]) };
  const values = documents.map(({ value }) => value);
  if (!values.some(isOurs)) return { value: file.text, diagnostics };
  const schemaOf = (value: Json): JsonObject | undefined => {
    const kind = isObject(value) ? value['kind'] : undefined;
    return typeof kind === 'string' ? schemas.get(kind) : undefined;
  };
  const order = (text: string): string => orderDocuments(text, schemaOf);
  for (const prepare of [order, (text: string) => text]) {
    const formatted = await settle(file.text, async (text) => layOut(prepare(text)));
    if (isSame(file.text, values, formatted)) return { value: formatted, diagnostics };
  }
  return { diagnostics: [notFormatted(file)] };
}

/** Returns whether a document is of Ostiary; files of other tools keep their layout. */
function isOurs(value: Json): boolean {
  return isObject(value) && typeof value['apiVersion'] === 'string' && value['apiVersion'].startsWith('ostiary/');
}

/** Repeats a step until it changes nothing: a formatter may want to format some of its own results again. */
async function settle(text: string, step: (text: string) => Promise<string>): Promise<string> {
  let before = text;
  for (let round = 0; round < 5; round += 1) {
    const after = await step(before);
    if (after === before) return after;
    before = after;
  }
  return before;
}

/** Orders the documents from the last to the first, so that the offsets of the earlier ones stay valid. */
function orderDocuments(text: string, schemaOf: (value: Json) => JsonObject | undefined): string {
  const documents = parseDocuments({ path: '', text }).value ?? [];
  let ordered = text;
  for (const { index, value } of documents.toReversed()) {
    const schema = schemaOf(value);
    const composed = compose(ordered, { keepTokens: true });
    const document = 'stopped' in composed ? undefined : composed.documents[index];
    if (schema !== undefined && document !== undefined) ordered = orderFields(document, ordered, schema);
  }
  return ordered;
}

/** Returns whether two texts have the same values and the same comments. */
function isSame(before: string, values: readonly Json[], after: string): boolean {
  const documents = parseDocuments({ path: '', text: after }).value?.map(({ value }) => value);
  return equal(documents, values) && equal(commentsOf(after), commentsOf(before));
}

function commentsOf(text: string): readonly string[] {
  return [...new Lexer().lex(text)].flatMap((lexeme) => (/^#.*$/.test(lexeme) ? [lexeme.trimEnd()] : [])).toSorted();
}

function notFormatted({ path }: SourceFile): Diagnostic {
  return {
    code: 'manifest/not-formatted',
    severity: 'warning',
    message: 'the file cannot be formatted without changing a value or losing a comment; it is unchanged',
    hint: 'put each field and each comment on a line of its own',
    at: { file: path, line: 1, column: 1 },
  };
}
