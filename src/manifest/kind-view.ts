import type { FieldRule } from '../model/field.ts';
import { isObject, type JsonObject, type Json } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { pointer, type Pointer } from '../model/pointer.ts';
import { readAnnotation, fieldNodes, findNode, resolveReference } from './validate/schema-diagnostics.ts';
import type { SecretSlot } from './secrets/read-secret.ts';
import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import { suggest } from '../model/suggest.ts';
import { suggestWord, formatPlace, quoteValue } from './json-values.ts';

/** The parts of a schema that lead to lists of known values. */
export type KnownValues = {
  readonly known?: ReadonlySet<string>;
  readonly fields?: readonly (readonly [string, KnownValues])[];
  readonly entries?: KnownValues;
};

/** Finds the lists of known values in a schema; returns undefined if there are none. */
export function findKnownValues(schema: JsonObject, node: JsonObject): KnownValues | undefined {
  const known = Array.isArray(node['x-ostiary-known']) ? new Set(node['x-ostiary-known'].map(String)) : undefined;
  const fields = Object.entries(fieldNodes(node)).flatMap(([name, field]) => {
    const below = isObject(field) ? findKnownValues(schema, resolveReference(schema, field)) : undefined;
    return below === undefined ? [] : [[name, below] as const];
  });
  const entries = isObject(node['items']) ? findKnownValues(schema, resolveReference(schema, node['items'])) : undefined;
  if (known === undefined && fields.length === 0 && entries === undefined) return undefined;
  return {
    ...(known === undefined ? {} : { known }),
    ...(fields.length === 0 ? {} : { fields }),
    ...(entries === undefined ? {} : { entries }),
  };
}

/** Returns whether all values are known. This fast check suffices for nearly all manifests. */
export function hasOnlyKnownValues(familiar: KnownValues | undefined, value: Json | undefined): boolean {
  if (familiar === undefined || value === undefined || value === null) return true;
  if (typeof value === 'string') return familiar.known === undefined || value === '' || familiar.known.has(value);
  const { fields, entries } = familiar;
  if (fields !== undefined && isObject(value)) return fields.every(([name, below]) => hasOnlyKnownValues(below, value[name]));
  return entries === undefined || !Array.isArray(value) || value.every((entry: Json) => hasOnlyKnownValues(entries, entry));
}

/** Warns of unknown values: a gateway may support more, but a typo is more likely. */
export function checkKnownValues(
  familiar: KnownValues | undefined,
  value: Json | undefined,
  tokens: readonly string[],
): readonly DocumentDiagnostic[] {
  if (familiar === undefined || hasOnlyKnownValues(familiar, value)) return [];
  const { known, fields = [], entries } = familiar;
  if (typeof value === 'string') {
    const message = `${quoteValue(value)} is not a known value of ${formatPlace(tokens)}`;
    const hint = suggestWord(suggest(value, known ?? [])) ?? 'it is sent as it stands; the gateway decides';
    return [{ code: 'manifest/unfamiliar-value', severity: 'warning', pointer: pointer(...tokens), message, hint }];
  }
  if (Array.isArray(value)) return value.flatMap((entry: Json, index) => checkKnownValues(entries, entry, [...tokens, String(index)]));
  return isObject(value) ? fields.flatMap(([name, below]) => checkKnownValues(below, value[name], [...tokens, name])) : [];
}

/** A selector field: it adds the manifests with certain tags to an edge field. */
export type SelectorField = { readonly name: string; readonly edge: string; readonly tags: string };

/** A field that holds one secret, or a map of them. */
export type SecretField = {
  readonly name: string;
  readonly path: Pointer;
  /** A list that contains only `path`; most manifests share it. */
  readonly ownPath: readonly Pointer[];
  readonly secret: 'base64' | 'plain';
  /** The slots of the keys read so far; most manifests have the same keys. */
  readonly slots: Map<string, { readonly path: Pointer; readonly place: SecretSlot }>;
};

/** The fields of a kind, grouped by their use in the loader. */
export type KindView = {
  readonly kind: Kind;
  /** The fields that are compared and written without conversion. */
  readonly plain: readonly FieldRule[];
  /** Those of the plain fields that the kind derives if they are omitted. */
  readonly derived: readonly FieldRule[];
  readonly secrets: readonly SecretField[];
  readonly edges: readonly (FieldRule & { readonly edge: 'rule' | 'connection'; readonly refers: string })[];
  readonly selectors: readonly SelectorField[];
  /** The known values of fields in spec, if the schema lists any. */
  readonly knownValues: KnownValues | undefined;
  /** Whether any field, at any depth, is a keyed list. */
  readonly keyed: boolean;
  /** Whether manifests may have samples beside spec. */
  readonly sampled: boolean;
  /** The sets of stated fields, shared by all manifests that state the same fields, by a bit mask. */
  readonly stated: Map<number, ReadonlySet<string>>;
};

/** Groups the fields of a kind. */
export function createKindView(kind: Kind): KindView {
  const plain = kind.fields.filter((field) => field.secret === undefined && field.edge === undefined && field.manifestOnly !== true);
  return {
    kind,
    plain,
    derived: plain.filter((field) => field.omitted === 'derived'),
    secrets: kind.fields.flatMap(({ name, secret }) =>
      secret === undefined ? [] : [{ name, path: pointer(name), ownPath: [pointer(name)], secret, slots: new Map() }],
    ),
    edges: kind.fields.flatMap((field) =>
      field.edge === undefined || field.refers === undefined ? [] : [{ ...field, edge: field.edge, refers: field.refers }],
    ),
    selectors: findSelectors(kind.schema),
    knownValues: findKnownValues(kind.schema, findNode(kind.schema, ['spec']) ?? {}),
    keyed: hasKeyedList(kind.fields),
    sampled: Object.hasOwn(fieldNodes(kind.schema), 'tests'),
    stated: new Map(),
  };
}

function hasKeyedList(fields: readonly FieldRule[]): boolean {
  return fields.some((field) => field.shape === 'keyed' || (field.shape === 'object' && hasKeyedList(field.fields)));
}

function findSelectors(schema: JsonObject): readonly SelectorField[] {
  return Object.entries(fieldNodes(findNode(schema, ['spec']) ?? {})).flatMap(([name, node]) => {
    const selector = isObject(node) && isObject(node['x-ostiary-selector']) ? node['x-ostiary-selector'] : undefined;
    const edge = readAnnotation(selector, 'edge');
    const tags = readAnnotation(selector, 'tags');
    return edge === undefined || tags === undefined ? [] : [{ name, edge, tags }];
  });
}
