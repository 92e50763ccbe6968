import { isObject, type Json } from '../../model/json.ts';
import { type Pointer, tokensOf } from '../../model/pointer.ts';

/** One document of a text: its value and the offset at which its content begins. */
export type ParsedDocument = { readonly index: number; readonly value: Json; readonly start: number; readonly incomplete?: true };

/** The offsets at which a value and its key begin; `node` is the value, absent for an alias, whose parts are written elsewhere. */
export type EntryOffsets = { readonly key: number; readonly value: number; readonly node?: Json };

/** The offsets of the entries of each map and list of a text, by key or index. */
export type TextOffsets = Map<Json, Map<string, EntryOffsets>>;

/** Creates the record of a map's or list's entries; returns undefined if no offsets are recorded. */
export function recordEntries(offsets: TextOffsets | undefined, container: Json): Map<string, EntryOffsets> | undefined {
  if (offsets === undefined) return undefined;
  const entries = new Map<string, EntryOffsets>();
  offsets.set(container, entries);
  return entries;
}

/**
 * Returns the offset of the value at a document's pointer, or of its key; if the pointer leads nowhere, of the nearest parent. An entry
 * of a list is found by its index, its text, or its `name`.
 */
export function findOffset(
  { value, start }: ParsedDocument,
  offsets: TextOffsets,
  { path, part }: { readonly path: Pointer; readonly part: 'key' | 'value' },
): number {
  let place: EntryOffsets = { key: start, value: start, node: value };
  for (const token of tokensOf(path)) {
    const next = place.node === undefined ? undefined : findEntry(place.node, offsets, token);
    if (next === undefined) break;
    place = next;
  }
  return place[part];
}

function findEntry(node: Json, offsets: TextOffsets, token: string): EntryOffsets | undefined {
  const entries = offsets.get(node);
  const found = entries?.get(token);
  if (entries === undefined || found !== undefined || !Array.isArray(node) || entries.size > node.length) return found;
  // The names of a list's entries are added on first use; an index counts before a name.
  for (const entry of entries.values()) {
    const name = nameOf(entry.node);
    if (name !== undefined && !entries.has(name)) entries.set(name, entry);
  }
  return entries.get(token);
}

function nameOf(node: Json | undefined): string | undefined {
  if (isObject(node)) return typeof node['name'] === 'string' ? node['name'] : undefined;
  return typeof node === 'object' || node === undefined ? undefined : String(node);
}
