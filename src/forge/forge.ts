import type { AuthoredCommit } from '../model/result/authored-commit.ts';
import type { Checked } from '../model/diagnostic.ts';

/** A comment below a pull request; `author` is a login, `node` its id in GraphQL. */
export type Comment = {
  readonly id: number;
  readonly node: string;
  readonly author: string;
  readonly body: string;
};

/** The text of a comment at one time, and its last editor: a login, or words for an account that is gone; undefined if it was never edited. */
export type CommentVersion = { readonly body: string; readonly editor: string | undefined };

/** What names the editor of a comment whose account is gone. */
export const goneAccount = 'a deleted account';

/** An issue; `author` is a login. */
export type Issue = { readonly number: number; readonly author: string; readonly body: string; readonly open: boolean };

/** A label, with the description and color of a new one. */
export type Label = { readonly name: string; readonly description: string; readonly color: string };

/** The fields of an issue or a pull request to write; omitted fields stay. */
export type IssueUpdate = { readonly title?: string; readonly body?: string; readonly open?: boolean };

/** An issue to open; the forge creates labels that do not exist. */
export type NewIssue = {
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
};

/** A pull request to open, from a branch of the repository. */
export type NewPullRequest = { readonly title: string; readonly body: string; readonly head: string; readonly base: string };

/** A pull request as the event of a run describes it. */
export type PullRequest = {
  readonly number: number;
  /** The commit that was pushed to it, the one before, and the time of the event, if the event has them. */
  readonly head: string;
  readonly before?: string | undefined;
  readonly updatedAt?: string;
  /** The commit of its target branch. */
  readonly base: string;
  /** The name of its target branch. */
  readonly baseBranch: string;
  /** It comes from another repository. */
  readonly fork: boolean;
  readonly author: string;
  readonly merged: boolean;
};

export type PullRequestSummary = {
  readonly number: number;
  /** The login of its author. */
  readonly author: string;
  readonly merged: boolean;
  /** The commit that the merge made; before a merge the test merge, if the forge has made one. */
  readonly mergeCommit: string | undefined;
  readonly head: string;
  readonly base: string;
  /** When it changed last; empty if the forge does not say it. */
  readonly updatedAt: string;
};

/** The status of a commit under one name. */
export type CommitStatus = {
  readonly state: 'success' | 'failure' | 'error';
  readonly context: string;
  readonly description: string;
  /** The page that it links to. */
  readonly url: string;
};

export type DeploymentStatus = {
  readonly state: 'success' | 'failure' | 'error';
  readonly description: string;
  readonly logUrl: string;
};

/** The calls about issues. */
export interface IssueCalls {
  /** Lists issues with the label, closed ones too, newest first. */
  readonly labeledIssues: (label: string) => Promise<readonly Issue[]>;
  /** Lists the issues by an account, closed ones too, whatever their labels: the thousand that changed last. */
  readonly issuesOf: (login: string) => Promise<readonly Issue[]>;
  /** Creates the label if it does not exist. */
  readonly ensureLabel: (label: Label) => Promise<void>;
  /** Opens an issue and returns its number; a warning names labels and assignees that the forge refuses. */
  readonly openIssue: (issue: NewIssue) => Promise<Checked<number>>;
  readonly updateIssue: (number: number, rewrite: IssueUpdate) => Promise<void>;
  readonly commentOnIssue: (number: number, body: string) => Promise<void>;
}

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
  readonly createPullRequest: (wish: NewPullRequest) => Promise<number>;
  readonly updatePullRequest: (number: number, rewrite: IssueUpdate) => Promise<void>;
  readonly comments: (number: number) => Promise<readonly Comment[]>;
  /** Returns a comment as it is now. */
  readonly latestOf: (comment: Comment) => Promise<CommentVersion>;
  readonly createComment: (number: number, body: string) => Promise<void>;
  readonly updateComment: (number: number, comment: number, body: string) => Promise<void>;
  readonly deleteComment: (number: number, comment: number) => Promise<void>;
}

/** The calls about people: their permissions, and what they made. */
export interface PeopleCalls {
  readonly mayWrite: (login: string) => Promise<boolean>;
  /** Returns the logins of the author, the committer and the co-authors of a commit, in this order; undefined for each that the forge knows no account of. */
  readonly accountsOf: (commit: AuthoredCommit) => Promise<readonly (string | undefined)[]>;
  readonly isBot: (login: string) => boolean;
  /** Returns whether the account is a member of a team; undefined if the token may not read that. */
  readonly isTeamMember: (organization: string, team: string, login: string) => Promise<boolean | undefined>;
}

/** The calls about deployments. */
export interface DeploymentCalls {
  /** Returns the newest deployment of a commit to an environment; creates one if there is none. */
  readonly deployment: (commit: string, environment: string) => Promise<number>;
  readonly setDeploymentStatus: (deployment: number, status: DeploymentStatus) => Promise<void>;
}

/** What Ostiary asks a forge for, in one repository; every failure of the forge is an AppError that `withForgeErrors` converts. */
export interface Forge extends IssueCalls, PullRequestCalls {
  /** Returns the login of this token's account. */
  readonly whoAmI: () => Promise<string>;
  readonly people: PeopleCalls;
  /** Undefined where jobs have deployments of their own. */
  readonly deployments?: DeploymentCalls;
  readonly setStatus: (commit: string, status: CommitStatus) => Promise<void>;
}

/** The milliseconds that a job has waited for its forge, counted by the clients that share it. */
export type WaitingTime = { waited: number };

/** Sends one request without following redirects. */
export type SendRequest = (url: URL, init: RequestInit) => Promise<Response>;
