import { relative, sep } from 'node:path';
import { textReader } from '../disk/text-file.ts';
import { decodeFile, realOf, shower } from '../disk/walk.ts';
import { readCommittedFiles } from '../git/branch.ts';
import { headOf, mayBeInRepository, repositoryOf } from '../git/repository.ts';
import type { SourceFile } from '../model/diagnostic.ts';
import type { ProjectContext } from './resolved-config.ts';

/** Files whose text git cannot restore: all, and those of which HEAD has another text. */
type LocalEdits = { readonly uncommitted: readonly string[]; readonly changed: readonly string[] };

type EditPlace = { readonly root: string; readonly context: Pick<ProjectContext, 'cwd' | 'env'> };

/** Compares the files, given by their absolute paths, with HEAD; outside a repository all are uncommitted. */
export async function findLocalEdits(files: readonly SourceFile[], { root, context }: EditPlace): Promise<LocalEdits> {
  const show = shower(context.cwd);
  const all = files.map(({ path }) => path);
  const repository = mayBeInRepository(root) ? await repositoryOf({ folder: root, env: context.env }) : undefined;
  const head = repository === undefined ? undefined : await headOf(repository);
  if (repository === undefined || head === undefined) return { uncommitted: all.map(show), changed: [] };
  const top = realOf(repository.folder);
  const paths = new Map(all.map((path) => [relative(top, realOf(path)).split(sep).join('/'), path]));
  const inside = [...paths.keys()].filter((path) => !path.startsWith('../'));
  const committed = new Map((await readCommittedFiles(repository, head, inside)).map(({ path, bytes }) => [path, bytes]));
  const read = textReader();
  const isSame = (name: string, path: string): boolean => {
    const bytes = committed.get(name);
    const here = read(path);
    return bytes !== undefined && 'text' in here && unix(decodeFile(path, bytes).value?.text ?? '') === unix(here.text);
  };
  const uncommitted = [...paths].filter(([name, path]) => !isSame(name, path));
  return {
    uncommitted: uncommitted.map(([, path]) => show(path)),
    changed: uncommitted.flatMap(([name, path]) => (committed.has(name) ? [show(path)] : [])),
  };
}

/** Git may check files out with the line breaks of Windows. */
function unix(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
