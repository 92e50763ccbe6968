import { type DocumentDiagnostic, type Position, didYouMean } from '../model/diagnostic.ts';
import { type KindNames, noNames } from '../model/spec/spelling.ts';
import type { AllowedValues } from '../model/config.ts';
import { comparedFields, type FieldRule, type Kind } from '../model/kind.ts';
import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { type Pointer, pointer, tokensOf } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import { quoteValue, toText } from './json-values.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';
import { fieldNodes, findNode, readAnnotation, resolveReference } from './schema-nodes.ts';
import type { SecretSlot } from './secrets/read-secret.ts';

/** The parts of a schema that lead to lists of known values. */
type KnownValues = {
  /** The field, as `Connection.subtype`. */
  readonly place: string;
  readonly known?: ReadonlySet<string>;
  /** Names of gateways for these values → ours. */
  readonly others?: Readonly<Record<string, string>>;
  readonly fields?: readonly (readonly [string, KnownValues])[];
  readonly entries?: KnownValues | undefined;
};

/** Where to look for lists of known values: a node of a schema, its field, and the values that a config adds. */
type KnownValuesSearch = {
  readonly schema: JsonObject;
  readonly node: JsonObject;
  readonly place: string;
  readonly allowed: AllowedValues;
  readonly others: KindNames;
};

/** Finds the lists of known values in a schema; returns undefined if there are none. */
function findKnownValues({ schema, node, place, allowed, others }: KnownValuesSearch): KnownValues | undefined {
  const below = (child: JsonObject, at: string): KnownValues | undefined =>
    findKnownValues({ schema, node: resolveReference(schema, child), place: at, allowed, others });
  const listed = node['x-ostiary-known'];
  const known = Array.isArray(listed) ? new Set([...listed.map(String), ...(allowed[place] ?? [])]) : undefined;
  const fields = Object.entries(fieldNodes(node)).flatMap(([name, field]) => {
    const inner = isObject(field) ? below(field, `${place}.${name}`) : undefined;
    return inner === undefined ? [] : [[name, inner] as const];
  });
  const entries = isObject(node['items']) ? below(node['items'], place) : undefined;
  if (known === undefined && fields.length === 0 && entries === undefined) return undefined;
  return {
    place,
    ...(known === undefined ? {} : { known, others: others.values[place.slice(place.indexOf('.') + 1)] ?? {} }),
    ...(fields.length === 0 ? {} : { fields }),
    entries,
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
  const { place, known, others = {}, fields = [], entries } = familiar;
  if (typeof value === 'string') {
    const message = `${quoteValue(value)} is not a known value of ${place}`;
    const hint = Object.hasOwn(others, value)
      ? `write ${others[value] ?? ''}; Ostiary translates it`
      : (didYouMean(value, known ?? []) ?? 'if the gateway accepts it, add it to allow_values in ostiary.yaml');
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
  /** Names of gateways → ours, for hints. */
  readonly others: KindNames;
  /** Whether any field, at any depth, is a keyed list. */
  readonly keyed: boolean;
  /** Whether any field has an element that manifests do not state. */
  readonly implying: boolean;
  /** Whether elements of any field may have an end. */
  readonly timed: boolean;
  /** Whether manifests may have samples beside spec. */
  readonly sampled: boolean;
  /** The sets of stated fields, shared by all manifests that state the same fields, by a bit mask. */
  readonly stated: Map<number, ReadonlySet<string>>;
};

/** Groups the fields of a kind. */
export function createKindView(kind: Kind, allowed: AllowedValues = {}, others: KindNames = noNames): KindView {
  const plain = comparedFields(kind);
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
    knownValues: findKnownValues({ schema: kind.schema, node: findNode(kind.schema, ['spec']) ?? {}, place: kind.name, allowed, others }),
    others,
    keyed: hasKeyedList(kind.fields),
    implying: kind.fields.some(({ implied }) => implied !== undefined),
    timed: kind.fields.some(({ timed }) => timed !== undefined),
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

/** A valid manifest of one resource: its document, merged into the defaults of its folders, with overlays merged into both. */
export type Manifest = {
  readonly view: KindView;
  readonly id: ResourceId;
  readonly name: string;
  readonly metadata: JsonObject;
  readonly spec: JsonObject;
  /** The samples of the manifest, for kinds that have them. */
  readonly tests: readonly JsonObject[];
  readonly document: ManifestDocument;
  /** The defaults of its folders from the outer one in, the own document, then the overlays in order. */
  readonly layers: readonly [ManifestDocument, ...ManifestDocument[]];
};

/** Returns the position of a value or of its key, by a pointer from the document's root. */
export type Locate = ManifestDocument['locate'];

/** The contents of a manifest besides its kind. */
type ManifestValue = { readonly metadata: JsonObject; readonly spec: JsonObject; readonly tests?: Json | undefined };

/** Creates the manifest of a valid document, or of a merged value and the documents that it was merged from. */
export function makeManifest(
  view: KindView,
  value: ManifestValue,
  layers: Manifest['layers'],
  document: ManifestDocument = layers[0],
): Manifest {
  const name = toText(value.metadata['name']);
  return {
    view,
    id: `${view.kind.name}/${name}`,
    name,
    metadata: value.metadata,
    spec: value.spec,
    tests: Array.isArray(value.tests) ? value.tests.filter(isObject) : none,
    document,
    layers,
  };
}

const none: readonly JsonObject[] = [];

/** Returns the id by which the gateway knows a resource; it differs from the manifest's id for kinds that the gateway does not name. */
export function toGatewayKey({ view, id, name, spec }: Manifest): ResourceId {
  return view.kind.named ? id : `${view.kind.name}/${view.kind.identity(name, spec)}`;
}

/** Creates the function that locates values in the document that decides them. */
export function createManifestLocate(manifest: Manifest): Locate {
  const { layers } = manifest;
  // Most manifests have no defaults and no overlay, so there is nothing to decide.
  if (layers.length === 1) return layers[0].locate;
  return (path, part) => (findDecidingLayer(manifest, tokensOf(path)) ?? manifest.document).locate(path, part);
}

/** Returns the document to edit: the last one that states the first of the places; else the manifest's own one. Defaults are not edited. */
export function findEditableLayer(
  { layers, document }: Pick<Manifest, 'layers' | 'document'>,
  ...places: readonly (readonly string[])[]
): ManifestDocument {
  const editable = layers.slice(layers.indexOf(document));
  for (const place of places) {
    const layer = findDecidingLayer({ layers: editable }, place);
    if (layer !== undefined) return layer;
  }
  return document;
}

/** Returns the last document of the manifest that states the place; undefined if none does. */
export function findDecidingLayer(
  { layers }: { readonly layers: readonly ManifestDocument[] },
  tokens: readonly string[],
): ManifestDocument | undefined {
  return layers.findLast((layer) => decides(layer.value, tokens));
}

/** Returns whether the document has the place, or a value other than a map on the way to it. */
function decides(value: Json, tokens: readonly string[]): boolean {
  let found: Json | undefined = value;
  for (const token of tokens) {
    if (!isObject(found)) return true;
    if (!Object.hasOwn(found, token)) return false;
    found = found[token];
  }
  return true;
}

/** Returns the position of a place in spec: list entries by index, set entries by value, entries of keyed lists by key. */
export function locateInSpec(manifest: Manifest, path: Pointer): Position {
  if (leadsThroughMaps(manifest.spec, path)) return createManifestLocate(manifest)(`/spec${path}`);
  const tokens: string[] = ['spec'];
  let found: Json | undefined = manifest.spec;
  let rule: FieldRule | undefined;
  let fields: readonly FieldRule[] = manifest.view.kind.fields;
  for (const token of tokensOf(path)) {
    const index: number = Array.isArray(found) ? findEntryIndex(found, token, rule) : -1;
    if (Array.isArray(found) && index === -1) break;
    if (isObject(found) && !Object.hasOwn(found, token)) break;
    if (!Array.isArray(found) && !isObject(found)) break;
    tokens.push(index === -1 ? token : String(index));
    found = Array.isArray(found) ? found[index] : found[token];
    if (index === -1) {
      rule = fields.find((field) => field.name === token);
      fields = rule?.shape === 'object' || rule?.shape === 'keyed' ? rule.fields : [];
    }
  }
  return createManifestLocate(manifest)(pointer(...tokens));
}

/** Returns whether a pointer leads through maps alone to a value: then the file has the same pointer, below `spec`. */
function leadsThroughMaps(value: JsonObject, path: Pointer): boolean {
  let found: Json | undefined = value;
  for (const token of tokensOf(path)) {
    if (!isObject(found) || !Object.hasOwn(found, token)) return false;
    found = found[token];
  }
  return true;
}

function findEntryIndex(entries: readonly Json[], token: string, rule: FieldRule | undefined): number {
  const byName = indexEntries(entries, rule?.shape === 'keyed' ? rule.key : rule?.timed).get(token);
  if (byName !== undefined) return byName;
  return /^\d+$/.test(token) && Number(token) < entries.length ? Number(token) : -1;
}

const entryIndexes = new WeakMap<readonly Json[], ReadonlyMap<Json, number>>();

/** Returns the index of the first entry of each text, or of each value of the key; made once for a list. */
function indexEntries(entries: readonly Json[], key: string | undefined): ReadonlyMap<Json, number> {
  const known = entryIndexes.get(entries);
  if (known !== undefined) return known;
  const index = new Map<Json, number>();
  for (const [place, entry] of entries.entries()) {
    const name = key !== undefined && isObject(entry) ? entry[key] : entry;
    if (name !== undefined && !index.has(name)) index.set(name, place);
  }
  entryIndexes.set(entries, index);
  return index;
}
