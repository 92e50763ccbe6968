import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Change, FieldChange, Plan, Value } from '../plan/plan.ts';
import { pointer, type Pointer, tokensOf } from '../pointer.ts';
import { kindOf } from '../resource.ts';

/** Other names of the fields of a kind, and of their values by field. */
export type KindNames = {
  readonly fields: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By field that holds secrets: prefixes of references. */
  readonly prefixes: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

/** The names of a kind that has no others. */
export const noNames: KindNames = { fields: {}, values: {}, prefixes: {} };

/** The names of gateways that differ from those of manifests, by kind, in both directions. */
export type Spelling = {
  readonly toGateway: ReadonlyMap<string, KindNames>;
  readonly toManifest: ReadonlyMap<string, KindNames>;
};

/** Returns the spelling of kinds from our names to those of the gateway. */
export function createSpelling(kinds: readonly (readonly [kind: string, names: KindNames])[]): Spelling {
  const differing = kinds.filter(([, names]) => Object.values(names).some((some) => Object.keys(some).length > 0));
  return {
    toGateway: new Map(differing),
    toManifest: new Map(differing.map(([kind, names]) => [kind, invert(names)])),
  };
}

function invert({ fields, values, prefixes }: KindNames): KindNames {
  const byField = (names: KindNames['values']): KindNames['values'] =>
    Object.fromEntries(Object.entries(names).map(([field, one]) => [fields[field] ?? field, swap(one)]));
  return { fields: swap(fields), values: byField(values), prefixes: byField(prefixes) };
}

function swap(names: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(names).map(([from, to]) => [to, from]));
}

/** Returns a spec with other names, and the same one where it has none of them. A field whose other name is stated, too, keeps its name. */
export function respellSpec(names: KindNames | undefined, spec: JsonObject): JsonObject {
  if (names === undefined) return spec;
  return mapEntries(spec, (field, value) => {
    const name = fieldName(names, field);
    return [Object.hasOwn(spec, name) ? field : name, respellValue(names, field, value)];
  });
}

/** Returns an object with other keys and values, and the same object where none of them differs. */
function mapEntries(object: JsonObject, map: (key: string, value: Json) => readonly [string, Json]): JsonObject {
  const entries = Object.entries(object).map(([key, value]) => map(key, value));
  return entries.every(([key, value]) => object[key] === value) ? object : Object.fromEntries(entries);
}

/** Returns the other name of a field. */
export function fieldName({ fields }: KindNames, field: string): string {
  return Object.hasOwn(fields, field) ? (fields[field] ?? field) : field;
}

/** Returns a value of a field with its other name; of secrets, references with the other prefix. */
export function respellValue({ values, prefixes }: KindNames, field: string, value: Json): Json {
  const other = typeof value === 'string' ? respellText({ values }, field, value) : value;
  if (other !== value) return other;
  const references = Object.hasOwn(prefixes, field) ? prefixes[field] : undefined;
  return references === undefined ? value : respellReferences(Object.entries(references), value);
}

/** Returns a text that is a value of a field with its other name. */
export function respellText({ values }: Pick<KindNames, 'values'>, field: string, text: string): string {
  const names = Object.hasOwn(values, field) ? values[field] : undefined;
  return names !== undefined && Object.hasOwn(names, text) ? (names[text] ?? text) : text;
}

function respellReferences(prefixes: readonly (readonly [from: string, to: string])[], value: Json): Json {
  if (isObject(value)) return mapEntries(value, (key, one) => [key, respellReferences(prefixes, one)]);
  const found = typeof value === 'string' ? prefixes.find(([from]) => value.startsWith(from)) : undefined;
  return found === undefined || typeof value !== 'string' ? value : `${found[1]}${value.slice(found[0].length)}`;
}

/** Returns a pointer into a spec with the other name of its field. */
export function respellPath(names: KindNames | undefined, path: Pointer): Pointer {
  const [field, ...rest] = tokensOf(path);
  return names === undefined || field === undefined ? path : pointer(fieldName(names, field), ...rest);
}

/** Returns a manifest, or defaults of kinds, with the names of the gateway. */
export function respellManifest(value: JsonObject, { toGateway }: Spelling): JsonObject {
  const { kind, metadata, spec } = value;
  const names = typeof kind === 'string' ? toGateway.get(kind) : undefined;
  if (names === undefined || !isObject(spec)) return value;
  return { ...value, ...(isObject(metadata) ? { metadata: respellIgnored(names, metadata) } : {}), spec: respellSpec(names, spec) };
}

/** Returns the metadata of a manifest with other names in the pointers that it ignores. */
export function respellIgnored(names: KindNames, metadata: JsonObject): JsonObject {
  const { ignore } = metadata;
  if (!Array.isArray(ignore)) return metadata;
  return { ...metadata, ignore: ignore.map((path: Json) => (typeof path === 'string' ? respellPath(names, path) : path)) };
}

/** Returns a plan as people read it: with the names of the gateway. What is applied has the names of manifests. */
export function respellPlan<T extends Plan>(plan: T, spelling: Spelling | undefined): T {
  if (spelling === undefined) return plan;
  const respell = <C extends Pick<Change, 'id' | 'fields' | 'positions'>>(change: C): C => {
    const names = spelling.toGateway.get(kindOf(change.id));
    return names === undefined ? change : { ...change, ...respellFields(names, change) };
  };
  return {
    ...plan,
    changes: plan.changes.map(respell),
    accepted: plan.accepted.map(respell),
    unwatched: plan.unwatched.map((one) => ({ ...one, path: respellPath(spelling.toGateway.get(kindOf(one.id)), one.path) })),
  };
}

function respellFields(
  names: KindNames,
  { fields, positions }: Pick<Change, 'fields' | 'positions'>,
): Pick<Change, 'fields' | 'positions'> {
  const respelled = fields.map((field): FieldChange => {
    const { path, before, after } = field;
    return { ...field, path: respellPath(names, path), before: respellSide(names, path, before), after: respellSide(names, path, after) };
  });
  if (positions === undefined) return { fields: respelled };
  const byPath = Object.fromEntries(Object.entries(positions.byPath).map(([path, at]) => [respellPath(names, path), at]));
  return { fields: respelled, positions: { ...positions, byPath } };
}

/** Returns one side of the field at a path with its other name. */
export function respellSide(names: KindNames, path: Pointer, side: Value): Value {
  const [field = '', ...rest] = tokensOf(path);
  return 'value' in side && rest.length === 0 ? { value: respellValue(names, field, side.value) } : side;
}
