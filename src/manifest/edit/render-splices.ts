import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { scalarText, type Quoting, entryLines, flowPairText, flowText, pairLines, type TextStyle } from '../yaml/write-yaml.ts';
import { inheritanceOf, withHeirs, type Inheritance } from './anchors.ts';
import { blockSplices } from './block-splices.ts';
import { valueOf, type Draft, type DraftEntry, type DraftPair, type Sheet } from './wanted-node.ts';
import { flowSplices } from './flow-splices.ts';
import { type Page, columnOf, lastOf, lineStart, type Splice } from './source-text.ts';
import { cutWord, quotingOf, replaced } from './replace-value.ts';
import { isFlow, partsOf, type Part, type Site } from './value-site.ts';
import { laidOut, styleAmong } from './document-style.ts';

type Ink = { readonly page: Page; readonly sheet: Sheet; readonly style: TextStyle; readonly inheritance: Inheritance };

/** The splices that make the text say what the draft says. */
export function splicesOf(draft: Draft, page: Page, sheet: Sheet, style: TextStyle): readonly Splice[] {
  const inheritance = inheritanceOf(draft, sheet);
  return render(withHeirs(draft, inheritance, sheet), { page, sheet, style, inheritance }, style);
}

/** `near`: the style of the values that stand beside this one. */
function render(draft: Draft, ink: Ink, near: TextStyle): readonly Splice[] {
  if (draft.is === 'kept' || draft.site === undefined) return [];
  const { site } = draft;
  const { node } = site;
  const leaves =
    node !== null && ink.inheritance.bereft.has(node) && site.anchor !== undefined ? [cutWord(ink.page.text, site.anchor)] : [];
  if (draft.is !== 'written' && draft.inPlace && node !== null && (isMap(node) || isSeq(node))) {
    return [...leaves, ...(draft.is === 'map' ? mapSplices(node, draft.pairs, site, ink) : listSplices(node, draft.entries, site, ink))];
  }
  const anchor = draft.is === 'written' ? draft.anchor : undefined;
  const laid = draft.is === 'written' && draft.layout !== undefined ? laidOut(near, draft.layout) : near;
  return [...leaves, ...replaced(ink.page, site, valueOf(draft, ink.sheet), laid, anchor)];
}

type Wished = {
  readonly part?: Part;
  readonly value: Draft;
  readonly lines: (style: TextStyle) => readonly string[];
  readonly flow: (style: TextStyle) => string;
};

function mapSplices(node: ParsedNode, pairs: readonly DraftPair[], site: Site, ink: Ink): readonly Splice[] {
  if (!isMap(node)) return [];
  const parts = partsOf(node, ink.sheet.columnOf);
  const byStart = new Map(parts.map((part) => [part.start, part]));
  const among = styleAmong(
    ink.style,
    node.items.map(({ value }) => value),
    'map',
  );
  const keys: TextStyle = { ...ink.style, keys: keyQuoting(node.items.map(({ key }) => key)) };
  const column = columnOf(ink.page.text, node.range[0]);
  const wished = pairs.map(({ key, value, part }): Wished => ({
    value,
    ...original(byStart, part),
    lines: (style) => pairLines(key, valueOf(value, ink.sheet), column, style),
    flow: (style) => flowPairText(key, valueOf(value, ink.sheet), style),
  }));
  const names = pairs.flatMap(({ key, part }) => (part?.key === undefined ? [] : renamed(part.key, key, isFlow(node), keys)));
  return [...names, ...collectionSplices(node, parts, wished, { site, ink, among: { ...among, keys: keys.keys } })];
}

function listSplices(node: ParsedNode, entries: readonly DraftEntry[], site: Site, ink: Ink): readonly Splice[] {
  if (!isSeq(node)) return [];
  const parts = partsOf(node, ink.sheet.columnOf);
  const byStart = new Map(parts.map((part) => [part.start, part]));
  const among = styleAmong(ink.style, node.items, 'list');
  const column = columnOf(ink.page.text, node.range[0]);
  const gap = gapOf(ink.page.text, parts);
  const wished = entries.map(({ value, part }): Wished => ({
    value,
    ...original(byStart, part),
    lines: (style) => entryLines(valueOf(value, ink.sheet), column, gap, style),
    flow: (style) => flowText(valueOf(value, ink.sheet), style),
  }));
  return collectionSplices(node, parts, wished, { site, ink, among });
}

/** The part among those of this reading. */
function original(parts: ReadonlyMap<number, Part>, part: Part | undefined): { readonly part?: Part } {
  const found = part === undefined ? undefined : parts.get(part.start);
  return found === undefined ? {} : { part: found };
}

/** Columns from a dash to what follows it. */
function gapOf(text: string, parts: readonly Part[]): number {
  const part = parts.findLast(({ site }) => site.node !== null && lineStart(text, site.node.range[0]) <= site.after);
  const blanks = part === undefined ? 1 : (/^ +/.exec(text.slice(part.site.after))?.[0].length ?? 1);
  return blanks + 1;
}

type Around = { readonly site: Site; readonly ink: Ink; readonly among: TextStyle };

function collectionSplices(
  node: ParsedNode,
  parts: readonly Part[],
  wished: readonly Wished[],
  { site, ink, among }: Around,
): readonly Splice[] {
  const kept = new Set(wished.flatMap(({ part }) => part ?? []));
  const inner = wished.flatMap(({ part, value }) => (part === undefined ? [] : render(value, ink, among)));
  const additions = additionsOf(wished);
  if ((isMap(node) || isSeq(node)) && isFlow(node)) {
    const texts = additions.map(({ behind, news }) => ({ behind, texts: news.map(({ flow }) => flow(among)) }));
    const padding = isMap(node) ? among.padding : among.listPadding;
    return [...inner, ...flowSplices(ink.page, node, parts, { kept, additions: texts, padding })];
  }
  if (wished.length === 0) return emptied(parts, isMap(node) ? '{}' : '[]', site, ink);
  const lines = additions.map(({ behind, news }) => ({ behind, lines: news.flatMap((one) => one.lines(among)) }));
  return [...inner, ...blockSplices(ink.page, parts, { kept, additions: lines })];
}

type News = { readonly behind: Part | undefined; readonly news: readonly Wished[] };

/** What is new, by the part behind which it comes. */
function additionsOf(wished: readonly Wished[]): readonly News[] {
  const groups: { behind: Part | undefined; news: Wished[] }[] = [];
  let behind: Part | undefined;
  for (const one of wished) {
    if (one.part !== undefined) behind = one.part;
    else if (groups.at(-1)?.behind === behind && groups.length > 0) groups.at(-1)?.news.push(one);
    else groups.push({ behind, news: [one] });
  }
  return groups;
}

/** A map or list on lines of its own that loses all its parts; comments between them stay. */
function emptied(parts: readonly Part[], text: string, site: Site, { page }: Ink): readonly Splice[] {
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return [];
  const after = Math.max(site.after, site.anchor?.end ?? 0, site.tag?.end ?? 0);
  const isBelow = lineStart(page.text, first.start) > after;
  if (site.is === 'root' || !isBelow) return [{ start: first.start, end: lastOf(page.text, last.end), text }];
  return [{ start: after, end: after, text: ` ${text}` }, ...blockSplices(page, parts, { kept: new Set(), additions: [] })];
}

function renamed(node: ParsedNode, key: string, inFlow: boolean, style: TextStyle): readonly Splice[] {
  if (!isScalar(node) || node.value === key) return [];
  const quoting = quotingOf(node);
  return [{ start: node.range[0], end: node.range[1], text: scalarText(key, { inFlow, quoting, quote: style.quote }) }];
}

/** Keys are quoted where all the others are. */
function keyQuoting(keys: readonly ParsedNode[]): Quoting {
  const [first] = keys.map(quotingOf);
  return first !== undefined && keys.every((key) => quotingOf(key) === first) ? first : 'plain';
}
