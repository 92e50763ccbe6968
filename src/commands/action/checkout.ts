import { posix, relative, resolve, sep } from 'node:path';
import { headOf, mayBeInRepository, openRepository } from '../../git/repository.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { CliContext } from '../context/cli-context.ts';

/** What is checked out, and where a file of it lies in the repository; undefined for one outside. */
export type Checkout = { readonly commit: string; readonly pathOf: (file: string) => string | undefined };

/** What the variables of the job say of the checkout. */
export function checkoutFromEnvironment(run: WorkflowRun, context: CliContext): Checkout {
  return { commit: run.commit, pathOf: pathsIn(relative(run.workspace, context.cwd), context) };
}

/** What git says of the checkout, which may be another commit than the event's, in another folder; else what is said of it. */
export async function readCheckout(run: WorkflowRun, context: CliContext): Promise<Checkout> {
  const repository = mayBeInRepository(context.cwd) ? await openRepository({ folder: context.cwd, env: context.env }) : undefined;
  if (repository === undefined) return checkoutFromEnvironment(run, context);
  return { commit: (await headOf(repository)) ?? run.commit, pathOf: pathsIn(repository.prefix, context) };
}

/** Paths of files as they are shown, from the top that the working directory lies so far below. */
function pathsIn(prefix: string, { cwd }: CliContext): Checkout['pathOf'] {
  return (file) => {
    const below = relative(cwd, resolve(cwd, file));
    const path = posix.join(...[prefix, below].map((one) => one.split(sep).join(posix.sep)));
    return path === '.' || path === '..' || path.startsWith('../') ? undefined : path;
  };
}
