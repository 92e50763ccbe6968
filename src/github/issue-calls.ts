import type { Octokit } from '@octokit/rest';
import { AppError } from '../model/errors.ts';
import { loginIn, numberIn, objectIn } from './answer-checks.ts';

export type RepositoryName = { readonly owner: string; readonly repo: string };

/** An issue; `author` is a login. */
export type Issue = { readonly number: number; readonly author: string; readonly body: string; readonly open: boolean };

/** A label, with the description and color of a new one. */
export type Label = { readonly name: string; readonly description: string; readonly color: string };

/** The fields of an issue or a pull request to write; omitted fields stay. */
export type IssueUpdate = { readonly title?: string; readonly body?: string; readonly open?: boolean };

/** The calls about issues. */
export interface IssueCalls {
  /** Lists issues with the label, closed ones too, newest first. */
  readonly labelledIssues: (label: string) => Promise<readonly Issue[]>;
  /** Lists the open issues by an account, whatever their labels. */
  readonly openIssuesOf: (login: string) => Promise<readonly Issue[]>;
  /** Creates the label if it does not exist. */
  readonly ensureLabel: (label: Label) => Promise<void>;
  /** Opens an issue and returns its number. */
  readonly createIssue: (issue: { readonly title: string; readonly body: string; readonly label: string }) => Promise<number>;
  readonly updateIssue: (number: number, rewrite: IssueUpdate) => Promise<void>;
}

export function createIssueCalls(octokit: Octokit, place: RepositoryName): IssueCalls {
  return {
    async labelledIssues(label) {
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
    async createIssue({ title, body, label }) {
      const { data } = await octokit.issues.create({ ...place, title, body, labels: [label] });
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
