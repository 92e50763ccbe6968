import { relative, sep } from 'node:path';
import { maxBytes, textReader } from '../disk/text-file.ts';
import { decodeFile, realOf, shower, withLineFeeds } from '../disk/walk.ts';
import { readFilesAt } from '../git/read-tree.ts';
import type { Repository } from '../git/repository.ts';
import type { SourceFile } from '../model/diagnostic.ts';
import type { ProjectContext } from './resolved-config.ts';

/** Files whose text git cannot restore: all, and those of which HEAD has another text. */
type LocalEdits = { readonly uncommitted: readonly string[]; readonly changed: readonly string[] };

/** Compares the files, given by their absolute paths, with HEAD; outside a repository all are uncommitted. */
export async function findLocalEdits(
  files: readonly SourceFile[],
  repository: Repository | undefined,
  { cwd }: Pick<ProjectContext, 'cwd'>,
): Promise<LocalEdits> {
  const show = shower(cwd);
  const all = files.map(({ path }) => path);
  const head = repository?.head;
  if (repository === undefined || head === undefined) return { uncommitted: all.map(show), changed: [] };
  const top = realOf(repository.folder);
  const paths = new Map(all.map((path) => [relative(top, realOf(path)).split(sep).join('/'), path]));
  const inside = [...paths.keys()].filter((path) => !path.startsWith('../'));
  const committed = new Map(
    (await readFilesAt(repository, head, { paths: inside, maxBytes: maxBytes + 1 })).map(({ path, bytes }) => [path, bytes]),
  );
  const read = textReader();
  const isSame = (name: string, path: string): boolean => {
    const bytes = committed.get(name);
    const here = read(path);
    return bytes !== undefined && 'text' in here && withLineFeeds(decodeFile(path, bytes).value?.text ?? '') === withLineFeeds(here.text);
  };
  const uncommitted = [...paths].filter(([name, path]) => !isSame(name, path));
  return {
    uncommitted: uncommitted.map(([, path]) => show(path)),
    changed: uncommitted.flatMap(([name, path]) => (committed.has(name) ? [show(path)] : [])),
  };
}
