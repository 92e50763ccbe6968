import { relative, sep } from 'node:path';
import { findOtherCheckout, isRepositoryTop, repositoryTopOf } from '../disk/other-checkout.ts';
import { realOf, shower } from '../disk/walk.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ProjectContext, ResolvedConfig } from './resolved-config.ts';

/** A path of the config that leads into another checkout, with the error about it. */
type ListedCheckout = { readonly path: string; readonly diagnostic: Diagnostic };

/**
 * Finds the paths of a config that are in a checkout of its own inside the repository of the config: a review of the repository says nothing
 * about the files there. Outside a repository nothing is reviewed, and paths on the command line are the caller's own choice.
 */
export function findListedCheckouts(
  paths: readonly string[],
  { root, file, placeOf }: ResolvedConfig,
  { cwd }: Pick<ProjectContext, 'cwd'>,
): readonly ListedCheckout[] {
  if (file === undefined || !isRepositoryTop(repositoryTopOf(root))) return [];
  return paths.flatMap((path) => {
    const checkout = findOtherCheckout(root, path) ?? findOtherCheckout(realOf(root), realOf(path));
    if (checkout === undefined) return [];
    const shown = JSON.stringify(relative(root, path).split(sep).join('/'));
    const message = `${shown} is in another checkout than ${file}: ${shower(cwd)(checkout)}`;
    const hint = 'commit the manifests to the repository of the config file, or add the checkout as a submodule';
    const { at = { file, line: 1, column: 1 }, frame } = placeOf?.(path) ?? {};
    const diagnostic: Diagnostic = {
      code: 'config/other-checkout',
      severity: 'error',
      message,
      hint,
      at,
      frame,
    };
    return [{ path, diagnostic }];
  });
}
