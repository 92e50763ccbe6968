import { isMap, isSeq, type ParsedNode } from 'yaml';
import { type Quoting, writeEntry, writeFlowPair, writeFlow, writePair, type YamlStyle } from '../yaml/write-yaml.ts';
import { wantedValue, type WantedNode, type WantedEntry, type WantedPair, type EditContext } from './wanted-node.ts';
import { createFlowSplices } from './flow-splices.ts';
import {
  type SourceText,
  displayColumn,
  lastOffset,
  lineStart,
  type Splice,
  lineBreakBefore,
  lineEnd,
  nextLineStart,
  detectStyleAmong,
  isFlow,
  listSourceItems,
  type SourceItem,
  type ValueSite,
} from './source-text.ts';
import { detectQuoting, replaceValue } from './replace-value.ts';

type RenderContext = { readonly source: SourceText; readonly context: EditContext; readonly style: YamlStyle };

/** Creates the splices after which the text has the wanted values. */
export function renderSplices(wanted: WantedNode, source: SourceText, context: EditContext, style: YamlStyle): readonly Splice[] {
  return render(wanted, { source, context, style }, style);
}

/** Renders one node; `near` is the style of the values beside it. */
function render(wanted: WantedNode, context: RenderContext, near: YamlStyle): readonly Splice[] {
  if (wanted.is === 'kept' || wanted.site === undefined) return [];
  const { site } = wanted;
  const { node } = site;
  if (wanted.is !== 'written' && wanted.inPlace && node !== null && (isMap(node) || isSeq(node)))
    return wanted.is === 'map' ? mapSplices(node, wanted.pairs, site, context) : listSplices(node, wanted.entries, site, context);
  return replaceValue(context.source, site, wantedValue(wanted, context.context), near);
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
  const column = displayColumn(context.source.text, node.range[0]);
  const wanted = pairs.map(({ key, value, part }): WantedItem => ({
    value,
    ...findOriginal(byStart, part),
    lines: (style) => writePair(key, wantedValue(value, context.context), column, style),
    flow: (style) => writeFlowPair(key, wantedValue(value, context.context), style),
  }));
  return collectionSplices(node, parts, wanted, {
    site,
    context,
    among: { ...among, keys: detectKeyQuoting(node.items.map(({ key }) => key)) },
  });
}

function listSplices(node: ParsedNode, entries: readonly WantedEntry[], site: ValueSite, context: RenderContext): readonly Splice[] {
  if (!isSeq(node)) return [];
  const parts = listSourceItems(node, context.context.columnOf);
  const byStart = new Map(parts.map((part) => [part.start, part]));
  const among = detectStyleAmong(context.style, node.items, 'list');
  const column = displayColumn(context.source.text, node.range[0]);
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
    const texts = additions.map(({ behind, items }) => ({ behind, texts: items.map(({ flow }) => flow(among)) }));
    const padding = isMap(node) ? among.padding : among.listPadding;
    return [...inner, ...createFlowSplices(context.source, node, parts, { kept, additions: texts, padding })];
  }
  if (wanted.length === 0) return emptyCollection(parts, isMap(node) ? '{}' : '[]', site, context);
  const lines = additions.map(({ behind, items }) => ({ behind, lines: items.flatMap((one) => one.lines(among)) }));
  return [...inner, ...createBlockSplices(context.source, parts, { kept, additions: lines })];
}

type AddedItems = { readonly behind: SourceItem | undefined; readonly items: readonly WantedItem[] };

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

/** Returns the quotes that all keys of a map share, else none. */
function detectKeyQuoting(keys: readonly ParsedNode[]): Quoting {
  const [first] = keys.map(detectQuoting);
  return first !== undefined && keys.every((key) => detectQuoting(key) === first) ? first : 'plain';
}

/** The lines of new items, and the item that precedes them, if any. */
type BlockAddition = { readonly behind: SourceItem | undefined; readonly lines: readonly string[] };

type WantedBlock = { readonly kept: ReadonlySet<SourceItem>; readonly additions: readonly BlockAddition[] };

/** Removes items from a block map or list and adds lines; at least one item stays or is added. */
function createBlockSplices(source: SourceText, parts: readonly SourceItem[], { kept, additions }: WantedBlock): readonly Splice[] {
  const [first] = parts;
  if (first === undefined) return [];
  const isCompact = !isAloneOnLine(source.text, first);
  const gone = parts.filter((part) => !kept.has(part));
  const front = additions.filter(({ behind }) => behind === undefined).flatMap(({ lines }) => lines);
  const rest = additions.filter(({ behind }) => behind !== undefined);
  const added = rest.flatMap(({ behind, lines }) => (behind === undefined ? [] : [addedBehind(source, behind, lines)]));
  if (!isCompact) return [...frontSplice(source, first, kept.has(first), front), ...gone.map((part) => cutLines(source, part)), ...added];
  const others = gone.filter((part) => part !== first);
  if (kept.has(first)) return [...compactFront(source, first, front), ...others.map((part) => cutLines(source, part)), ...added];
  const next = parts.find((part) => kept.has(part));
  return [...compactReplaced(source, parts, next, front), ...added];
}

/** Returns whether only blanks precede an item on its line. */
export function isAloneOnLine(text: string, { start }: SourceItem): boolean {
  return text.slice(lineStart(text, start), start).trim() === '';
}

/** Inserts lines before the first item: above its comments if it stays, else in its place. */
function frontSplice({ text }: SourceText, first: SourceItem, stays: boolean, lines: readonly string[]): readonly Splice[] {
  if (lines.length === 0) return [];
  const start = stays ? aboveComments(text, lineStart(text, first.start)) : lineStart(text, first.start);
  return [{ start, end: start, text: lines.map((line) => `${line}\n`).join('') }];
}

/** Returns the start of the comments directly above a line. */
export function aboveComments(text: string, line: number): number {
  let start = line;
  while (start > 0 && /^[ \t]*#/.test(text.slice(lineStart(text, start - 1), start))) start = lineStart(text, start - 1);
  return start;
}

/** Inserts lines before a first item that shares its line with a dash. */
function compactFront({ text }: SourceText, first: SourceItem, lines: readonly string[]): readonly Splice[] {
  if (lines.length === 0) return [];
  const pad = ' '.repeat(displayColumn(text, first.start));
  return [{ start: first.start, end: first.start, text: `${lines.join('\n').trimStart()}\n${pad}` }];
}

/** Replaces a first item that shares its line with a dash: by the next items, or by new lines. */
function compactReplaced(
  source: SourceText,
  parts: readonly SourceItem[],
  next: SourceItem | undefined,
  lines: readonly string[],
): readonly Splice[] {
  const { text } = source;
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return [];
  if (next === undefined) return [{ start: first.start, end: lastOffset(text, last.end), text: lines.join('\n').trimStart() }];
  const pad = ' '.repeat(displayColumn(text, first.start));
  const put = lines.length === 0 ? '' : `${lines.join('\n').trimStart()}\n${pad}`;
  const between = text.slice(parts[parts.indexOf(next) - 1]?.end ?? first.end, next.start);
  const later = parts.slice(parts.indexOf(next) + 1);
  if (!/#|\n[ \t]*\n/.test(between) || lines.length > 0) return [{ start: first.start, end: next.start, text: put }];
  const blanks = /[ \t]*$/.exec(text.slice(0, first.start))?.[0].length ?? 0;
  const others = parts.slice(1, parts.indexOf(next));
  return [
    { start: first.start - blanks, end: lineEnd(text, lastOffset(text, first.end)), text: '' },
    ...[...others, ...later].flatMap((part) => (others.includes(part) ? [cutLines(source, part)] : [])),
  ];
}

/** Inserts lines after an item and its comments. */
function addedBehind({ text }: SourceText, part: SourceItem, lines: readonly string[]): Splice {
  const end = endWithComments(text, part);
  if (text[end - 1] === '\n') return { start: end, end, text: lines.map((line) => `${line}\n`).join('') };
  return { start: end, end, text: lines.map((line) => `\n${line}`).join('') };
}

/** Cuts the lines of an item; at the end of the text also the line break before them. */
function cutLines({ text }: SourceText, part: SourceItem): Splice {
  const start = lineStart(text, part.start);
  const last = endWithComments(text, part);
  const end = text[last - 1] === '\n' ? last : nextLineStart(text, last);
  const isLast = end === text.length && text[end - 1] !== '\n';
  return { start: isLast ? lineBreakBefore(text, start) : start, end, text: '' };
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
