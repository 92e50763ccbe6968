import { type CST, type Document, isMap, isScalar, isSeq, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';

type Span = { readonly start: number; readonly end: number };

/** Where a value stands in the text, or would stand where there is none. */
export type Site = {
  readonly node: ParsedNode | null;
  /** Where what the value follows ends: a colon, a dash, or the beginning of the document. */
  readonly after: number;
  readonly anchor?: Span;
  readonly tag?: Span;
  /** The column of the collection that holds it. */
  readonly column: number;
  readonly inFlow: boolean;
  readonly is: 'root' | 'value' | 'entry';
  /** The key stands alone, without a colon. */
  readonly lacksColon?: true;
};

/** One pair of a map, or entry of a list, in the text. */
export type Part = {
  /** From its key, dash or value, with what belongs to that. */
  readonly start: number;
  /** To the end of its value. */
  readonly end: number;
  readonly site: Site;
  readonly key?: ParsedNode;
};

/** The place of a document's root. */
export function rootSite(document: Document.Parsed): Site {
  const { contents, range } = document;
  return { node: contents, after: range[0], column: 0, inFlow: false, is: 'root' };
}

/** The parts of a map or a list that stand in the text, in order. */
export function partsOf(node: YAMLMap.Parsed | YAMLSeq.Parsed, columnOf: (offset: number) => number): readonly Part[] {
  const inFlow = isFlow(node);
  const column = inFlow ? 0 : columnOf(node.range[0]);
  if (isMap(node)) return node.items.flatMap((pair) => pairPart(pair, column, inFlow) ?? []);
  const items = node.srcToken === undefined || !('items' in node.srcToken) ? [] : node.srcToken.items;
  return node.items.map((entry, index) => entryPart(entry, items[index], { column, inFlow }));
}

function pairPart(pair: Pair<ParsedNode, ParsedNode | null>, column: number, inFlow: boolean): Part | undefined {
  const token = pair.srcToken;
  if (token === undefined) return undefined;
  const colon = token.sep?.find(({ type }) => type === 'map-value-ind');
  const key = pair.key;
  const start = firstOf(token.start, ['explicit-key-ind', 'anchor', 'tag']) ?? key.range[0];
  const after = colon === undefined ? key.range[1] : endOf(colon);
  const site = siteOf(pair.value, tokensAfter(token.sep ?? [], colon), { after, column, inFlow, is: 'value' });
  return { start, end: endOfSite(site), site: colon === undefined ? { ...site, lacksColon: true } : site, key };
}

type Around = { readonly column: number; readonly inFlow: boolean };

function entryPart(node: ParsedNode, token: CST.CollectionItem | undefined, { column, inFlow }: Around): Part {
  const tokens = token?.start ?? [];
  const dash = tokens.find(({ type }) => type === 'seq-item-ind');
  const props = firstOf(dash === undefined ? tokens : tokensAfter(tokens, dash), ['anchor', 'tag']);
  const start = dash?.offset ?? props ?? (isMap(node) ? pairStart(node) : undefined) ?? node.range[0];
  const after = dash === undefined ? start : endOf(dash);
  const site = siteOf(node, dash === undefined ? tokens : tokensAfter(tokens, dash), { after, column, inFlow, is: 'entry' });
  return { start, end: endOfSite(site), site };
}

/** Where a pair that is an entry of a list in brackets begins. */
function pairStart(node: YAMLMap.Parsed): number | undefined {
  if (isFlow(node)) return undefined;
  const token = node.items[0]?.srcToken;
  return token === undefined ? undefined : firstOf(token.start, ['explicit-key-ind', 'anchor', 'tag']);
}

function siteOf(
  node: ParsedNode | null,
  tokens: readonly CST.SourceToken[],
  place: Pick<Site, 'after' | 'column' | 'inFlow' | 'is'>,
): Site {
  const anchor = tokens.find(({ type }) => type === 'anchor');
  const tag = tokens.find(({ type }) => type === 'tag');
  return {
    node,
    ...place,
    ...(anchor === undefined ? {} : { anchor: spanOf(anchor) }),
    ...(tag === undefined ? {} : { tag: spanOf(tag) }),
  };
}

/** Where the content of a site ends, without comments and line breaks after it. */
export function endOfSite({ node, after, anchor, tag }: Site): number {
  const end = node === null ? after : endOfNode(node, after);
  return Math.max(end, anchor?.end ?? 0, tag?.end ?? 0);
}

function endOfNode(node: ParsedNode, after: number): number {
  if (isScalar(node) && node.range[0] === node.range[1]) return after;
  if ((isMap(node) || isSeq(node)) && !isFlow(node)) {
    const parts = partsOf(node, () => 0);
    return parts.at(-1)?.end ?? node.range[1];
  }
  return node.range[1];
}

/** Tells whether a map or list stands in braces or brackets. */
export function isFlow(node: YAMLMap.Parsed | YAMLSeq.Parsed): boolean {
  return node.srcToken?.type === 'flow-collection';
}

/** Tells whether nothing stands where the value would. */
export function isVoid({ node }: Site): boolean {
  return node === null || (isScalar(node) && node.range[0] === node.range[1]);
}

function tokensAfter(tokens: readonly CST.SourceToken[], token: CST.SourceToken | undefined): readonly CST.SourceToken[] {
  return token === undefined ? tokens : tokens.slice(tokens.indexOf(token) + 1);
}

function firstOf(tokens: readonly CST.SourceToken[], types: readonly string[]): number | undefined {
  return tokens.find(({ type }) => types.includes(type))?.offset;
}

function endOf(token: CST.SourceToken): number {
  return token.offset + token.source.length;
}

function spanOf(token: CST.SourceToken): Span {
  return { start: token.offset, end: endOf(token) };
}
