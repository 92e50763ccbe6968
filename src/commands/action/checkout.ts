import { posix, relative, resolve, sep } from 'node:path';
import { headOf, mayBeInRepository, openRepository } from '../../git/repository.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import type { World } from '../world.ts';

/** What is checked out, and where a file of it lies in the repository; undefined for one outside. */
export type Checkout = { readonly commit: string; readonly pathOf: (file: string) => string | undefined };

/** What the variables of the job say of the checkout. */
export function saidCheckout(run: WorkflowRun, world: World): Checkout {
  return { commit: run.commit, pathOf: pathsIn(relative(run.workspace, world.cwd), world) };
}

/** What git says of the checkout, which may be another commit than the event's, in another folder; else what is said of it. */
export async function checkoutOf(run: WorkflowRun, world: World): Promise<Checkout> {
  const repository = mayBeInRepository(world.cwd) ? await openRepository({ folder: world.cwd, env: world.env }) : undefined;
  if (repository === undefined) return saidCheckout(run, world);
  return { commit: (await headOf(repository)) ?? run.commit, pathOf: pathsIn(repository.prefix, world) };
}

/** Paths of files as they are shown, from the top that the working directory lies so far below. */
function pathsIn(prefix: string, { cwd }: World): Checkout['pathOf'] {
  return (file) => {
    const below = relative(cwd, resolve(cwd, file));
    const path = posix.join(...[prefix, below].map((one) => one.split(sep).join(posix.sep)));
    return path === '.' || path === '..' || path.startsWith('../') ? undefined : path;
  };
}
