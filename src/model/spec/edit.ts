import { addToGroup, memoizeByObject } from '../collections.ts';
import type { FieldRule, Kind } from '../kind.ts';
import { isObject, type Json, type JsonObject, canonical } from '../json.ts';
import { normalizeValue } from './normalize.ts';
import { tokensOf, type Pointer } from '../pointer.ts';
import type { Change } from '../plan/plan.ts';
import { isToolList } from './tool-lists.ts';

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

/** A value to set at a path; undefined removes it (a field gets its empty value). */
export type Edit = { readonly path: Pointer; readonly value: Json | undefined };

type TokenEdit = { readonly tokens: readonly string[]; readonly value: Json | undefined };

/** Applies edits to a normalized spec and returns the normalized result; other values stay unchanged. */
export function editSpec(fields: readonly FieldRule[], spec: JsonObject, edits: readonly Edit[]): JsonObject {
  return editObject(
    fields,
    spec,
    edits.map((edit) => ({ tokens: tokensOf(edit.path), value: edit.value })),
  );
}

/** Returns the value at a path of a normalized spec; undefined when there is none. */
export function specValueAt(fields: readonly FieldRule[], spec: JsonObject, path: Pointer): Json | undefined {
  return objectAt(fields, spec, tokensOf(path));
}

const fieldsByName = memoizeByObject(
  (fields: readonly FieldRule[]) => new Map<string | undefined, FieldRule>(fields.map((field) => [field.name, field])),
);

function objectAt(fields: readonly FieldRule[], value: JsonObject, [name, token, ...rest]: readonly string[]): Json | undefined {
  const field = fieldsByName(fields).get(name);
  const found = field === undefined ? undefined : value[field.name];
  if (field === undefined || found === undefined || token === undefined) return found;
  switch (field.shape) {
    case 'set':
      return Array.isArray(found) ? found.find((element: Json) => elementToken(element) === token) : undefined;
    case 'map':
      return isObject(found) && Object.hasOwn(found, token) ? found[token] : undefined;
    case 'object':
      return isObject(found) ? objectAt(field.fields, found, [token, ...rest]) : undefined;
    case 'keyed': {
      const entry = Array.isArray(found) ? entriesByToken(field, found).get(token) : undefined;
      return rest.length === 0 || !isObject(entry) ? entry : objectAt(field.fields, entry, rest);
    }
    case 'list':
    case 'scalar':
      return undefined;
  }
}

function editObject(fields: readonly FieldRule[], value: JsonObject, steps: readonly TokenEdit[]): JsonObject {
  const result: Record<string, Json> = { ...value };
  const byName = fieldsByName(fields);
  for (const [name, group] of groupByToken(steps)) {
    const field = byName.get(name);
    if (field !== undefined) result[name] = normalizeValue(field, editValue(field, value[name] ?? field.empty, group));
  }
  return result;
}

function editValue(field: FieldRule, value: Json, steps: readonly TokenEdit[]): Json {
  const whole = steps.find(isWhole);
  if (whole !== undefined) return whole.value ?? field.empty;
  switch (field.shape) {
    case 'set':
      return editSet(Array.isArray(value) ? value : [], steps);
    case 'map':
      return editMap(isObject(value) ? value : {}, steps);
    case 'object':
      return editObject(field.fields, isObject(value) ? value : {}, steps);
    case 'keyed':
      return editEntries(field, Array.isArray(value) ? value : [], steps);
    case 'list':
    case 'scalar':
      return value;
  }
}

function editSet(elements: readonly Json[], steps: readonly TokenEdit[]): readonly Json[] {
  const named = new Set(steps.map((step) => step.tokens[0]));
  const kept = elements.filter((element) => !named.has(elementToken(element)));
  return [...kept, ...steps.flatMap((step) => (step.value === undefined ? [] : [step.value]))];
}

function editMap(map: JsonObject, steps: readonly TokenEdit[]): JsonObject {
  const result = new Map(Object.entries(map));
  for (const [key, group] of groupByToken(steps)) {
    const value = group.at(-1)?.value;
    if (value === undefined) result.delete(key);
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}

/** Edits keyed entries. An entry that is edited inside becomes the only one with its key, because a merged list holds it twice. */
function editEntries(field: KeyedRule, entries: readonly Json[], steps: readonly TokenEdit[]): readonly Json[] {
  const groups = groupByToken(steps);
  const inside = new Set<Json | undefined>([...groups].filter(([, group]) => !group.some(isWhole)).map(([token]) => token));
  const present = entriesByToken(field, entries);
  const edited = [...present].flatMap(([token, entry]): readonly Json[] => {
    const group = groups.get(token);
    if (group === undefined) return isObject(entry) && inside.has(entry[field.key]) ? [] : [entry];
    const whole = group.find(isWhole);
    if (whole !== undefined) return whole.value === undefined ? [] : [whole.value];
    return [isObject(entry) ? editObject(field.fields, entry, group) : entry];
  });
  const added = [...groups].flatMap(([token, group]) =>
    present.has(token) ? [] : group.filter(isWhole).flatMap(({ value }) => value ?? []),
  );
  return [...edited, ...added];
}

function isWhole(step: TokenEdit): boolean {
  return step.tokens.length === 0;
}

/** Groups edits by their first token and removes that token. */
function groupByToken(steps: readonly TokenEdit[]): ReadonlyMap<string, readonly TokenEdit[]> {
  const groups = new Map<string, TokenEdit[]>();
  for (const step of steps) {
    const [token, ...tokens] = step.tokens;
    if (token === undefined) continue;
    addToGroup(groups, token, { tokens, value: step.value });
  }
  return groups;
}

/** Returns the spec after a change: the live spec with the planned fields and lists of tools; held ones stay unchanged. */
export function specAfter(change: Pick<Change, 'fields'>, kind: Pick<Kind, 'fields'>, live: JsonObject): JsonObject {
  const edits = change.fields.flatMap((field): readonly Edit[] => {
    if (field.held === true) return [];
    if ('value' in field.after) return [{ path: field.path, value: field.after.value }];
    const isList = isToolList(field.path);
    if ('secret' in field.after) return isList ? [{ path: field.path, value: { source: field.after.secret } }] : [];
    return 'absent' in field.after && ('value' in field.before || isList) ? [{ path: field.path, value: undefined }] : [];
  });
  return editSpec(kind.fields, live, edits);
}
