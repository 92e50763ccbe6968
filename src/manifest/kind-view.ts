import type { FieldRule } from '../model/field.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { pointer, type Pointer } from '../model/pointer.ts';
import { readAnnotation, fieldNodes, findNode } from './validate/schema-nodes.ts';
import type { SecretSlot } from './secrets/read-secret.ts';
import { findKnownValues, type KnownValues } from './validate/known-values.ts';

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
