import * as fc from 'fast-check';
import type { DocumentEdit } from '../../src/manifest/edit/apply-edit.ts';
import { equal, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { pointer, tokensOf } from '../../src/model/pointer.ts';
import { anyValue } from '../support/yaml-document.ts';

/** What to do with whichever place of a value the numbers choose. */
export type RandomEdit = {
  readonly edit: DocumentEdit['edit'] | 'put';
  readonly where: number;
  readonly key: string;
  readonly value: Json;
};

export const randomEdit: fc.Arbitrary<RandomEdit> = fc.record({
  edit: fc.constantFrom<RandomEdit['edit']>('set', 'set', 'put', 'remove', 'add', 'drop'),
  where: fc.nat(),
  key: fc.constantFrom('new', 'k: v', '123', 'ключ', '-', 'x'.repeat(40)),
  value: anyValue,
});

type Place = { readonly path: string; readonly value: Json; readonly inMap: boolean };

/** All places in a value, the value itself first. */
export function placesOf(value: Json, path = '', inMap = true): readonly Place[] {
  const own = { path, value, inMap };
  if (Array.isArray(value)) return [own, ...value.flatMap((entry: Json, index) => placesOf(entry, path + pointer(String(index)), false))];
  if (!isObject(value)) return [own];
  return [own, ...Object.entries(value).flatMap(([key, one]) => placesOf(one, path + pointer(key)))];
}

/** An edit that makes sense for the value, and what is to come of it. */
export function editOf(
  { edit, where, key, value }: RandomEdit,
  document: JsonObject,
): { readonly edit: DocumentEdit; readonly wished: Json } | undefined {
  const all = placesOf(document).slice(1);
  const pick = (places: readonly Place[]): Place | undefined => places[where % Math.max(1, places.length)];
  const lists = all.filter((place) => Array.isArray(place.value));
  switch (edit) {
    case 'set': {
      const place = pick(all);
      return place && { edit: { edit, path: place.path, value }, wished: put(document, place.path, () => value) };
    }
    case 'put': {
      const place = pick([{ path: '', value: document, inMap: true }, ...all.filter((one) => isObject(one.value))]);
      if (place === undefined) return undefined;
      const path = place.path + pointer(key);
      return { edit: { edit: 'set', path, value }, wished: put(document, path, () => value) };
    }
    case 'remove': {
      const place = pick(all);
      return place && { edit: { edit, path: place.path }, wished: put(document, place.path, () => undefined) };
    }
    case 'add': {
      const place = pick(lists);
      if (place === undefined || !Array.isArray(place.value)) return undefined;
      const list: readonly Json[] = place.value;
      const added = list.some((one) => equal(one, value)) ? list : [...list, value];
      return { edit: { edit, path: place.path, value }, wished: put(document, place.path, () => added) };
    }
    case 'drop': {
      const place = pick(lists.filter((one) => Array.isArray(one.value) && one.value.length > 0));
      if (place === undefined || !Array.isArray(place.value)) return undefined;
      const list: readonly Json[] = place.value;
      const gone = list[where % list.length] ?? null;
      return {
        edit: { edit, path: place.path, value: gone },
        wished: put(document, place.path, () => list.filter((one) => !equal(one, gone))),
      };
    }
  }
}

function put(value: Json, path: string, make: () => Json | undefined): Json {
  const [token = '', ...rest] = tokensOf(path);
  const below = pointer(...rest);
  if (Array.isArray(value)) {
    return value.flatMap((entry: Json, index) => {
      if (String(index) !== token) return [entry];
      const made = rest.length === 0 ? make() : put(entry, below, make);
      return made === undefined ? [] : [made];
    });
  }
  const map = new Map(Object.entries(isObject(value) ? value : {}));
  const made = rest.length === 0 ? make() : put(map.get(token) ?? null, below, make);
  if (made === undefined) map.delete(token);
  else map.set(token, made);
  return Object.fromEntries(map);
}
