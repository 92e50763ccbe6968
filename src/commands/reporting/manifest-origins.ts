import { dirname, relative, resolve, sep } from 'node:path';
import { realOf } from '../../disk/walk.ts';
import { locateRepository } from '../../git/git-environment.ts';
import { findLineOrigins } from '../../git/line-origins.ts';
import { openRepository } from '../../git/repository.ts';
import { addToGroup } from '../../model/collections.ts';
import type { LineOrigin } from '../../model/result/line-origin.ts';
import type { ProjectContext } from '../../project/resolved-config.ts';

/** Returns where a line of a file comes from; undefined outside of a repository. */
export type OriginOf = (at: { readonly file: string; readonly line: number }) => LineOrigin | undefined;

/**
 * Reads where the lines of manifests come from; a file behind a link or in a submodule has the history of the repository that it is in.
 * Throws AppError for a repository that git does not read.
 */
export async function readManifestOrigins(files: readonly string[], { cwd, env }: ProjectContext): Promise<OriginOf> {
  const reals = new Map(files.map((file) => [file, realOf(resolve(cwd, file))]));
  const tops = new Map<string, string | undefined>();
  const byTop = new Map<string, string[]>();
  for (const real of new Set(reals.values())) {
    const folder = dirname(real);
    if (!tops.has(folder)) tops.set(folder, locateRepository({ folder, env })?.top);
    const top = tops.get(folder);
    if (top !== undefined) addToGroup(byTop, top, real);
  }
  const found = new Map<string, readonly LineOrigin[]>();
  for (const [top, own] of byTop) {
    const repository = await openRepository({ folder: top, env });
    if (repository === undefined) continue;
    const paths = new Map(own.map((real) => [relative(top, real).split(sep).join('/'), real]));
    for (const [path, origins] of await findLineOrigins(repository, [...paths.keys()])) found.set(paths.get(path) ?? '', origins);
  }
  return ({ file, line }) => found.get(reals.get(file) ?? '')?.[line - 1];
}
