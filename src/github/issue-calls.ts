import type { Octokit } from '@octokit/rest';
import { AppError } from '../model/errors.ts';
import { isObject, type JsonObject } from '../model/json.ts';

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

/** Returns the login of an account in an object, empty if the account was deleted. */
export function loginIn(value: JsonObject, name = 'user'): string {
  const account = value[name];
  return isObject(account) && typeof account['login'] === 'string' ? account['login'] : '';
}

/** Throws: nothing is concluded from an answer of another shape. */
export function throwUnexpected(what: string): never {
  throw new AppError('github/unexpected-answer', 4, `the response of GitHub is not ${what}`, {
    hint: 'check GITHUB_API_URL and proxies; the result of the run is valid',
  });
}

export type RepositoryName = { readonly owner: string; readonly repo: string };

/** An issue; `author` is a login. */
export type Issue = { readonly number: number; readonly author: string; readonly body: string; readonly open: boolean };

/** A label, with the description and color of a new one. */
export type Label = { readonly name: string; readonly description: string; readonly color: string };

/** The fields of an issue or a pull request to write; omitted fields stay. */
export type IssueUpdate = { readonly title?: string; readonly body?: string; readonly open?: boolean };

/** An issue to open; GitHub creates labels that do not exist, and ignores accounts that cannot be assigned. */
export type NewIssue = {
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
};

/** The calls about issues. */
export interface IssueCalls {
  /** Lists issues with the label, closed ones too, newest first. */
  readonly labeledIssues: (label: string) => Promise<readonly Issue[]>;
  /** Lists the open issues by an account, whatever their labels. */
  readonly openIssuesOf: (login: string) => Promise<readonly Issue[]>;
  /** Creates the label if it does not exist. */
  readonly ensureLabel: (label: Label) => Promise<void>;
  /** Opens an issue and returns its number. */
  readonly createIssue: (issue: NewIssue) => Promise<number>;
  readonly updateIssue: (number: number, rewrite: IssueUpdate) => Promise<void>;
}

/** Creates the requests on issues and comments of a repository. They throw an AppError when GitHub refuses. */
export function createIssueCalls(octokit: Octokit, place: RepositoryName): IssueCalls {
  return {
    async labeledIssues(label) {
      const found = await octokit.paginate(octokit.issues.listForRepo, { ...place, labels: label, state: 'all', per_page: 100 });
      return found.flatMap(issueOf);
    },
    async openIssuesOf(login) {
      const found = await octokit.paginate(octokit.issues.listForRepo, { ...place, creator: login, state: 'open', per_page: 100 });
      return found.flatMap(issueOf);
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
      return numberIn(objectIn(data, what), 'number', what);
    },
    async updateIssue(number, { open, ...rest }) {
      const state =
        open === undefined ? {} : open ? ({ state: 'open' } as const) : ({ state: 'closed', state_reason: 'completed' } as const);
      await octokit.issues.update({ ...place, issue_number: number, ...rest, ...state });
    },
  };
}

const what = 'an issue';

/** Returns the issue, or nothing for a pull request, which GitHub lists as an issue. */
function issueOf(raw: unknown): readonly Issue[] {
  const one = objectIn(raw, what);
  return one['pull_request'] === undefined ? [issueIn(one, what)] : [];
}

/** Reads an issue, or a pull request as an issue. */
export function issueIn(raw: unknown, sort: string): Issue {
  const one = objectIn(raw, sort);
  const { body, state } = one;
  return {
    number: numberIn(one, 'number', sort),
    author: loginIn(one),
    body: typeof body === 'string' ? body : '',
    open: state === 'open',
  };
}
