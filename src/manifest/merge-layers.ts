import { appendAll } from '../model/collections.ts';
import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import type { FieldRule } from '../model/kind.ts';
import { asObject, asArray, canonical, isObject, type Json, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { type Manifest, makeManifest } from './manifest.ts';
import { quoteValue } from './json-values.ts';
import { validateManifest } from './validate/validate-manifest.ts';

/** Validates a manifest that was merged from several documents. */
export function validateMerged({ view, metadata, spec }: Manifest): readonly DocumentDiagnostic[] {
  return validateManifest(view, { apiVersion: 'ostiary/v1', kind: view.kind.name, metadata, spec }, 'manifest');
}

/** Entries that an upper layer removes from a list that protects. */
type ListLoss = { readonly rule: FieldRule; readonly lost: readonly Json[]; readonly place: readonly string[] };

/**
 * Merges a layer into the one below it: maps key by key (null removes a key), lists and secrets as a whole, null of a field
 * unchanged. The diagnostics point into the upper layer.
 */
export function mergeLayers(
  base: Manifest,
  overlay: Manifest,
  form: 'defaults' | 'manifest' | 'overlay',
): { readonly manifest: Manifest; readonly problems: readonly DocumentDiagnostic[] } {
  const losses: ListLoss[] = [];
  const spec = mergeFields(base.view.kind.fields, base.spec, overlay.spec, ['spec'], losses);
  const metadata = { ...base.metadata, ...overlay.metadata };
  const tests = statesTests(overlay) ? overlay.tests : base.tests;
  const { document } = form === 'manifest' ? overlay : base;
  const manifest = makeManifest(base.view, { metadata, spec, tests }, [...base.layers, ...overlay.layers], document);
  return { manifest, problems: losses.map((loss) => lossWarning(loss, form)) };
}

/** Returns whether a layer replaces the samples, even with an empty list. */
function statesTests({ document: { value } }: Manifest): boolean {
  return isObject(value) && value['tests'] !== undefined;
}

function mergeFields(
  fields: readonly FieldRule[],
  base: JsonObject,
  overlay: JsonObject,
  tokens: readonly string[],
  losses: ListLoss[],
): JsonObject {
  const merged: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(overlay)) {
    const rule = fields.find((field) => field.name === name);
    const below = base[name];
    const place = [...tokens, name];
    if (rule !== undefined && protectsByEntries(rule)) appendAll(losses, warnOfLostEntries(rule, below, value, place));
    const result = mergeValue(rule, below, value, place, losses);
    if (result !== undefined) merged[name] = result;
  }
  return merged;
}

function mergeValue(
  rule: FieldRule | undefined,
  base: Json | undefined,
  overlay: Json,
  place: readonly string[],
  losses: ListLoss[],
): Json | undefined {
  if (rule === undefined) return overlay;
  if (rule.shape === 'object' && overlay === null && isObject(base)) {
    for (const field of rule.fields)
      if (protectsByEntries(field)) appendAll(losses, warnOfLostEntries(field, base[field.name], null, place));
  }
  if (!isObject(overlay)) return overlay;
  if (rule.shape === 'object') return mergeFields(rule.fields, asObject(base), overlay, place, losses);
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

function protectsByEntries(rule: FieldRule): boolean {
  return rule.protects === 'entries' || rule.edge !== undefined;
}

/** Warns of each list, at any depth, that has fewer entries in the overlay than in the base. */
function warnOfLostEntries(rule: FieldRule, base: Json | undefined, overlay: Json, place: readonly string[]): readonly ListLoss[] {
  if (!Array.isArray(base)) return [];
  const entries: readonly Json[] = asArray(overlay);
  const indexes = new Map(entries.map((entry, index) => [entryName(rule, entry), index]));
  const lost: Json[] = [];
  const within: ListLoss[] = [];
  for (const entry of base) {
    const index = indexes.get(entryName(rule, entry));
    if (index === undefined) lost.push(entry);
    else if (rule.shape === 'keyed') appendAll(within, warnOfLostWithin(rule.fields, entry, entries[index], [...place, String(index)]));
  }
  return lost.length === 0 ? within : [{ rule, lost, place }, ...within];
}

/** Compares the lists inside an entry that keeps its key. */
function warnOfLostWithin(
  fields: readonly FieldRule[],
  base: Json,
  overlay: Json | undefined,
  place: readonly string[],
): readonly ListLoss[] {
  if (!isObject(base) || !isObject(overlay)) return [];
  return fields.filter(protectsByEntries).flatMap((field) => {
    const value = overlay[field.name];
    return warnOfLostEntries(field, base[field.name], value ?? null, value === undefined ? place : [...place, field.name]);
  });
}

const lossWords = {
  defaults: {
    code: 'defaults/loses-protection',
    layer: 'these defaults',
    hint: 'an inner _defaults.yaml replaces the whole list of the outer one; repeat the entries to keep',
  },
  manifest: {
    code: 'defaults/loses-protection',
    layer: 'the manifest',
    hint: 'a manifest replaces the whole list of _defaults.yaml; repeat the entries to keep',
  },
  overlay: {
    code: 'overlay/loses-protection',
    layer: 'the overlay',
    hint: 'an overlay replaces the whole list; repeat the entries to keep',
  },
} as const;

function lossWarning({ rule, lost, place }: ListLoss, form: keyof typeof lossWords): DocumentDiagnostic {
  const { code, layer, hint } = lossWords[form];
  const names = lost.map((entry) => quoteValue(isObject(entry) && rule.shape === 'keyed' ? (entry[rule.key] ?? 'an entry') : entry));
  return {
    code,
    severity: 'warning',
    pointer: pointer(...place),
    part: 'key',
    message: `${layer} ${form === 'defaults' ? 'remove' : 'removes'} ${names.join(', ')} from ${rule.name}`,
    hint,
  };
}

function entryName(rule: FieldRule, entry: Json): string {
  const key = rule.shape === 'keyed' && isObject(entry) ? entry[rule.key] : undefined;
  return typeof key === 'string' ? key : canonical(entry);
}
