import { entriesByToken, elementToken, type KeyedRule } from '../../model/spec/list-tokens.ts';
import type { FieldRule } from '../../model/field.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import type { FieldChange, Value } from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import type { ManifestDocument } from '../yaml/parse-documents.ts';
import { toStatedValue } from '../pull/stated-values.ts';
import type { DocumentEdit } from '../edit/apply-edit.ts';
import { findDecidingLayer, type Manifest } from '../manifest.ts';

/** An edit of one of a manifest's documents. */
export type LayerEdit = { readonly layer: ManifestDocument; readonly edit: DocumentEdit };

/** Why a value cannot be accepted. */
export type UneditableField = { readonly reason: string };

/** A field below `place` of a layer, and what of it is to become as it is live. */
type EditStep = {
  readonly layer: ManifestDocument;
  readonly place: readonly string[];
  readonly fields: readonly FieldRule[];
  readonly tokens: readonly string[];
  readonly live: Json | undefined;
};

const keep: Json = { keep: true };

/** The edits after which a manifest says of one field what is live: in the document that has the last word on it. `spec`: all that is live. */
export function createFieldEdits(
  manifest: Manifest,
  { path, before }: FieldChange,
  spec: JsonObject,
): readonly LayerEdit[] | UneditableField {
  if ('unknown' in before) return { reason: 'the value that is live cannot be seen' };
  const tokens = tokensOf(path);
  const { rules, rest } = findRules(manifest.view.kind.fields, tokens);
  const rule = rules.at(-1);
  if (rule === undefined) return { reason: 'the kind has no such field' };
  const place = ['spec', ...tokens.slice(0, tokens.length - rest.length)];
  const live = toStatedLive(before);
  const [key] = rest;
  const isMap = rule.shape === 'map' || rule.secret === 'base64';
  if (isMap && key !== undefined) return createKeyEdits(manifest, place, { key, live, fields: manifest.view.kind.fields, spec });
  const layer = findDecidingLayer(manifest, place) ?? manifest.layers[0];
  if (live === undefined && rest.length === 0) return removal(manifest, layer, place);
  const fields = rules.length === 1 ? manifest.view.kind.fields : (fieldsOf(rules.at(-2)) ?? []);
  const step = { layer, place: place.slice(0, -1), fields, tokens: [rule.name, ...rest], live };
  const order = manifest.view.kind.fields.map(({ name }) => name);
  const edits = createValueEdits(step);
  return 'reason' in edits ? edits : edits.map((edit) => ({ layer, edit: addOrder(edit, order) }));
}

/** What a manifest says of a value: of a secret no more than that it is kept. */
function toStatedLive(before: Value): Json | undefined {
  if ('secret' in before) return keep;
  return 'value' in before ? before.value : undefined;
}

/** The rules from a field of spec down to the one that holds the value as a whole, and the tokens inside that. */
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

/** A field of spec that is new in a document stands where the schema has it. */
function addOrder(edit: DocumentEdit, order: readonly string[]): DocumentEdit {
  return edit.edit === 'set' || edit.edit === 'add' ? { order, level: 2, ...edit } : edit;
}

type MapKey = { readonly key: string; readonly live: Json | undefined; readonly fields: readonly FieldRule[]; readonly spec: JsonObject };

/** A key of a map: in the document that gives it, else where the map stands; an overlay takes a key away by null. */
function createKeyEdits(
  manifest: Manifest,
  place: readonly string[],
  { key, live, fields, spec }: MapKey,
): readonly LayerEdit[] | UneditableField {
  const own = [...place, key];
  const stating = findDecidingLayer(manifest, place) ?? manifest.layers[0];
  const order = fields.map(({ name }) => name);
  const stated = (layer: ManifestDocument, name: string, value: Json): LayerEdit => ({
    layer,
    edit: { edit: 'set', path: pointer(...place, name), value, order, level: 2 },
  });
  if (stating !== manifest.layers[0] && rawAt(stating.value, place) === null) {
    if (live === undefined || live === keep) return { reason: `an overlay resets ${pointer(...place)} as a whole` };
    // Once the overlay has a map there, what lies below comes through: what is not live goes key by key.
    const seen = rawAt(spec, place.slice(1));
    const hidden = [...new Set(earlierThan(manifest, stating).flatMap(({ value }) => keysOf(rawAt(value, place))))];
    const gone = hidden.filter((name) => !keysOf(seen).includes(name));
    return [...gone.map((name) => stated(stating, name, null)), stated(stating, key, live)];
  }
  const layer = findDecidingLayer(manifest, own) ?? stating;
  return live === undefined ? removal(manifest, layer, own) : [stated(layer, key, live)];
}

/** Takes a key out of the document that gives it; where an earlier one gives it too, null takes it away. */
function removal(manifest: Manifest, layer: ManifestDocument, place: readonly string[]): readonly LayerEdit[] {
  const path = pointer(...place);
  const isBelow = earlierThan(manifest, layer).some(({ value }) => (rawAt(value, place) ?? null) !== null);
  return [{ layer, edit: isBelow ? { edit: 'set', path, value: null } : { edit: 'remove', path } }];
}

function earlierThan({ layers }: Manifest, layer: ManifestDocument): readonly ManifestDocument[] {
  return layers.slice(0, layers.indexOf(layer));
}

function keysOf(value: Json | undefined): readonly string[] {
  return isObject(value) ? Object.keys(value) : [];
}

/** The edits below a place of one document. */
function createValueEdits(step: EditStep): readonly DocumentEdit[] | UneditableField {
  const { place, fields, tokens, live, layer } = step;
  const [name = '', ...rest] = tokens;
  const rule = fields.find((field) => field.name === name);
  if (rule === undefined) return { reason: 'the kind has no such field' };
  const path = pointer(...place, name);
  const [token] = rest;
  if (token === undefined) return [live === undefined ? { edit: 'remove', path } : { edit: 'set', path, value: toStatedValue(rule, live) }];
  const raw = rawAt(layer.value, [...place, name]);
  switch (rule.shape) {
    case 'set':
      if (live !== undefined) return [{ edit: 'add', path, value: live }];
      return listOf(raw).flatMap((value) => (elementToken(value) === token ? [{ edit: 'drop', path, value }] : []));
    case 'keyed':
      return createEntryEdits({ ...step, place: [...place, name], tokens: rest }, rule, listOf(raw));
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

/** A whole entry of a keyed list, or a value inside one. */
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
  const [value] = listOf(toStatedValue(rule, [live]));
  return [{ edit: 'add', path, value: value ?? live }];
}

/** Where the entry of a token stands in a list as it is written. */
export function findTokenIndex(rule: KeyedRule, raw: readonly Json[], token: string): number {
  const normal = raw.map((entry) => (isObject(entry) ? normalizeObject(rule.fields, entry) : entry));
  const wanted = entriesByToken(rule, normal).get(token);
  return wanted === undefined ? -1 : normal.findIndex((entry) => equal(entry, wanted));
}

/** The entries of what may be a list. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The value at a place of a document, as it is written. */
export function rawAt(value: Json, place: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const token of place) {
    if (Array.isArray(found)) found = found[Number(token)];
    else found = isObject(found) && Object.hasOwn(found, token) ? found[token] : undefined;
  }
  return found;
}
