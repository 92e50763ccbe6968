import { appendAll } from '../model/append-all.ts';
import { type Diagnostic, suggest } from '../model/diagnostic.ts';
import { nameOf, kindOf, type ResourceId } from '../model/resource.ts';
import { locateDiagnostic, type SourceMap } from './source-map.ts';
import { removeDuplicates } from './read-documents.ts';
import { createManifestLocate, type Manifest } from './manifest.ts';
import { suggestWord } from './json-values.ts';
import { mergeLayers, validateMerged } from './merge-layers.ts';

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
      const { manifest, problems } = mergeLayers(below, overlay, 'overlay');
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
    appendAll(
      diagnostics,
      validateMerged(manifest).map((problem) => locateDiagnostic(sources, createManifestLocate(manifest), problem, id)),
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
