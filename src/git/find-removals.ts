import type { Commit } from '../model/desired.ts';
import type { ResourceId } from '../model/resource.ts';
import { isManifestName } from '../model/diagnostic.ts';
import { runPlumbing } from './run-git.ts';
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
type FileChange = { readonly before?: string; readonly after?: string };
type CommitChanges = Commit & { readonly isMerge: boolean; readonly files: readonly FileChange[] };

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
  const commits = await listCommits(repository, since, { until, paths });
  const blobs = commits.flatMap(({ files }) => files.flatMap(({ before, after }) => [before ?? [], after ?? []].flat()));
  const removed = new Set<ResourceId>(ids);
  const declared = new Map<string, readonly ResourceId[]>();
  await readBlobs(repository, blobs, {
    maxBytes,
    onBlob: (id, bytes) =>
      declared.set(
        id,
        declaredIds(bytes).filter((declaredId) => removed.has(declaredId)),
      ),
  });
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

type HistoryRange = { readonly until: string; readonly paths: readonly string[] };

/** Lists the commits that changed YAML files at or below the paths, newest first. */
async function listCommits(repository: Repository, since: string, { until, paths }: HistoryRange): Promise<readonly CommitChanges[]> {
  const form = ['--format=%x01%H %P%x01%s', '--encoding=UTF-8', '--no-color', '--no-show-signature', '--no-notes', '--no-ext-diff'];
  const raw = ['-z', '--raw', '--no-abbrev', '--no-renames', '--diff-merges=first-parent', '--ignore-submodules=all'];
  const range = ['--topo-order', `--max-count=${maxCommits}`, until, `^${since}`];
  const pathspecs = ['--', ...(paths.includes('') ? [] : paths)];
  const { stdout } = await runPlumbing(repository, ['log', ...form, ...raw, ...range, ...pathspecs]);
  return parseLog(stdout.toString().split('\0'));
}

/** Parses `\1ID PARENTS\1SUBJECT`, then pairs of `:MODE MODE BEFORE AFTER STATUS` and a path. */
function parseLog(tokens: readonly string[]): readonly CommitChanges[] {
  const commits: (Commit & { readonly isMerge: boolean; readonly files: FileChange[] })[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = (tokens[index] ?? '').trim();
    if (token.startsWith('\u0001')) {
      const [, ids = '', ...subject] = token.split('\u0001');
      const [id = '', ...parents] = ids.trim().split(' ');
      commits.push({ id, subject: subject.join('\u0001'), isMerge: parents.length > 1, files: [] });
    } else if (token.startsWith(':')) {
      index += 1;
      if (isManifestName(tokens[index] ?? '')) commits.at(-1)?.files.push(parseFileChange(token));
    }
  }
  return commits;
}

function parseFileChange(token: string): FileChange {
  const [, , before = '', after = ''] = token.split(' ');
  return { ...(isZeroId(before) ? {} : { before }), ...(isZeroId(after) ? {} : { after }) };
}

function isZeroId(id: string): boolean {
  return /^0*$/.test(id);
}
