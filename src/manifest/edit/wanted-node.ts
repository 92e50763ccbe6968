import { appendAll } from '../../model/collections.ts';
import { isAlias, isMap, isSeq, type Alias, type Document, isScalar, type ParsedNode } from 'yaml';
import { equal, isObject, type Json } from '../../model/json.ts';
import { toText } from '../json-values.ts';
import { isFlow, listSourceItems, type SourceItem, type ValueSite } from './source-text.ts';

/** A wanted value: kept as it is, written anew (perhaps with an anchor that it defines from now on), or a map or list of wanted values. */
export type WantedNode =
  | { readonly is: 'kept'; readonly site: ValueSite }
  | {
      readonly is: 'written';
      readonly value: Json;
      readonly site?: ValueSite;
      readonly anchor?: string;
      readonly layout?: 'flow' | 'block';
    }
  | (WantedMap & { readonly site?: ValueSite })
  | (WantedList & { readonly site?: ValueSite });

/** A map; `inPlace` means that its items in the text are edited, else the whole map is written anew. */
type WantedMap = { readonly is: 'map'; readonly inPlace: boolean; readonly pairs: readonly WantedPair[] };
type WantedList = { readonly is: 'list'; readonly inPlace: boolean; readonly entries: readonly WantedEntry[] };
export type WantedPair = { readonly key: string; readonly value: WantedNode; readonly part?: SourceItem };
export type WantedEntry = { readonly value: WantedNode; readonly part?: SourceItem };

/** The facts about the document that edits need. */
export type EditContext = { readonly nodes: NodeValues; readonly columnOf: (offset: number) => number };

/** Returns the value of a wanted node. */
export function wantedValue(wanted: WantedNode, context: EditContext): Json {
  switch (wanted.is) {
    case 'kept':
      return context.nodes.valueOf(wanted.site.node);
    case 'written':
      return wanted.value;
    case 'map':
      return Object.fromEntries(wanted.pairs.map(({ key, value }) => [key, wantedValue(value, context)]));
    case 'list':
      return wanted.entries.map(({ value }) => wantedValue(value, context));
  }
}

/** Opens a node, so that the items of a map or list can be edited; the value of an alias is written anew. */
export function openNode(wanted: WantedNode, context: EditContext): WantedNode {
  if (wanted.is === 'map' || wanted.is === 'list') return wanted;
  if (wanted.is === 'written') return openValue(wanted.value, wanted.site);
  const { site } = wanted;
  const { node } = site;
  if (isAlias(node) || isEmptyCollection(site)) return openValue(context.nodes.valueOf(node), site);
  if (isMap(node)) {
    if (site.inFlow && !isFlow(node)) return openValue(context.nodes.valueOf(node), site);
    const parts = listSourceItems(node, context.columnOf);
    const pairs = parts.map((part) => ({ key: toText(context.nodes.valueOf(part.key ?? null)), value: keepNode(part.site), part }));
    return { is: 'map', inPlace: true, site, pairs };
  }
  if (!isSeq(node)) return wanted;
  const entries = listSourceItems(node, context.columnOf).map((part) => ({ value: keepNode(part.site), part }));
  return { is: 'list', inPlace: true, site, entries };
}

/** Returns whether a block site contains an empty map or list, which may grow to several lines. */
function isEmptyCollection({ node, inFlow, is }: ValueSite): boolean {
  return (isMap(node) || isSeq(node)) && node.items.length === 0 && !inFlow && is !== 'root';
}

function openValue(value: Json, site: ValueSite | undefined): WantedNode {
  const at = siteProperty(site);
  if (Array.isArray(value))
    return { is: 'list', inPlace: false, ...at, entries: value.map((entry: Json) => ({ value: writeNode(entry) })) };
  if (!isObject(value)) return { is: 'written', value, ...at };
  return { is: 'map', inPlace: false, ...at, pairs: Object.entries(value).map(([key, one]) => ({ key, value: writeNode(one) })) };
}

function siteProperty(site: ValueSite | undefined): { readonly site?: ValueSite } {
  return site === undefined ? {} : { site };
}

function keepNode(site: ValueSite): WantedNode {
  return { is: 'kept', site };
}

/** Creates a node that is written anew, at the site of another node if that has one. */
export function writeNode(value: Json, instead?: WantedNode): WantedNode {
  return { is: 'written', value, ...siteProperty(instead?.site) };
}

/** Replaces the value of a node and keeps as much of its text as possible. */
export function replaceNodeValue(wanted: WantedNode, value: Json, context: EditContext): WantedNode {
  if (equal(wantedValue(wanted, context), value)) return wanted;
  const open = openNode(wanted, context);
  if (open.is === 'map' && isObject(value)) return { ...open, pairs: matchPairs(open.pairs, value, context) };
  if (open.is === 'list' && Array.isArray(value)) return { ...open, entries: matchEntries(open.entries, value, context) };
  return writeNode(value, wanted);
}

function matchPairs(pairs: readonly WantedPair[], value: { readonly [key: string]: Json }, context: EditContext): readonly WantedPair[] {
  let result = pairs.flatMap((pair) => {
    const wished = Object.hasOwn(value, pair.key) ? value[pair.key] : undefined;
    return wished === undefined ? [] : [{ ...pair, value: replaceNodeValue(pair.value, wished, context) }];
  });
  const known = new Set(pairs.map(({ key }) => key));
  let before: string | undefined;
  for (const [key, one] of Object.entries(value)) {
    if (!known.has(key)) result = insertPair(result, { key, value: writeNode(one) }, before);
    before = key;
  }
  return result;
}

/** Inserts a pair after a key, or first without a key. */
export function insertPair(pairs: readonly WantedPair[], pair: WantedPair, before: string | undefined): WantedPair[] {
  const index = pairs.findIndex(({ key }) => key === before) + 1;
  return [...pairs.slice(0, index), pair, ...pairs.slice(index)];
}

/** Longer lists are compared only from both ends. */
const maxComparedLength = 500;

/** Matches entries with values: equal entries stay; between them, entries with the same name are edited, then entries at the same index. */
function matchEntries(entries: readonly WantedEntry[], values: readonly Json[], context: EditContext): readonly WantedEntry[] {
  const had = entries.map(({ value }) => wantedValue(value, context));
  const pairs = [...findCommonPairs(had, values), [had.length, values.length] as const];
  const result: WantedEntry[] = [];
  let [left, right] = [0, 0];
  for (const [at, wishedAt] of pairs) {
    appendAll(result, matchGap(entries.slice(left, at), values.slice(right, wishedAt), context));
    const same = entries[at];
    if (same !== undefined) result.push(same);
    [left, right] = [at + 1, wishedAt + 1];
  }
  return result;
}

function matchGap(entries: readonly WantedEntry[], values: readonly Json[], context: EditContext): readonly WantedEntry[] {
  const isSameSize = entries.length === values.length;
  let next = 0;
  return values.map((value, index): WantedEntry => {
    const name = findName(value);
    const found = entries.findIndex((entry, at) => {
      if (at < next) return false;
      const had = wantedValue(entry.value, context);
      return name !== undefined ? findName(had) === name : isSameSize && at === index && findName(had) === undefined && isAlike(had, value);
    });
    const entry = entries[found];
    if (entry === undefined) return { value: writeNode(value) };
    next = found + 1;
    return { ...entry, value: replaceNodeValue(entry.value, value, context) };
  });
}

function findName(value: Json): string | undefined {
  const name = isObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function isAlike(left: Json, right: Json): boolean {
  return isObject(left) === isObject(right) && Array.isArray(left) === Array.isArray(right);
}

/** Returns a longest common subsequence as pairs of indexes. */
function findCommonPairs(left: readonly Json[], right: readonly Json[]): readonly (readonly [number, number])[] {
  let start = 0;
  while (start < left.length && start < right.length && equal(left[start], right[start])) start += 1;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && equal(left[left.length - 1 - end], right[right.length - 1 - end])) end += 1;
  const head = Array.from({ length: start }, (_, index) => [index, index] as const);
  const tail = Array.from({ length: end }, (_, index) => [left.length - end + index, right.length - end + index] as const);
  const [rows, columns] = [left.length - start - end, right.length - start - end];
  if (rows * columns > maxComparedLength * maxComparedLength) return [...head, ...tail];
  return [...head, ...findMiddlePairs(left, right, { start, rows, columns }), ...tail];
}

type Middle = { readonly start: number; readonly rows: number; readonly columns: number };

function findMiddlePairs(left: readonly Json[], right: readonly Json[], { start, rows, columns }: Middle): (readonly [number, number])[] {
  const lengths = Array.from({ length: rows + 1 }, () => Array.from({ length: columns + 1 }, () => 0));
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  const isEqual = (row: number, column: number): boolean => equal(left[start + row], right[start + column]);
  for (let row = rows - 1; row >= 0; row -= 1) {
    const line = lengths[row];
    if (line === undefined) continue;
    for (let column = columns - 1; column >= 0; column -= 1) {
      line[column] = isEqual(row, column) ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let row = 0, column = 0; row < rows && column < columns;) {
    if (isEqual(row, column)) {
      pairs.push([start + row, start + column]);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

/** The values of a document's nodes, with aliases resolved. */
type NodeValues = {
  readonly valueOf: (node: ParsedNode | null) => Json;
  /** The aliases in order, and the node of each one's anchor. */
  readonly targets: ReadonlyMap<Alias.Parsed, ParsedNode>;
};

/** Resolves the values of all nodes of a valid document. */
export function resolveNodes(document: Document.Parsed): NodeValues {
  const anchors = new Map<string, ParsedNode>();
  const targets = new Map<Alias.Parsed, ParsedNode>();
  const values = new Map<ParsedNode, Json>();
  const read = (node: ParsedNode | null): Json => {
    if (node === null) return null;
    const value = isAlias(node) ? follow(node) : readValue(node);
    values.set(node, value);
    if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    return value;
  };
  const follow = (alias: Alias.Parsed): Json => {
    const target = anchors.get(alias.source);
    if (target === undefined) return null;
    targets.set(alias, target);
    return values.get(target) ?? null;
  };
  const readValue = (node: ParsedNode): Json => {
    if (isSeq(node)) return node.items.map(read);
    if (isMap(node)) {
      const pairs = node.items.map((pair) => [toText(read(pair.key)), read(pair.value)] as const);
      return Object.fromEntries(pairs);
    }
    return isScalar(node) ? toScalar(node.value) : null;
  };
  read(document.contents);
  return { valueOf: (node) => (node === null ? null : (values.get(node) ?? null)), targets };
}

function toScalar(value: unknown): Json {
  if (typeof value === 'number') return value === 0 ? 0 : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
