import { isAlias, isMap, isSeq, type Alias, type Document, isScalar, type ParsedNode } from 'yaml';
import { equal, isObject, type Json } from '../../model/json.ts';
import { textOf } from '../wording.ts';
import { isFlow, partsOf, type Part, type Site } from './value-site.ts';

/** A value as it is to be: as it stands, written anew (with an anchor that is defined there from now on), or a map or list of drafts. */
export type Draft =
  | { readonly is: 'kept'; readonly site: Site }
  | { readonly is: 'written'; readonly value: Json; readonly site?: Site; readonly anchor?: string; readonly layout?: 'flow' | 'block' }
  | (DraftMap & { readonly site?: Site })
  | (DraftList & { readonly site?: Site });

/** `inPlace`: the parts that stand in the text are edited there; else the whole is written anew. */
export type DraftMap = { readonly is: 'map'; readonly inPlace: boolean; readonly pairs: readonly DraftPair[] };
export type DraftList = { readonly is: 'list'; readonly inPlace: boolean; readonly entries: readonly DraftEntry[] };
export type DraftPair = { readonly key: string; readonly value: Draft; readonly part?: Part };
export type DraftEntry = { readonly value: Draft; readonly part?: Part };

/** What opening drafts needs to know of the document. */
export type Sheet = { readonly nodes: Nodes; readonly columnOf: (offset: number) => number };

/** The value that a draft has. */
export function valueOf(draft: Draft, sheet: Sheet): Json {
  switch (draft.is) {
    case 'kept':
      return sheet.nodes.valueOf(draft.site.node);
    case 'written':
      return draft.value;
    case 'map':
      return Object.fromEntries(draft.pairs.map(({ key, value }) => [key, valueOf(value, sheet)]));
    case 'list':
      return draft.entries.map(({ value }) => valueOf(value, sheet));
  }
}

/** The draft with its parts, where it is a map or a list; what an alias stands for is written anew. */
export function opened(draft: Draft, sheet: Sheet): Draft {
  if (draft.is === 'map' || draft.is === 'list') return draft;
  if (draft.is === 'written') return openedValue(draft.value, draft.site);
  const { site } = draft;
  const { node } = site;
  if (isAlias(node) || isHollow(site)) return openedValue(sheet.nodes.valueOf(node), site);
  if (isMap(node)) {
    if (site.inFlow && !isFlow(node)) return openedValue(sheet.nodes.valueOf(node), site);
    const parts = partsOf(node, sheet.columnOf);
    const pairs = parts.map((part) => ({ key: textOf(sheet.nodes.valueOf(part.key ?? null)), value: kept(part.site), part }));
    return { is: 'map', inPlace: true, site, pairs };
  }
  if (!isSeq(node)) return draft;
  const entries = partsOf(node, sheet.columnOf).map((part) => ({ value: kept(part.site), part }));
  return { is: 'list', inPlace: true, site, entries };
}

/** A map or list without anything in it, which may be written in lines once there is something. */
function isHollow({ node, inFlow, is }: Site): boolean {
  return (isMap(node) || isSeq(node)) && node.items.length === 0 && !inFlow && is !== 'root';
}

function openedValue(value: Json, site: Site | undefined): Draft {
  const at = placed(site);
  if (Array.isArray(value)) return { is: 'list', inPlace: false, ...at, entries: value.map((entry: Json) => ({ value: written(entry) })) };
  if (!isObject(value)) return { is: 'written', value, ...at };
  return { is: 'map', inPlace: false, ...at, pairs: Object.entries(value).map(([key, one]) => ({ key, value: written(one) })) };
}

function placed(site: Site | undefined): { readonly site?: Site } {
  return site === undefined ? {} : { site };
}

function kept(site: Site): Draft {
  return { is: 'kept', site };
}

/** A value that is written anew, in the place of the draft where that has one. */
export function written(value: Json, instead?: Draft): Draft {
  return { is: 'written', value, ...placed(instead?.site) };
}

/** The draft with another value, as much of it left as it stands as can be. */
export function withValue(draft: Draft, value: Json, sheet: Sheet): Draft {
  if (equal(valueOf(draft, sheet), value)) return draft;
  const open = opened(draft, sheet);
  if (open.is === 'map' && isObject(value)) return { ...open, pairs: matchedPairs(open.pairs, value, sheet) };
  if (open.is === 'list' && Array.isArray(value)) return { ...open, entries: matchedEntries(open.entries, value, sheet) };
  return written(value, draft);
}

function matchedPairs(pairs: readonly DraftPair[], value: { readonly [key: string]: Json }, sheet: Sheet): readonly DraftPair[] {
  let result = pairs.flatMap((pair) => {
    const wished = Object.hasOwn(value, pair.key) ? value[pair.key] : undefined;
    return wished === undefined ? [] : [{ ...pair, value: withValue(pair.value, wished, sheet) }];
  });
  const known = new Set(pairs.map(({ key }) => key));
  let before: string | undefined;
  for (const [key, one] of Object.entries(value)) {
    if (!known.has(key)) result = withPair(result, { key, value: written(one) }, before);
    before = key;
  }
  return result;
}

/** Puts a pair behind the one of a key, first where there is none. */
export function withPair(pairs: readonly DraftPair[], pair: DraftPair, before: string | undefined): DraftPair[] {
  const index = pairs.findIndex(({ key }) => key === before) + 1;
  return [...pairs.slice(0, index), pair, ...pairs.slice(index)];
}

/** Lists longer than this are compared from their ends only. */
const longestCompared = 500;

/** Equal entries stay; between them, entries of one name stay with other content, then whatever stands at the same place. */
function matchedEntries(entries: readonly DraftEntry[], values: readonly Json[], sheet: Sheet): readonly DraftEntry[] {
  const had = entries.map(({ value }) => valueOf(value, sheet));
  const pairs = [...commonPairs(had, values), [had.length, values.length] as const];
  const result: DraftEntry[] = [];
  let [left, right] = [0, 0];
  for (const [at, wishedAt] of pairs) {
    result.push(...matchedGap(entries.slice(left, at), values.slice(right, wishedAt), sheet));
    const same = entries[at];
    if (same !== undefined) result.push(same);
    [left, right] = [at + 1, wishedAt + 1];
  }
  return result;
}

function matchedGap(entries: readonly DraftEntry[], values: readonly Json[], sheet: Sheet): readonly DraftEntry[] {
  const isSameSize = entries.length === values.length;
  let next = 0;
  return values.map((value, index): DraftEntry => {
    const name = nameOf(value);
    const found = entries.findIndex((entry, at) => {
      if (at < next) return false;
      const had = valueOf(entry.value, sheet);
      return name !== undefined ? nameOf(had) === name : isSameSize && at === index && nameOf(had) === undefined && isAlike(had, value);
    });
    const entry = entries[found];
    if (entry === undefined) return { value: written(value) };
    next = found + 1;
    return { ...entry, value: withValue(entry.value, value, sheet) };
  });
}

function nameOf(value: Json): string | undefined {
  const name = isObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function isAlike(left: Json, right: Json): boolean {
  return isObject(left) === isObject(right) && Array.isArray(left) === Array.isArray(right);
}

/** A longest common subsequence, as pairs of indexes. */
function commonPairs(left: readonly Json[], right: readonly Json[]): readonly (readonly [number, number])[] {
  let start = 0;
  while (start < left.length && start < right.length && equal(left[start], right[start])) start += 1;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && equal(left[left.length - 1 - end], right[right.length - 1 - end])) end += 1;
  const head = Array.from({ length: start }, (_, index) => [index, index] as const);
  const tail = Array.from({ length: end }, (_, index) => [left.length - end + index, right.length - end + index] as const);
  const [rows, columns] = [left.length - start - end, right.length - start - end];
  if (rows * columns > longestCompared * longestCompared) return [...head, ...tail];
  return [...head, ...middlePairs(left, right, { start, rows, columns }), ...tail];
}

type Middle = { readonly start: number; readonly rows: number; readonly columns: number };

function middlePairs(left: readonly Json[], right: readonly Json[], { start, rows, columns }: Middle): (readonly [number, number])[] {
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

/** What the nodes of a document stand for, aliases included. */
export type Nodes = {
  readonly valueOf: (node: ParsedNode | null) => Json;
  /** The aliases in their order, and what each refers to. */
  readonly targets: ReadonlyMap<Alias.Parsed, ParsedNode>;
};

/** Works out the values of all nodes of a document that can be read. */
export function nodesOf(document: Document.Parsed): Nodes {
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
      const pairs = node.items.map((pair) => [textOf(read(pair.key)), read(pair.value)] as const);
      return Object.fromEntries(pairs);
    }
    return isScalar(node) ? scalarOf(node.value) : null;
  };
  read(document.contents);
  return { valueOf: (node) => (node === null ? null : (values.get(node) ?? null)), targets };
}

function scalarOf(value: unknown): Json {
  if (typeof value === 'number') return value === 0 ? 0 : value;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
