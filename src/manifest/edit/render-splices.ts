import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { writeScalar, type Quoting, writeEntry, writeFlowPair, writeFlow, writePair, type YamlStyle } from '../yaml/write-yaml.ts';
import { planAnchorMoves, writeMovedAnchors, type AnchorMoves } from './anchor-moves.ts';
import { createBlockSplices } from './block-splices.ts';
import { wantedValue, type WantedNode, type WantedEntry, type WantedPair, type EditContext } from './wanted-node.ts';
import { createFlowSplices } from './flow-splices.ts';
import { type SourceText, columnOf, lastOffset, lineStart, type Splice } from './source-text.ts';
import { cutWord, detectQuoting, replaceValue } from './replace-value.ts';
import { isFlow, listSourceItems, type SourceItem, type ValueSite } from './value-site.ts';
import { withLayout, detectStyleAmong } from './document-style.ts';

type RenderContext = {
  readonly source: SourceText;
  readonly context: EditContext;
  readonly style: YamlStyle;
  readonly anchorMoves: AnchorMoves;
};

/** Creates the splices after which the text has the wanted values. */
export function renderSplices(wanted: WantedNode, source: SourceText, context: EditContext, style: YamlStyle): readonly Splice[] {
  const anchorMoves = planAnchorMoves(wanted, context);
  return render(writeMovedAnchors(wanted, anchorMoves, context), { source, context, style, anchorMoves }, style);
}

/** Renders one node; `near` is the style of the values beside it. */
function render(wanted: WantedNode, context: RenderContext, near: YamlStyle): readonly Splice[] {
  if (wanted.is === 'kept' || wanted.site === undefined) return [];
  const { site } = wanted;
  const { node } = site;
  const leaves =
    node !== null && context.anchorMoves.losesAnchor.has(node) && site.anchor !== undefined
      ? [cutWord(context.source.text, site.anchor)]
      : [];
  if (wanted.is !== 'written' && wanted.inPlace && node !== null && (isMap(node) || isSeq(node))) {
    return [
      ...leaves,
      ...(wanted.is === 'map' ? mapSplices(node, wanted.pairs, site, context) : listSplices(node, wanted.entries, site, context)),
    ];
  }
  const anchor = wanted.is === 'written' ? wanted.anchor : undefined;
  const laid = wanted.is === 'written' && wanted.layout !== undefined ? withLayout(near, wanted.layout) : near;
  return [...leaves, ...replaceValue(context.source, site, wantedValue(wanted, context.context), laid, anchor)];
}

type WantedItem = {
  readonly part?: SourceItem;
  readonly value: WantedNode;
  readonly lines: (style: YamlStyle) => readonly string[];
  readonly flow: (style: YamlStyle) => string;
};

function mapSplices(node: ParsedNode, pairs: readonly WantedPair[], site: ValueSite, context: RenderContext): readonly Splice[] {
  if (!isMap(node)) return [];
  const parts = listSourceItems(node, context.context.columnOf);
  const byStart = new Map(parts.map((part) => [part.start, part]));
  const among = detectStyleAmong(
    context.style,
    node.items.map(({ value }) => value),
    'map',
  );
  const keys: YamlStyle = { ...context.style, keys: detectKeyQuoting(node.items.map(({ key }) => key)) };
  const column = columnOf(context.source.text, node.range[0]);
  const wanted = pairs.map(({ key, value, part }): WantedItem => ({
    value,
    ...findOriginal(byStart, part),
    lines: (style) => writePair(key, wantedValue(value, context.context), column, style),
    flow: (style) => writeFlowPair(key, wantedValue(value, context.context), style),
  }));
  const names = pairs.flatMap(({ key, part }) => (part?.key === undefined ? [] : renameKey(part.key, key, isFlow(node), keys)));
  return [...names, ...collectionSplices(node, parts, wanted, { site, context, among: { ...among, keys: keys.keys } })];
}

function listSplices(node: ParsedNode, entries: readonly WantedEntry[], site: ValueSite, context: RenderContext): readonly Splice[] {
  if (!isSeq(node)) return [];
  const parts = listSourceItems(node, context.context.columnOf);
  const byStart = new Map(parts.map((part) => [part.start, part]));
  const among = detectStyleAmong(context.style, node.items, 'list');
  const column = columnOf(context.source.text, node.range[0]);
  const gap = measureGap(context.source.text, parts);
  const wanted = entries.map(({ value, part }): WantedItem => ({
    value,
    ...findOriginal(byStart, part),
    lines: (style) => writeEntry(wantedValue(value, context.context), column, gap, style),
    flow: (style) => writeFlow(wantedValue(value, context.context), style),
  }));
  return collectionSplices(node, parts, wanted, { site, context, among });
}

/** Returns the item of this reading at the same offset. */
function findOriginal(parts: ReadonlyMap<number, SourceItem>, part: SourceItem | undefined): { readonly part?: SourceItem } {
  const found = part === undefined ? undefined : parts.get(part.start);
  return found === undefined ? {} : { part: found };
}

/** Returns the columns from a dash to its content. */
function measureGap(text: string, parts: readonly SourceItem[]): number {
  const part = parts.findLast(({ site }) => site.node !== null && lineStart(text, site.node.range[0]) <= site.after);
  const blanks = part === undefined ? 1 : (/^ +/.exec(text.slice(part.site.after))?.[0].length ?? 1);
  return blanks + 1;
}

type CollectionContext = { readonly site: ValueSite; readonly context: RenderContext; readonly among: YamlStyle };

function collectionSplices(
  node: ParsedNode,
  parts: readonly SourceItem[],
  wanted: readonly WantedItem[],
  { site, context, among }: CollectionContext,
): readonly Splice[] {
  const kept = new Set(wanted.flatMap(({ part }) => part ?? []));
  const inner = wanted.flatMap(({ part, value }) => (part === undefined ? [] : render(value, context, among)));
  const additions = groupAdditions(wanted);
  if ((isMap(node) || isSeq(node)) && isFlow(node)) {
    const texts = additions.map(({ behind, items: items }) => ({ behind, texts: items.map(({ flow }) => flow(among)) }));
    const padding = isMap(node) ? among.padding : among.listPadding;
    return [...inner, ...createFlowSplices(context.source, node, parts, { kept, additions: texts, padding })];
  }
  if (wanted.length === 0) return emptyCollection(parts, isMap(node) ? '{}' : '[]', site, context);
  const lines = additions.map(({ behind, items: items }) => ({ behind, lines: items.flatMap((one) => one.lines(among)) }));
  return [...inner, ...createBlockSplices(context.source, parts, { kept, additions: lines })];
}

type AddedItems = { readonly behind: SourceItem | undefined; readonly items: readonly WantedItem[] };

/** Groups new items by the item that precedes them. */
function groupAdditions(wanted: readonly WantedItem[]): readonly AddedItems[] {
  const groups: { behind: SourceItem | undefined; items: WantedItem[] }[] = [];
  let behind: SourceItem | undefined;
  for (const one of wanted) {
    if (one.part !== undefined) behind = one.part;
    else if (groups.at(-1)?.behind === behind && groups.length > 0) groups.at(-1)?.items.push(one);
    else groups.push({ behind, items: [one] });
  }
  return groups;
}

/** Replaces a block map or list that loses all its items by an empty one; comments between the items stay. */
function emptyCollection(parts: readonly SourceItem[], text: string, site: ValueSite, { source }: RenderContext): readonly Splice[] {
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return [];
  const after = Math.max(site.after, site.anchor?.end ?? 0, site.tag?.end ?? 0);
  const isBelow = lineStart(source.text, first.start) > after;
  if (site.is === 'root' || !isBelow) return [{ start: first.start, end: lastOffset(source.text, last.end), text }];
  return [{ start: after, end: after, text: ` ${text}` }, ...createBlockSplices(source, parts, { kept: new Set(), additions: [] })];
}

function renameKey(node: ParsedNode, key: string, inFlow: boolean, style: YamlStyle): readonly Splice[] {
  if (!isScalar(node) || node.value === key) return [];
  const quoting = detectQuoting(node);
  return [{ start: node.range[0], end: node.range[1], text: writeScalar(key, { inFlow, quoting, quote: style.quote }) }];
}

/** Returns the quotes that all keys of a map share, else none. */
function detectKeyQuoting(keys: readonly ParsedNode[]): Quoting {
  const [first] = keys.map(detectQuoting);
  return first !== undefined && keys.every((key) => detectQuoting(key) === first) ? first : 'plain';
}
