import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { checkManifest } from '../validate/check-manifest.ts';
import type { KindView } from '../kind-view.ts';
import { makeManifest } from '../manifest.ts';
import { toResource } from '../to-resource.ts';
import type { SecretRules } from '../secrets/read-secret.ts';
import { validateManifest } from '../validate/validate-manifest.ts';

/** The metadata and spec of a manifest. */
export type ManifestBody = { readonly metadata: JsonObject; readonly spec: JsonObject };

/** A path that was removed from a body because no manifest may state it, and the reason. */
export type DroppedPath = { readonly path: Pointer; readonly reason: string };

/** A valid body and the paths that were removed from it, or the reason why no body is valid. */
export type ValidBodyResult = { readonly body: ManifestBody; readonly dropped: readonly DroppedPath[] } | { readonly reason: string };

type Rules = { readonly secrets: SecretRules; readonly targets: readonly string[] };

/** Removes as few invalid parts from a body as possible until it is valid. */
export function dropInvalidParts(view: KindView, body: ManifestBody, rules: Rules): ValidBodyResult {
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
  return field.required ? undefined : pointer(field.name);
}

/** Returns the value without the places. */
function removePlaces(value: JsonObject, places: ReadonlySet<Pointer>, at: Pointer): JsonObject {
  const entries = Object.entries(value).filter(([key]) => !places.has(at + pointer(key)));
  return Object.fromEntries(entries.map(([key, one]) => [key, removePlacesBelow(one, places, at + pointer(key))]));
}

function removePlacesBelow(value: Json, places: ReadonlySet<Pointer>, at: Pointer): Json {
  if (Array.isArray(value)) return value.filter((_, index) => !places.has(at + pointer(String(index))));
  return isObject(value) ? removePlaces(value, places, at) : value;
}
