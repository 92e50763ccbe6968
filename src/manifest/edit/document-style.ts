import { type Document, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';
import { defaultStyle, type YamlStyle } from '../yaml/write-yaml.ts';
import { isFlow } from './value-site.ts';

/** Detects the style of a document, with defaults for what it does not show. */
export function detectStyle(document: Document.Parsed, text: string, columnOf: (offset: number) => number): YamlStyle {
  const seen = observeNodes(document.contents, columnOf);
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
