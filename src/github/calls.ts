import type { Octokit } from '@octokit/rest';
import type { Checked } from '../model/diagnostic.ts';
import { AppError } from '../model/errors.ts';
import { type PullRequest, readPullRequest } from './pull-request.ts';
import { asObject, asText, isObject, type JsonObject } from '../model/json.ts';

/** Returns an answer that is an object; throws AppError `github/unexpected-answer` for anything else, such as the page of a proxy. */
export function objectIn(value: unknown, what: string): JsonObject {
  return isObject(value) ? value : throwUnexpected(what);
}

/** Returns an answer that is a list; throws AppError `github/unexpected-answer` for anything else. */
export function listIn(value: unknown, what: string): readonly unknown[] {
  return Array.isArray(value) ? value : throwUnexpected(`a list with ${what}`);
}

/** Returns an integer of an object; throws AppError `github/unexpected-answer` if there is none. */
export function numberIn(value: JsonObject, name: string, what: string): number {
  const found = value[name];
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : throwUnexpected(what);
}

/** Returns a text of an object; throws AppError `github/unexpected-answer` if there is none. */
export function textIn(value: JsonObject, name: string, what: string): string {
  const found = value[name];
  return typeof found === 'string' ? found : throwUnexpected(what);
}

/** Returns the login of the author of an object, empty if the account was deleted. */
export function loginIn({ user }: JsonObject): string {
  return asText(asObject(user)['login']);
}

/** Throws: nothing is concluded from an answer of another shape. */
export function throwUnexpected(what: string): never {
  throw new AppError('github/unexpected-answer', 4, `the response of GitHub is not ${what}`, {
    hint: 'check GITHUB_API_URL and proxies; the result of the run is valid',
  });
}

/** Reads an answer; returns undefined if GitHub does not show the thing to this token, or does not have it. */
export async function readIfShown<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError && (error.code === 'github/forbidden' || error.code === 'github/refused')) return undefined;
    throw error;
  }
}

/** Runs requests to GitHub; converts errors of GitHub to warnings that name what is missing, so that they never fail the run. */
export async function withGitHubErrors<T>(work: () => Promise<T>, missing?: string): Promise<Checked<T>> {
  try {
    return { value: await work(), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof AppError) || !error.code.startsWith('github/')) throw error;
    const { code, hint } = error;
    const message = missing === undefined ? error.message : `${missing} was not written: ${error.message}`;
    return { diagnostics: [{ code, severity: 'warning', message, hint }] };
  }
}

export type RepositoryName = { readonly owner: string; readonly repo: string };

/** An issue; `author` is a login. */
export type Issue = { readonly number: number; readonly author: string; readonly body: string; readonly open: boolean };

/** A label, with the description and color of a new one. */
export type Label = { readonly name: string; readonly description: string; readonly color: string };

/** The fields of an issue or a pull request to write; omitted fields stay. */
type IssueUpdate = { readonly title?: string; readonly body?: string; readonly open?: boolean };

/** An issue to open; GitHub creates labels that do not exist. */
export type NewIssue = {
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
};

/** What answers are about, for the message of an unexpected one. */
const issueName = 'an issue';
const pullRequestName = 'a pull request';

/** The calls about issues. */
export interface IssueCalls {
  /** Lists issues with the label, closed ones too, newest first. */
  readonly labeledIssues: (label: string) => Promise<readonly Issue[]>;
  /** Lists the issues by an account, closed ones too, whatever their labels: the thousand that changed last. */
  readonly issuesOf: (login: string) => Promise<readonly Issue[]>;
  /** Creates the label if it does not exist. */
  readonly ensureLabel: (label: Label) => Promise<void>;
  /** Opens an issue and returns its number. */
  readonly createIssue: (issue: NewIssue) => Promise<number>;
  readonly updateIssue: (number: number, rewrite: IssueUpdate) => Promise<void>;
}

/** The most pages of issues that are read to find one without its label: the account of a job can have opened any number. */
const mostPages = 10;

/** Creates the requests on issues and comments of a repository. They throw an AppError when GitHub refuses. */
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
      try {
        await octokit.issues.createLabel({ ...place, ...label });
      } catch (error) {
        // A token that may not create labels may not add them either; creating the issue reports it.
        if (!(error instanceof AppError) || !['github/refused', 'github/forbidden'].includes(error.code)) throw error;
      }
    },
    async createIssue({ labels, assignees, ...rest }) {
      const { data } = await octokit.issues.create({ ...place, ...rest, labels: [...labels], assignees: [...assignees] });
      return numberIn(objectIn(data, issueName), 'number', issueName);
    },
    async updateIssue(number, { open, ...rest }) {
      const state =
        open === undefined ? {} : open ? ({ state: 'open' } as const) : ({ state: 'closed', state_reason: 'completed' } as const);
      await octokit.issues.update({ ...place, issue_number: number, ...rest, ...state });
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

export type PullRequestSummary = {
  readonly number: number;
  /** The login of its author. */
  readonly author: string;
  readonly merged: boolean;
  /** The commit that the merge made; before a merge the test merge, if GitHub has made one. */
  readonly mergeCommit: string | undefined;
  readonly head: string;
  readonly base: string;
  /** When it changed last; empty if GitHub does not say it. */
  readonly updatedAt: string;
};

/** The calls about pull requests. */
export interface PullRequestCalls {
  readonly pullRequest: (number: number) => Promise<PullRequestSummary>;
  readonly pullRequestsOf: (commit: string) => Promise<readonly PullRequestSummary[]>;
  /** Returns a pull request as an event describes it; undefined if it is incomplete. */
  readonly readPullRequest: (number: number) => Promise<PullRequest | undefined>;
  /** Lists the open pull requests from a branch, of this repository or of a fork, as an event describes them. */
  readonly openPullRequestsFrom: (owner: string, branch: string) => Promise<readonly PullRequest[]>;
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
