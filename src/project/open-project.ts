import { openRepository } from '../git/repository.ts';
import { AppError } from '../model/errors.ts';
import type { OpenProject } from './project.ts';
import { chooseTarget, type ProjectContext, type ProjectSelection, resolveConfig } from './resolved-config.ts';
import { reviewConfig } from './reviewed-config.ts';

/**
 * Opens the project of a run, once: its config, with `configRef` the reviewed one, its target and its repository. Throws UsageError,
 * InputError or AppError if the config or the target cannot be resolved.
 */
export async function openProject(selection: ProjectSelection, context: ProjectContext): Promise<OpenProject> {
  const { config, repository } = await openConfig(selection, context);
  return { config, target: chooseTarget(config, selection), selection, context, repository };
}

/** Opens a project whose target is not chosen. */
export async function openConfig(
  selection: ProjectSelection,
  context: ProjectContext,
): Promise<Pick<OpenProject, 'config' | 'repository'>> {
  const found = resolveConfig(selection, context);
  const repository = await findRepository(found.root, context);
  return { config: await reviewConfig({ config: found, repository, selection, context }), repository };
}

/** Opens the repository of a folder, or returns the error of one that git does not read. */
export async function findRepository(folder: string, { env }: Pick<ProjectContext, 'env'>): Promise<OpenProject['repository']> {
  try {
    return await openRepository({ folder, env });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
