import { collectEdges, createTagSelector } from '../collect-edges.ts';
import { type DocumentEdit, insertKey, type Origins } from '../edit/apply-edit.ts';
import { readValueAt } from '../json-values.ts';
import { type KindView, type Manifest, type SelectorField, findEditableLayer } from '../manifest.ts';
import { toStatedValue } from '../draft/draft-manifests.ts';
import type { ManifestDocument } from '../yaml/parse-documents.ts';
import type { DeclaredEdge } from '../../model/desired.ts';
import type { Position } from '../../model/diagnostic.ts';
import { type EndNames, resolveEdges } from '../../model/edge-ends.ts';
import { type Json, type JsonObject, compareText, equal, isObject, asArray, textsIn } from '../../model/json.ts';
import type { FieldRule } from '../../model/kind.ts';
import { expiryOf } from '../../model/plan/expired-access.ts';
import type { Change, Diff, FieldChange, Value } from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { type EdgeEnds, type ResourceId, edgeKey, kindOf, nameOf } from '../../model/resource.ts';
import { type KeyedRule, elementToken, entriesByToken } from '../../model/spec/edit.ts';
import { grantedName } from '../../model/protection/timed-grants.ts';
import { normalizeObject, normalizeValue } from '../../model/spec/normalize.ts';

/** A live field or edge that differs from the manifests. */
export type LiveDifference =
  | { readonly is: 'field'; readonly id: ResourceId; readonly field: FieldChange }
  /** `attached` means that the edge is live; otherwise only manifests declare it. */
  | { readonly is: 'edge'; readonly ends: EdgeEnds; readonly attached: boolean };

/** The differences that manifests could state, and the objects that are not live. */
type LiveDifferences = {
  readonly differences: readonly LiveDifference[];
  /** Declared objects that are not live. */
  readonly removed: readonly { readonly id: ResourceId; readonly at?: Position | undefined }[];
};

/** Finds the differences in a plan that drift caused; with `all`, every difference. */
export function findDifferences({ changes, edges }: Pick<Diff, 'changes' | 'edges'>, which: 'drift' | 'all'): LiveDifferences {
  const isMeant = ({ origin, held }: Pick<FieldChange, 'origin' | 'held'>): boolean =>
    which === 'all' || origin === 'drift' || held === true;
  const fields = changes.flatMap((change) =>
    isCompared(change)
      ? change.fields
          .filter((field) => isMeant(field) && expiryOf(field) === undefined)
          .map((field): LiveDifference => ({ is: 'field', id: change.id, field }))
      : [],
  );
  const ends = edges.flatMap(({ rule, connection, action, origin }): readonly LiveDifference[] => {
    const isOurs = action === 'attach' || action === 'detach' || action === 'held';
    if (!isOurs || !(which === 'all' || origin === 'drift')) return [];
    return [{ is: 'edge', ends: { rule, connection }, attached: action !== 'attach' }];
  });
  const removed = changes.filter(({ action, fields: given }) => action === 'create' && (which === 'all' || given.some(isMeant)));
  const gone = new Set(removed.flatMap(({ id, key }) => [id, key ?? id]));
  const isThere = (one: LiveDifference): boolean => one.is === 'field' || !(gone.has(one.ends.rule) || gone.has(one.ends.connection));
  return { differences: [...fields, ...ends].filter(isThere), removed: removed.map(({ id, at }) => ({ id, at })) };
}

/** Returns whether the change compares a manifest with a live object. */
function isCompared({ action }: Change): boolean {
  return action === 'update' || action === 'held' || action === 'blocked' || action === 'rename';
}

/** An edit of one of a manifest's documents. */
export type LayerEdit = { readonly layer: ManifestDocument; readonly edit: DocumentEdit };

/** The reason why no edit can accept a value. */
type UneditableField = { readonly reason: string };

const keep: Json = { keep: true };

/** The live spec of an object, and the one that its manifest is to state. */
type AcceptedSpec = { readonly live: JsonObject; readonly expected: JsonObject };

/** Creates the edits after which a manifest states the live value of one field, in the document that decides it. */
export function createFieldEdits(
  manifest: Manifest,
  { path, before }: FieldChange,
  { live: spec, expected }: AcceptedSpec,
): readonly LayerEdit[] | UneditableField {
  if ('unknown' in before) return { reason: 'the token cannot see the live value' };
  const { fields } = manifest.view.kind;
  const tokens = tokensOf(path);
  const { rules, rest } = findRules(fields, tokens);
  const rule = rules.at(-1);
  if (rule === undefined) return { reason: 'the kind has no such field' };
  const place = ['spec', ...tokens.slice(0, tokens.length - rest.length)];
  const live = toStatedLive(before);
  const [key] = rest;
  const isMap = rule.shape === 'map' || rule.secret === 'base64';
  if (isMap && key !== undefined) return createKeyEdits(manifest, place, { key, live, fields, spec });
  const layer = findEditableLayer(manifest, place);
  const order = fields.map(({ name }) => name);
  if (live === undefined && rest.length === 0) return removal(manifest, layer, place, order);
  const origins: Origins = new Map();
  const wanted = readValueAt(expected, place.slice(1)) ?? rule.empty;
  const value = live === keep ? keep : restate(rule, readValueAt(layer.value, place), wanted, origins);
  return value === undefined ? [] : [{ layer, edit: { edit: 'set', path: pointer(...place), value, origins, order, level: 2 } }];
}

/** Returns the value that a document states for a wanted one: what it states already stays as it is written, and in its order. */
function restate(rule: FieldRule, raw: Json | undefined, wanted: Json, origins: Origins): Json | undefined {
  if (equal(normalizeValue(rule, raw), wanted)) return raw;
  if (rule.shape === 'object' && isObject(raw) && isObject(wanted)) return restateObject(rule.fields, raw, wanted, origins);
  if (rule.shape === 'keyed') return restateEntries(rule, asArray(raw), asArray(wanted), origins);
  if (rule.shape !== 'set') return toStatedValue(rule, wanted);
  const tokens = new Set(asArray(wanted).map(elementToken));
  const kept = asArray(raw).filter((value) => tokens.has(elementToken(grantedName(rule, value))));
  const had = new Set(kept.map((value) => elementToken(grantedName(rule, value))));
  return [...kept, ...asArray(wanted).filter((value) => !had.has(elementToken(value)))];
}

function restateObject(fields: readonly FieldRule[], raw: JsonObject, wanted: JsonObject, origins: Origins): JsonObject {
  const order = fields.map(({ name }) => name);
  return fields.reduce((object, rule) => {
    const { [rule.name]: had, ...others } = object;
    const own = wanted[rule.name] ?? rule.empty;
    const isStated = rule.required || !equal(own, rule.empty);
    const value = isStated || equal(normalizeValue(rule, had), own) ? restate(rule, had, own, origins) : undefined;
    if (value === undefined) return others;
    return had === undefined ? insertKey(object, rule.name, value, order) : { ...object, [rule.name]: value };
  }, raw);
}

/** An entry without a name that changed is removed and added in a plan; it keeps its place if it shares half of its fields. */
function restateEntries(rule: KeyedRule, raw: readonly Json[], wanted: readonly Json[], origins: Origins): readonly Json[] {
  const come = new Map(entriesByToken(rule, wanted));
  const tokens = [...entriesByToken(rule, normalEntries(rule, raw)).keys()];
  const found = tokens.map((token) => takeEntry(come, token));
  const kept = raw.flatMap((entry, index) => {
    const other = found[index] ?? takeEntry(come, [...come].find(([, one]) => isAlike(rule, entry, one))?.[0]);
    if (other === undefined) return [];
    return [{ index, value: isObject(entry) && isObject(other) ? restateObject(rule.fields, entry, other, origins) : entry }];
  });
  const added = asArray(toStatedValue(rule, [...come.values()]));
  const list = [...kept.map(({ value }) => value), ...added];
  origins.set(list, [...kept.map(({ index }) => index), ...added.map(() => undefined)]);
  return list;
}

function takeEntry(entries: Map<string, Json>, token: string | undefined): Json | undefined {
  const found = token === undefined ? undefined : entries.get(token);
  if (token !== undefined) entries.delete(token);
  return found;
}

function isAlike({ fields }: KeyedRule, entry: Json, other: Json): boolean {
  if (!isObject(entry) || !isObject(other)) return false;
  const same = fields.filter((field) => equal(normalizeValue(field, entry[field.name]), other[field.name]));
  return same.length * 2 >= fields.length;
}

/** Returns the value that a manifest states; for a secret only `keep`. */
function toStatedLive(before: Value): Json | undefined {
  if ('secret' in before) return keep;
  return 'value' in before ? before.value : undefined;
}

/** Returns the rules from a field of spec down to the one that contains the whole value, and the tokens inside that. */
export function findRules(
  fields: readonly FieldRule[],
  tokens: readonly string[],
): { readonly rules: readonly FieldRule[]; readonly rest: readonly string[] } {
  const [name, ...rest] = tokens;
  const rule = fields.find((field) => field.name === name);
  if (rule === undefined) return { rules: [], rest: tokens };
  if (rule.shape !== 'object' || rest.length === 0) return { rules: [rule], rest };
  const below = findRules(rule.fields, rest);
  return { rules: [rule, ...below.rules], rest: below.rest };
}

type MapKey = { readonly key: string; readonly live: Json | undefined; readonly fields: readonly FieldRule[]; readonly spec: JsonObject };

/** Creates the edits of one key of a map: in the document that states it, else in the one that states the map. Above another document a null removes a key. */
function createKeyEdits(
  manifest: Manifest,
  place: readonly string[],
  { key, live, fields, spec }: MapKey,
): readonly LayerEdit[] | UneditableField {
  const own = [...place, key];
  const stating = findEditableLayer(manifest, place);
  const order = fields.map(({ name }) => name);
  const stated = (layer: ManifestDocument, name: string, value: Json): LayerEdit => ({
    layer,
    edit: { edit: 'set', path: pointer(...place, name), value, order, level: 2 },
  });
  if (stating !== manifest.layers[0] && readValueAt(stating.value, place) === null) {
    if (live === undefined || live === keep) return { reason: `a null resets ${pointer(...place)} as a whole` };
    // Once the document has a map there, keys of the documents below reappear; those that are not live are removed one by one.
    const seen = readValueAt(spec, place.slice(1));
    const hidden = [...new Set(earlierThan(manifest, stating).flatMap(({ value }) => keysOf(readValueAt(value, place))))];
    const gone = hidden.filter((name) => !keysOf(seen).includes(name));
    return [...gone.map((name) => stated(stating, name, null)), stated(stating, key, live)];
  }
  const layer = findEditableLayer(manifest, own, place);
  return live === undefined ? removal(manifest, layer, own, order) : [stated(layer, key, live)];
}

/** Removes a key from the document that states it; if an earlier document states it too, null removes it. */
function removal(manifest: Manifest, layer: ManifestDocument, place: readonly string[], order: readonly string[]): readonly LayerEdit[] {
  const path = pointer(...place);
  const isBelow = earlierThan(manifest, layer).some(({ value }) => (readValueAt(value, place) ?? null) !== null);
  return [{ layer, edit: isBelow ? { edit: 'set', path, value: null, order, level: 2 } : { edit: 'remove', path } }];
}

function earlierThan({ layers }: Manifest, layer: ManifestDocument): readonly ManifestDocument[] {
  return layers.slice(0, layers.indexOf(layer));
}

function keysOf(value: Json | undefined): readonly string[] {
  return isObject(value) ? Object.keys(value) : [];
}

/** Returns the entries of a list as written in their normal form. */
export function normalEntries(rule: KeyedRule, raw: readonly Json[]): readonly Json[] {
  return raw.map((entry) => (isObject(entry) ? normalizeObject(rule.fields, entry) : entry));
}

type EdgesByKey = ReadonlyMap<string, EdgeEnds>;

/** Lists the edges that manifests declare, by edge key. */
export function listDeclaredEdges(
  manifests: readonly Manifest[],
  gateway: Pick<EndNames, 'live' | 'registry'>,
): ReadonlyMap<string, DeclaredEdge> {
  const desired = { resources: manifests.map(({ id }) => ({ id, key: id })), unselected: [] };
  const edges = resolveEdges(collectEdges(manifests).edges, { desired, ...gateway });
  return new Map(edges.map((edge) => [edgeKey(edge), edge]));
}

/** Creates the edits after which manifests declare exactly the wanted edges: names in lists, and exceptions of selectors. */
export function createEdgeEdits(
  manifests: readonly Manifest[],
  wanted: EdgesByKey,
  gateway: Pick<EndNames, 'live' | 'registry'>,
): readonly (LayerEdit & { readonly key: string })[] {
  const declared = listDeclaredEdges(manifests, gateway);
  const byId = new Map(manifests.map((manifest) => [manifest.id, manifest]));
  const lost = [...declared].filter(([key]) => !wanted.has(key));
  const gained = [...wanted].filter(([key]) => !declared.has(key)).toSorted(([left], [right]) => compareText(left, right));
  const undeclared = lost.flatMap(([key, edge]) =>
    edge.declarations.flatMap(({ by, how, path }) => {
      const manifest = byId.get(by);
      if (manifest === undefined) return [];
      const edit = how === 'listed' ? removeFromList(manifest, tokensOf(path)) : addException(manifest, path, nameOf(edge.connection));
      return edit.map((one) => ({ ...one, key }));
    }),
  );
  const select = createTagSelector(manifests);
  const added = gained.flatMap(([key, ends]) => declareEdge(ends, byId, select).map((edit) => ({ ...edit, key })));
  return [...undeclared, ...added, ...allowEmptySelectors(manifests, [...undeclared, ...added])];
}

function removeFromList(manifest: Manifest, [field = '', text = '']: readonly string[]): readonly LayerEdit[] {
  const place = ['spec', field];
  const layer = findEditableLayer(manifest, place);
  return [{ layer, edit: { edit: 'drop', path: pointer(...place), value: text } }];
}

/** Adds an exception to a selector, in the document that states the exceptions, else the selector. */
function addException(manifest: Manifest, path: string, name: string): readonly LayerEdit[] {
  const place = ['spec', ...tokensOf(path)];
  const own = [...place, 'except'];
  const layer = findEditableLayer(manifest, own, place);
  return [{ layer, edit: { edit: 'add', path: pointer(...own), value: name, order: ['match_tags', 'except', 'allow_empty'] } }];
}

/** Allows selectors to be empty if their new exceptions exclude every match. */
function allowEmptySelectors(
  manifests: readonly Manifest[],
  edits: readonly LayerEdit[],
): readonly (LayerEdit & { readonly key: string })[] {
  const select = createTagSelector(manifests);
  return manifests.flatMap((rule) =>
    rule.view.selectors.flatMap((selector) => {
      const value = rule.spec[selector.name];
      const kind = rule.view.edges.find(({ name }) => name === selector.edge)?.refers;
      if (!isObject(value) || kind === undefined || value['allow_empty'] === true) return [];
      const path = pointer('spec', selector.name, 'except');
      const news = edits.filter(({ layer, edit }) => rule.layers.includes(layer) && edit.path === path && edit.edit === 'add');
      if (news.length === 0) return [];
      const names = news.flatMap(({ edit }) => (edit.edit === 'add' ? [edit.value] : []));
      const except: readonly Json[] = [...textsIn(value['except']), ...names];
      if (select(rule, selector, kind, { ...value, except }).names.length > 0) return [];
      const layer = findEditableLayer(rule, ['spec', selector.name]);
      return [{ layer, key: '', edit: { edit: 'set', path: pointer('spec', selector.name, 'allow_empty'), value: true } as const }];
    }),
  );
}

type EdgeSide = { readonly manifest: Manifest; readonly field: KindView['edges'][number]; readonly other: ResourceId };

/**
 * Creates the edits that declare an edge: an exception of a matching selector is removed; otherwise the edge is listed on
 * the side that states its edges, the connection's if both or none do.
 */
function declareEdge(
  ends: EdgeEnds,
  byId: ReadonlyMap<ResourceId, Manifest>,
  select: ReturnType<typeof createTagSelector>,
): readonly LayerEdit[] {
  const sides = [findSide(byId.get(ends.connection), ends.rule), findSide(byId.get(ends.rule), ends.connection)].flatMap(
    (side) => side ?? [],
  );
  const freed = sides.flatMap((side) => side.manifest.view.selectors.map((selector) => removeException(side, selector, select)));
  const edits = freed.flatMap((one) => one.edits);
  if (freed.some(({ isSelected }) => isSelected)) return edits;
  const side =
    sides.find(({ manifest, field }) => textsIn(manifest.spec[field.name]).length > 0) ??
    sides.find(({ manifest, field }) => manifest.spec[field.name] !== undefined) ??
    sides[0];
  if (side === undefined) return edits;
  const place = ['spec', side.field.name];
  const layer = findEditableLayer(side.manifest, place);
  const order = side.manifest.view.kind.fields.map(({ name }) => name);
  return [...edits, { layer, edit: { edit: 'add', path: pointer(...place), value: nameOf(side.other), order } }];
}

function findSide(manifest: Manifest | undefined, other: ResourceId): EdgeSide | undefined {
  const field = manifest?.view.edges.find(({ refers }) => refers === kindOf(other));
  return manifest === undefined || field === undefined ? undefined : { manifest, field, other };
}

/** Removes a name from a selector's exceptions, and returns whether the selector then matches it. */
function removeException(
  { manifest, field, other }: EdgeSide,
  selector: SelectorField,
  select: ReturnType<typeof createTagSelector>,
): { readonly edits: readonly LayerEdit[]; readonly isSelected: boolean } {
  const value = manifest.spec[selector.name];
  const name = nameOf(other);
  const except = isObject(value) ? textsIn(value['except']) : [];
  if (selector.edge !== field.name || !isObject(value) || !except.includes(name)) return { edits: [], isSelected: false };
  const place = ['spec', selector.name, 'except'];
  const layer = findEditableLayer(manifest, place);
  const without: JsonObject = { ...value, except: except.filter((one) => one !== name) };
  const isSelected = select(manifest, selector, field.refers, without).names.includes(name);
  return { edits: [{ layer, edit: { edit: 'drop', path: pointer(...place), value: name } }], isSelected };
}
