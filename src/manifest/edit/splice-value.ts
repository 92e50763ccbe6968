import { isAlias, type Alias, type Document, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { toText } from '../json-values.ts';
import { type Quoting, writeEntry, writeFlow, writeFlowPair, writePair, type YamlStyle } from '../yaml/write-yaml.ts';
import type { Origins } from './apply-edit.ts';
import { type WantedItem, writeBlockItems, writeFlowItems } from './collection-splices.ts';
import { matchEntries } from './match-entries.ts';
import { detectQuoting, replaceValue } from './replace-value.ts';
import {
  type SourceText,
  type Splice,
  type ValueSite,
  detectStyleAmong,
  displayColumn,
  insertion,
  isFlow,
  lineStart,
  listSourceItems,
  type SourceItem,
} from './source-text.ts';

/** The text, its values and its style. */
export type SpliceContext = {
  readonly source: SourceText;
  readonly values: NodeValues;
  readonly origins: Origins;
  readonly style: YamlStyle;
};

/** Creates the splices after which the site has the wanted value; `near` is the style of the values beside it. */
export function spliceValue(site: ValueSite, wanted: Json, context: SpliceContext, near: YamlStyle = context.style): readonly Splice[] {
  const { node } = site;
  if (equal(context.values.valueOf(node), wanted)) return [];
  if (node !== null && isMap(node) && isObject(wanted) && hasItemsInPlace(node, site)) return spliceMap(node, wanted, site, context);
  if (node !== null && isSeq(node) && Array.isArray(wanted) && hasItemsInPlace(node, site)) return spliceList(node, wanted, site, context);
  return replaceValue(context.source, site, wanted, near);
}

/** Returns whether the items of a map or list can be edited: an empty one may grow to several lines, and a pair in brackets is no whole map. */
function hasItemsInPlace(node: YAMLMap.Parsed | YAMLSeq.Parsed, { inFlow, is }: ValueSite): boolean {
  return inFlow ? isFlow(node) : node.items.length > 0 || is === 'root';
}

function spliceMap(node: YAMLMap.Parsed, wanted: JsonObject, site: ValueSite, context: SpliceContext): readonly Splice[] {
  const { source, values } = context;
  const parts = listSourceItems(node, (offset) => displayColumn(source.text, offset));
  const nodes = node.items.map(({ value }) => value);
  const style = { ...detectStyleAmong(context.style, nodes, 'map'), keys: detectKeyQuoting(node.items.map(({ key }) => key)) };
  const column = displayColumn(source.text, node.range[0]);
  const items: (WantedItem & { readonly key: string })[] = parts.flatMap((part) => {
    const key = toText(values.valueOf(part.key ?? null));
    const value = Object.hasOwn(wanted, key) ? wanted[key] : undefined;
    return value === undefined ? [] : [{ key, part, splices: spliceValue(part.site, value, context, style) }];
  });
  const present = new Set(items.map(({ key }) => key));
  let before: string | undefined;
  for (const [key, value] of Object.entries(wanted)) {
    if (!present.has(key)) {
      const text = isFlow(node) ? writeFlowPair(key, value, style) : writePair(key, value, column, style).join('\n');
      items.splice(items.findIndex((one) => one.key === before) + 1, 0, { key, text });
    }
    before = key;
  }
  return spliceItems(node, { parts, items, site, style }, source);
}

function spliceList(node: YAMLSeq.Parsed, wanted: readonly Json[], site: ValueSite, context: SpliceContext): readonly Splice[] {
  const { source, values } = context;
  const parts = listSourceItems(node, (offset) => displayColumn(source.text, offset));
  const style = detectStyleAmong(context.style, node.items, 'list');
  const column = displayColumn(source.text, node.range[0]);
  const kept = context.origins.get(wanted) ?? matchEntries(node.items.map(values.valueOf), wanted);
  const items = wanted.map((value, index): WantedItem => {
    const part = parts[kept[index] ?? -1];
    if (part !== undefined) return { part, splices: spliceValue(part.site, value, context, style) };
    return { text: isFlow(node) ? writeFlow(value, style) : writeEntry(value, column, measureGap(source.text, parts), style).join('\n') };
  });
  return spliceItems(node, { parts, items, site, style }, source);
}

/** Returns the columns from a dash to its content. */
function measureGap(text: string, parts: readonly SourceItem[]): number {
  const part = parts.findLast(({ site }) => site.node !== null && lineStart(text, site.node.range[0]) <= site.after);
  const blanks = part === undefined ? 1 : (/^ +/.exec(text.slice(part.site.after))?.[0].length ?? 1);
  return blanks + 1;
}

/** Returns the quotes that all keys of a map share, else none. */
function detectKeyQuoting(keys: readonly ParsedNode[]): Quoting {
  const [first] = keys.map(detectQuoting);
  return first !== undefined && keys.every((key) => detectQuoting(key) === first) ? first : 'plain';
}

type WantedItems = {
  readonly parts: readonly SourceItem[];
  readonly items: readonly WantedItem[];
  readonly site: ValueSite;
  readonly style: YamlStyle;
};

function spliceItems(
  node: YAMLMap.Parsed | YAMLSeq.Parsed,
  { parts, items, site, style }: WantedItems,
  source: SourceText,
): readonly Splice[] {
  if (items.length === parts.length && items.every((item) => 'part' in item))
    return items.flatMap((item) => ('part' in item ? item.splices : []));
  if (isFlow(node)) {
    const padding = isMap(node) ? style.padding : style.listPadding;
    return [writeFlowItems(source, [node.range[0] + 1, node.range[1] - 1], { parts, wanted: items, padding })];
  }
  const [first] = parts;
  if (items.length > 0 || first === undefined) return [writeBlockItems(source, parts, items)];
  const empty = isMap(node) ? '{}' : '[]';
  const after = Math.max(site.after, site.anchor?.end ?? 0, site.tag?.end ?? 0);
  const isBelow = site.is !== 'root' && lineStart(source.text, first.start) > after;
  if (!isBelow) return [writeBlockItems(source, parts, [{ text: ' '.repeat(displayColumn(source.text, first.start)) + empty }])];
  return [insertion(after, ` ${empty}`), writeBlockItems(source, parts, [])];
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
