import { dirname } from 'node:path';
import { findConfig } from '../disk/find-config.ts';
import { realOf } from '../disk/walk.ts';
import { locateRepository } from '../git/git-environment.ts';
import { mayBeInRepository, type Repository } from '../git/repository.ts';
import { AppError } from '../model/errors.ts';
import { absolutePath, type ProjectContext, type ProjectSelection } from './resolved-config.ts';
import { findLocalEdits } from './local-edits.ts';

type ConfigSelection = Pick<ProjectSelection, 'config'>;

/**
 * Throws AppError if the config file, or the file that it links to, is in another checkout than the working directory: a clone, a
 * submodule or a worktree of its own. A check of one commit says nothing about files of another.
 */
export function requireConfigOfCheckout(selection: ConfigSelection, context: ProjectContext): void {
  const file = configFileOf(selection, context);
  if (file === undefined) return;
  const here = topOf(context.cwd, context);
  for (const folder of new Set([dirname(file.path), dirname(realOf(file.path))])) {
    const there = topOf(folder, context);
    if (there === here) continue;
    const message = `the config file ${file.shown} is ${checkoutText(there)}, and the working directory is ${checkoutText(here)}`;
    const hint =
      there === undefined
        ? 'commit the config file to the repository of the working directory'
        : `use ${there} as the working directory (in a workflow: the input working-directory)`;
    throw new AppError('config/other-checkout', 3, message, { hint });
  }
}

/** Returns the shown path of the config file if HEAD has another text of it, or none; undefined if they are equal, or without a config file. */
export async function uncommittedConfig(
  selection: ConfigSelection,
  repository: Repository,
  context: ProjectContext,
): Promise<string | undefined> {
  const file = configFileOf(selection, context);
  if (file === undefined) return undefined;
  const { uncommitted } = await findLocalEdits([{ path: file.path, text: '' }], repository, context);
  return uncommitted.length === 0 ? undefined : file.shown;
}

function configFileOf({ config }: ConfigSelection, context: ProjectContext): { readonly path: string; readonly shown: string } | undefined {
  const shown = findConfig(context, config).value?.file.path;
  return shown === undefined ? undefined : { path: absolutePath(shown, context), shown };
}

function topOf(folder: string, { env }: ProjectContext): string | undefined {
  const real = realOf(folder);
  return mayBeInRepository(real) ? locateRepository({ folder: real, env })?.top : undefined;
}

function checkoutText(top: string | undefined): string {
  return top === undefined ? 'in no git repository' : `in the checkout ${top}`;
}
