import { isDefaultsPath } from '../../model/diagnostic.ts';
import { pointer, tokensOf } from '../../model/pointer.ts';
import { readTargetManifests, type LoadInput } from '../load-manifests.ts';
import { findDecidingLayer, type Manifest } from '../manifest.ts';
import { readValueAt } from '../json-values.ts';
import type { ManifestDocument } from '../yaml/parse-documents.ts';
import { findRules, type LiveDifference } from './field-edits.ts';
import { editTexts, type AttributedEdit } from './verify-accepted.ts';

/** Copies each list that a difference is in from the defaults into the manifest, so that the manifest can be edited. Returns the new texts. */
export function stateDefaultLists(load: LoadInput, wanted: readonly LiveDifference[]): ReadonlyMap<string, string> {
  if (!load.files.some(({ path }) => isDefaultsPath(path))) return new Map();
  const byId = new Map(readTargetManifests(load).manifests.map((manifest) => [manifest.id, manifest]));
  const edits = new Map<string, AttributedEdit>();
  for (const one of wanted) {
    for (const id of one.is === 'field' ? [one.id] : [one.ends.rule, one.ends.connection]) {
      const manifest = byId.get(id);
      if (manifest === undefined) continue;
      for (const place of listPlaces(manifest, one)) {
        const value = readValueAt(findDefaults(manifest, place)?.value, place);
        const order = manifest.view.kind.fields.map(({ name }) => name);
        const edit = { edit: 'set', path: pointer(...place), value: value ?? null, order, level: 2 } as const;
        if (Array.isArray(value)) edits.set(`${id}${edit.path}`, { layer: manifest.document, edit, causes: [one] });
      }
    }
  }
  return editTexts(load, [...edits.values()], new Map()).texts;
}

/** Returns the places of the lists that a difference may be in. */
function listPlaces({ view }: Manifest, one: LiveDifference): readonly (readonly string[])[] {
  if (one.is === 'edge')
    return [...view.edges.map(({ name }) => ['spec', name]), ...view.selectors.map(({ name }) => ['spec', name, 'except'])];
  const tokens = tokensOf(one.field.path);
  const { rest } = findRules(view.kind.fields, tokens);
  return rest.length === 0 ? [] : [['spec', ...tokens.slice(0, -rest.length)]];
}

/** Returns the defaults that decide a place; undefined if another document or none does. */
function findDefaults(manifest: Manifest, place: readonly string[]): ManifestDocument | undefined {
  const layer = findDecidingLayer(manifest, place);
  const index = layer === undefined ? -1 : manifest.layers.indexOf(layer);
  return index < manifest.layers.indexOf(manifest.document) ? layer : undefined;
}
