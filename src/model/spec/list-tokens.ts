import type { FieldRule } from '../field.ts';
import { canonical, isObject, type Json } from '../json.ts';

/** The rule of a field that is a keyed list. */
export type KeyedRule = Extract<FieldRule, { readonly shape: 'keyed' }>;

/** Returns the pointer token of a set element: the text itself, or canonical JSON for other values. */
export function elementToken(element: Json): string {
  return typeof element === 'string' ? element : canonical(element);
}

/**
 * Indexes the entries of a keyed list by unique pointer tokens: the key, or the canonical JSON of the known fields when the
 * entry has no key or an earlier entry has the same key.
 */
export function entriesByToken(rule: KeyedRule, entries: readonly Json[]): ReadonlyMap<string, Json> {
  const result = new Map<string, Json>();
  for (const entry of entries) {
    const key = isObject(entry) ? entry[rule.key] : undefined;
    let token = typeof key === 'string' && key !== '' && !result.has(key) ? key : contentToken(rule, entry);
    while (result.has(token)) token = `${token}+`;
    result.set(token, entry);
  }
  return result;
}

function contentToken(rule: KeyedRule, entry: Json): string {
  if (!isObject(entry)) return canonical(entry);
  const known = rule.fields.map((field) => [field.name, entry[field.name] ?? field.empty] as const);
  return canonical(Object.fromEntries(known));
}
