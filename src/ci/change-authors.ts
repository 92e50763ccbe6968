import type { CiRun } from '../forge/ci-system.ts';
import type { Forge } from '../forge/forge.ts';
import type { ChangeAuthors } from '../forge/override-comments.ts';
import { listCommits, readAuthors } from '../git/authored-commits.ts';
import { fetchOrigin, hasOrigin } from '../git/origin.ts';
import { findCommit, type Repository } from '../git/repository.ts';
import type { AuthorAddress, AuthoredCommit } from '../model/result/authored-commit.ts';
import { AppError } from '../model/errors.ts';
import { mostCommits } from './pull-requests.ts';

/** What would be applied: everything that the tips contain and the base, the last applied commit, does not. */
type AppliedChange = {
  readonly run: CiRun;
  readonly repository: Repository | undefined;
  readonly base: string | undefined;
  readonly tips: readonly string[];
  /** The pull request, also before its merge. */
  readonly number: number;
};

/**
 * Finds who made what would be applied: the authors, committers and co-authors of its commits, and who opened the pull requests that they
 * came with. A squash has other commits than its branch, so those of the branches count, too.
 */
export async function findChangeAuthors(forge: Forge, change: AppliedChange): Promise<ChangeAuthors> {
  const { run, repository, base, number } = change;
  const found = openAuthors(forge, run);
  if (repository === undefined) return found.lacking('the folder is not a git checkout');
  if (repository.shallow) return found.lacking(`this clone does not have the whole history; ${run.names.historyHint}`);
  found.add((await forge.pullRequest(number)).author, `${run.names.request} ${number}`);
  const seen = new Set<string>();
  const requests = new Set([number]);
  for (let heads = change.tips; heads.length > 0;) {
    const tips: string[] = [];
    for (const head of heads) {
      const tip = await findOrFetch(repository, head);
      if (tip === undefined) return found.lacking(`commit ${head.slice(0, 12)} is not in this clone, and origin does not give it`);
      tips.push(tip);
    }
    const commits = await listCommits(repository, tips, { base, most: mostCommits + 1 });
    if (commits.length > mostCommits) return found.lacking(tooMany(base));
    const fresh = commits.filter((commit) => !seen.has(commit));
    const next: string[] = [];
    for (const commit of fresh) {
      seen.add(commit);
      for (const { number: other, merged, author, head } of await forge.pullRequestsOf(commit)) {
        if (!merged || requests.has(other)) continue;
        requests.add(other);
        found.add(author, `${run.names.request} ${other}`);
        next.push(head);
      }
      await found.addCommit(await readAuthors(repository, commit));
    }
    heads = next;
  }
  return found.all();
}

function tooMany(base: string | undefined): string {
  return `it has more than ${mostCommits} commits${base === undefined ? ', because no complete apply is recorded' : ''}`;
}

type FoundAuthors = {
  /** Adds the account that made a part; it may be unknown. */
  readonly add: (login: string | undefined, part: string, address?: AuthorAddress) => void;
  readonly addCommit: (commit: AuthoredCommit | undefined) => Promise<void>;
  readonly all: () => ChangeAuthors;
  readonly lacking: (reason: string) => ChangeAuthors;
};

function openAuthors({ people }: Forge, { names }: CiRun): FoundAuthors {
  const known = new Map<string, string>();
  const unknown: { readonly part: string; readonly address?: AuthorAddress }[] = [];
  const add: FoundAuthors['add'] = (login, part, address) => {
    if (login === undefined || login === '')
      unknown.push({ part: `${part}, by an account that ${names.forge} does not know`, ...(address === undefined ? {} : { address }) });
    else if (people.isBot(login)) unknown.push({ part: `${part}, by ${login}, which may act for anybody` });
    else if (!known.has(login.toLowerCase())) known.set(login.toLowerCase(), part);
  };
  return {
    add,
    async addCommit(commit) {
      if (commit === undefined) return;
      const accounts = await people.accountsOf(commit);
      const addresses = [commit.author, commit.committer, ...commit.coAuthors];
      for (const [index, address] of addresses.entries()) add(accounts[index], `commit ${commit.id.slice(0, 12)}`, address);
    },
    all: () => ({ known, unknown }),
    lacking: (missing) => ({ known, unknown, missing }),
  };
}

/** Returns the id of a commit, which origin may have to give: a branch that was squashed is in no history. */
export async function findOrFetch(repository: Repository, commit: string): Promise<string | undefined> {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const found = await findCommit(repository, commit);
  if (found !== undefined || !hasOrigin(repository)) return found;
  try {
    await fetchOrigin(repository, [commit], 1);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
  return findCommit(repository, commit);
}
