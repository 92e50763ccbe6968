import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { equal, isObject, type Json } from '../../model/json.ts';
import { tokensOf, type Pointer } from '../../model/pointer.ts';
import {
  openNode,
  wantedValue,
  insertPair,
  replaceNodeValue,
  writeNode,
  type WantedNode,
  type WantedEntry,
  type WantedPair,
  type EditContext,
} from './wanted-node.ts';

/** One edit of a document at a JSON Pointer from its root; list entries by index, `name` or text. */
export type DocumentEdit =
  /** Sets a value and creates the maps above it. */
  | ({ readonly edit: 'set'; readonly path: Pointer; readonly value: Json } & Ordered)
  /** Removes a key or an entry. */
  | { readonly edit: 'remove'; readonly path: Pointer }
  /** Adds an entry to a list that has no equal entry. */
  | ({ readonly edit: 'add'; readonly path: Pointer; readonly value: Json } & Ordered)
  /** Removes the entries that equal the value from a list. */
  | { readonly edit: 'drop'; readonly path: Pointer; readonly value: Json }
  /** Renames a key of a map. */
  | { readonly edit: 'rename'; readonly path: Pointer; readonly key: string };

/** A new key is inserted after the keys that precede it in `order`. `level` counts the tokens of the path up to that key; the default is all. */
type Ordered = { readonly order?: readonly string[]; readonly level?: number };

/** Creates the diagnostic of an edit that cannot be made; it has no position yet. */
export function unsafeEdit({ path }: DocumentEdit, reason: string): DocumentDiagnostic {
  const place = path === '' ? 'the document' : path;
  return {
    code: 'edit/unsafe',
    severity: 'error',
    message: `${place} is not edited: ${reason}`,
    hint: 'edit the file',
    pointer: path,
    part: 'key',
  };
}

/** Applies an edit; returns the same node if it changes nothing. */
export function applyEdit(wanted: WantedNode, edit: DocumentEdit, context: EditContext): WantedNode | DocumentDiagnostic {
  return applyEditAt(wanted, tokensOf(edit.path), edit, context);
}

function applyEditAt(
  wanted: WantedNode,
  tokens: readonly string[],
  edit: DocumentEdit,
  context: EditContext,
): WantedNode | DocumentDiagnostic {
  const [token, ...rest] = tokens;
  if (token === undefined) return applyEditHere(wanted, edit, context);
  const open = openNode(wanted, context);
  if (open.is === 'map' || open.is === 'list') {
    const result =
      open.is === 'map' ? applyEditToPair(open, [token, ...rest], edit, context) : applyEditToEntry(open, [token, ...rest], edit, context);
    return result === open ? wanted : result;
  }
  if (edit.edit !== 'set' && edit.edit !== 'add') return edit.edit === 'rename' ? noSuchKey(edit, token) : wanted;
  if (wantedValue(open, context) !== null) return unsafeEdit(edit, `the value before "${token}" is neither a map nor a list`);
  return applyEditAt(openNode(writeNode({}, open), context), tokens, edit, context);
}

function applyEditHere(wanted: WantedNode, edit: DocumentEdit, context: EditContext): WantedNode | DocumentDiagnostic {
  if (edit.edit === 'set') return replaceNodeValue(wanted, edit.value, context);
  if (edit.edit === 'remove' || edit.edit === 'rename') return unsafeEdit(edit, 'the root of a document cannot be taken away');
  const open = openNode(wanted, context);
  if (open.is === 'list') {
    const isIt = ({ value }: WantedEntry): boolean => equal(wantedValue(value, context), edit.value);
    const has = open.entries.some(isIt);
    if (edit.edit === 'add') return has ? wanted : { ...open, entries: [...open.entries, { value: writeNode(edit.value) }] };
    return has ? { ...open, entries: open.entries.filter((entry) => !isIt(entry)) } : wanted;
  }
  if (open.is === 'map' || wantedValue(open, context) !== null) return unsafeEdit(edit, 'the value there is no list');
  return edit.edit === 'add' ? writeNode([edit.value], wanted) : wanted;
}

type OpenMap = Extract<WantedNode, { readonly is: 'map' }>;
type OpenList = Extract<WantedNode, { readonly is: 'list' }>;

function removePair(map: OpenMap, key: string): WantedNode {
  const pairs = map.pairs.filter((pair) => pair.key !== key);
  return pairs.length === map.pairs.length ? map : { ...map, pairs };
}

function renamePair(map: OpenMap, from: string, edit: Extract<DocumentEdit, { readonly edit: 'rename' }>): WantedNode | DocumentDiagnostic {
  const { key } = edit;
  if (from === key) return map;
  const has = (name: string): boolean => map.pairs.some((pair) => pair.key === name);
  if (!has(from)) return has(key) ? map : noSuchKey(edit, from);
  if (has(key)) return unsafeEdit(edit, `there is a key "${key}" already`);
  return { ...map, pairs: map.pairs.map((pair) => (pair.key === from ? { ...pair, key } : pair)) };
}

function applyEditToPair(
  map: OpenMap,
  [key = '', ...rest]: readonly string[],
  edit: DocumentEdit,
  context: EditContext,
): WantedNode | DocumentDiagnostic {
  if (rest.length === 0 && edit.edit === 'remove') return removePair(map, key);
  if (rest.length === 0 && edit.edit === 'rename') return renamePair(map, key, edit);
  const pair = map.pairs.find((one) => one.key === key);
  if (pair === undefined) {
    if (edit.edit !== 'set' && edit.edit !== 'add') return edit.edit === 'rename' ? noSuchKey(edit, key) : map;
    const value = applyEditAt(writeNode(null), rest, edit, context);
    if ('code' in value) return value;
    const depth = tokensOf(edit.path).length;
    const isOrdered = (edit.level ?? depth) === depth - rest.length;
    const before = isOrdered ? findPredecessor(map.pairs, key, edit.order) : map.pairs.at(-1)?.key;
    return { ...map, pairs: insertPair(map.pairs, { key, value }, before) };
  }
  const value = applyEditAt(pair.value, rest, edit, context);
  if ('code' in value || value === pair.value) return 'code' in value ? value : map;
  return { ...map, pairs: map.pairs.map((one) => (one === pair ? { ...pair, value } : one)) };
}

/** Returns the last existing key that precedes a new one in `order`; without an order, the last key. */
function findPredecessor(pairs: readonly WantedPair[], key: string, order: readonly string[] = []): string | undefined {
  const place = order.indexOf(key);
  if (place === -1) return pairs.at(-1)?.key;
  return pairs.findLast((pair) => order.includes(pair.key) && order.indexOf(pair.key) < place)?.key;
}

function applyEditToEntry(
  list: OpenList,
  [token = '', ...rest]: readonly string[],
  edit: DocumentEdit,
  context: EditContext,
): WantedNode | DocumentDiagnostic {
  const index = findWantedEntry(list.entries, token, context);
  const entry = list.entries[index];
  if (entry === undefined) {
    return edit.edit === 'remove' || edit.edit === 'drop' ? list : unsafeEdit(edit, `the list has no entry "${token}"`);
  }
  if (rest.length === 0 && edit.edit === 'remove') return { ...list, entries: list.entries.filter((one) => one !== entry) };
  if (rest.length === 0 && edit.edit === 'rename') return unsafeEdit(edit, 'an entry of a list has no key');
  const value = applyEditAt(entry.value, rest, edit, context);
  if ('code' in value || value === entry.value) return 'code' in value ? value : list;
  return { ...list, entries: list.entries.map((one) => (one === entry ? { ...entry, value } : one)) };
}

function findWantedEntry(entries: readonly WantedEntry[], token: string, context: EditContext): number {
  if (/^(?:0|[1-9]\d*)$/.test(token) && Number(token) < entries.length) return Number(token);
  return entries.findIndex(({ value }) => {
    const entry = wantedValue(value, context);
    return entry === token || (isObject(entry) && entry['name'] === token);
  });
}

function noSuchKey(edit: DocumentEdit, key: string): DocumentDiagnostic {
  return unsafeEdit(edit, `there is no key "${key}"`);
}
