import { entriesByToken, elementToken, type KeyedRule } from '../../model/spec/edit.ts';
import type { FieldRule } from '../../model/kind.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import type { FieldChange, Value, Change, Diff } from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { readValueAt, readEntries } from '../json-values.ts';
import type { ManifestDocument } from '../yaml/parse-documents.ts';
import { toStatedValue } from '../pull/draft-manifests.ts';
import type { DocumentEdit } from '../edit/apply-edit.ts';
import { findEditableLayer, type Manifest } from '../manifest.ts';
import type { Position } from '../../model/diagnostic.ts';
import type { EdgeEnds } from '../../model/live.ts';
import type { ResourceId } from '../../model/resource.ts';

/** A live field or edge that differs from the manifests. */
export type LiveDifference =
  | { readonly is: 'field'; readonly id: ResourceId; readonly field: FieldChange }
  /** `attached` means that the edge is live; otherwise only manifests declare it. */
  | { readonly is: 'edge'; readonly ends: EdgeEnds; readonly attached: boolean };

/** The differences that manifests could state, and the objects that are not live. */
type LiveDifferences = {
  readonly differences: readonly LiveDifference[];
  /** Declared objects that are not live. */
  readonly removed: readonly { readonly id: ResourceId; readonly at?: Position }[];
};

/** Finds the differences in a plan that drift caused; with `all`, every difference. */
export function findDifferences({ changes, edges }: Pick<Diff, 'changes' | 'edges'>, which: 'drift' | 'all'): LiveDifferences {
  const isMeant = ({ origin, held }: Pick<FieldChange, 'origin' | 'held'>): boolean =>
    which === 'all' || origin === 'drift' || held === true;
  const fields = changes.flatMap((change) =>
    isCompared(change) ? change.fields.filter(isMeant).map((field): LiveDifference => ({ is: 'field', id: change.id, field })) : [],
  );
  const ends = edges.flatMap(({ rule, connection, action, origin }): readonly LiveDifference[] => {
    const isOurs = action === 'attach' || action === 'detach' || action === 'held';
    if (!isOurs || !(which === 'all' || origin === 'drift')) return [];
    return [{ is: 'edge', ends: { rule, connection }, attached: action !== 'attach' }];
  });
  const removed = changes.filter(({ action, fields: given }) => action === 'create' && (which === 'all' || given.some(isMeant)));
  const gone = new Set(removed.flatMap(({ id, key }) => [id, key ?? id]));
  const isThere = (one: LiveDifference): boolean => one.is === 'field' || !(gone.has(one.ends.rule) || gone.has(one.ends.connection));
  return {
    differences: [...fields, ...ends].filter(isThere),
    removed: removed.map(({ id, at }) => ({ id, ...(at === undefined ? {} : { at }) })),
  };
}

/** Returns whether the change compares a manifest with a live object. */
function isCompared({ action }: Change): boolean {
  return action === 'update' || action === 'held' || action === 'blocked' || action === 'rename';
}

/** An edit of one of a manifest's documents. */
export type LayerEdit = { readonly layer: ManifestDocument; readonly edit: DocumentEdit };

/** The reason why no edit can accept a value. */
type UneditableField = { readonly reason: string };

/** A field below `place` of a layer, and the live value at `tokens` inside it (undefined: absent). */
type EditStep = {
  readonly layer: ManifestDocument;
  readonly place: readonly string[];
  readonly fields: readonly FieldRule[];
  readonly tokens: readonly string[];
  readonly live: Json | undefined;
};

const keep: Json = { keep: true };

/** Creates the edits after which a manifest states the live value of one field, in the document that decides it. `spec` is the live spec. */
export function createFieldEdits(
  manifest: Manifest,
  { path, before }: FieldChange,
  spec: JsonObject,
): readonly LayerEdit[] | UneditableField {
  if ('unknown' in before) return { reason: 'the token cannot see the live value' };
  const tokens = tokensOf(path);
  const { rules, rest } = findRules(manifest.view.kind.fields, tokens);
  const rule = rules.at(-1);
  if (rule === undefined) return { reason: 'the kind has no such field' };
  const place = ['spec', ...tokens.slice(0, tokens.length - rest.length)];
  const live = toStatedLive(before);
  const [key] = rest;
  const isMap = rule.shape === 'map' || rule.secret === 'base64';
  if (isMap && key !== undefined) return createKeyEdits(manifest, place, { key, live, fields: manifest.view.kind.fields, spec });
  const layer = findEditableLayer(manifest, place);
  const order = manifest.view.kind.fields.map(({ name }) => name);
  if (live === undefined && rest.length === 0) return removal(manifest, layer, place, order);
  const fields = rules.length === 1 ? manifest.view.kind.fields : (fieldsOf(rules.at(-2)) ?? []);
  const step = { layer, place: place.slice(0, -1), fields, tokens: [rule.name, ...rest], live };
  const edits = createValueEdits(step);
  return 'reason' in edits ? edits : edits.map((edit) => ({ layer, edit: addOrder(edit, order) }));
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

function fieldsOf(rule: FieldRule | undefined): readonly FieldRule[] | undefined {
  return rule?.shape === 'object' || rule?.shape === 'keyed' ? rule.fields : undefined;
}

/** Adds the order of the schema to an edit that may insert a field. */
function addOrder(edit: DocumentEdit, order: readonly string[]): DocumentEdit {
  return edit.edit === 'set' || edit.edit === 'add' ? { order, level: 2, ...edit } : edit;
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
  return [{ layer, edit: isBelow ? addOrder({ edit: 'set', path, value: null }, order) : { edit: 'remove', path } }];
}

function earlierThan({ layers }: Manifest, layer: ManifestDocument): readonly ManifestDocument[] {
  return layers.slice(0, layers.indexOf(layer));
}

function keysOf(value: Json | undefined): readonly string[] {
  return isObject(value) ? Object.keys(value) : [];
}

/** Creates the edits below a place of one document. */
function createValueEdits(step: EditStep): readonly DocumentEdit[] | UneditableField {
  const { place, fields, tokens, live, layer } = step;
  const [name = '', ...rest] = tokens;
  const rule = fields.find((field) => field.name === name);
  if (rule === undefined) return { reason: 'the kind has no such field' };
  const path = pointer(...place, name);
  const [token] = rest;
  if (token === undefined) return [live === undefined ? { edit: 'remove', path } : { edit: 'set', path, value: toStatedValue(rule, live) }];
  const raw = readValueAt(layer.value, [...place, name]);
  switch (rule.shape) {
    case 'set':
      if (live !== undefined) return [{ edit: 'add', path, value: live }];
      return readEntries(raw).flatMap((value) => (elementToken(value) === token ? [{ edit: 'drop', path, value }] : []));
    case 'keyed':
      return createEntryEdits({ ...step, place: [...place, name], tokens: rest }, rule, readEntries(raw));
    case 'object':
      return createValueEdits({ ...step, place: [...place, name], fields: rule.fields, tokens: rest });
    case 'map':
      return [
        live === undefined ? { edit: 'remove', path: path + pointer(token) } : { edit: 'set', path: path + pointer(token), value: live },
      ];
    case 'list':
    case 'scalar':
      return { reason: 'it has no parts' };
  }
}

/** Creates the edits of an entry of a keyed list, or of a value inside one. */
function createEntryEdits(step: EditStep, rule: KeyedRule, raw: readonly Json[]): readonly DocumentEdit[] | UneditableField {
  const { place, live } = step;
  const [token = '', ...rest] = step.tokens;
  const index = findTokenIndex(rule, raw, token);
  const entry = raw[index];
  if (rest.length > 0) {
    if (entry === undefined) return { reason: 'the manifest has no such entry' };
    const edits = createValueEdits({ ...step, place: [...place, String(index)], fields: rule.fields, tokens: rest });
    const order = rule.fields.map(({ name }) => name);
    return 'reason' in edits
      ? edits
      : edits.map((edit) => (edit.edit === 'set' || edit.edit === 'add' ? { ...edit, order, level: place.length + 2 } : edit));
  }
  const path = pointer(...place);
  if (live === undefined) return entry === undefined ? [] : [{ edit: 'drop', path, value: entry }];
  const [value] = readEntries(toStatedValue(rule, [live]));
  return [{ edit: 'add', path, value: value ?? live }];
}

/** Returns the entries of a list as written in their normal form. */
export function normalEntries(rule: KeyedRule, raw: readonly Json[]): readonly Json[] {
  return raw.map((entry) => (isObject(entry) ? normalizeObject(rule.fields, entry) : entry));
}

/** Returns the index of a token's entry in a list as written; -1 if there is none. */
export function findTokenIndex(rule: KeyedRule, raw: readonly Json[], token: string): number {
  const normal = normalEntries(rule, raw);
  const wanted = entriesByToken(rule, normal).get(token);
  return wanted === undefined ? -1 : normal.findIndex((entry) => equal(entry, wanted));
}
