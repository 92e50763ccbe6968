import { relative, sep } from 'node:path';
import { maxBytes, textReader } from '../disk/text-file.ts';
import { decodeFile, realOf, shower, withLineFeeds } from '../disk/walk.ts';
import { type CommittedFile, readFilesAt } from '../git/read-tree.ts';
import type { Repository } from '../git/repository.ts';
import type { SourceFile } from '../model/diagnostic.ts';
import { absolutePath, type ProjectContext } from './resolved-config.ts';

/** A file, its path in the repository, and what a commit has there. */
type ComparedFile = { readonly file: SourceFile; readonly path: string; readonly committed: CommittedFile | undefined };

/** Finds what a commit has of files. Git commits the file that a link leads to. */
export async function findCommitted(
  files: readonly SourceFile[],
  { repository, commit }: { readonly repository: Repository; readonly commit: string },
  context: ProjectContext,
): Promise<readonly ComparedFile[]> {
  const top = realOf(repository.folder);
  const placed = files.map((file) => ({
    file,
    path: relative(top, realOf(absolutePath(file.path, context)))
      .split(sep)
      .join('/'),
  }));
  const inside = new Set(placed.map(({ path }) => path).filter((path) => !path.startsWith('../')));
  const found = await readFilesAt(repository, commit, { paths: [...inside], maxBytes: maxBytes + 1 });
  const committed = new Map(found.map((one) => [one.path, one]));
  return placed.map(({ file, path }) => ({ file, path, committed: committed.get(path) }));
}

/** Files whose text git cannot restore: all, and those of which HEAD has another text. */
type LocalEdits = { readonly uncommitted: readonly string[]; readonly changed: readonly string[] };

/** Compares files with HEAD; outside a repository all are uncommitted. */
export async function findLocalEdits(
  files: readonly SourceFile[],
  repository: Repository | undefined,
  context: ProjectContext,
): Promise<LocalEdits> {
  const show = shower(context.cwd);
  const shown = (file: SourceFile): string => show(absolutePath(file.path, context));
  const commit = repository?.head;
  if (repository === undefined || commit === undefined) return { uncommitted: files.map(shown), changed: [] };
  const read = textReader();
  const isSame = ({ file: { path }, committed }: ComparedFile): boolean => {
    const here = read(absolutePath(path, context));
    const then = committed && (decodeFile(path, committed.bytes).value?.text ?? '');
    return then !== undefined && 'text' in here && withLineFeeds(then) === withLineFeeds(here.text);
  };
  const uncommitted = (await findCommitted(files, { repository, commit }, context)).filter((one) => !isSame(one));
  return {
    uncommitted: uncommitted.map(({ file }) => shown(file)),
    changed: uncommitted.flatMap(({ file, committed }) => (committed === undefined ? [] : [shown(file)])),
  };
}
