import type { Diagnostic } from '../model/diagnostic.ts';
import { nameOf, kindOf, type ResourceId } from '../model/resource.ts';
import { closest } from '../model/suggest.ts';
import { diagnose, type Book } from './diagnose.ts';
import { withoutDuplicates } from './duplicates.ts';
import { locateIn, type Manifest } from './manifest.ts';
import { applyOverlay } from './overlay.ts';
import { didYouMean } from './problem.ts';
import { validate } from './validate.ts';

type Merged = { readonly manifests: readonly Manifest[]; readonly diagnostics: readonly Diagnostic[] };

/** Applies the overlays of each folder in order, and holds what they made against the schema again. */
export function mergeOverlays(
  book: Book,
  base: readonly Manifest[],
  overlays: readonly (readonly Manifest[])[],
  known: { readonly declared: ReadonlySet<ResourceId>; readonly whole: boolean },
): Merged {
  if (overlays.length === 0) return { manifests: base, diagnostics: [] };
  const byId = new Map(base.map((manifest) => [manifest.id, manifest]));
  const touched = new Set<ResourceId>();
  const diagnostics: Diagnostic[] = [];
  for (const folder of overlays) {
    const { manifests, diagnostics: doubles } = withoutDuplicates(book, folder, ({ id }) => id, 'overlay/duplicate');
    diagnostics.push(...doubles);
    for (const overlay of manifests) {
      const below = byId.get(overlay.id);
      if (below === undefined) {
        if (known.whole && !known.declared.has(overlay.id)) diagnostics.push(noManifest(book, overlay, byId));
        continue;
      }
      const { manifest, problems } = applyOverlay(below, overlay);
      diagnostics.push(...problems.map((problem) => diagnose(book, locateIn(overlay), problem, overlay.id)));
      byId.set(manifest.id, manifest);
      touched.add(manifest.id);
    }
  }
  for (const id of touched) {
    const manifest = byId.get(id);
    if (manifest === undefined) continue;
    const value = { apiVersion: 'ostiary/v1', kind: manifest.view.kind.name, metadata: manifest.metadata, spec: manifest.spec };
    diagnostics.push(...validate(manifest.view, value, 'manifest').map((problem) => diagnose(book, locateIn(manifest), problem, id)));
  }
  return { manifests: [...byId.values()], diagnostics };
}

function noManifest(book: Book, overlay: Manifest, manifests: ReadonlyMap<ResourceId, Manifest>): Diagnostic {
  const kind = kindOf(overlay.id);
  const names = [...manifests.keys()].filter((id) => kindOf(id) === kind).map(nameOf);
  const hint = didYouMean(closest(overlay.name, names)) ?? 'an overlay changes a manifest of the same kind and name; write that first';
  const message = `the overlay of ${overlay.id} has no manifest to change`;
  return diagnose(
    book,
    locateIn(overlay),
    { code: 'overlay/no-manifest', severity: 'error', at: '/metadata/name', message, hint },
    overlay.id,
  );
}
