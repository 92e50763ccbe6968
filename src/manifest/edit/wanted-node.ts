import { isAlias, isMap, isSeq, type Alias, type Document, isScalar, type ParsedNode } from 'yaml';
import { canonical, equal, isObject, type Json } from '../../model/json.ts';
import { toText } from '../json-values.ts';
import { isFlow, listSourceItems, type SourceItem, type ValueSite } from './source-text.ts';

/** A wanted value: kept as it is, written anew, or a map or list of wanted values. */
export type WantedNode =
  | { readonly is: 'kept'; readonly site: ValueSite }
  | { readonly is: 'written'; readonly value: Json; readonly site?: ValueSite }
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

/**
 * Matches entries with values in their order: equal entries stay, entries with the same name are edited, and between them as
 * many entries as values are edited one by one. An entry that moved is written anew.
 */
function matchEntries(entries: readonly WantedEntry[], values: readonly Json[], context: EditContext): readonly WantedEntry[] {
  const had = entries.map(({ value }) => wantedValue(value, context));
  const [from, to] = [had.map(toEntryKey), values.map(toEntryKey)];
  const forward = matchInOrder(from, to);
  const backward = matchInOrder(from.toReversed(), to.toReversed())
    .map(([left, right]) => [from.length - 1 - left, to.length - 1 - right] as const)
    .toReversed();
  const matches = forward.length < backward.length ? backward : forward;
  const result: WantedEntry[] = [];
  let [left, right] = [0, 0];
  const edit = (entry: WantedEntry, value: Json): WantedEntry => ({ ...entry, value: replaceNodeValue(entry.value, value, context) });
  for (const [entryEnd, valueEnd] of [...matches, [entries.length, values.length] as const]) {
    const isSameSize = entryEnd - left === valueEnd - right;
    for (let index = right; index < valueEnd; index += 1) {
      const [value = null, at] = [values[index], left + index - right];
      const entry = isSameSize && isAlike(had[at], value) ? entries[at] : undefined;
      result.push(entry === undefined ? { value: writeNode(value) } : edit(entry, value));
    }
    const [entry, value] = [entries[entryEnd], values[valueEnd]];
    if (entry !== undefined && value !== undefined) result.push(edit(entry, value));
    [left, right] = [entryEnd + 1, valueEnd + 1];
  }
  return result;
}

/** Pairs each key with its first occurrence after the previous pair, as indexes. */
function matchInOrder(from: readonly string[], to: readonly string[]): readonly (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  for (const [index, key] of to.entries()) {
    const found = from.indexOf(key, (pairs.at(-1)?.[0] ?? -1) + 1);
    if (found !== -1) pairs.push([found, index]);
  }
  return pairs;
}

/** Returns the name of an entry, or the value of one without a name. */
function toEntryKey(value: Json): string {
  return canonical(isObject(value) && typeof value['name'] === 'string' ? { name: value['name'] } : value);
}

/** Returns whether an entry can be edited until it is the value: both are maps without a name, lists, or scalars. */
function isAlike(left: Json = null, right: Json): boolean {
  return isObject(left) ? isObject(right) && left['name'] === undefined : !isObject(right) && Array.isArray(left) === Array.isArray(right);
}

/** The values of a document's nodes, with aliases resolved. */
type NodeValues = {
  readonly valueOf: (node: ParsedNode | null) => Json;
  readonly aliases: readonly Alias.Parsed[];
};

/** Resolves the values of all nodes of a valid document. */
export function resolveNodes(document: Document.Parsed): NodeValues {
  const anchors = new Map<string, ParsedNode>();
  const aliases: Alias.Parsed[] = [];
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
    aliases.push(alias);
    return target === undefined ? null : (values.get(target) ?? null);
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
  return { valueOf: (node) => (node === null ? null : (values.get(node) ?? null)), aliases };
}

function toScalar(value: unknown): Json {
  if (typeof value === 'number') return value === 0 ? 0 : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
