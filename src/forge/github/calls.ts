import type { Octokit } from '@octokit/rest';
import type { Issue, IssueCalls, PullRequestCalls, PullRequestSummary } from '../forge.ts';
import { listIn, numberIn, objectIn, textIn } from '../answers.ts';
import { unlessRefused } from '../forge-errors.ts';
import { openIssueWith } from './open-issue.ts';
import { loginIn, readPullRequest } from './pull-request.ts';
import { asText } from '../../model/json.ts';

export type RepositoryName = { readonly owner: string; readonly repo: string };

/** What answers are about, for the message of an unexpected one. */
const issueName = 'an issue';
const pullRequestName = 'a pull request';

/** The most pages of issues that are read to find one without its label: the account of a job can have opened any number. */
const mostPages = 10;

/** Creates the requests on issues of a repository. They throw an AppError when GitHub refuses. */
export function createIssueCalls(octokit: Octokit, place: RepositoryName): IssueCalls {
  return {
    async labeledIssues(label) {
      const found = await octokit.paginate(octokit.issues.listForRepo, { ...place, labels: label, state: 'all', per_page: 100 });
      return found.flatMap(issueOf);
    },
    async issuesOf(login) {
      const query = { ...place, creator: login, state: 'all', sort: 'updated', per_page: 100 } as const;
      const found: Issue[] = [];
      let pages = 0;
      for await (const { data } of octokit.paginate.iterator(octokit.issues.listForRepo, query)) {
        for (const one of data.flatMap(issueOf)) found.push(one);
        pages += 1;
        if (pages === mostPages) break;
      }
      return found;
    },
    async ensureLabel(label) {
      // A token that may not create labels may not add them either; creating the issue reports it.
      await unlessRefused(() => octokit.issues.createLabel({ ...place, ...label }));
    },
    openIssue: (wish) =>
      openIssueWith(wish, async ({ labels, assignees, ...rest }) => {
        const { data } = await octokit.issues.create({ ...place, ...rest, labels: [...labels], assignees: [...assignees] });
        return numberIn(objectIn(data, issueName), 'number', issueName);
      }),
    async updateIssue(number, { open, ...rest }) {
      const state =
        open === undefined ? {} : open ? ({ state: 'open' } as const) : ({ state: 'closed', state_reason: 'completed' } as const);
      await octokit.issues.update({ ...place, issue_number: number, ...rest, ...state });
    },
    async commentOnIssue(number, body) {
      await octokit.issues.createComment({ ...place, issue_number: number, body });
    },
  };
}

/** Returns the issue, or nothing for a pull request, which GitHub lists as an issue. */
function issueOf(raw: unknown): readonly Issue[] {
  const one = objectIn(raw, issueName);
  return one['pull_request'] === undefined ? [issueIn(one, issueName)] : [];
}

/** Reads an issue, or a pull request as an issue. */
function issueIn(raw: unknown, sort: string): Issue {
  const one = objectIn(raw, sort);
  const { body, state } = one;
  return {
    number: numberIn(one, 'number', sort),
    author: loginIn(one),
    body: asText(body),
    open: state === 'open',
  };
}

/** Creates the requests on pull requests of a repository. They throw an AppError when GitHub refuses. */
export function createPullRequestCalls(
  octokit: Octokit,
  place: RepositoryName,
): Omit<PullRequestCalls, 'comments' | 'latestOf' | 'createComment' | 'updateComment' | 'deleteComment'> {
  return {
    async pullRequest(number) {
      const { data } = await octokit.pulls.get({ ...place, pull_number: number });
      return summaryOf(data);
    },
    async pullRequestsOf(commit) {
      const { data } = await octokit.repos.listPullRequestsAssociatedWithCommit({ ...place, commit_sha: commit, per_page: 100 });
      return listIn(data, pullRequestName).map(summaryOf);
    },
    async readPullRequest(number) {
      const { data } = await octokit.pulls.get({ ...place, pull_number: number });
      return readPullRequest(data);
    },
    async openPullRequestsFrom(owner, branch) {
      const found = await octokit.paginate(octokit.pulls.list, { ...place, head: `${owner}:${branch}`, state: 'open', per_page: 100 });
      return found.flatMap((raw) => readPullRequest(raw) ?? []);
    },
    async pullRequestsFrom(branch) {
      const head = `${place.owner}:${branch}`;
      const found = await octokit.paginate(octokit.pulls.list, { ...place, head, state: 'all', per_page: 100 });
      const all = found.map((raw) => ({ ...issueIn(raw, pullRequestName), merged: typeof raw.merged_at === 'string' }));
      return all.toSorted((left, right) => right.number - left.number);
    },
    async createPullRequest(wish) {
      const { data } = await octokit.pulls.create({ ...place, ...wish });
      return numberIn(objectIn(data, pullRequestName), 'number', pullRequestName);
    },
    async updatePullRequest(number, { open, ...rest }) {
      const state = open === undefined ? {} : ({ state: open ? 'open' : 'closed' } as const);
      await octokit.pulls.update({ ...place, pull_number: number, ...rest, ...state });
    },
  };
}

function summaryOf(raw: unknown): PullRequestSummary {
  const one = objectIn(raw, pullRequestName);
  const { merged_at: mergedAt, merge_commit_sha: mergeCommit, updated_at: updatedAt } = one;
  return {
    number: numberIn(one, 'number', pullRequestName),
    author: loginIn(one),
    merged: typeof mergedAt === 'string',
    mergeCommit: typeof mergeCommit === 'string' ? mergeCommit : undefined,
    head: textIn(objectIn(one['head'], pullRequestName), 'sha', pullRequestName),
    base: textIn(objectIn(one['base'], pullRequestName), 'ref', pullRequestName),
    updatedAt: asText(updatedAt),
  };
}
