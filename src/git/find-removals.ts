import type { Commit } from '../model/desired.ts';
import type { ResourceId } from '../model/resource.ts';
import { isManifestName } from '../model/diagnostic.ts';
import { runGit } from './run-git.ts';
import { readBlobs } from './objects.ts';
import type { Repository } from './repository.ts';

type RemovalQuery = {
  readonly since: string;
  readonly until: string;
  /** Folders of manifests, relative to the top of the repository. */
  readonly paths: readonly string[];
  readonly ids: readonly ResourceId[];
  /** Returns the objects that the bytes of a file declare. */
  readonly declaredIds: (bytes: Buffer) => readonly ResourceId[];
  readonly maxBytes: number;
};

/** The blob ids of a file before and after a commit; undefined if the file did not or does not exist. */
type FileChange = { readonly path: string; readonly before?: string; readonly after?: string };
type CommitChanges = Commit & {
  /** The first parent; undefined for a commit without one. */
  readonly parent: string | undefined;
  readonly isMerge: boolean;
  readonly files: readonly FileChange[];
  /** Whether the commit changed a link or a submodule. */
  readonly hasLinks: boolean;
};

// Reading a longer history would take too long.
const maxCommits = 2000;

/**
 * Finds the commits that removed objects: the newest commit in which a file loses the declaration and no other file gains it, so
 * that renamed files and moved documents do not count. A merge counts only if none of its commits does.
 */
export async function findRemovals(
  repository: Repository,
  { since, until, paths, ids, declaredIds, maxBytes }: RemovalQuery,
): Promise<ReadonlyMap<ResourceId, Commit>> {
  if (ids.length === 0) return new Map();
  const commits = await listCommits(repository, { since, until, paths });
  const declared = await readDeclarations(repository, commits, { ids, declaredIds, maxBytes });
  const found = new Map<ResourceId, Commit>();
  for (const { id: commit, subject, files } of [
    ...commits.filter(({ isMerge }) => !isMerge),
    ...commits.filter(({ isMerge }) => isMerge),
  ]) {
    const kept = new Set(files.flatMap(({ after = '' }) => declared.get(after) ?? []));
    for (const id of files.flatMap(({ before = '' }) => declared.get(before) ?? [])) {
      if (!kept.has(id) && !found.has(id)) found.set(id, { id: commit, subject });
    }
  }
  return found;
}

type DeclarationQuery = Pick<RemovalQuery, 'ids' | 'declaredIds' | 'maxBytes'>;

/** Reads which of the objects each changed file declares before and after the commits, by the ids of the blobs. */
async function readDeclarations(
  repository: Repository,
  commits: readonly CommitChanges[],
  { ids, declaredIds, maxBytes }: DeclarationQuery,
): Promise<ReadonlyMap<string, readonly ResourceId[]>> {
  const blobs = commits.flatMap(({ files }) => files.flatMap(({ before, after }) => [before ?? [], after ?? []].flat()));
  const wanted = new Set<ResourceId>(ids);
  const declared = new Map<string, readonly ResourceId[]>();
  await readBlobs(repository, blobs, {
    maxBytes,
    onBlob(id, bytes) {
      const found = declaredIds(bytes).filter((declaredId) => wanted.has(declaredId));
      if (found.length > 0) declared.set(id, found);
    },
  });
  return declared;
}

type DeclaringQuery = DeclarationQuery & {
  readonly until: string;
  /** Returns whether a path is that of a config file, which decides which files declare objects. */
  readonly isConfig: (path: string) => boolean;
};

/**
 * Finds the commits up to one that may declare any of the objects although it does not, newest first: those before and after a change of a file
 * that declares one, and those before a change of a config file, a link or a submodule.
 */
export async function findDeclaringCommits(
  repository: Repository,
  { until, isConfig, ...query }: DeclaringQuery,
): Promise<readonly string[]> {
  const commits = await listCommits(repository, { until, paths: [''] });
  const declared = await readDeclarations(repository, commits, query);
  const found = commits.flatMap(({ id, parent, files, hasLinks }) => {
    const decides = hasLinks || files.some(({ path, before = '' }) => declared.has(before) || isConfig(path));
    const after = files.some(({ after: blob = '' }) => declared.has(blob)) ? [id] : [];
    return [...after, ...(decides && parent !== undefined ? [parent] : [])];
  });
  return [...new Set([until, ...found])];
}

type HistoryRange = { readonly since?: string; readonly until: string; readonly paths: readonly string[] };

/** Lists the commits that changed YAML files at or below the paths, newest first. */
async function listCommits(repository: Repository, { since, until, paths }: HistoryRange): Promise<readonly CommitChanges[]> {
  const form = ['--format=%x01%H %P%x01%s', '--encoding=UTF-8', '--no-color', '--no-show-signature', '--no-notes', '--no-ext-diff'];
  const raw = ['-z', '--raw', '--no-abbrev', '--no-renames', '--diff-merges=first-parent', '--ignore-submodules=none'];
  const range = ['--topo-order', `--max-count=${maxCommits}`, until, ...(since === undefined ? [] : [`^${since}`])];
  const pathspecs = ['--', ...(paths.includes('') ? [] : paths)];
  const { stdout } = await runGit(repository, ['log', ...form, ...raw, ...range, ...pathspecs]);
  return parseLog(stdout.toString().split('\0'));
}

/** Parses `\1ID PARENTS\1SUBJECT`, then pairs of `:MODE MODE BEFORE AFTER STATUS` and a path. */
function parseLog(tokens: readonly string[]): readonly CommitChanges[] {
  const commits: (Omit<CommitChanges, 'files'> & { readonly files: FileChange[]; hasLinks: boolean })[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = (tokens[index] ?? '').trim();
    if (token.startsWith('\u0001')) {
      const [, ids = '', ...subject] = token.split('\u0001');
      const [id = '', ...parents] = ids.trim().split(' ');
      const [parent] = parents;
      commits.push({ id, subject: subject.join('\u0001'), parent, isMerge: parents.length > 1, files: [], hasLinks: false });
    } else if (token.startsWith(':')) {
      index += 1;
      const [path = '', commit] = [tokens[index], commits.at(-1)];
      if (commit === undefined) continue;
      if (/^:(?:\d+ )?1[26]0000 /.test(token)) commit.hasLinks = true;
      else if (isManifestName(path)) commit.files.push(parseFileChange(token, path));
    }
  }
  return commits;
}

function parseFileChange(token: string, path: string): FileChange {
  const [, , before = '', after = ''] = token.split(' ');
  return { path, ...(isZeroId(before) ? {} : { before }), ...(isZeroId(after) ? {} : { after }) };
}

function isZeroId(id: string): boolean {
  return /^0*$/.test(id);
}
