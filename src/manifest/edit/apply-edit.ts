import { equal, isObject, type Json } from '../../model/json.ts';
import { tokensOf, type Pointer } from '../../model/pointer.ts';
import { opened, valueOf, withPair, withValue, written, type Draft, type DraftEntry, type DraftPair, type Sheet } from './wanted-node.ts';

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

/** The draft after an edit; the draft itself where there is nothing to do. */
export function changed(draft: Draft, edit: DocumentEdit, sheet: Sheet): Draft | Refusal {
  return changedAt(draft, tokensOf(edit.path), edit, sheet);
}

function changedAt(draft: Draft, tokens: readonly string[], edit: DocumentEdit, sheet: Sheet): Draft | Refusal {
  const [token, ...rest] = tokens;
  if (token === undefined) return changedHere(draft, edit, sheet);
  const open = opened(draft, sheet);
  if (open.is === 'map' || open.is === 'list') {
    const result = open.is === 'map' ? changedPair(open, [token, ...rest], edit, sheet) : changedEntry(open, [token, ...rest], edit, sheet);
    return result === open ? draft : result;
  }
  if (edit.edit !== 'set' && edit.edit !== 'add') return edit.edit === 'rename' ? noSuchKey(token) : draft;
  if (valueOf(open, sheet) !== null) return { refused: `the value before "${token}" is neither a map nor a list` };
  return changedAt(opened(written({}, open), sheet), tokens, edit, sheet);
}

function changedHere(draft: Draft, edit: DocumentEdit, sheet: Sheet): Draft | Refusal {
  if (edit.edit === 'set') return withValue(draft, edit.value, sheet);
  if (edit.edit === 'remove' || edit.edit === 'rename') return { refused: 'the root of a document cannot be taken away' };
  const open = opened(draft, sheet);
  if (open.is === 'list') {
    const isIt = ({ value }: DraftEntry): boolean => equal(valueOf(value, sheet), edit.value);
    const has = open.entries.some(isIt);
    if (edit.edit === 'add') return has ? draft : { ...open, entries: [...open.entries, { value: written(edit.value) }] };
    return has ? { ...open, entries: open.entries.filter((entry) => !isIt(entry)) } : draft;
  }
  if (open.is === 'map' || valueOf(open, sheet) !== null) return { refused: 'the value there is no list' };
  return edit.edit === 'add' ? written([edit.value], draft) : draft;
}

type OpenMap = Extract<Draft, { readonly is: 'map' }>;
type OpenList = Extract<Draft, { readonly is: 'list' }>;

function withoutPair(map: OpenMap, key: string): Draft {
  const pairs = map.pairs.filter((pair) => pair.key !== key);
  return pairs.length === map.pairs.length ? map : { ...map, pairs };
}

function renamed(map: OpenMap, from: string, key: string): Draft | Refusal {
  if (from === key) return map;
  const has = (name: string): boolean => map.pairs.some((pair) => pair.key === name);
  if (!has(from)) return has(key) ? map : noSuchKey(from);
  if (has(key)) return { refused: `there is a key "${key}" already` };
  return { ...map, pairs: map.pairs.map((pair) => (pair.key === from ? { ...pair, key } : pair)) };
}

function changedPair(map: OpenMap, [key = '', ...rest]: readonly string[], edit: DocumentEdit, sheet: Sheet): Draft | Refusal {
  if (rest.length === 0 && edit.edit === 'remove') return withoutPair(map, key);
  if (rest.length === 0 && edit.edit === 'rename') return renamed(map, key, edit.key);
  const pair = map.pairs.find((one) => one.key === key);
  if (pair === undefined) {
    if (edit.edit !== 'set' && edit.edit !== 'add') return edit.edit === 'rename' ? noSuchKey(key) : map;
    const value = changedAt(written(null), rest, edit, sheet);
    if ('refused' in value) return value;
    const depth = tokensOf(edit.path).length;
    const isOrdered = (edit.level ?? depth) === depth - rest.length;
    const before = isOrdered ? predecessor(map.pairs, key, edit.order) : map.pairs.at(-1)?.key;
    return { ...map, pairs: withPair(map.pairs, { key, value }, before) };
  }
  const value = changedAt(pair.value, rest, edit, sheet);
  if ('refused' in value || value === pair.value) return 'refused' in value ? value : map;
  return { ...map, pairs: map.pairs.map((one) => (one === pair ? { ...pair, value } : one)) };
}

/** The last key of those that come before a new one; the last of all where nobody says. */
function predecessor(pairs: readonly DraftPair[], key: string, order: readonly string[] = []): string | undefined {
  const place = order.indexOf(key);
  if (place === -1) return pairs.at(-1)?.key;
  return pairs.findLast((pair) => order.includes(pair.key) && order.indexOf(pair.key) < place)?.key;
}

function changedEntry(list: OpenList, [token = '', ...rest]: readonly string[], edit: DocumentEdit, sheet: Sheet): Draft | Refusal {
  const index = indexOf(list.entries, token, sheet);
  const entry = list.entries[index];
  if (entry === undefined) {
    return edit.edit === 'remove' || edit.edit === 'drop' ? list : { refused: `the list has no entry "${token}"` };
  }
  if (rest.length === 0 && edit.edit === 'remove') return { ...list, entries: list.entries.filter((one) => one !== entry) };
  if (rest.length === 0 && edit.edit === 'rename') return { refused: 'an entry of a list has no key' };
  const value = changedAt(entry.value, rest, edit, sheet);
  if ('refused' in value || value === entry.value) return 'refused' in value ? value : list;
  return { ...list, entries: list.entries.map((one) => (one === entry ? { ...entry, value } : one)) };
}

function indexOf(entries: readonly DraftEntry[], token: string, sheet: Sheet): number {
  if (/^(?:0|[1-9]\d*)$/.test(token) && Number(token) < entries.length) return Number(token);
  return entries.findIndex(({ value }) => {
    const entry = valueOf(value, sheet);
    return entry === token || (isObject(entry) && entry['name'] === token);
  });
}

function noSuchKey(key: string): Refusal {
  return { refused: `there is no key "${key}"` };
}
