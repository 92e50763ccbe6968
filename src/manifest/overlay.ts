import type { FieldRule } from '../model/field.ts';
import { canonical, isObject, type Json, type JsonObject } from '../model/json.ts';
import { pointer } from '../model/pointer.ts';
import { makeManifest, type Manifest } from './manifest.ts';
import { placeName, quoted, type Problem } from './problem.ts';

/**
 * Merges an overlay into a manifest: maps key by key, lists and secrets whole, null as it stands. The problems are at
 * places of the overlay.
 */
export function applyOverlay(base: Manifest, overlay: Manifest): { readonly manifest: Manifest; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const spec = mergeFields(base.view.kind.fields, base.spec, overlay.spec, ['spec'], problems);
  const metadata = { ...base.metadata, ...overlay.metadata };
  return { manifest: makeManifest(base.view, { metadata, spec }, [...base.layers, ...overlay.layers]), problems };
}

function mergeFields(
  fields: readonly FieldRule[],
  base: JsonObject,
  overlay: JsonObject,
  tokens: readonly string[],
  problems: Problem[],
): JsonObject {
  const merged: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(overlay)) {
    const rule = fields.find((field) => field.name === name);
    const below = base[name];
    const place = [...tokens, name];
    if (rule !== undefined && protectsByEntries(rule)) problems.push(...lostEntries(rule, below, value, place));
    merged[name] = mergeValue(rule, below, value, place, problems);
  }
  return merged;
}

function mergeValue(
  rule: FieldRule | undefined,
  base: Json | undefined,
  overlay: Json,
  place: readonly string[],
  problems: Problem[],
): Json {
  if (rule === undefined) return overlay;
  if (rule.shape === 'object' && overlay === null && isObject(base)) {
    for (const field of rule.fields) if (protectsByEntries(field)) problems.push(...lostEntries(field, base[field.name], null, place));
  }
  if (!isObject(base) || !isObject(overlay)) return overlay;
  if (rule.shape === 'object') return mergeFields(rule.fields, base, overlay, place, problems);
  return rule.shape === 'map' ? { ...base, ...overlay } : overlay;
}

function protectsByEntries(rule: FieldRule): boolean {
  return rule.protects === 'entries' || rule.edge !== undefined;
}

function lostEntries(rule: FieldRule, base: Json | undefined, overlay: Json, place: readonly string[]): readonly Problem[] {
  if (!Array.isArray(base)) return [];
  const kept = new Set((Array.isArray(overlay) ? overlay : []).map((entry: Json) => entryName(rule, entry)));
  const lost = base.filter((entry: Json) => !kept.has(entryName(rule, entry)));
  if (lost.length === 0) return [];
  const names = lost.map((entry: Json) =>
    isObject(entry) && rule.shape === 'keyed' ? quoted(entry[rule.key] ?? 'an entry') : quoted(entry),
  );
  return [
    {
      code: 'overlay/loses-protection',
      severity: 'warning',
      at: pointer(...place),
      part: 'key',
      message: `the overlay takes ${names.join(', ')} out of ${placeName([...place.slice(0, -1), rule.name])}`,
      hint: 'an overlay replaces a list whole; repeat the entries that are to stay',
    },
  ];
}

function entryName(rule: FieldRule, entry: Json): string {
  const key = rule.shape === 'keyed' && isObject(entry) ? entry[rule.key] : undefined;
  return typeof key === 'string' ? key : canonical(entry);
}
