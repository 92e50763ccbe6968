import { appendAll } from '../model/collections.ts';
import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import type { FieldRule } from '../model/kind.ts';
import { asObject, asArray, canonical, isObject, type Json, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { type Manifest, makeManifest } from './manifest.ts';
import { quoteValue } from './json-values.ts';
import { validateManifest } from './validate/validate-manifest.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';

/** Validates a manifest that was merged from several documents. */
export function validateMerged({ view, metadata, spec }: Manifest): readonly DocumentDiagnostic[] {
  return validateManifest(view, { apiVersion: 'ostiary/v1', kind: view.kind.name, metadata, spec }, 'manifest');
}

/**
 * Merges a layer into the one below it: maps key by key (null removes a key), lists and secrets as a whole, null of a field
 * unchanged. `document` is the one that declares the object.
 */
export function mergeLayers(base: Manifest, overlay: Manifest, document: ManifestDocument): Manifest {
  const spec = mergeFields(base.view.kind.fields, base.spec, overlay.spec);
  const metadata = { ...base.metadata, ...overlay.metadata };
  const tests = statesTests(overlay) ? overlay.tests : base.tests;
  return makeManifest(base.view, { metadata, spec, tests }, [...base.layers, ...overlay.layers], document);
}

/** Returns whether a layer replaces the samples, even with an empty list. */
function statesTests({ document: { value } }: Manifest): boolean {
  return isObject(value) && value['tests'] !== undefined;
}

function mergeFields(fields: readonly FieldRule[], base: JsonObject, overlay: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(overlay)) {
    const rule = fields.find((field) => field.name === name);
    const result = mergeValue(rule, base[name], value);
    if (result !== undefined) merged[name] = result;
  }
  return merged;
}

function mergeValue(rule: FieldRule | undefined, base: Json | undefined, overlay: Json): Json | undefined {
  if (rule === undefined || !isObject(overlay)) return overlay;
  if (rule.shape === 'object') return mergeFields(rule.fields, asObject(base), overlay);
  return rule.shape === 'map' ? mergeMap(base, overlay) : overlay;
}

/** Merges key by key. If the base has no map and the overlay only removes keys, the map stays omitted: an omitted map is not an empty one. */
function mergeMap(base: Json | undefined, overlay: JsonObject): Json | undefined {
  const merged: Record<string, Json> = isObject(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(overlay)) {
    if (value === null) delete merged[key];
    else merged[key] = value;
  }
  const isVoid = !isObject(base) && Object.keys(merged).length === 0 && Object.keys(overlay).length > 0;
  return isVoid ? base : merged;
}

/** Entries that an overlay removes from a list that protects. */
type ListLoss = { readonly rule: FieldRule; readonly lost: readonly Json[]; readonly place: readonly string[] };

/** Returns a warning for each list, at any depth, from which an overlay removes entries that protect. The warnings point into the overlay. */
export function warnOfLosses(base: Manifest, overlay: Manifest): readonly DocumentDiagnostic[] {
  return lossesIn(base.view.kind.fields, base.spec, overlay.spec, ['spec']).map(lossWarning);
}

function lossesIn(fields: readonly FieldRule[], base: JsonObject, overlay: JsonObject, tokens: readonly string[]): readonly ListLoss[] {
  return Object.entries(overlay).flatMap(([name, value]): readonly ListLoss[] => {
    const rule = fields.find((field) => field.name === name);
    if (rule === undefined) return [];
    const [below, place] = [base[name], [...tokens, name]];
    const own = protectsByEntries(rule) ? lostEntries(rule, below, value, place) : [];
    if (rule.shape !== 'object') return own;
    if (isObject(value)) return [...own, ...lossesIn(rule.fields, asObject(below), value, place)];
    if (value !== null || !isObject(below)) return own;
    return [...own, ...rule.fields.filter(protectsByEntries).flatMap((field) => lostEntries(field, below[field.name], null, place))];
  });
}

function protectsByEntries(rule: FieldRule): boolean {
  return rule.protects === 'entries' || rule.edge !== undefined;
}

/** Finds the entries that a list, or one inside its entries, has in the base and not in the overlay. */
function lostEntries(rule: FieldRule, base: Json | undefined, overlay: Json, place: readonly string[]): readonly ListLoss[] {
  if (!Array.isArray(base)) return [];
  const entries: readonly Json[] = asArray(overlay);
  const indexes = new Map(entries.map((entry, index) => [entryName(rule, entry), index]));
  const lost: Json[] = [];
  const within: ListLoss[] = [];
  for (const entry of base) {
    const index = indexes.get(entryName(rule, entry));
    if (index === undefined) lost.push(entry);
    else if (rule.shape === 'keyed') appendAll(within, lostWithin(rule.fields, entry, entries[index], [...place, String(index)]));
  }
  return lost.length === 0 ? within : [{ rule, lost, place }, ...within];
}

/** Compares the lists inside an entry that keeps its key. */
function lostWithin(fields: readonly FieldRule[], base: Json, overlay: Json | undefined, place: readonly string[]): readonly ListLoss[] {
  if (!isObject(base) || !isObject(overlay)) return [];
  return fields.filter(protectsByEntries).flatMap((field) => {
    const value = overlay[field.name];
    return lostEntries(field, base[field.name], value ?? null, value === undefined ? place : [...place, field.name]);
  });
}

function lossWarning({ rule, lost, place }: ListLoss): DocumentDiagnostic {
  const names = lost.map((entry) => quoteValue(isObject(entry) && rule.shape === 'keyed' ? (entry[rule.key] ?? 'an entry') : entry));
  return {
    code: 'overlay/loses-protection',
    severity: 'warning',
    pointer: pointer(...place),
    part: 'key',
    message: `the overlay removes ${names.join(', ')} from ${rule.name}`,
    hint: 'an overlay replaces the whole list; repeat the entries to keep',
  };
}

function entryName(rule: FieldRule, entry: Json): string {
  const key = rule.shape === 'keyed' && isObject(entry) ? entry[rule.key] : undefined;
  return typeof key === 'string' ? key : canonical(entry);
}
