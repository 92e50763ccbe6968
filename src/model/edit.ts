import { elementToken, entryTokens } from './entries.ts';
import type { FieldRule } from './field.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import { normalizeValue } from './normalize.ts';
import { pointer, tokensOf, type Pointer } from './pointer.ts';

/** A value to put at a path; undefined takes it away (a field falls back to its empty value). */
export type Edit = { readonly path: Pointer; readonly value: Json | undefined };

type Step = { readonly tokens: readonly string[]; readonly value: Json | undefined };

/** Carries out edits on a normalised spec and returns the normalised result; what no edit names stays as it is. */
export function editSpec(fields: readonly FieldRule[], spec: JsonObject, edits: readonly Edit[]): JsonObject {
  return editObject(
    fields,
    spec,
    edits.map((edit) => ({ tokens: tokensOf(edit.path), value: edit.value })),
  );
}

/** Returns the value at a path of a normalised spec, undefined where there is none. */
export function valueAt(fields: readonly FieldRule[], spec: JsonObject, path: Pointer): Json | undefined {
  const [name, ...rest] = tokensOf(path);
  const field = fields.find((candidate) => candidate.name === name);
  const value = name === undefined ? undefined : spec[name];
  return field === undefined || value === undefined || rest.length === 0 ? value : within(field, value, rest);
}

function within(field: FieldRule, value: Json, tokens: readonly string[]): Json | undefined {
  const [token, ...rest] = tokens;
  if (token === undefined) return value;
  switch (field.shape) {
    case 'set':
      return Array.isArray(value) ? value.find((element: Json) => elementToken(element) === token) : undefined;
    case 'map':
      return isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
    case 'object':
      return isObject(value) ? valueAt(field.fields, value, pointer(...tokens)) : undefined;
    case 'keyed': {
      if (!Array.isArray(value)) return undefined;
      const entry: Json | undefined = value[entryTokens(field, value).indexOf(token)];
      return rest.length === 0 || !isObject(entry) ? entry : valueAt(field.fields, entry, pointer(...rest));
    }
    case 'list':
    case 'scalar':
      return undefined;
  }
}

function editObject(fields: readonly FieldRule[], value: JsonObject, steps: readonly Step[]): JsonObject {
  const result: Record<string, Json> = { ...value };
  for (const [name, group] of groupByToken(steps)) {
    const field = fields.find((candidate) => candidate.name === name);
    if (field !== undefined) result[name] = normalizeValue(field, editValue(field, value[name] ?? field.empty, group));
  }
  return result;
}

function editValue(field: FieldRule, value: Json, steps: readonly Step[]): Json {
  const whole = steps.find((step) => step.tokens.length === 0);
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

function editSet(elements: readonly Json[], steps: readonly Step[]): readonly Json[] {
  const named = new Set(steps.map((step) => step.tokens[0]));
  const kept = elements.filter((element) => !named.has(elementToken(element)));
  return [...kept, ...steps.flatMap((step) => (step.value === undefined ? [] : [step.value]))];
}

function editMap(map: JsonObject, steps: readonly Step[]): JsonObject {
  const result = new Map(Object.entries(map));
  for (const { tokens, value } of steps) {
    const [key] = tokens;
    if (key === undefined) continue;
    if (value === undefined) result.delete(key);
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}

/** An entry that is edited inside becomes the only one of its key: a joined list holds it twice. */
function editEntries(
  field: Extract<FieldRule, { readonly shape: 'keyed' }>,
  entries: readonly Json[],
  steps: readonly Step[],
): readonly Json[] {
  const groups = groupByToken(steps);
  const tokens = entryTokens(field, entries);
  const inside = new Set<Json>([...groups].filter(([, group]) => group.some((step) => step.tokens.length > 0)).map(([token]) => token));
  const edited = entries.flatMap((entry, index) => {
    const group = groups.get(tokens[index] ?? '');
    if (group === undefined) return isObject(entry) && inside.has(entry[field.key] ?? null) ? [] : [entry];
    const whole = group.find((step) => step.tokens.length === 0);
    if (whole !== undefined) return whole.value === undefined ? [] : [whole.value];
    return [isObject(entry) ? editObject(field.fields, entry, group) : entry];
  });
  const present = new Set(tokens);
  const added = [...groups].flatMap(([token, group]) => {
    const value = present.has(token) ? undefined : group.find((step) => step.tokens.length === 0)?.value;
    return value === undefined ? [] : [value];
  });
  return [...edited, ...added];
}

/** Groups by the first token, which the grouped steps no longer have. */
function groupByToken(steps: readonly Step[]): ReadonlyMap<string, readonly Step[]> {
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const [token, ...tokens] = step.tokens;
    if (token === undefined) continue;
    const group = groups.get(token);
    if (group === undefined) groups.set(token, [{ tokens, value: step.value }]);
    else group.push({ tokens, value: step.value });
  }
  return groups;
}
