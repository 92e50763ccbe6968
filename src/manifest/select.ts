import type { Diagnostic } from '../model/diagnostic.ts';
import type { ResourceId } from '../model/resource.ts';
import { closest } from '../model/suggest.ts';
import type { Manifest } from './manifest.ts';
import { didYouMean } from './problem.ts';

/** Which resources a run is about: those named, and those whose files the paths take. */
export type Selection = { readonly only: readonly string[]; readonly paths?: (file: string) => boolean };

/** Finds the selected manifests; no set where everything is selected. */
export function selectManifests(
  manifests: readonly Manifest[],
  selection: Selection | undefined,
): { readonly ids?: ReadonlySet<ResourceId>; readonly diagnostics: readonly Diagnostic[] } {
  const { only = [], paths } = selection ?? {};
  if (only.length === 0 && paths === undefined) return { diagnostics: [] };
  const known = new Set<string>(manifests.map(({ id }) => id));
  const unknown = only.filter((text) => !known.has(text));
  const diagnostics = unknown.map((text) => unknownName(text, known));
  const chosen = manifests.filter(
    ({ id, layers }) => (only.length === 0 || only.includes(id)) && (paths === undefined || layers.some(({ file }) => paths(file.path))),
  );
  if (chosen.length === 0 && diagnostics.length === 0 && manifests.length > 0) return { diagnostics: [nothingSelected] };
  return { ids: new Set(chosen.map(({ id }) => id)), diagnostics };
}

function unknownName(text: string, known: ReadonlySet<string>): Diagnostic {
  const hint = didYouMean(closest(text, known)) ?? 'write KIND/NAME, as plan prints it';
  return { code: 'manifest/unknown-selection', severity: 'error', message: `no manifest of this target is "${text}"`, hint };
}

const nothingSelected: Diagnostic = {
  code: 'manifest/nothing-selected',
  severity: 'error',
  message: 'no manifest of this target lies at the given paths',
  hint: 'name files or folders of manifests',
};
