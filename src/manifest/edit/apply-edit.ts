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

/** One change of a document, at a JSON Pointer from its root; entries of lists by index, or by their `name` or text. */
export type DocumentEdit =
  /** Puts a value there, making the maps on the way. */
  | ({ readonly edit: 'set'; readonly path: Pointer; readonly value: Json } & Ordered)
  /** Takes a key or an entry away. */
  | { readonly edit: 'remove'; readonly path: Pointer }
  /** Adds an entry to the list there, unless it has an equal one. */
  | ({ readonly edit: 'add'; readonly path: Pointer; readonly value: Json } & Ordered)
  /** Takes the entries that equal the value out of the list there. */
  | { readonly edit: 'drop'; readonly path: Pointer; readonly value: Json }
  /** Gives a key of a map another name. */
  | { readonly edit: 'rename'; readonly path: Pointer; readonly key: string };

/** A new key comes behind those that `order` names before it: the last of the path, or the one after so many tokens. */
type Ordered = { readonly order?: readonly string[]; readonly level?: number };

/** Why an edit cannot be made. */
export type Refusal = { readonly refused: string };

/** The wanted after an edit; the wanted itself where there is nothing to do. */
export function applyEdit(wanted: WantedNode, edit: DocumentEdit, context: EditContext): WantedNode | Refusal {
  return applyEditAt(wanted, tokensOf(edit.path), edit, context);
}

function applyEditAt(wanted: WantedNode, tokens: readonly string[], edit: DocumentEdit, context: EditContext): WantedNode | Refusal {
  const [token, ...rest] = tokens;
  if (token === undefined) return applyEditHere(wanted, edit, context);
  const open = openNode(wanted, context);
  if (open.is === 'map' || open.is === 'list') {
    const result =
      open.is === 'map' ? applyEditToPair(open, [token, ...rest], edit, context) : applyEditToEntry(open, [token, ...rest], edit, context);
    return result === open ? wanted : result;
  }
  if (edit.edit !== 'set' && edit.edit !== 'add') return edit.edit === 'rename' ? noSuchKey(token) : wanted;
  if (wantedValue(open, context) !== null) return { refused: `the value before "${token}" is neither a map nor a list` };
  return applyEditAt(openNode(writeNode({}, open), context), tokens, edit, context);
}

function applyEditHere(wanted: WantedNode, edit: DocumentEdit, context: EditContext): WantedNode | Refusal {
  if (edit.edit === 'set') return replaceNodeValue(wanted, edit.value, context);
  if (edit.edit === 'remove' || edit.edit === 'rename') return { refused: 'the root of a document cannot be taken away' };
  const open = openNode(wanted, context);
  if (open.is === 'list') {
    const isIt = ({ value }: WantedEntry): boolean => equal(wantedValue(value, context), edit.value);
    const has = open.entries.some(isIt);
    if (edit.edit === 'add') return has ? wanted : { ...open, entries: [...open.entries, { value: writeNode(edit.value) }] };
    return has ? { ...open, entries: open.entries.filter((entry) => !isIt(entry)) } : wanted;
  }
  if (open.is === 'map' || wantedValue(open, context) !== null) return { refused: 'the value there is no list' };
  return edit.edit === 'add' ? writeNode([edit.value], wanted) : wanted;
}

type OpenMap = Extract<WantedNode, { readonly is: 'map' }>;
type OpenList = Extract<WantedNode, { readonly is: 'list' }>;

function removePair(map: OpenMap, key: string): WantedNode {
  const pairs = map.pairs.filter((pair) => pair.key !== key);
  return pairs.length === map.pairs.length ? map : { ...map, pairs };
}

function renamePair(map: OpenMap, from: string, key: string): WantedNode | Refusal {
  if (from === key) return map;
  const has = (name: string): boolean => map.pairs.some((pair) => pair.key === name);
  if (!has(from)) return has(key) ? map : noSuchKey(from);
  if (has(key)) return { refused: `there is a key "${key}" already` };
  return { ...map, pairs: map.pairs.map((pair) => (pair.key === from ? { ...pair, key } : pair)) };
}

function applyEditToPair(
  map: OpenMap,
  [key = '', ...rest]: readonly string[],
  edit: DocumentEdit,
  context: EditContext,
): WantedNode | Refusal {
  if (rest.length === 0 && edit.edit === 'remove') return removePair(map, key);
  if (rest.length === 0 && edit.edit === 'rename') return renamePair(map, key, edit.key);
  const pair = map.pairs.find((one) => one.key === key);
  if (pair === undefined) {
    if (edit.edit !== 'set' && edit.edit !== 'add') return edit.edit === 'rename' ? noSuchKey(key) : map;
    const value = applyEditAt(writeNode(null), rest, edit, context);
    if ('refused' in value) return value;
    const depth = tokensOf(edit.path).length;
    const isOrdered = (edit.level ?? depth) === depth - rest.length;
    const before = isOrdered ? findPredecessor(map.pairs, key, edit.order) : map.pairs.at(-1)?.key;
    return { ...map, pairs: insertPair(map.pairs, { key, value }, before) };
  }
  const value = applyEditAt(pair.value, rest, edit, context);
  if ('refused' in value || value === pair.value) return 'refused' in value ? value : map;
  return { ...map, pairs: map.pairs.map((one) => (one === pair ? { ...pair, value } : one)) };
}

/** The last key of those that come before a new one; the last of all where nobody says. */
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
): WantedNode | Refusal {
  const index = findWantedEntry(list.entries, token, context);
  const entry = list.entries[index];
  if (entry === undefined) {
    return edit.edit === 'remove' || edit.edit === 'drop' ? list : { refused: `the list has no entry "${token}"` };
  }
  if (rest.length === 0 && edit.edit === 'remove') return { ...list, entries: list.entries.filter((one) => one !== entry) };
  if (rest.length === 0 && edit.edit === 'rename') return { refused: 'an entry of a list has no key' };
  const value = applyEditAt(entry.value, rest, edit, context);
  if ('refused' in value || value === entry.value) return 'refused' in value ? value : list;
  return { ...list, entries: list.entries.map((one) => (one === entry ? { ...entry, value } : one)) };
}

function findWantedEntry(entries: readonly WantedEntry[], token: string, context: EditContext): number {
  if (/^(?:0|[1-9]\d*)$/.test(token) && Number(token) < entries.length) return Number(token);
  return entries.findIndex(({ value }) => {
    const entry = wantedValue(value, context);
    return entry === token || (isObject(entry) && entry['name'] === token);
  });
}

function noSuchKey(key: string): Refusal {
  return { refused: `there is no key "${key}"` };
}
