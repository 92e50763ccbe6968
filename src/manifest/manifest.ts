import type { Position } from '../model/diagnostic.ts';
import type { FieldRule } from '../model/field.ts';
import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { pointer, tokensOf, type Pointer } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import { toText } from './json-values.ts';
import type { ManifestDocument } from './yaml/parse-documents.ts';
import type { KindView } from './kind-view.ts';

/** A valid manifest of one resource: its document, with overlays merged into it. */
export type Manifest = {
  readonly view: KindView;
  readonly id: ResourceId;
  readonly name: string;
  readonly metadata: JsonObject;
  readonly spec: JsonObject;
  /** The samples of the manifest, for kinds that have them. */
  readonly tests: readonly JsonObject[];
  /** The manifest's own document, then its overlays in order. */
  readonly layers: readonly [ManifestDocument, ...ManifestDocument[]];
};

/** Returns the position of a value or of its key, by a pointer from the document's root. */
export type Locate = ManifestDocument['locate'];

/** The contents of a manifest besides its kind. */
export type ManifestValue = { readonly metadata: JsonObject; readonly spec: JsonObject; readonly tests?: Json | undefined };

/** Creates the manifest of a valid document, or of a merged value and the documents that it was merged from. */
export function makeManifest(view: KindView, value: ManifestValue, layers: Manifest['layers']): Manifest {
  const name = toText(value.metadata['name']);
  return {
    view,
    id: `${view.kind.name}/${name}`,
    name,
    metadata: value.metadata,
    spec: value.spec,
    tests: Array.isArray(value.tests) ? value.tests.filter(isObject) : none,
    layers,
  };
}

const none: readonly JsonObject[] = [];

/** Returns the id by which the gateway knows a resource; it differs from the manifest's id for kinds that the gateway does not name. */
export function toGatewayKey({ view, id, name, spec }: Manifest): ResourceId {
  return view.kind.named ? id : `${view.kind.name}/${view.kind.identity(name, spec)}`;
}

/** Creates the function that locates values in the document that decides them. */
export function createManifestLocate(manifest: Manifest): Locate {
  const { layers } = manifest;
  // Most manifests have no overlay, so there is nothing to decide.
  if (layers.length === 1) return layers[0].locate;
  return (path, part) => (findDecidingLayer(manifest, tokensOf(path)) ?? layers[0]).locate(path, part);
}

/** Returns the last document of the manifest that states the place; undefined if none does. */
export function findDecidingLayer({ layers }: Pick<Manifest, 'layers'>, tokens: readonly string[]): ManifestDocument | undefined {
  return layers.findLast((layer) => decides(layer.value, tokens));
}

/** Returns whether the document has the place, or a value other than a map on the way to it. */
function decides(value: Json, tokens: readonly string[]): boolean {
  let found: Json | undefined = value;
  for (const token of tokens) {
    if (!isObject(found)) return true;
    if (!Object.hasOwn(found, token)) return false;
    found = found[token];
  }
  return true;
}

/** Returns the position of a place in spec: list entries by index, set entries by value, entries of keyed lists by key. */
export function locateInSpec(manifest: Manifest, path: Pointer): Position {
  const tokens: string[] = ['spec'];
  let found: Json | undefined = manifest.spec;
  let rule: FieldRule | undefined;
  let fields: readonly FieldRule[] = manifest.view.kind.fields;
  for (const token of tokensOf(path)) {
    const index: number = Array.isArray(found) ? findEntryIndex(found, token, rule) : -1;
    if (Array.isArray(found) && index === -1) break;
    if (isObject(found) && !Object.hasOwn(found, token)) break;
    if (!Array.isArray(found) && !isObject(found)) break;
    tokens.push(index === -1 ? token : String(index));
    found = Array.isArray(found) ? found[index] : found[token];
    if (index === -1) {
      rule = fields.find((field) => field.name === token);
      fields = rule?.shape === 'object' || rule?.shape === 'keyed' ? rule.fields : [];
    }
  }
  return createManifestLocate(manifest)(pointer(...tokens));
}

function findEntryIndex(entries: readonly Json[], token: string, rule: FieldRule | undefined): number {
  const key = rule?.shape === 'keyed' ? rule.key : undefined;
  const byName = entries.findIndex((entry) => entry === token || (key !== undefined && isObject(entry) && entry[key] === token));
  if (byName !== -1 || !/^\d+$/.test(token)) return byName;
  return Number(token) < entries.length ? Number(token) : -1;
}
