import { asArray, asObject, definedFields, equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { type Pointer, tokensOf } from '../../model/pointer.ts';
import { readValueAt } from '../json-values.ts';

/** One edit of a document at a JSON Pointer from its root; list entries by index. */
export type DocumentEdit =
  /** Sets a value and creates the maps above it; `origins` are those of lists in the value. */
  | ({ readonly edit: 'set'; readonly path: Pointer; readonly value: Json; readonly origins?: Origins } & Ordered)
  /** Removes a key or an entry. */
  | { readonly edit: 'remove'; readonly path: Pointer }
  /** Adds an entry to a list that has no equal entry. */
  | ({ readonly edit: 'add'; readonly path: Pointer; readonly value: Json } & Ordered)
  /** Removes the entries that equal the value from a list. */
  | { readonly edit: 'drop'; readonly path: Pointer; readonly value: Json };

/** A new key is inserted after the keys that precede it in `order`. `level` counts the tokens of the path up to that key; the default is all. */
type Ordered = { readonly order?: readonly string[]; readonly level?: number };

/** For each edited list, the index that each entry has in the text, if it has one. */
export type Origins = Map<Json, readonly (number | undefined)[]>;

/** A value after an edit, the same one if nothing changed; or why the edit cannot be made. */
type EditedValue<T> = { readonly value: T } | { readonly reason: string };

/** Applies an edit to the value of a document. */
export function applyEdit(document: Json, edit: DocumentEdit, origins: Origins): EditedValue<Json> {
  const edited = editAt(document, tokensOf(edit.path), edit, origins);
  if ('reason' in edited) return edited;
  const { value } = edited;
  return value === undefined ? { reason: 'the root of a document cannot be taken away' } : { value };
}

function editAt(
  value: Json | undefined,
  [token, ...rest]: readonly string[],
  edit: DocumentEdit,
  origins: Origins,
): EditedValue<Json | undefined> {
  if (token === undefined) return editHere(value, edit, origins);
  const creates = edit.edit === 'set' || edit.edit === 'add';
  if (!Array.isArray(value) && !isObject(value ?? {}))
    return creates ? { reason: `the value before "${token}" is neither a map nor a list` } : { value };
  const part = readValueAt(value, [token]);
  if (Array.isArray(value) && part === undefined) return creates ? { reason: `the list has no entry "${token}"` } : { value };
  const edited = editAt(part, rest, edit, origins);
  if ('reason' in edited) return edited;
  const after = edited.value;
  if (after === part) return { value };
  if (Array.isArray(value)) {
    const entries = listEntries(value, origins).flatMap((entry, index) =>
      index !== Number(token) ? [entry] : after === undefined ? [] : [{ ...entry, value: after }],
    );
    return { value: toList(entries, origins) };
  }
  const map = asObject(value);
  if (after === undefined) return { value: definedFields({ ...map, [token]: after }) };
  const depth = tokensOf(edit.path).length;
  const isOrdered = 'order' in edit && (edit.level ?? depth) === depth - rest.length;
  return { value: part === undefined ? insertKey(map, token, after, isOrdered ? edit.order : []) : { ...map, [token]: after } };
}

type Entry = { readonly value: Json; readonly place: number | undefined };

function listEntries(list: readonly Json[], origins: Origins): readonly Entry[] {
  const places = origins.get(list);
  return list.map((value, index) => ({ value, place: places === undefined ? index : places[index] }));
}

function toList(entries: readonly Entry[], origins: Origins): Json {
  const list = entries.map(({ value }) => value);
  origins.set(
    list,
    entries.map(({ place }) => place),
  );
  return list;
}

/** Inserts a key after the last one that precedes it in `order`, or first; last if the order does not name it. */
export function insertKey(map: JsonObject, key: string, value: Json, order: readonly string[] = []): JsonObject {
  const keys = Object.keys(map);
  const before = order.slice(0, Math.max(0, order.indexOf(key)));
  const index = order.includes(key) ? keys.findLastIndex((one) => before.includes(one)) + 1 : keys.length;
  return Object.fromEntries(Object.entries(map).toSpliced(index, 0, [key, value]));
}

function editHere(value: Json | undefined, edit: DocumentEdit, origins: Origins): EditedValue<Json | undefined> {
  if (edit.edit === 'set') {
    for (const [list, places] of edit.origins ?? []) origins.set(list, places);
    return { value: equal(value, edit.value) ? value : edit.value };
  }
  if (edit.edit === 'remove') return { value: undefined };
  if (!Array.isArray(value) && (value ?? null) !== null) return { reason: 'the value there is no list' };
  const entries = listEntries(asArray(value), origins);
  const others = entries.filter((entry) => !equal(entry.value, edit.value));
  if (others.length < entries.length === (edit.edit === 'add')) return { value };
  return { value: toList(edit.edit === 'add' ? [...entries, { value: edit.value, place: undefined }] : others, origins) };
}
