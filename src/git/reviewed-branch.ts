import { containsCommit, findCommit, mergeBaseOf, type Repository } from './repository.ts';
import { fetchDepths, fetchOrigin, hasOrigin, listOrigin, readOriginHead } from './origin.ts';
import { AppError } from '../model/errors.ts';
import { listRefs, ofOrigin } from './refs.ts';
import { branchOfOrigin } from './resolve-commit.ts';

/** The branch whose commits are reviewed. */
export type ReviewedBranch = {
  /** Returns its name; undefined while neither this clone nor origin names a default branch. */
  readonly name: () => Promise<string | undefined>;
  /** Returns whether it contains the commit; asks origin if this clone does not show it. Throws AppError when origin is not reachable. */
  readonly contains: (commit: string) => Promise<boolean>;
  /** Returns its last common ancestor with a commit, as far as this clone has its history. */
  readonly forkOf: (commit: string) => Promise<string | undefined>;
  /** Returns its last commit, as this clone or origin has it; undefined if neither has one. */
  readonly tip: () => Promise<string | undefined>;
  /** Returns its last commit like `tip`, with its history: a shallow clone fetches the rest. Throws AppError when origin is not reachable. */
  readonly wholeTip: () => Promise<string | undefined>;
  /** Returns its last commit as origin has it now, if origin may be asked. Throws AppError when origin is not reachable. */
  readonly latest: () => Promise<string | undefined>;
};

/** A name and the last commit. */
type Branch = { readonly name: string | undefined; readonly tip: string | undefined };

type BranchQuery = {
  /** The name of a branch of origin, as a config has it; the default branch if undefined. */
  readonly branch: string | undefined;
  /** Whether origin may be asked. */
  readonly origin: boolean;
};

const reviewedPrefix = 'refs/ostiary/reviewed/';

const opened = new WeakMap<Repository, Map<string, ReviewedBranch>>();

/** Returns the reviewed branch, once in a run. Without an origin it is the branch of this clone. */
export function reviewedBranchOf(repository: Repository, query: BranchQuery): ReviewedBranch {
  const known = opened.get(repository) ?? new Map<string, ReviewedBranch>();
  const name = query.branch === undefined ? undefined : (branchOfOrigin(query.branch) ?? query.branch);
  const key = JSON.stringify([name, query.origin]);
  const branch = known.get(key) ?? createBranch(repository, { ...query, branch: name });
  opened.set(repository, known.set(key, branch));
  return branch;
}

function createBranch(repository: Repository, { branch, origin }: BranchQuery): ReviewedBranch {
  const asks = origin && hasOrigin(repository);
  let here: Promise<Branch> | undefined;
  let atOrigin: Branch | undefined;
  const findHere = (): Promise<Branch> => (here ??= findInClone(repository, branch));
  let failure: AppError | undefined;
  /** Asks origin, unless it did not answer before in this run: each attempt may wait for a timeout. */
  const ask = async (): Promise<Branch> => {
    if (failure !== undefined) throw failure;
    try {
      return (atOrigin = await findAtOrigin(repository, branch));
    } catch (error) {
      if (error instanceof AppError) failure = error;
      throw error;
    }
  };
  const name = async (): Promise<string | undefined> => {
    const found = (await findHere()).name ?? atOrigin?.name;
    return found === undefined && asks ? (await ask()).name : found;
  };
  const known = async (): Promise<readonly string[]> => [atOrigin?.tip, (await findHere()).tip].flatMap((id) => id ?? []);
  const shows = async (commit: string): Promise<boolean> => {
    for (const tip of await known()) if (await containsCommit(repository, tip, commit)) return true;
    return false;
  };
  const findTip = async (): Promise<string | undefined> => {
    const found = atOrigin ?? (await findHere());
    const { name: asked, tip: last } = found.tip !== undefined || !asks ? found : await ask();
    if (asks && asked !== undefined && last !== undefined && (await findCommit(repository, last)) === undefined)
      await fetchBranch(repository, asked, 1);
    return last;
  };
  return {
    name,
    tip: findTip,
    async wholeTip() {
      const [last, asked] = [await findTip(), await name()];
      if (repository.shallow && asks && asked !== undefined && last !== undefined) await fetchBranch(repository, asked, fetchDepths[1]);
      return last;
    },
    async latest() {
      if (asks && atOrigin === undefined) await ask();
      return findTip();
    },
    async contains(commit) {
      if (await shows(commit)) return true;
      if (!asks) return false;
      // Origin may have moved since it was asked last.
      const found = await ask();
      if (found.tip === undefined || found.name === undefined) return false;
      if (await shows(commit)) return true;
      for (const depth of repository.shallow ? fetchDepths : fetchDepths.slice(-1)) {
        if (repository.shallow || (await findCommit(repository, found.tip)) === undefined) await fetchBranch(repository, found.name, depth);
        if (await shows(commit)) return true;
      }
      return false;
    },
    async forkOf(commit) {
      for (const tip of await known()) {
        if ((await findCommit(repository, tip)) === undefined || (await findCommit(repository, commit)) === undefined) continue;
        const fork = await mergeBaseOf(repository, tip, commit);
        if (fork !== undefined) return fork;
      }
      return undefined;
    },
  };
}

/** Fetches the branch. Its ref is not read: two runs may have fetched two commits. */
function fetchBranch(repository: Repository, name: string, depth: number): Promise<void> {
  return fetchOrigin(repository, [`+refs/heads/${name}:${reviewedPrefix}${name}`], depth);
}

/** Returns the branch as this clone has it: where it was on origin when that was read last, or a branch of a clone without an origin. */
async function findInClone(repository: Repository, branch: string | undefined): Promise<Branch> {
  const ref = hasOrigin(repository) ? `${ofOrigin}${branch ?? 'HEAD'}` : `refs/heads/${branch}`;
  const found = (await listRefs(repository, [ref])).find((one) => one.ref === ref);
  const named = branch ?? (found?.target.startsWith(ofOrigin) === true ? found.target.slice(ofOrigin.length) : undefined);
  return { name: named, tip: named === undefined ? undefined : found?.id };
}

async function findAtOrigin(repository: Repository, branch: string | undefined): Promise<Branch> {
  if (branch === undefined) return readOriginHead(repository);
  const ref = `refs/heads/${branch}`;
  return { name: branch, tip: (await listOrigin(repository, [ref])).get(ref) };
}
