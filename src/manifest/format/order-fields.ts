import { isMap, isScalar, isSeq, type Document, type ParsedNode, type YAMLMap } from 'yaml';
import { isObject, type JsonObject } from '../../model/json.ts';
import { aboveComments, endWithComments, isAloneOnLine } from '../edit/render-splices.ts';
import { displayColumn, lineStart, nextLineStart } from '../edit/source-text.ts';
import { isFlow, listSourceItems, type SourceItem } from '../edit/value-site.ts';
import { fieldNodes, findChildNode, resolveReference } from '../validate/schema-diagnostics.ts';

/** A replaced part of a text. */
type Replaced = { readonly start: number; readonly end: number; readonly text: string };

type Ordering = { readonly text: string; readonly schema: JsonObject };

/**
 * Returns the text of a file with the fields of one document in the order of its schema, at every level. Each field takes along the comments
 * and empty lines above it and the deeper comments below it. Maps in braces, and maps whose keys are free, keep their order. The
 * document must be composed from this text, with its tokens.
 */
export function orderFields(document: Document.Parsed, text: string, schema: JsonObject): string {
  const replaced = document.contents === null ? [] : orderNode(document.contents, schema, { text, schema });
  return applyReplaced(text, 0, text.length, replaced);
}

function orderNode(node: ParsedNode, schema: JsonObject, ordering: Ordering): readonly Replaced[] {
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
  return findChildNode(ordering.schema, schema, nameOf(key)) ?? {};
}

function nameOf(key: ParsedNode | undefined): string {
  return key !== undefined && isScalar(key) ? String(key.value) : '';
}

/** Sorts by the position among the fields; other keys stay behind them in their order. */
function sorted(items: readonly SourceItem[], fields: readonly string[]): readonly SourceItem[] {
  const rank = new Map(fields.map((name, index) => [name, index]));
  const rankOf = ({ key }: SourceItem): number => rank.get(nameOf(key)) ?? fields.length;
  return items.toSorted((left, right) => rankOf(left) - rankOf(right));
}

type Move = {
  readonly items: readonly SourceItem[];
  readonly wanted: readonly SourceItem[];
  readonly below: ReadonlyMap<SourceItem, readonly Replaced[]>;
};

/**
 * Replaces the lines of a map by the same lines in another order; undefined where its items are not on lines of their own. Comments above the
 * first field of a file stay there: they are about the file.
 */
function moveItems(node: YAMLMap.Parsed, { items, wanted, below }: Move, text: string): readonly Replaced[] | undefined {
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
    const chunk = applyReplaced(text, from, end, below.get(item) ?? []);
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

function applyReplaced(text: string, from: number, to: number, replaced: readonly Replaced[]): string {
  const pieces: string[] = [];
  let at = from;
  for (const one of replaced.toSorted((left, right) => left.start - right.start)) {
    pieces.push(text.slice(at, one.start), one.text);
    at = one.end;
  }
  return [...pieces, text.slice(at, to)].join('');
}
