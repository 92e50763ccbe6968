import { relative } from 'node:path';
import { headOf, mayBeInRepository, repositoryOf } from '../../git/repository.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { CliContext } from '../context/cli-context.ts';
import { repositoryPaths } from '../output/repository-paths.ts';

/** The commit in the working tree. `pathOf` returns a file's path in the repository, undefined outside it. */
export type Checkout = { readonly commit: string; readonly pathOf: (file: string) => string | undefined };

/** Reads the checkout from the job's variables. */
export function checkoutFromEnvironment(run: WorkflowRun, context: CliContext): Checkout {
  return { commit: run.commit, pathOf: repositoryPaths(relative(run.workspace, context.cwd), context) };
}

/**
 * Reads the checkout from git, because it can have another commit than the event, in another folder; without a repository,
 * from the job's variables.
 */
export async function readCheckout(run: WorkflowRun, context: CliContext): Promise<Checkout> {
  const repository = mayBeInRepository(context.cwd) ? await repositoryOf({ folder: context.cwd, env: context.env }) : undefined;
  if (repository === undefined) return checkoutFromEnvironment(run, context);
  return { commit: (await headOf(repository)) ?? run.commit, pathOf: repositoryPaths(repository.prefix, context) };
}
