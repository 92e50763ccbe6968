import ignore from 'ignore';
import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { textReader } from './text-file.ts';

/** Returns true if git ignores the file, by the `.gitignore` files from the top of the repository down to it. */
export function isIgnored(root: string, path: string): boolean {
  const top = topOf(root);
  const segments = relative(top, path).split(sep);
  const rules = new Map<string, ReturnType<typeof ignore>>();
  const rulesOf = (folder: string): ReturnType<typeof ignore> => {
    const known = rules.get(folder) ?? readRules(folder);
    rules.set(folder, known);
    return known;
  };
  // As in git, an ignored folder hides everything below it, whatever deeper rules say.
  return segments.some((_, index) => isMatched(top, segments.slice(0, index + 1), index === segments.length - 1, rulesOf));
}

/** Matches the rules of the nearest folder first; the first folder with a matching rule decides. */
function isMatched(
  top: string,
  segments: readonly string[],
  isFile: boolean,
  rulesOf: (folder: string) => ReturnType<typeof ignore>,
): boolean {
  for (let depth = segments.length - 1; depth >= 0; depth -= 1) {
    const name = segments.slice(depth).join('/');
    const { ignored, unignored } = rulesOf(join(top, ...segments.slice(0, depth))).test(isFile ? name : `${name}/`);
    if (ignored || unignored) return ignored;
  }
  return false;
}

function readRules(folder: string): ReturnType<typeof ignore> {
  const rules = ignore();
  const path = join(folder, '.gitignore');
  if (!existsSync(path)) return rules;
  const result = textReader()(path);
  // An unreadable rule file may ignore everything.
  return rules.add('text' in result ? result.text : '*');
}

/** Returns the nearest folder, this one or above, that contains `.git`; the root itself if there is none. */
function topOf(root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    if (isRepositoryTop(folder)) return folder;
    if (folder === dirname(folder)) return root;
  }
}

/** Returns true if the folder has an entry `.git`. */
export function isRepositoryTop(folder: string): boolean {
  return existsSync(join(folder, '.git'));
}
