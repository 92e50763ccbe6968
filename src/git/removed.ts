import type { Commit } from '../model/desired.ts';
import type { ResourceId } from '../model/resource.ts';
import { isManifestName } from '../model/source.ts';
import { askGit } from './ask-git.ts';
import { readBlobs } from './tree.ts';
import type { Repository } from './repository.ts';

export type Removal = {
  readonly since: string;
  readonly until: string;
  /** Folders that manifests lie in, from the top of the repository. */
  readonly paths: readonly string[];
  /** What is gone. */
  readonly ids: readonly ResourceId[];
  /** What a file's bytes declare. */
  readonly declares: (bytes: Buffer) => readonly ResourceId[];
  readonly most: number;
};

/** A file as it was and as it became; no id where there was, or is, none. */
type Step = { readonly before?: string; readonly after?: string };
type Change = Commit & { readonly isMerge: boolean; readonly steps: readonly Step[] };

// A longer history would take longer than knowing is worth.
const mostCommits = 2000;

/**
 * Finds the commits that took things away: the newest in which a file loses the declaration and no other gains it, so
 * files may be renamed and documents moved. A merge counts where no commit that it brings does.
 */
export async function findRemovals(
  repository: Repository,
  { since, until, paths, ids, declares, most }: Removal,
): Promise<ReadonlyMap<ResourceId, Commit>> {
  if (ids.length === 0) return new Map();
  const commits = await history(repository, since, { until, paths });
  const blobs = commits.flatMap(({ steps }) => steps.flatMap(({ before, after }) => [before ?? [], after ?? []].flat()));
  const gone = new Set<ResourceId>(ids);
  const declared = new Map<string, readonly ResourceId[]>();
  await readBlobs(repository, blobs, {
    most,
    take: (id, bytes) =>
      declared.set(
        id,
        declares(bytes).filter((one) => gone.has(one)),
      ),
  });
  const found = new Map<ResourceId, Commit>();
  for (const { id: commit, subject, steps } of [
    ...commits.filter(({ isMerge }) => !isMerge),
    ...commits.filter(({ isMerge }) => isMerge),
  ]) {
    const kept = new Set(steps.flatMap(({ after = '' }) => declared.get(after) ?? []));
    for (const id of steps.flatMap(({ before = '' }) => declared.get(before) ?? [])) {
      if (!kept.has(id) && !found.has(id)) found.set(id, { id: commit, subject });
    }
  }
  return found;
}

type Span = { readonly until: string; readonly paths: readonly string[] };

/** The commits that touched YAML files at or below the paths, newest first. */
async function history(repository: Repository, since: string, { until, paths }: Span): Promise<readonly Change[]> {
  const form = ['--format=%x01%H %P%x01%s', '--encoding=UTF-8', '--no-color', '--no-show-signature', '--no-notes', '--no-ext-diff'];
  const raw = ['-z', '--raw', '--no-abbrev', '--no-renames', '--diff-merges=first-parent', '--ignore-submodules=all'];
  const range = ['--topo-order', `--max-count=${mostCommits}`, until, `^${since}`];
  const places = ['--', ...(paths.includes('') ? [] : paths)];
  const { stdout } = await askGit(repository, ['log', ...form, ...raw, ...range, ...places]);
  return commitsOf(stdout.toString().split('\0'));
}

/** Takes `\1ID PARENTS\1SUBJECT`, then pairs of `:MODE MODE BEFORE AFTER STATUS` and a path. */
function commitsOf(tokens: readonly string[]): readonly Change[] {
  const commits: (Commit & { readonly isMerge: boolean; readonly steps: Step[] })[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = (tokens[index] ?? '').trim();
    if (token.startsWith('\u0001')) {
      const [, ids = '', ...subject] = token.split('\u0001');
      const [id = '', ...parents] = ids.trim().split(' ');
      commits.push({ id, subject: subject.join('\u0001'), isMerge: parents.length > 1, steps: [] });
    } else if (token.startsWith(':')) {
      index += 1;
      if (isManifestName(tokens[index] ?? '')) commits.at(-1)?.steps.push(stepOf(token));
    }
  }
  return commits;
}

function stepOf(token: string): Step {
  const [, , before = '', after = ''] = token.split(' ');
  return { ...(isNone(before) ? {} : { before }), ...(isNone(after) ? {} : { after }) };
}

function isNone(id: string): boolean {
  return /^0*$/.test(id);
}
