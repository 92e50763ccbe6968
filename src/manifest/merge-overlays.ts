import { appendAll } from '../model/append-all.ts';
import { type Diagnostic, type DocumentDiagnostic, suggest } from '../model/diagnostic.ts';
import { nameOf, kindOf, type ResourceId } from '../model/resource.ts';
import type { FieldRule } from '../model/kind.ts';
import { canonical, isObject, type Json, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { locateDiagnostic, type SourceMap } from './source-map.ts';
import { removeDuplicates } from './read-documents.ts';
import { createManifestLocate, type Manifest, makeManifest } from './manifest.ts';
import { suggestWord, quoteValue } from './json-values.ts';
import { validateManifest } from './validate/validate-manifest.ts';

type MergeResult = { readonly manifests: readonly Manifest[]; readonly diagnostics: readonly Diagnostic[] };

/** Applies the overlays of each folder in order, then validates each merged manifest against the schema. */
export function mergeOverlays(
  sources: SourceMap,
  base: readonly Manifest[],
  overlays: readonly (readonly Manifest[])[],
  known: { readonly declared: ReadonlySet<ResourceId>; readonly complete: boolean },
): MergeResult {
  if (overlays.length === 0) return { manifests: base, diagnostics: [] };
  const byId = new Map(base.map((manifest) => [manifest.id, manifest]));
  const touched = new Set<ResourceId>();
  const diagnostics: Diagnostic[] = [];
  for (const folder of overlays) {
    const { manifests, diagnostics: doubles } = removeDuplicates(sources, folder, ({ id }) => id, 'overlay/duplicate');
    appendAll(diagnostics, doubles);
    for (const overlay of manifests) {
      const below = byId.get(overlay.id);
      if (below === undefined) {
        if (known.complete && !known.declared.has(overlay.id)) diagnostics.push(noManifest(sources, overlay, byId));
        continue;
      }
      const { manifest, problems } = applyOverlay(below, overlay);
      appendAll(
        diagnostics,
        problems.map((problem) => locateDiagnostic(sources, createManifestLocate(overlay), problem, overlay.id)),
      );
      byId.set(manifest.id, manifest);
      touched.add(manifest.id);
    }
  }
  for (const id of touched) {
    const manifest = byId.get(id);
    if (manifest === undefined) continue;
    const value = { apiVersion: 'ostiary/v1', kind: manifest.view.kind.name, metadata: manifest.metadata, spec: manifest.spec };
    appendAll(
      diagnostics,
      validateManifest(manifest.view, value, 'manifest').map((problem) =>
        locateDiagnostic(sources, createManifestLocate(manifest), problem, id),
      ),
    );
  }
  return { manifests: [...byId.values()], diagnostics };
}

function noManifest(sources: SourceMap, overlay: Manifest, manifests: ReadonlyMap<ResourceId, Manifest>): Diagnostic {
  const kind = kindOf(overlay.id);
  const names = [...manifests.keys()].filter((id) => kindOf(id) === kind).map(nameOf);
  const hint =
    suggestWord(suggest(overlay.name, names)) ?? 'an overlay changes a manifest of the same kind and name; create that manifest first';
  const message = `the overlay of ${overlay.id} has no manifest`;
  return locateDiagnostic(
    sources,
    createManifestLocate(overlay),
    { code: 'overlay/no-manifest', severity: 'error', pointer: '/metadata/name', message, hint },
    overlay.id,
  );
}

/**
 * Merges an overlay into a manifest: maps key by key (null removes a key), lists and secrets as a whole, null of a field
 * unchanged. The diagnostics point into the overlay.
 */
export function applyOverlay(
  base: Manifest,
  overlay: Manifest,
): { readonly manifest: Manifest; readonly problems: readonly DocumentDiagnostic[] } {
  const problems: DocumentDiagnostic[] = [];
  const spec = mergeFields(base.view.kind.fields, base.spec, overlay.spec, ['spec'], problems);
  const metadata = { ...base.metadata, ...overlay.metadata };
  const tests = statesTests(overlay) ? overlay.tests : base.tests;
  return { manifest: makeManifest(base.view, { metadata, spec, tests }, [...base.layers, ...overlay.layers]), problems };
}

/** Returns whether an overlay replaces the samples, even with an empty list. */
function statesTests({ layers }: Manifest): boolean {
  const { value } = layers[0];
  return isObject(value) && value['tests'] !== undefined;
}

function mergeFields(
  fields: readonly FieldRule[],
  base: JsonObject,
  overlay: JsonObject,
  tokens: readonly string[],
  problems: DocumentDiagnostic[],
): JsonObject {
  const merged: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(overlay)) {
    const rule = fields.find((field) => field.name === name);
    const below = base[name];
    const place = [...tokens, name];
    if (rule !== undefined && protectsByEntries(rule)) appendAll(problems, warnOfLostEntries(rule, below, value, place));
    const result = mergeValue(rule, below, value, place, problems);
    if (result !== undefined) merged[name] = result;
  }
  return merged;
}

function mergeValue(
  rule: FieldRule | undefined,
  base: Json | undefined,
  overlay: Json,
  place: readonly string[],
  problems: DocumentDiagnostic[],
): Json | undefined {
  if (rule === undefined) return overlay;
  if (rule.shape === 'object' && overlay === null && isObject(base)) {
    for (const field of rule.fields)
      if (protectsByEntries(field)) appendAll(problems, warnOfLostEntries(field, base[field.name], null, place));
  }
  if (!isObject(overlay)) return overlay;
  if (rule.shape === 'object') return mergeFields(rule.fields, isObject(base) ? base : {}, overlay, place, problems);
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
function warnOfLostEntries(
  rule: FieldRule,
  base: Json | undefined,
  overlay: Json,
  place: readonly string[],
): readonly DocumentDiagnostic[] {
  if (!Array.isArray(base)) return [];
  const entries: readonly Json[] = Array.isArray(overlay) ? overlay : [];
  const indexes = new Map(entries.map((entry, index) => [entryName(rule, entry), index]));
  const lost: Json[] = [];
  const within: DocumentDiagnostic[] = [];
  for (const entry of base) {
    const index = indexes.get(entryName(rule, entry));
    if (index === undefined) lost.push(entry);
    else if (rule.shape === 'keyed') appendAll(within, warnOfLostWithin(rule.fields, entry, entries[index], [...place, String(index)]));
  }
  return lost.length === 0 ? within : [lossWarning(rule, lost, place), ...within];
}

/** Compares the lists inside an entry that keeps its key. */
function warnOfLostWithin(
  fields: readonly FieldRule[],
  base: Json,
  overlay: Json | undefined,
  place: readonly string[],
): readonly DocumentDiagnostic[] {
  if (!isObject(base) || !isObject(overlay)) return [];
  return fields.filter(protectsByEntries).flatMap((field) => {
    const value = overlay[field.name];
    return warnOfLostEntries(field, base[field.name], value ?? null, value === undefined ? place : [...place, field.name]);
  });
}

function lossWarning(rule: FieldRule, lost: readonly Json[], place: readonly string[]): DocumentDiagnostic {
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
