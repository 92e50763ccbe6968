import type { Octokit } from '@octokit/rest';
import { AppError } from '../model/errors.ts';
import { loginIn, numberIn, objectIn } from './answer.ts';

export type Repository = { readonly owner: string; readonly repo: string };

/** An issue; `author` is a login. */
export type Issue = { readonly number: number; readonly author: string; readonly body: string; readonly open: boolean };

/** A label, with the words that it is made with where there is none. */
export type Label = { readonly name: string; readonly description: string; readonly color: string };

/** What is to be written to an issue or a pull request; what is left out stays. */
export type Rewrite = { readonly title?: string; readonly body?: string; readonly open?: boolean };

/** What Ostiary asks of issues. */
export interface Issues {
  /** Issues with the label, closed ones too, the newest first. */
  readonly labelledIssues: (label: string) => Promise<readonly Issue[]>;
  /** Open issues that somebody opened, whatever labels they have. */
  readonly openIssuesOf: (login: string) => Promise<readonly Issue[]>;
  /** Makes the label where there is none. */
  readonly ensureLabel: (label: Label) => Promise<void>;
  /** Opens an issue and tells its number. */
  readonly createIssue: (issue: { readonly title: string; readonly body: string; readonly label: string }) => Promise<number>;
  readonly updateIssue: (number: number, rewrite: Rewrite) => Promise<void>;
}

export function issueCalls(octokit: Octokit, place: Repository): Issues {
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
        // Who may not make labels may not label either; the issue itself tells.
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

/** Pull requests are issues, too. */
function issueOf(raw: unknown): readonly Issue[] {
  const one = objectIn(raw, what);
  return one['pull_request'] === undefined ? [issueIn(one, what)] : [];
}

/** An issue, or a pull request as one. */
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
