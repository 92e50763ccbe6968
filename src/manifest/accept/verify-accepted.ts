import { groupBy } from '../../model/collections.ts';
import { type DesiredResource, type DesiredState, desiredById } from '../../model/desired.ts';
import { editSpec, specValueAt, type Edit } from '../../model/spec/edit.ts';
import type { FieldRule, Kind, Registry } from '../../model/kind.ts';
import { equal, isObject, type Json, type JsonObject, asObject } from '../../model/json.ts';
import { type LiveResource, type LiveState, liveById } from '../../model/live.ts';
import { normalizeValue } from '../../model/spec/normalize.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import { isPointerWithin, pointer, tokensOf } from '../../model/pointer.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { readValueAt } from '../json-values.ts';
import { findDecidingLayer, type Manifest } from '../manifest.ts';
import { toStatedValue } from '../draft/draft-manifests.ts';
import type { ManifestDocument } from '../yaml/parse-documents.ts';
import { findRules, type LiveDifference, type LayerEdit } from './field-edits.ts';
import { isDefaultsPath } from '../../model/diagnostic.ts';
import type { DocumentEdit } from '../edit/apply-edit.ts';
import { editFile } from '../edit/edit-file.ts';
import { respellEdit } from '../respell-document.ts';
import type { Spelling } from '../../model/spec/spelling.ts';
import { type LoadInput, readTargetManifests, withTexts } from '../load-manifests.ts';

type FieldDifference = Extract<LiveDifference, { readonly is: 'field' }>;

/** Finds the differences that follow from other accepted values, such as a derived command, so that the manifest can omit them. */
export function findImplied(
  registry: Registry,
  desired: DesiredState,
  live: LiveState,
  wanted: readonly LiveDifference[],
): ReadonlySet<LiveDifference> {
  const found = liveById(live.resources);
  const implied = new Set<LiveDifference>();
  for (const [id, group] of groupByResource(wanted)) {
    const resource = desiredById(desired.resources).get(id);
    const kind = registry.get(kindOf(id));
    if (resource === undefined || kind === undefined) continue;
    const derived = group.filter(({ field }) => isDerived(kind, resource, field));
    if (derived.length === 0) continue;
    const others = group.filter((one) => !derived.includes(one));
    const valueOf = createDerivation(kind, resource, found.get(resource.key), others);
    for (const one of derived) {
      const { path, before } = one.field;
      if ('value' in before && equal(valueOf(tokensOf(path)[0] ?? ''), before.value)) implied.add(one);
    }
  }
  return implied;
}

/** Finds live values that would be derived differently once the wanted values are accepted, and so must be stated. */
export function findValuesToState(
  registry: Registry,
  desired: DesiredState,
  live: LiveState,
  wanted: readonly LiveDifference[],
): readonly LiveDifference[] {
  const found = liveById(live.resources);
  return [...groupByResource(wanted)].flatMap(([id, group]) => {
    const resource = desiredById(desired.resources).get(id);
    const kind = registry.get(kindOf(id));
    const there = resource === undefined ? undefined : found.get(resource.key);
    if (resource === undefined || kind === undefined || there === undefined) return [];
    const valueOf = createDerivation(kind, resource, there, group);
    return kind.fields.flatMap((rule): readonly LiveDifference[] => {
      const { name, empty } = rule;
      const path = pointer(name);
      const after = valueOf(name);
      const before = there.spec[name] ?? empty;
      const said = resource.spec[name];
      const isSeen = ![...resource.ignore, ...there.unknown].some((prefix) => isPointerWithin(path, prefix));
      const isFree = canBeDerived(rule, resource) && (said === undefined || equal(said, empty) || equal(said, before)) && isSeen;
      if (!isFree || after === undefined || equal(after, before) || group.some(({ field }) => field.path === path)) return [];
      return [{ is: 'field', id, field: { path, before: { value: before }, after: { value: after } } }];
    });
  });
}

/** Finds the differences that the edited manifests do not state as wanted, and unwanted changes beside them. */
export function findMismatches(
  registry: Registry,
  desired: DesiredState,
  loaded: DesiredState,
  wanted: readonly LiveDifference[],
): ReadonlyMap<LiveDifference, string> {
  const failures = new Map<LiveDifference, string>();
  const all = desiredById(loaded.resources);
  for (const [id, group] of groupByResource(wanted)) {
    const [before, after] = [desiredById(desired.resources).get(id), all.get(id)];
    const kind = registry.get(kindOf(id));
    if (before === undefined || after === undefined || kind === undefined) {
      for (const one of group) failures.set(one, 'no manifest would declare it');
      continue;
    }
    const wished = createExpectedSpec(kind, before, group);
    const wrong = group.filter(({ field }) => !isStated(kind, after, field, wished));
    for (const one of wrong) failures.set(one, 'a manifest cannot declare the live value');
    if (wrong.length > 0 || kind.fields.every((field) => hasLiveValue(field, after, wished))) continue;
    for (const one of group) failures.set(one, 'the manifest would also declare something else');
  }
  return failures;
}

/** Groups the differences of fields by resource. */
export function groupByResource(wanted: readonly LiveDifference[]): ReadonlyMap<ResourceId, readonly FieldDifference[]> {
  return groupBy(
    wanted.filter((one) => one.is === 'field'),
    ({ id }) => id,
  );
}

/** Creates the spec that the manifest should state: the previous one with the live values of the accepted places. */
export function createExpectedSpec(kind: Kind, resource: DesiredResource, group: readonly FieldDifference[]): JsonObject {
  const edits = group.flatMap(({ field: { path, before } }): readonly Edit[] => {
    if ('value' in before) return [{ path, value: before.value }];
    return 'absent' in before && resource.secrets[path] === undefined ? [{ path, value: undefined }] : [];
  });
  return editSpec(kind.fields, resource.spec, edits);
}

/**
 * Creates the function that returns a field's derived value: from the live spec for omitted fields (ignored places keep
 * their live values), from the manifest's own spec for stated fields if that decides them.
 */
function createDerivation(
  kind: Kind,
  resource: DesiredResource,
  live: LiveResource | undefined,
  group: readonly FieldDifference[],
): (name: string) => Json | undefined {
  const own = createExpectedSpec(kind, resource, group);
  const ignored =
    live === undefined ? [] : resource.ignore.map((path): Edit => ({ path, value: specValueAt(kind.fields, live.spec, path) }));
  const [stated, omitted] = [own, editSpec(kind.fields, own, ignored)].map((spec) => kind.derived(spec, resource));
  return (name) => (resource.stated.has(name) ? stated?.[name] : undefined) ?? omitted?.[name];
}

function isDerived(kind: Kind, resource: DesiredResource, { path }: FieldChange): boolean {
  return kind.fields.some((field) => field.name === tokensOf(path)[0] && canBeDerived(field, resource));
}

/** Returns whether the value is derived: it is omitted or stated as empty. */
function canBeDerived({ name, omitted, empty }: FieldRule, { stated, spec }: DesiredResource): boolean {
  return omitted === 'derived' && (!stated.has(name) || equal(spec[name], empty));
}

function hasLiveValue(field: FieldRule, after: DesiredResource, wished: JsonObject): boolean {
  const value = wished[field.name];
  const said = after.spec[field.name];
  if (value === undefined || field.omitted === 'derived') return true;
  return said !== undefined && equal(toKnownValue(field, said), toKnownValue(field, value));
}

/** Returns whether the manifest states the live value of a place; secrets count as stated if they are kept. */
function isStated(kind: Kind, { spec, secrets }: DesiredResource, { path, before }: FieldChange, wished: JsonObject): boolean {
  if ('secret' in before) return secrets[path]?.state === 'keep';
  if ('absent' in before && secrets[path] !== undefined) return false;
  const said = specValueAt(kind.fields, toKnownSpec(kind, spec), path);
  // An entry whose name another entry had before has another token once it is alone.
  if (said === undefined && 'value' in before && before.value !== null) return false;
  return equal(said, specValueAt(kind.fields, toKnownSpec(kind, wished), path));
}

/** Returns the spec without keys that no manifest may state. */
function toKnownSpec(kind: Kind, spec: JsonObject): JsonObject {
  const entries = kind.fields.flatMap((field): readonly (readonly [string, Json])[] => {
    const value = spec[field.name];
    return value === undefined ? [] : [[field.name, toKnownValue(field, value)]];
  });
  return Object.fromEntries(entries);
}

function toKnownValue(field: FieldRule, value: Json): Json {
  return normalizeValue(field, toStatedValue(field, value));
}

/** An edit, and the differences that cause it. */
export type AttributedEdit = LayerEdit & { readonly causes: readonly LiveDifference[] };

/** Returns the input with other texts of files, by path; values of secrets are not checked again. */
export function replaceInputTexts(input: LoadInput, texts: ReadonlyMap<string, string>): LoadInput {
  return { ...withTexts(input, texts), peek: undefined };
}

/** Applies edits to the files of the input. Returns the changed texts together with the given ones. */
export function editTexts(
  input: LoadInput,
  edits: readonly AttributedEdit[],
  before: ReadonlyMap<string, string>,
): { readonly texts: ReadonlyMap<string, string>; readonly failures: ReadonlyMap<LiveDifference, string> } {
  const texts = new Map(before);
  const failures = new Map<LiveDifference, string>();
  const files = new Map([...input.files, ...input.overlays.flat()].map((file) => [file.path, file]));
  for (const [path, group] of groupBy(edits, ({ layer }) => layer.file.path)) {
    const text = texts.get(path) ?? files.get(path)?.text;
    if (text === undefined) continue;
    const ordered = group
      .map((one) => ({ ...one, edit: respelled(one, input.spelling), index: one.layer.index }))
      .toSorted((left, right) => editRank(left) - editRank(right) || editDepth(right) - editDepth(left));
    const { value, diagnostics } = editFile({ path, text }, ordered);
    if (value !== undefined) texts.set(path, value.text);
    const refused = value?.refused ?? ordered.map((edit) => ({ edit, diagnostic: diagnostics[0] }));
    for (const { edit, diagnostic } of refused) for (const one of edit.causes) failures.set(one, diagnostic?.message ?? '');
  }
  return { texts, failures };
}

function respelled({ layer, edit }: LayerEdit, spelling: Spelling | undefined): DocumentEdit {
  const { value, specInFile } = layer;
  if (!isObject(value) || typeof value['kind'] !== 'string') return edit;
  const names = spelling?.toGateway.get(value['kind']);
  return names === undefined ? edit : respellEdit(edit, specInFile ?? asObject(value['spec']), names);
}

/** Ranks edits: removals from lists come last, the deepest first, so that no index changes before its use. */
function editRank({ edit }: AttributedEdit): number {
  return edit.edit === 'drop' || edit.edit === 'remove' ? 1 : 0;
}

function editDepth(tagged: AttributedEdit): number {
  return editRank(tagged) === 0 ? 0 : tokensOf(tagged.edit.path).length;
}

/** Copies each list that a difference is in from the defaults into the manifest, so that the manifest can be edited. Returns the new texts. */
export function stateDefaultLists(load: LoadInput, wanted: readonly LiveDifference[]): ReadonlyMap<string, string> {
  if (!load.files.some(({ path }) => isDefaultsPath(path))) return new Map();
  const byId = new Map(readTargetManifests(load).manifests.map((manifest) => [manifest.id, manifest]));
  const edits = new Map<string, AttributedEdit>();
  for (const one of wanted) {
    for (const id of one.is === 'field' ? [one.id] : [one.ends.rule, one.ends.connection]) {
      const manifest = byId.get(id);
      if (manifest === undefined) continue;
      for (const place of listPlaces(manifest, one)) {
        const value = readValueAt(findDefaults(manifest, place)?.value, place);
        const order = manifest.view.kind.fields.map(({ name }) => name);
        const edit = { edit: 'set', path: pointer(...place), value: value ?? null, order, level: 2 } as const;
        if (Array.isArray(value)) edits.set(`${id}${edit.path}`, { layer: manifest.document, edit, causes: [one] });
      }
    }
  }
  return editTexts(load, [...edits.values()], new Map()).texts;
}

/** Returns the places of the lists that a difference may be in. */
function listPlaces({ view }: Manifest, one: LiveDifference): readonly (readonly string[])[] {
  if (one.is === 'edge')
    return [...view.edges.map(({ name }) => ['spec', name]), ...view.selectors.map(({ name }) => ['spec', name, 'except'])];
  const tokens = tokensOf(one.field.path);
  const { rest } = findRules(view.kind.fields, tokens);
  return rest.length === 0 ? [] : [['spec', ...tokens.slice(0, -rest.length)]];
}

/** Returns the defaults that decide a place; undefined if another document or none does. */
function findDefaults(manifest: Manifest, place: readonly string[]): ManifestDocument | undefined {
  const layer = findDecidingLayer(manifest, place);
  const index = layer === undefined ? -1 : manifest.layers.indexOf(layer);
  return index < manifest.layers.indexOf(manifest.document) ? layer : undefined;
}
