import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { isObject, type Json } from '../model/json.ts';
import { type Pointer, tokensOf } from '../model/pointer.ts';
import { type AllMarks, markStrictly } from './strict-reader.ts';
import { compose } from './yaml-compose.ts';

/** Where a value (and its key) begins, and the places below it. */
export type Place = { readonly key: number; readonly value: number; readonly below: ReadonlyMap<string, Place> };

/** Finds where in the text the value at a document's pointer, or its key, begins. */
export type Locator = (index: number, path: Pointer, part: 'key' | 'value') => number;

/** Prepares to find places in a text; it is read for that when the first place is asked for, and only the places are kept. */
export function locator(text: string): Locator {
  let roots: readonly Place[] | undefined;
  return (index, path, part) => {
    roots ??= markedPlaces(text) ?? placesOf(text);
    let place = roots[index];
    if (place === undefined) return 0;
    for (const token of tokensOf(path)) {
      const next = place.below.get(token);
      if (next === undefined) break;
      place = next;
    }
    return place[part];
  };
}

/** The places of a text that the strict reader is sure of; many times faster than reading it with `yaml` again. */
export function markedPlaces(text: string): readonly Place[] | undefined {
  const read = markStrictly(text);
  if (read === undefined) return undefined;
  const roots: Place[] = [];
  for (const { index, value, start } of read.documents) roots[index] = markedPlace(value, { key: start, value: start }, read.marks);
  return roots;
}

/** What lies below a place is looked up when it is asked for: few places of a text ever are. */
function markedPlace(value: Json, { key, value: start }: Pick<Place, 'key' | 'value'>, marks: AllMarks): Place {
  let below: ReadonlyMap<string, Place> | undefined;
  return {
    key,
    value: start,
    get below() {
      return (below ??= marksBelow(value, marks));
    },
  };
}

function marksBelow(value: Json, marks: AllMarks): ReadonlyMap<string, Place> {
  const own = marks.get(value);
  if (own === undefined) return nowhere;
  const below = new Map<string, Place>();
  const entries = [...own].map(([name, mark]) => {
    const entry = childOf(value, name);
    return { name, entry, place: markedPlace(entry, mark, marks) };
  });
  if (Array.isArray(value)) {
    for (const { entry, place } of entries) {
      const name = isObject(entry) ? entry['name'] : scalarText(entry);
      if (typeof name === 'string' && !below.has(name)) below.set(name, place);
    }
  }
  for (const { name, place } of entries) below.set(name, place);
  return below;
}

const nowhere: ReadonlyMap<string, Place> = new Map();

function scalarText(value: Json): string | undefined {
  return typeof value === 'object' && value !== null ? undefined : String(value);
}

function childOf(value: Json, name: string): Json {
  if (isObject(value)) return value[name] ?? null;
  return Array.isArray(value) ? (value[Number(name)] ?? null) : null;
}

/** The places of any text, as `yaml` finds them. */
export function placesOf(text: string): readonly Place[] {
  const composed = compose(text);
  return 'stopped' in composed ? [] : composed.documents.map((document) => placeOf(document.contents));
}

function placeOf(node: ParsedNode | null, key?: number): Place {
  const start = node?.range[0] ?? 0;
  const isAbsent = node === null || (isScalar(node) && node.range[0] === node.range[1]);
  const value = key !== undefined && isAbsent ? key : start;
  return { key: key ?? value, value, below: placesBelow(node) };
}

function placesBelow(node: ParsedNode | null): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  if (isMap(node)) {
    for (const pair of node.items) if (isScalar(pair.key)) places.set(String(pair.key.value), placeOf(pair.value, pair.key.range[0]));
  } else if (isSeq(node)) {
    const entries = node.items.map((entry) => [nameOf(entry), placeOf(entry)] as const);
    for (const [name, place] of entries) if (name !== undefined && !places.has(name)) places.set(name, place);
    for (const [index, [, place]] of entries.entries()) places.set(String(index), place);
  }
  return places;
}

/** What a list's entry is found by besides its index: its text, or its `name`. */
function nameOf(entry: ParsedNode): string | undefined {
  if (isScalar(entry)) return String(entry.value);
  const name: unknown = isMap(entry) ? entry.get('name') : undefined;
  return typeof name === 'string' ? name : undefined;
}
