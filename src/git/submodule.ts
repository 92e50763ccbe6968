import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findCommit, openRepository, type Repository } from './repository.ts';

const opened = new WeakMap<Repository, Map<string, Promise<Repository | undefined>>>();

/**
 * Returns the repository at a path of a submodule, once in a run, if it has the commit: of a shallow one, or of a submodule that was removed,
 * the clone may not have it. Only the commit decides what is read, so the checkout may be at another one.
 */
export async function openSubmodule(repository: Repository, path: string, commit: string): Promise<Repository | undefined> {
  const known = opened.get(repository) ?? new Map<string, Promise<Repository | undefined>>();
  const inner = known.get(path) ?? openAt(repository, path);
  opened.set(repository, known.set(path, inner));
  const found = await inner;
  return found === undefined || (await findCommit(found, commit)) === undefined ? undefined : found;
}

async function openAt({ folder, env }: Repository, path: string): Promise<Repository | undefined> {
  const top = join(folder, path);
  return existsSync(join(top, '.git')) ? openRepository({ folder: top, env }) : undefined;
}
