import type { Octokit } from '@octokit/rest';
import { listIn, numberIn, objectIn, textIn, issueIn, type Issue, type RepositoryName, type IssueUpdate } from './issue-calls.ts';

export type PullRequestSummary = {
  readonly number: number;
  readonly merged: boolean;
  /** The commit that the merge made; before a merge the test merge, if GitHub has made one. */
  readonly mergeCommit: string | undefined;
  readonly head: string;
  readonly base: string;
};

/** The calls about pull requests. */
export interface PullRequestCalls {
  readonly pullRequest: (number: number) => Promise<PullRequestSummary>;
  readonly pullRequestsOf: (commit: string) => Promise<readonly PullRequestSummary[]>;
  /** Lists pull requests from a branch of the repository, closed ones too, newest first. */
  readonly pullRequestsFrom: (branch: string) => Promise<readonly (Issue & { readonly merged: boolean })[]>;
  /** Opens a pull request and returns its number. */
  readonly createPullRequest: (wish: {
    readonly title: string;
    readonly body: string;
    readonly head: string;
    readonly base: string;
  }) => Promise<number>;
  readonly updatePullRequest: (number: number, rewrite: IssueUpdate) => Promise<void>;
}

/** Creates the requests on pull requests of a repository. They throw an AppError when GitHub refuses. */
export function createPullRequestCalls(octokit: Octokit, place: RepositoryName): PullRequestCalls {
  return {
    async pullRequest(number) {
      const { data } = await octokit.pulls.get({ ...place, pull_number: number });
      return summaryOf(data);
    },
    async pullRequestsOf(commit) {
      const { data } = await octokit.repos.listPullRequestsAssociatedWithCommit({ ...place, commit_sha: commit, per_page: 100 });
      return listIn(data, what).map(summaryOf);
    },
    async pullRequestsFrom(branch) {
      const head = `${place.owner}:${branch}`;
      const found = await octokit.paginate(octokit.pulls.list, { ...place, head, state: 'all', per_page: 100 });
      const all = found.map((raw) => ({ ...issueIn(raw, what), merged: typeof raw.merged_at === 'string' }));
      return all.toSorted((left, right) => right.number - left.number);
    },
    async createPullRequest(wish) {
      const { data } = await octokit.pulls.create({ ...place, ...wish });
      return numberIn(objectIn(data, what), 'number', what);
    },
    async updatePullRequest(number, { open, ...rest }) {
      const state = open === undefined ? {} : ({ state: open ? 'open' : 'closed' } as const);
      await octokit.pulls.update({ ...place, pull_number: number, ...rest, ...state });
    },
  };
}

const what = 'a pull request';

function summaryOf(raw: unknown): PullRequestSummary {
  const one = objectIn(raw, what);
  const { merged_at: mergedAt, merge_commit_sha: mergeCommit } = one;
  return {
    number: numberIn(one, 'number', what),
    merged: typeof mergedAt === 'string',
    mergeCommit: typeof mergeCommit === 'string' ? mergeCommit : undefined,
    head: textIn(objectIn(one['head'], what), 'sha', what),
    base: textIn(objectIn(one['base'], what), 'ref', what),
  };
}
