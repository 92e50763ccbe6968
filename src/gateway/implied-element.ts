import type { Json } from '../model/json.ts';

/**
 * Returns a list with an implied element as manifests state it: without the element, and null where it restricts nothing, which is
 * an empty list on the wire.
 */
export function withoutImplied(implied: string, list: Json): Json {
  if (!Array.isArray(list) || list.length === 0) return null;
  return list.filter((element: Json) => element !== implied);
}

/** Returns the same list as it travels: empty for null, and the implied element alone for an empty list. */
export function withImplied(implied: string, list: Json): Json {
  if (!Array.isArray(list)) return [];
  return list.length === 0 ? [implied] : list;
}
