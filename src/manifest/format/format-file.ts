import { type Document, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import type { Checked, Diagnostic, SourceFile } from '../../model/diagnostic.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { maskFrames } from '../source-map.ts';
import { commentsOf } from '../yaml/comments.ts';
import { parseDocuments } from '../yaml/parse-documents.ts';
import { compose } from '../yaml/read-yaml.ts';
import { aboveComments, endWithComments, isAloneOnLine } from '../edit/source-text.ts';
import {
  displayColumn,
  isFlow,
  lineStart,
  listSourceItems,
  nextLineStart,
  type SourceItem,
  type Splice,
  splicePart,
} from '../edit/source-text.ts';
import { fieldNodes, findChildNode, resolveReference } from '../schema-nodes.ts';

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
    if (keepsContent(file.text, values, formatted)) return { value: formatted, diagnostics };
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
function keepsContent(before: string, values: readonly Json[], after: string): boolean {
  const documents = parseDocuments({ path: '', text: after }).value?.map(({ value }) => value);
  return equal(documents, values) && equal(sortedComments(after), sortedComments(before));
}

function sortedComments(text: string): readonly string[] {
  return commentsOf(text)
    .map((comment) => comment.text)
    .toSorted();
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

type Ordering = { readonly text: string; readonly schema: JsonObject };

/**
 * Returns the text of a file with the fields of one document in the order of its schema, at every level. Each field takes along the comments
 * and empty lines above it and the deeper comments below it. Maps in braces, and maps whose keys are free, keep their order. The
 * document must be composed from this text, with its tokens.
 */
function orderFields(document: Document.Parsed, text: string, schema: JsonObject): string {
  const replaced = document.contents === null ? [] : orderNode(document.contents, schema, { text, schema });
  return splicePart(text, [0, text.length], replaced);
}

function orderNode(node: ParsedNode, schema: JsonObject, ordering: Ordering): readonly Splice[] {
  if (isSeq(node)) {
    const items = schema['items'];
    const entry = isObject(items) ? resolveReference(ordering.schema, items) : {};
    return node.items.flatMap((one) => orderNode(one, entry, ordering));
  }
  if (!isMap(node)) return [];
  const items = listSourceItems(node, (offset) => displayColumn(ordering.text, offset));
  const below = new Map(
    items.map((item) => [item, item.site.node === null ? [] : orderNode(item.site.node, childOf(schema, item, ordering), ordering)]),
  );
  const wanted = isFlow(node) ? items : sorted(items, Object.keys(fieldNodes(schema)));
  if (wanted.every((item, index) => item === items[index])) return [...below.values()].flat();
  return moveItems(node, { items, wanted, below }, ordering.text) ?? [...below.values()].flat();
}

function childOf(schema: JsonObject, { key }: SourceItem, ordering: Ordering): JsonObject {
  return findChildNode(ordering.schema, schema, keyText(key)) ?? {};
}

function keyText(key: ParsedNode | undefined): string {
  return key !== undefined && isScalar(key) ? String(key.value) : '';
}

/** Sorts by the position among the fields; other keys stay behind them in their order. */
function sorted(items: readonly SourceItem[], fields: readonly string[]): readonly SourceItem[] {
  const rank = new Map(fields.map((name, index) => [name, index]));
  const rankOf = ({ key }: SourceItem): number => rank.get(keyText(key)) ?? fields.length;
  return items.toSorted((left, right) => rankOf(left) - rankOf(right));
}

type Move = {
  readonly items: readonly SourceItem[];
  readonly wanted: readonly SourceItem[];
  readonly below: ReadonlyMap<SourceItem, readonly Splice[]>;
};

/**
 * Replaces the lines of a map by the same lines in another order; undefined where its items are not on lines of their own. Comments above the
 * first field of a file stay there: they are about the file.
 */
function moveItems(node: YAMLMap.Parsed, { items, wanted, below }: Move, text: string): readonly Splice[] | undefined {
  const [first] = items;
  if (first === undefined || items.slice(1).some((item) => !isAloneOnLine(text, item))) return undefined;
  const isCompact = !isAloneOnLine(text, first);
  const isTop = node.range[0] === first.start && displayColumn(text, first.start) === 0;
  const start = isCompact || isTop ? first.start : aboveComments(text, lineStart(text, first.start));
  const chunks = new Map<SourceItem, string>();
  let from = start;
  for (const item of items) {
    const last = endWithComments(text, item);
    const end = text[last - 1] === '\n' ? last : nextLineStart(text, last);
    const chunk = splicePart(text, [from, end], below.get(item) ?? []);
    chunks.set(item, chunk.endsWith('\n') ? chunk : `${chunk}\n`);
    from = end;
  }
  const pad = ' '.repeat(displayColumn(text, first.start));
  const moved = wanted.map((item, index) => {
    const chunk = chunks.get(item) ?? '';
    const padded = isCompact && item === first ? `${pad}${chunk}` : chunk;
    return index === 0 ? padded.replace(/^(?:[ \t]*\n)+/, '') : padded;
  });
  const [head = ''] = moved;
  if (isCompact && /^[ \t]*#/.test(head)) return undefined;
  return [{ start, end: from, text: [isCompact ? head.slice(pad.length) : head, ...moved.slice(1)].join('') }];
}
