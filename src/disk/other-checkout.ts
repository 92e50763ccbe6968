import { existsSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { textReader } from './text-file.ts';

/** Returns true if the folder has an entry `.git`. */
export function isRepositoryTop(folder: string): boolean {
  return existsSync(join(folder, '.git'));
}

/** Returns the nearest folder, this one or above, that contains `.git`; the root itself if there is none. */
export function repositoryTopOf(root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    if (isRepositoryTop(folder)) return folder;
    if (folder === dirname(folder)) return root;
  }
}

/**
 * Returns the first folder from below the root down to the path that is a checkout of its own: a clone or a worktree, whose files no commit
 * of the root's repository has. A submodule that `.gitmodules` names belongs to the tree. Both paths are absolute.
 */
export function findOtherCheckout(root: string, path: string): string | undefined {
  const names = relative(root, path).split(sep);
  if (names[0] === '..') return undefined;
  const folders = names.map((_, index) => join(root, ...names.slice(0, index + 1)));
  return folders.find((folder) => folder !== root && isRepositoryTop(folder) && !isSubmodule(folder));
}

/** Returns whether `.gitmodules` of the repository around a folder names it. */
export function isSubmodule(folder: string): boolean {
  const top = repositoryTopOf(dirname(folder));
  const file = join(top, '.gitmodules');
  if (!existsSync(file)) return false;
  const read = textReader()(file);
  const path = relative(top, folder).split(sep).join(posix.sep);
  return 'text' in read && submodulesIn(read.text).includes(path);
}

/** Returns the paths of a `.gitmodules` file, which has the syntax of git's config. */
function submodulesIn(text: string): readonly string[] {
  return [...text.matchAll(/^[\t ]*path[\t ]*=[\t ]*(.*?)[\t ]*\r?$/gim)].map(([, value = '']) =>
    posix.normalize(value.startsWith('"') ? value.replaceAll(/^"|"$|\\(?=["\\])/g, '') : value).replace(/\/$/, ''),
  );
}
