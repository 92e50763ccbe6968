import { join } from 'node:path';
import { readTree } from '../disk/walk.ts';
import type { Checked, SourceFile } from '../model/diagnostic.ts';
import { existingDefaultsAbove, type HashedSources } from './manifests.ts';
import type { Project } from './project.ts';

/**
 * Returns sources whose only manifests are a file that is not on disk, as if it were in the working directory: the defaults of that folder
 * apply to it, overlays do not.
 */
export function pipedSources(
  { value: file, diagnostics }: Checked<SourceFile>,
  { config: { root, notices }, context: { cwd } }: Project,
): HashedSources {
  const defaults = readTree(existingDefaultsAbove([join(cwd, 'stdin')], root), { root, cwd, exclude: [] });
  const files = [...(defaults.value ?? []), ...(file === undefined ? [] : [file])];
  return { sources: { files, overlays: [], diagnostics: [...notices, ...defaults.diagnostics, ...diagnostics] }, tree: '' };
}
