import { createHash } from 'node:crypto';
import { addToGroup, appendAll } from '../../model/collections.ts';
import type { FieldRule, Kind, Registry } from '../../model/kind.ts';
import { type DialectFields, hasField } from '../../model/gateway.ts';
import { asObject, asText, compareText, type Json, type JsonObject, isObject, equal, sortedKeys } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import { type Pointer, pointer, tokensOf } from '../../model/pointer.ts';
import type { UnstatedPart } from '../../model/result/outcome.ts';
import { type EdgeEnds, type ResourceId, kindOf, nameOf, resourceId } from '../../model/resource.ts';
import { findTagSelector, type TagsByName } from './tag-selector.ts';
import { createSecretWriter, type SecretWriter, type SecretWriterOptions } from './secret-writer.ts';
import { createKindView, type KindView, makeManifest } from '../manifest.ts';
import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { checkManifest } from '../validate/check-manifest.ts';
import { toResource } from '../to-resource.ts';
import type { SecretRules } from '../secrets/read-secret.ts';
import { validateManifest } from '../validate/validate-manifest.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';

/** A manifest to write. */
export type DraftManifest = {
  /** `Kind/metadata.name`. */
  readonly id: ResourceId;
  /** The id on the gateway. */
  readonly key: ResourceId;
  readonly value: JsonObject;
};

/** The live objects and the rules from which manifests are drafted. */
export type DraftInput = {
  /** The live objects that need a manifest. */
  readonly live: readonly LiveResource[];
  /** Live edges that no manifest declares. */
  readonly edges: readonly EdgeEnds[];
  readonly registry: Registry;
  readonly speech: DialectFields;
  readonly secrets: SecretWriterOptions;
  /** The targets of the manifests; empty for all. */
  readonly targets: readonly string[];
  /** The ids of other manifests. */
  readonly declared: ReadonlySet<ResourceId>;
  /** Paths that a manifest ignores because it cannot state their live values. */
  readonly ignored: ReadonlyMap<ResourceId, readonly Pointer[]>;
  /** Live objects without a possible manifest, and the reasons. */
  readonly excluded: ReadonlyMap<ResourceId, string>;
  /** Live objects whose manifests are validated, and reduced if necessary. */
  readonly doubtful: ReadonlySet<ResourceId>;
};

export type DraftResult = {
  readonly drafts: readonly DraftManifest[];
  readonly unstated: readonly UnstatedPart[];
  readonly excluded: ReadonlyMap<ResourceId, string>;
  readonly secrets: SecretWriter;
};

type DraftBody = { readonly live: LiveResource; readonly id: ResourceId; readonly metadata: JsonObject; readonly spec: JsonObject };

/** Drafts a manifest for each live object and lists the parts that no manifest can state. The order of the input does not matter. */
export function draftManifests(drafting: DraftInput): DraftResult {
  const { registry, secrets: writing, declared } = drafting;
  const secrets = createSecretWriter(writing);
  const views = new Map(
    [...registry].map(([name, kind]) => [name, { view: createKindView(kind), fields: listDraftedFields(kind, drafting.speech) }]),
  );
  const excluded = new Map(drafting.excluded);
  const unstated: UnstatedPart[] = [];
  const labels = new Set<ResourceId>(declared);
  const sketches: DraftBody[] = [];
  for (const live of drafting.live.toSorted((left, right) => compareText(left.id, right.id))) {
    const { view, fields = [] } = views.get(kindOf(live.id)) ?? {};
    if (view === undefined || excluded.has(live.id)) continue;
    const id = chooseId(view.kind, live.id, labels);
    const body = {
      metadata: createMetadata(id, live.id, drafting),
      spec: createSpec(view.kind, live, { id, fields, writer: secrets }),
    };
    const rules = { secrets: { envPrefixes: [writing.prefix], referencePrefixes: writing.referencePrefixes }, targets: drafting.targets };
    const sound = drafting.doubtful.has(live.id) ? dropInvalidParts(view, body, rules) : { body, dropped: [] };
    if ('reason' in sound) excluded.set(live.id, sound.reason);
    else {
      labels.add(id);
      appendAll(
        unstated,
        sound.dropped.map((one) => ({ id, ...one })),
      );
      sketches.push({ live, id, ...sound.body });
    }
  }
  const ours = new Set(sketches.map(({ live }) => live.id));
  const ends = listEdgesByField(drafting.edges, ours, registry);
  const drafts = sketches.flatMap(({ live, id, metadata, spec }): readonly DraftManifest[] => {
    const kind = registry.get(kindOf(id));
    const open = openFields(kind);
    const edges = [...(ends.get(live.id) ?? [])].flatMap(([field, names]) => {
      const known = names.filter((name) => existsAsEnd(name, { id, field, ours, drafting }));
      const gone = names.filter((name) => !known.includes(name) && (known.length > 0 || !open.includes(field)));
      appendAll(
        unstated,
        gone.map((name) => ({ id, path: pointer(field, name), reason: `${name} does not exist` })),
      );
      return statedEdges(views.get(kindOf(id))?.view, field, { names: known, sketches });
    });
    if (edges.length === 0 && open.some((field) => (live.edges[field] ?? []).length > 0)) {
      excluded.set(live.id, 'everything that it names is gone, and a manifest that names nothing would include everything');
      return [];
    }
    const own = Object.fromEntries(Object.entries(spec).filter(([field]) => edges.length === 0 || !open.includes(field)));
    const whole = edges.length + open.length === 0 ? spec : sortFields(kind, { ...own, ...Object.fromEntries(edges) });
    return [{ id, key: live.id, value: { apiVersion: 'ostiary/v1', kind: kindOf(id), metadata, spec: whole } }];
  });
  return { drafts, unstated, excluded, secrets };
}

/** Returns the id of a manifest; a kind that the gateway does not name gets a short name. */
function chooseId(kind: Kind, id: ResourceId, taken: ReadonlySet<ResourceId>): ResourceId {
  if (kind.named) return id;
  const name = nameOf(id);
  const short = toFileNameText(name.slice(name.indexOf('/') + 1));
  return [short, toFileNameText(name)].map((label) => resourceId(kind.name, label)).find((one) => !taken.has(one)) ?? id;
}

function createMetadata(id: ResourceId, key: ResourceId, { ignored, targets }: DraftInput): JsonObject {
  const ignore = ignored.get(key) ?? [];
  return {
    name: nameOf(id),
    ...(ignore.length === 0 ? {} : { ignore: ignore.toSorted(compareText) }),
    ...(targets.length === 0 ? {} : { targets }),
  };
}

type SpecOptions = { readonly id: ResourceId; readonly fields: readonly FieldRule[]; readonly writer: SecretWriter };

function createSpec(kind: Kind, live: LiveResource, { id, fields, writer }: SpecOptions): JsonObject {
  const derived = kind.derived(live.spec);
  const spec: Record<string, Json> = {};
  // A selector or names take the place of an empty list that includes everything.
  for (const name of openFields(kind)) spec[name] = [];
  for (const field of fields) {
    const value = field.secret === undefined ? findStatedValue(field, live, derived) : writer.write(id, live, field);
    if (value !== undefined) spec[field.name] = value;
  }
  return spec;
}

/** Lists the fields of edges of which an empty list includes everything. */
function openFields(kind: Kind | undefined): readonly string[] {
  return (kind?.fields ?? []).flatMap(({ name, open }) => (open === true ? [name] : []));
}

/** Sorts the fields in the order of the schema. */
function sortFields(kind: Kind | undefined, spec: JsonObject): JsonObject {
  const ordered: Record<string, Json> = {};
  for (const { name } of kind?.fields ?? []) {
    const value = spec[name];
    if (value !== undefined) ordered[name] = value;
  }
  return ordered;
}

/**
 * Returns the edges that each manifest lists, by field. Each edge is written once: by the connection if it has a manifest
 * and a field for it, because readers look there for its protections; else by the rule.
 */
function listEdgesByField(
  edges: readonly EdgeEnds[],
  ours: ReadonlySet<ResourceId>,
  registry: Registry,
): ReadonlyMap<ResourceId, ReadonlyMap<string, readonly string[]>> {
  const lists = new Map<ResourceId, Map<string, string[]>>();
  for (const { rule, connection } of edges) {
    for (const [id, other] of [
      [connection, rule],
      [rule, connection],
    ] as const) {
      const field = registry.get(kindOf(id))?.fields.find((one) => one.edge !== undefined && one.refers === kindOf(other));
      if (field === undefined || !ours.has(id)) continue;
      const fields = lists.get(id) ?? new Map<string, string[]>();
      addToGroup(fields, field.name, nameOf(other));
      lists.set(id, fields);
      break;
    }
  }
  for (const fields of lists.values()) for (const names of fields.values()) names.sort(compareText);
  return lists;
}

type KnownNames = {
  readonly id: ResourceId;
  readonly field: string;
  readonly ours: ReadonlySet<ResourceId>;
  readonly drafting: DraftInput;
};

/** Returns whether the other end of an edge exists; only edges by name may have one that does not. */
function existsAsEnd(name: string, { id, field, ours, drafting: { registry, declared } }: KnownNames): boolean {
  const rule = registry.get(kindOf(id))?.fields.find((one) => one.name === field);
  const other = resourceId(rule?.refers ?? '', name);
  return rule?.byName !== true || ours.has(other) || declared.has(other);
}

/** Returns the tags of the objects of a kind that get a manifest, by name. */
function tagsOf(sketches: readonly DraftBody[], kind: string, field: string): TagsByName {
  const tagged = sketches.filter(({ id }) => kindOf(id) === kind);
  return new Map(
    tagged.map(({ live, spec }) => [
      nameOf(live.id),
      Object.fromEntries(Object.entries(asObject(spec[field])).map(([key, value]) => [key, asText(value)])),
    ]),
  );
}

/** Returns the fields that state the edges of a manifest: a selector where tags explain the names, otherwise the names. */
function statedEdges(
  view: KindView | undefined,
  field: string,
  { names, sketches }: { readonly names: readonly string[]; readonly sketches: readonly DraftBody[] },
): readonly (readonly [string, Json])[] {
  const { byName, refers = '' } = view?.edges.find(({ name }) => name === field) ?? {};
  const selector = byName === true ? view?.selectors.find(({ edge }) => edge === field) : undefined;
  const found = selector === undefined ? undefined : findTagSelector(names, tagsOf(sketches, refers, selector.tags));
  if (selector !== undefined && found !== undefined) return [[selector.name, { match_tags: found }]];
  return names.length === 0 ? [] : [[field, names]];
}

type ManifestBody = { readonly metadata: JsonObject; readonly spec: JsonObject };

/** A path that was removed from a body because no manifest may state it, and the reason. */
type DroppedPath = { readonly path: Pointer; readonly reason: string };

/** A valid body and the paths that were removed from it, or the reason why no body is valid. */
type ValidBodyResult = { readonly body: ManifestBody; readonly dropped: readonly DroppedPath[] } | { readonly reason: string };

type Rules = { readonly secrets: SecretRules; readonly targets: readonly string[] };

/** Removes as few invalid parts from a body as possible until it is valid. */
function dropInvalidParts(view: KindView, body: ManifestBody, rules: Rules): ValidBodyResult {
  const dropped: DroppedPath[] = [];
  let left = body;
  for (;;) {
    const problems = findErrors(view, left, rules);
    const [first] = problems;
    if (first === undefined) return { body: left, dropped };
    const places = problems.map(({ pointer: at, message }) => ({ path: findPlaceToDrop(view, left.spec, at), reason: message }));
    const stuck = places.findIndex(({ path }) => path === undefined);
    if (stuck >= 0) return { reason: problems[stuck]?.message ?? first.message };
    const paths = new Set(places.flatMap(({ path }) => path ?? []));
    for (const path of paths) dropped.push({ path, reason: places.find((one) => one.path === path)?.reason ?? '' });
    left = { ...left, spec: removePlaces(left.spec, paths, '') };
  }
}

function findErrors(view: KindView, { metadata, spec }: ManifestBody, { secrets, targets }: Rules): readonly DocumentDiagnostic[] {
  const value = { apiVersion: 'ostiary/v1', kind: view.kind.name, metadata, spec };
  const document = { file: { path: '', text: '' }, index: 0, value, locate: () => ({ file: '', line: 1, column: 1 }) };
  const formal = validateManifest(view, value, 'manifest');
  const manifest = makeManifest(view, { metadata, spec }, [document]);
  const problems = formal.length > 0 ? formal : [...checkManifest(manifest, targets), ...toResource(manifest, secrets).problems];
  return problems.filter(({ severity }) => severity === 'error');
}

/**
 * Returns the smallest part of spec whose removal may fix an error: an entry of a list, a key of a map, else the field;
 * undefined if the error is outside spec or the field is required.
 */
function findPlaceToDrop(view: KindView, spec: JsonObject, at: Pointer): Pointer | undefined {
  const [top, name, ...rest] = tokensOf(at);
  const field = view.kind.fields.find((one) => one.name === name);
  if (top !== 'spec' || field === undefined) return undefined;
  const path = [field.name];
  let rule: { readonly shape: string } = field;
  let value: Json | undefined = spec[field.name];
  for (const token of rest) {
    path.push(token);
    if (Array.isArray(value) && value[Number(token)] !== undefined) return pointer(...path);
    if (isObject(value) && rule.shape === 'map' && Object.hasOwn(value, token)) return pointer(...path);
    if (!isObject(value) || field.shape !== 'object') break;
    value = value[token];
    rule = field.fields.find((one) => one.name === token) ?? { shape: 'scalar' };
  }
  return field.required || value === undefined ? undefined : pointer(field.name);
}

function removePlaces(value: JsonObject, places: ReadonlySet<Pointer>, at: Pointer): JsonObject {
  const entries = Object.entries(value).filter(([key]) => !places.has(at + pointer(key)));
  return Object.fromEntries(entries.map(([key, one]) => [key, removePlacesBelow(one, places, at + pointer(key))]));
}

function removePlacesBelow(value: Json, places: ReadonlySet<Pointer>, at: Pointer): Json {
  if (Array.isArray(value)) return value.filter((_, index) => !places.has(at + pointer(String(index))));
  return isObject(value) ? removePlaces(value, places, at) : value;
}

/** Converts a kind's name for file names: `data-masking-rule`. */
export function toKebabCase(kind: string): string {
  return kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

const maxLength = 80;
// Device names on Windows, with any extension, and the name of the config file.
const reserved = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|ostiary)(?:\.|$)/i;

/**
 * Assigns a file to each resource, such as `connections/orders-db.yaml`. The names contain only characters that every file
 * system accepts, differ even without regard to case, and are not `taken` (in lower case). A plain name is kept; any other
 * gets a hash, so that no file name depends on other resources.
 */
export function assignFileNames(ids: readonly ResourceId[], taken: ReadonlySet<string>): ReadonlyMap<ResourceId, string> {
  const sorted = ids.toSorted(compareText).map((id) => ({ id, plain: toPlainFile(id) }));
  const count = new Map<string, number>();
  for (const { plain } of sorted) count.set(plain.toLowerCase(), (count.get(plain.toLowerCase()) ?? 0) + 1);
  const files = new Map<ResourceId, string>();
  const used = new Set(taken);
  const isFree = (file: string): boolean => !used.has(`${file.toLowerCase()}.yaml`);
  for (const { id, plain } of sorted) {
    const isAlone = count.get(plain.toLowerCase()) === 1 || plain === plain.toLowerCase();
    const isOwn = isAlone && isPlain(nameOf(id)) && isFree(plain);
    const file = isOwn ? plain : addHash(plain, id, [8, 16].find((length) => isFree(addHash(plain, id, length))) ?? 64);
    used.add(`${file.toLowerCase()}.yaml`);
    files.set(id, `${file}.yaml`);
  }
  return files;
}

/** Reduces a text to letters, digits, dots, dashes and underscores, with a letter or digit at both ends; returns `unnamed` if nothing remains. */
function toFileNameText(text: string): string {
  const plain = text
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .slice(0, maxLength)
    .replaceAll(/^[._-]+|[._-]+$/g, '');
  return plain === '' ? 'unnamed' : plain;
}

function isPlain(name: string): boolean {
  return toFileNameText(name) === name && !reserved.test(name);
}

function toPlainFile(id: ResourceId): string {
  const text = toFileNameText(nameOf(id));
  return `${toKebabCase(kindOf(id))}s/${reserved.test(text) ? text.replace('.', '-') : text}`;
}

function addHash(plain: string, id: ResourceId, length: number): string {
  return `${plain}-${createHash('sha256').update(id).digest('hex').slice(0, length)}`;
}

/**
 * Returns the value of a plain field as a manifest states it: none that omission implies, but every one that omission would keep, so that
 * plans compare it.
 */
function findStatedValue(field: FieldRule, live: LiveResource, derived: JsonObject): Json | undefined {
  if (isUnknown(live, field)) return undefined;
  const value = live.spec[field.name] ?? field.empty;
  return field.required || !isImplied(field, value, derived) ? toStatedValue(field, value) : undefined;
}

/** Lists the secrets, and the plain fields that manifests for a gateway may state. */
function listDraftedFields(kind: Kind, speech: DialectFields): readonly FieldRule[] {
  return kind.fields.filter(
    (field) =>
      field.secret !== undefined || (field.edge === undefined && field.manifestOnly !== true && hasField(speech, kind.name, field)),
  );
}

function isUnknown({ unknown }: LiveResource, { name }: FieldRule): boolean {
  return unknown.length > 0 && unknown.includes(pointer(name));
}

/** Returns whether omitting the field means the value. */
function isImplied(field: FieldRule, value: Json, derived: JsonObject): boolean {
  const implied = field.omitted === 'derived' ? derived[field.name] : undefined;
  // Where omission keeps the value, an empty one is stated: a change by hand would be kept. From null that includes everything, each change takes access away.
  if (equal(value, field.empty)) return field.omitted === 'empty' || implied !== undefined || field.implied !== undefined;
  return implied !== undefined && equal(value, normalizeValue(field, implied));
}

/** Returns the value with sorted keys, without unknown keys and empty fields. */
export function toStatedValue(field: FieldRule, value: Json): Json {
  if (field.shape === 'object' && isObject(value)) return toStatedObject(field.fields, value);
  if (field.shape === 'map' && isObject(value)) return Object.fromEntries(listKeys(value).map((key) => [key, value[key] ?? null]));
  if (field.shape !== 'keyed' || !Array.isArray(value)) return value;
  return value.map((entry: Json) => (isObject(entry) ? toStatedObject(field.fields, entry) : entry));
}

/** Returns the sorted keys, except `__proto__`, which no document may have. */
function listKeys(value: JsonObject): readonly string[] {
  return sortedKeys(value).filter((key) => key !== '__proto__');
}

function toStatedObject(fields: readonly FieldRule[], value: JsonObject): JsonObject {
  const entries = fields.flatMap((field): readonly (readonly [string, Json])[] => {
    const found = value[field.name];
    if (found === undefined || (!field.required && equal(found, field.empty))) return [];
    return [[field.name, toStatedValue(field, found)]];
  });
  return Object.fromEntries(entries);
}
