import { elementToken, type KeyedRule } from '../../model/spec/list-tokens.ts';
import { equal, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { readValueAt, readEntries } from '../json-values.ts';
import { toStatedValue } from '../pull/stated-values.ts';
import type { DocumentEdit } from '../edit/apply-edit.ts';
import { findDecidingLayer, type Manifest } from '../manifest.ts';
import type { LiveDifference } from './differences.ts';
import { findTokenIndex, findRules, type LayerEdit } from './field-edits.ts';

/** Two differences that are one changed entry of a list, and the edits that change it. */
export type ChangedEntry = { readonly by: readonly [FieldDifference, FieldDifference]; readonly edits: readonly LayerEdit[] };

type FieldDifference = Extract<LiveDifference, { readonly is: 'field' }>;

/** An entry of a keyed list in a manifest, by place and token. */
type ManifestEntry = { readonly manifest: Manifest; readonly rule: KeyedRule; readonly place: readonly string[]; readonly token: string };

/**
 * Finds changed entries without a name, which a plan shows as one removed and one added entry: the two share at least
 * half of their fields. Editing such an entry keeps its unchanged text.
 */
export function findChangedEntries(manifest: Manifest, differences: readonly FieldDifference[]): readonly ChangedEntry[] {
  const entries = differences.flatMap((one) => {
    const entry = findEntry(manifest, one.field);
    return entry === undefined ? [] : [{ one, entry, list: pointer(...entry.place) }];
  });
  const come = new Set(entries.filter(({ one }) => 'value' in one.field.before));
  return entries.flatMap((gone): readonly ChangedEntry[] => {
    if (!('absent' in gone.one.field.before)) return [];
    const found = [...come].find(({ one, list }) => list === gone.list && isAlike(gone.entry, liveObject(one.field)));
    const edits = found && entryEdits(gone.entry, liveObject(found.one.field));
    if (found === undefined || edits === undefined) return [];
    come.delete(found);
    return [{ by: [gone.one, found.one], edits }];
  });
}

function findEntry(manifest: Manifest, { path }: FieldChange): ManifestEntry | undefined {
  const tokens = tokensOf(path);
  const { rules, rest } = findRules(manifest.view.kind.fields, tokens);
  const rule = rules.at(-1);
  const [token] = rest;
  if (rule?.shape !== 'keyed' || token === undefined || rest.length > 1) return undefined;
  return { manifest, rule, place: ['spec', ...tokens.slice(0, -1)], token };
}

function liveObject({ before }: FieldChange): JsonObject {
  return 'value' in before && isObject(before.value) ? before.value : {};
}

type WrittenEntry = { readonly layer: LayerEdit['layer']; readonly index: number; readonly raw: JsonObject; readonly normal: JsonObject };

/** Returns the entry as its document states it. */
function findWritten({ manifest, rule, place, token }: ManifestEntry): WrittenEntry | undefined {
  const layer = findDecidingLayer(manifest, place) ?? manifest.layers[0];
  const list = readEntries(layer && readValueAt(layer.value, place));
  const index = findTokenIndex(rule, list, token);
  const raw = list[index];
  return layer === undefined || !isObject(raw) ? undefined : { layer, index, raw, normal: normalizeObject(rule.fields, raw) };
}

function isAlike(entry: ManifestEntry, live: JsonObject): boolean {
  const had = findWritten(entry)?.normal;
  const same = had === undefined ? [] : entry.rule.fields.filter(({ name }) => equal(had[name], live[name]));
  return same.length * 2 >= entry.rule.fields.length;
}

function entryEdits(entry: ManifestEntry, live: JsonObject): readonly LayerEdit[] | undefined {
  const { rule, place } = entry;
  const found = findWritten(entry);
  const [stated] = readEntries(toStatedValue(rule, [live]));
  if (found === undefined || !isObject(stated)) return undefined;
  const { layer, index, raw, normal } = found;
  const order = rule.fields.map(({ name }) => name);
  return rule.fields.flatMap((field): readonly LayerEdit[] => {
    const { name } = field;
    if (equal(normal[name], live[name])) return [];
    const path = pointer(...place, String(index), name);
    const value = stated[name];
    const edits: readonly DocumentEdit[] =
      value === undefined
        ? [{ edit: 'remove', path }]
        : field.shape === 'set' && Array.isArray(raw[name]) && Array.isArray(value)
          ? elementEdits(path, raw[name], value)
          : [{ edit: 'set', path, value, order, level: place.length + 2 }];
    return edits.map((edit) => ({ layer, edit }));
  });
}

/** A set keeps its written order. */
function elementEdits(path: DocumentEdit['path'], raw: readonly Json[], live: readonly Json[]): readonly DocumentEdit[] {
  const [had, has] = [raw, live].map((values) => new Set(values.map(elementToken)));
  return [
    ...live.flatMap((value): readonly DocumentEdit[] => (had?.has(elementToken(value)) === true ? [] : [{ edit: 'add', path, value }])),
    ...raw.flatMap((value): readonly DocumentEdit[] => (has?.has(elementToken(value)) === true ? [] : [{ edit: 'drop', path, value }])),
  ];
}
