import { type CST, type Document, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq, isMap, isScalar, isSeq } from 'yaml';
import { type YamlStyle, defaultStyle } from '../yaml/write-yaml.ts';

/** Detects the style of a document, with defaults for what it does not show. */
export function detectStyle(document: Document.Parsed, text: string): YamlStyle {
  const seen = observeNodes(document.contents, (offset) => displayColumn(text, offset));
  const style = followMajority(defaultStyle, seen.nodes, []);
  const map = seen.nodes.find((node) => isMap(node) && isFlow(node) && node.items.length > 0);
  const list = seen.nodes.find((node) => isSeq(node) && isFlow(node) && node.items.length > 0);
  return {
    ...style,
    quote: findMajority(seen.nodes.flatMap(toQuotes)) ?? 'single',
    step: seen.steps[0] ?? defaultStyle.step,
    listStep: seen.listSteps[0] ?? seen.steps[0] ?? defaultStyle.listStep,
    padding: map === undefined ? defaultStyle.padding : paddingAt(text, map.range[0]),
    listPadding: list === undefined ? defaultStyle.listPadding : paddingAt(text, list.range[0]),
  };
}

/** Detects the style of most values of a map or entries of a list. */
export function detectStyleAmong(style: YamlStyle, nodes: readonly (ParsedNode | null)[], within: 'map' | 'list'): YamlStyle {
  const found = nodes.flatMap((node) => node ?? []);
  return followMajority(style, found, within === 'list' ? found : []);
}

/** Returns the style with one layout for lists, maps and entries. */
export function withLayout(style: YamlStyle, layout: 'flow' | 'block'): YamlStyle {
  return { ...style, lists: layout, maps: layout, entries: layout };
}

function followMajority(style: YamlStyle, nodes: readonly ParsedNode[], listed: readonly ParsedNode[]): YamlStyle {
  const lists = nodes.filter((node) => isSeq(node)).filter((node) => node.items.length > 0);
  const maps = nodes.filter((node) => isMap(node)).filter(isSmall);
  const entries = [...lists.flatMap((list) => [...list.items]), ...listed].filter((node) => isMap(node)).filter(isFilled);
  const quoting = findMajority(
    nodes.flatMap((node) => (isScalar(node) && typeof node.value === 'string' ? (toQuoting(node.type) ?? []) : [])),
  );
  return {
    ...style,
    quoting: quoting ?? style.quoting,
    ...(quoting === 'single' || quoting === 'double' ? { quote: quoting } : {}),
    lists: findMajority(lists.filter((list) => list.items.every((entry) => isScalar(entry))).map(layoutOf)) ?? style.lists,
    maps: findMajority(maps.map(layoutOf)) ?? style.maps,
    entries: findMajority(entries.map(layoutOf)) ?? style.entries,
  };
}

function isFilled(map: YAMLMap.Parsed): boolean {
  return map.items.length > 0;
}

/** Returns whether a map fits on one line: it has few scalars, or pairs that are such maps. */
function isSmall(map: YAMLMap.Parsed): boolean {
  return (
    map.items.length > 0 && map.items.length < 6 && map.items.every(({ value }) => isScalar(value) || (isMap(value) && isSmall(value)))
  );
}

function layoutOf(node: YAMLMap.Parsed | YAMLSeq.Parsed): 'flow' | 'block' {
  return isFlow(node) ? 'flow' : 'block';
}

function toQuoting(type: unknown): YamlStyle['quoting'] | undefined {
  if (type === 'PLAIN') return 'plain';
  if (type === 'QUOTE_SINGLE') return 'single';
  return type === 'QUOTE_DOUBLE' ? 'double' : undefined;
}

function toQuotes(node: ParsedNode): readonly ('single' | 'double')[] {
  const quoting = isScalar(node) ? toQuoting(node.type) : undefined;
  return quoting === 'single' || quoting === 'double' ? [quoting] : [];
}

function paddingAt(text: string, open: number): string {
  return text[open + 1] === ' ' ? ' ' : '';
}

/** Returns the most frequent value; of equally frequent ones, the first. */
function findMajority<T>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, left], [, right]) => right - left)[0]?.[0];
}

type ObservedNodes = { readonly nodes: ParsedNode[]; readonly steps: number[]; readonly listSteps: number[] };

/** Collects all values of a document, and the indentation of maps and lists. */
function observeNodes(root: ParsedNode | null, columnOf: (offset: number) => number): ObservedNodes {
  const seen: ObservedNodes = { nodes: [], steps: [], listSteps: [] };
  const look = (node: ParsedNode | null, column: number | undefined, isRoot: boolean): void => {
    if (node === null) return;
    if (!isRoot) seen.nodes.push(node);
    if (!isMap(node) && !isSeq(node)) return;
    const own = isFlow(node) ? undefined : columnOf(node.range[0]);
    if (own !== undefined && column !== undefined && node.items.length > 0) (isMap(node) ? seen.steps : seen.listSteps).push(own - column);
    for (const child of node.items) {
      if ('key' in child) look(child.value, own, false);
      else look(child, undefined, false);
    }
  };
  look(root, undefined, true);
  return seen;
}

/** The text of a file without its byte order mark and with line feeds only, and how its lines end. */
export type SourceText = { readonly mark: string; readonly text: string; readonly lineEnding: '\n' | '\r\n' | 'mixed' };

/** Normalizes the text of a file. */
export function toSourceText(source: string): SourceText {
  const mark = source.startsWith('\ufeff') ? '\ufeff' : '';
  const lineEnding = !source.includes('\r\n') ? '\n' : /(?<!\r)\n/.test(source) ? 'mixed' : '\r\n';
  return { mark, text: source.slice(mark.length).replaceAll('\r\n', '\n'), lineEnding };
}

/** Applies splices that do not overlap to a text whose lines end in one way; insertions at one offset keep their order. */
export function applySplices({ mark, text, lineEnding }: SourceText, splices: readonly Splice[]): string {
  return (mark + splicePart(text, [0, text.length], splices)).replaceAll('\n', lineEnding);
}

/** Returns a part of a text with the splices within it applied. */
export function splicePart(text: string, [start, end]: readonly [number, number], splices: readonly Splice[]): string {
  let edited = '';
  let from = start;
  for (const splice of splices.toSorted((left, right) => left.start - right.start || left.end - right.end)) {
    edited += text.slice(from, Math.max(from, splice.start)) + splice.text;
    from = Math.max(from, splice.end);
  }
  return edited + text.slice(from, end);
}

/** Returns the splice that inserts a text. */
export function insertion(offset: number, text: string): Splice {
  return { start: offset, end: offset, text };
}

/** A replacement of a part of a text. `loses` is set if it would remove an unrelated comment. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string; readonly loses?: true };

/** Returns the start of the offset's line. */
export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Returns the end of the offset's line, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end;
}

/** Returns the start of the next line, or the end of the text. */
export function nextLineStart(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/** Returns the column of an offset, from 0. */
export function displayColumn(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** Returns the offset of the line break before a line, or the line's start for the first line. */
export function lineBreakBefore(text: string, start: number): number {
  return text[start - 1] === '\n' ? start - 1 : start;
}

/** Returns the last offset of a range that ends at `end`, so that the offset is on the range's last line. */
export function lastOffset(text: string, end: number): number {
  return text[end - 1] === '\n' ? lineBreakBefore(text, end) : end;
}

type Span = { readonly start: number; readonly end: number };

/** The site of a value in the text, present or absent. */
export type ValueSite = {
  readonly node: ParsedNode | null;
  /** The offset after the colon or dash before the value, or of the document's start. */
  readonly after: number;
  readonly anchor?: Span;
  readonly tag?: Span;
  /** The column of the collection that contains the value. */
  readonly column: number;
  readonly inFlow: boolean;
  readonly is: 'root' | 'value' | 'entry';
  /** Set if the key has no colon. */
  readonly lacksColon?: true;
};

/** One pair of a map or entry of a list in the text. */
export type SourceItem = {
  /** The offset of its key, dash or value, anchors and tags included. */
  readonly start: number;
  /** The offset of the end of its value. */
  readonly end: number;
  readonly site: ValueSite;
  readonly key?: ParsedNode;
};

/** Creates the site of a document's root. */
export function createRootSite(document: Document.Parsed): ValueSite {
  const { contents, range } = document;
  return { node: contents, after: range[0], column: 0, inFlow: false, is: 'root' };
}

/** Lists the pairs of a map or the entries of a list in the order of the text. */
export function listSourceItems(node: YAMLMap.Parsed | YAMLSeq.Parsed, columnOf: (offset: number) => number): readonly SourceItem[] {
  const inFlow = isFlow(node);
  const column = inFlow ? 0 : columnOf(node.range[0]);
  if (isMap(node)) return node.items.flatMap((pair) => toPairItem(pair, column, inFlow) ?? []);
  const items = node.srcToken === undefined || !('items' in node.srcToken) ? [] : node.srcToken.items;
  return node.items.map((entry, index) => toEntryItem(entry, items[index], { column, inFlow }));
}

function toPairItem(pair: Pair<ParsedNode, ParsedNode | null>, column: number, inFlow: boolean): SourceItem | undefined {
  const token = pair.srcToken;
  if (token === undefined) return undefined;
  const colon = token.sep?.find(({ type }) => type === 'map-value-ind');
  const key = pair.key;
  const start = findFirst(token.start, ['explicit-key-ind', 'anchor', 'tag']) ?? key.range[0];
  const after = colon === undefined ? key.range[1] : endOf(colon);
  const site = createSite(pair.value, tokensAfter(token.sep ?? [], colon), { after, column, inFlow, is: 'value' });
  return { start, end: findSiteEnd(site), site: colon === undefined ? { ...site, lacksColon: true } : site, key };
}

type ItemContext = { readonly column: number; readonly inFlow: boolean };

function toEntryItem(node: ParsedNode, token: CST.CollectionItem | undefined, { column, inFlow }: ItemContext): SourceItem {
  const tokens = token?.start ?? [];
  const dash = tokens.find(({ type }) => type === 'seq-item-ind');
  const props = findFirst(dash === undefined ? tokens : tokensAfter(tokens, dash), ['anchor', 'tag']);
  const start = dash?.offset ?? props ?? (isMap(node) ? findPairStart(node) : undefined) ?? node.range[0];
  const after = dash === undefined ? start : endOf(dash);
  const site = createSite(node, dash === undefined ? tokens : tokensAfter(tokens, dash), { after, column, inFlow, is: 'entry' });
  return { start, end: findSiteEnd(site), site };
}

/** Returns the offset of a pair that is an entry of a list in brackets. */
function findPairStart(node: YAMLMap.Parsed): number | undefined {
  if (isFlow(node)) return undefined;
  const token = node.items[0]?.srcToken;
  return token === undefined ? undefined : findFirst(token.start, ['explicit-key-ind', 'anchor', 'tag']);
}

function createSite(
  node: ParsedNode | null,
  tokens: readonly CST.SourceToken[],
  place: Pick<ValueSite, 'after' | 'column' | 'inFlow' | 'is'>,
): ValueSite {
  const anchor = tokens.find(({ type }) => type === 'anchor');
  const tag = tokens.find(({ type }) => type === 'tag');
  return {
    node,
    ...place,
    ...(anchor === undefined ? {} : { anchor: toSpan(anchor) }),
    ...(tag === undefined ? {} : { tag: toSpan(tag) }),
  };
}

/** Returns the end of a site's content, without the comments and line breaks after it. */
export function findSiteEnd({ node, after, anchor, tag }: ValueSite): number {
  const end = node === null ? after : findNodeEnd(node, after);
  return Math.max(end, anchor?.end ?? 0, tag?.end ?? 0);
}

function findNodeEnd(node: ParsedNode, after: number): number {
  if (isScalar(node) && node.range[0] === node.range[1]) return after;
  if ((isMap(node) || isSeq(node)) && !isFlow(node)) {
    const parts = listSourceItems(node, () => 0);
    return parts.at(-1)?.end ?? node.range[1];
  }
  return node.range[1];
}

/** Returns whether a map or list is in braces or brackets. */
export function isFlow(node: YAMLMap.Parsed | YAMLSeq.Parsed): boolean {
  return node.srcToken?.type === 'flow-collection';
}

/** Returns whether the value is absent from the text. */
export function isAbsent({ node }: ValueSite): boolean {
  return node === null || (isScalar(node) && node.range[0] === node.range[1]);
}

function tokensAfter(tokens: readonly CST.SourceToken[], token: CST.SourceToken | undefined): readonly CST.SourceToken[] {
  return token === undefined ? tokens : tokens.slice(tokens.indexOf(token) + 1);
}

function findFirst(tokens: readonly CST.SourceToken[], types: readonly string[]): number | undefined {
  return tokens.find(({ type }) => types.includes(type))?.offset;
}

function endOf(token: CST.SourceToken): number {
  return token.offset + token.source.length;
}

function toSpan(token: CST.SourceToken): Span {
  return { start: token.offset, end: endOf(token) };
}

/** Returns whether only blanks precede an item on its line. */
export function isAloneOnLine(text: string, { start }: SourceItem): boolean {
  return text.slice(lineStart(text, start), start).trim() === '';
}

/** Returns the start of the comments directly above a line. */
export function aboveComments(text: string, line: number): number {
  let start = line;
  while (start > 0 && /^[ \t]*#/.test(text.slice(lineStart(text, start - 1), start))) start = lineStart(text, start - 1);
  return start;
}

/** Returns the end of an item's last line, and of the comments directly below it that are indented deeper. */
export function endWithComments(text: string, { start, end }: SourceItem): number {
  const column = displayColumn(text, start);
  let last = text[end - 1] === '\n' ? end : lineEnd(text, end);
  for (;;) {
    const from = text[last - 1] === '\n' ? last : nextLineStart(text, last);
    const line = text.slice(from, lineEnd(text, from));
    const indent = /^ *(?=#)/.exec(line)?.[0].length;
    if (indent === undefined || indent <= column || from <= last - 1) return last;
    last = lineEnd(text, from);
  }
}
