import type { Diagnostic } from '../model/diagnostic.ts';
import type { ResourceId } from '../model/resource.ts';
import { suggest } from '../model/suggest.ts';
import type { Manifest } from './manifest.ts';
import { suggestWord } from './wording.ts';

/** The resources of a run: those named, and those whose files are at one of the paths. */
export type Selection = { readonly only: readonly string[]; readonly paths?: readonly SelectedPath[] };

/** A path as the user gave it, and a test for files at or below it. */
export type SelectedPath = { readonly path: string; readonly holds: (file: string) => boolean };

/** Tells whether a selection includes the manifest. */
export function isSelected({ id, layers }: Manifest, { only, paths }: Selection): boolean {
  if (only.length > 0 && !only.includes(id)) return false;
  return paths === undefined || paths.some(({ holds }) => isAnyAt(layers, holds));
}

/** Returns the ids of the selected manifests; no set if everything is selected. */
export function selectManifests(
  manifests: readonly Manifest[],
  selection: Selection | undefined,
): { readonly ids?: ReadonlySet<ResourceId>; readonly diagnostics: readonly Diagnostic[] } {
  if (selection === undefined) return { diagnostics: [] };
  const { only, paths = [] } = selection;
  const known = new Set<string>(manifests.map(({ id }) => id));
  const unknown = only.filter((text) => !known.has(text));
  const barren = manifests.length === 0 ? [] : paths.filter(({ holds }) => !manifests.some(({ layers }) => isAnyAt(layers, holds)));
  const diagnostics = [...unknown.map((text) => unknownName(text, known)), ...barren.map(({ path }) => nothingAt(path))];
  const chosen = manifests.filter((manifest) => isSelected(manifest, selection));
  if (chosen.length === 0 && diagnostics.length === 0 && manifests.length > 0) return { diagnostics: [nothingSelected] };
  return { ids: new Set(chosen.map(({ id }) => id)), diagnostics };
}

function unknownName(text: string, known: ReadonlySet<string>): Diagnostic {
  const hint = text.includes('*')
    ? 'patterns are not supported: repeat --only KIND/NAME, or give folders'
    : (suggestWord(suggest(text, known)) ?? 'write KIND/NAME, as plan prints it');
  return { code: 'manifest/unknown-selection', severity: 'error', message: `no manifest of this target is "${text}"`, hint };
}

function isAnyAt(layers: Manifest['layers'], holds: SelectedPath['holds']): boolean {
  return layers.some(({ file }) => holds(file.path));
}

function nothingAt(path: string): Diagnostic {
  return {
    code: 'manifest/nothing-selected',
    severity: 'error',
    message: `no manifest of this target lies at ${JSON.stringify(path)}`,
    hint: 'name files or folders of manifests',
  };
}

const nothingSelected: Diagnostic = {
  code: 'manifest/nothing-selected',
  severity: 'error',
  message: 'none of the manifests that --only names lies at the given paths',
  hint: 'leave out --only or the paths',
};
