import type { FieldRule } from './field.ts';
import { canonical, isObject, type Json } from './json.ts';

type KeyedRule = Extract<FieldRule, { readonly shape: 'keyed' }>;

/** The pointer token of a set's element: its text, or its canonical JSON where it is none. */
export function elementToken(element: Json): string {
  return typeof element === 'string' ? element : canonical(element);
}

/**
 * The pointer tokens of a keyed list's entries, one each and all different: the key, or the canonical JSON of what we
 * know of the entry where it has no key or another entry had it first.
 */
export function entryTokens(rule: KeyedRule, entries: readonly Json[]): readonly string[] {
  const taken = new Set<string>();
  return entries.map((entry) => {
    const key = isObject(entry) ? entry[rule.key] : undefined;
    let token = typeof key === 'string' && key !== '' && !taken.has(key) ? key : contentToken(rule, entry);
    while (taken.has(token)) token = `${token}+`;
    taken.add(token);
    return token;
  });
}

function contentToken(rule: KeyedRule, entry: Json): string {
  if (!isObject(entry)) return canonical(entry);
  const known = rule.fields.map((field) => [field.name, entry[field.name] ?? field.empty] as const);
  return canonical(Object.fromEntries(known));
}
