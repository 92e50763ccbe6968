import { AppError } from '../model/errors.ts';
import type { ForgeRequest } from '../model/plan/plan.ts';
import type { Forge, PullRequest, SendRequest, WaitingTime } from './forge.ts';

/** The run of a job: its repository, commit and event, and the forge that started it. */
export type CiRun = {
  readonly event: string;
  readonly commit: string;
  readonly branch: string;
  /** The repository's page, and the run's. */
  readonly page: string;
  readonly url: string;
  /** The page on which a person starts a job like this one, if the forge names it. */
  readonly startPage?: string;
  /** The page below which `/blob/COMMIT` is a commit; by default that of the repository. */
  readonly links?: string;
  /** The certificates of the forge's server, if it has its own. */
  readonly certificateFile?: string;
  /** The folder of the checkout. */
  readonly workspace: string;
  /** A folder that is emptied after the job. */
  readonly temp: string;
  readonly pullRequest?: PullRequest | undefined;
  /** What names the pull request of an event that does not describe it. */
  readonly mention?: PullRequestMention | undefined;
  /** The commit that a pull request or a merge group is proposed for, and its branch; undefined for other events. */
  readonly proposedFor?: ProposedFor | undefined;
  /** The repository's default branch; undefined if the event does not name it. */
  readonly defaultBranch: string | undefined;
  readonly names: ForgeNames;
  /** Whether the job is not meant to have a token, because others decide what it runs. */
  readonly isTokenless?: true;
  readonly openForge: (options: ForgeOptions) => Forge;
};

/** The words of one forge, for messages. */
export type ForgeNames = {
  readonly forge: string;
  readonly request: ForgeRequest;
  /** How to get a token for the job, or do without one. */
  readonly tokenHint: string;
  /** The page of the documentation. */
  readonly guide: string;
  /** An account that jobs of every author share, so that its comments prove nothing. */
  readonly sharedAccount?: string;
  /** What a person needs for commands in comments. */
  readonly mayDecide: string;
  /** The address of a comment on a pull request, below the page. */
  readonly commentPath: (number: number, comment: number) => string;
  /** The setting that fetches all history. */
  readonly wholeHistory: string;
  /** How a job gets all history, if fetching it failed. */
  readonly historyHint: string;
  /** How a job checks out a pull request. */
  readonly checkoutHint: (run: Pick<CiRun, 'event' | 'mention'>, number: number) => string;
};

/**
 * A comment on a pull request, the run of another workflow for the head of one, or an event of one that a webhook sent. These run the
 * job of the default branch, with its secrets, whoever caused them.
 */
export type PullRequestMention =
  | { readonly by: 'comment'; readonly number: number; readonly body: string; readonly author: string }
  | { readonly by: 'run'; readonly head: string; readonly branch: string; readonly owner: string }
  | { readonly by: 'event'; readonly number: number };

export type ProposedFor = { readonly commit: string; readonly branch: string };

export type ForgeOptions = {
  readonly token: string;
  readonly version: string;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** The time that all clients of the job have waited; by default, the client shares it with no other. */
  readonly waits?: WaitingTime;
  /** The longest that one answer may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** By default Node's own `fetch`. */
  readonly send?: SendRequest | undefined;
};

/** The variables of a job. */
export type JobEnvironment = Readonly<Record<string, string | undefined>>;

/** The log of a job: `text` cannot contain commands to the runner, `command` writes our own. */
export type JobLog = {
  readonly text: (text: string) => void;
  readonly command: (commands: string) => void;
  readonly close: () => void;
};

/** A URL that reports can link to. */
export const plainUrl: RegExp = /^https?:\/\/[\w.:-]+(?:\/[\w./-]*)?$/;

/** Creates the reader of the job's variables that a system sets; it throws AppError `forge/no-job` for one that has another form. */
export function variableReader(system: string, hint: string): (env: JobEnvironment, name: string, form: RegExp) => string {
  return (env, name, form) => {
    const value = env[name] ?? '';
    if (form.test(value)) return value;
    const message = `${name} is ${value === '' ? 'not set' : `not what ${system} sets it to`}`;
    throw new AppError('forge/no-job', 3, message, { hint });
  };
}

/** A cache in which runs of one repository leave a text for later runs. A failure throws an error that says why. */
export type CacheService = {
  /** Returns the newest text whose key starts with the prefix; undefined if there is none. */
  readonly restore: (prefix: string) => Promise<string | undefined>;
  /** Keeps a text under a new key. */
  readonly save: (key: string, text: string) => Promise<void>;
};

/** A system that runs the jobs of a forge: how it describes a job, and where a job reports. */
export type CiSystem = {
  /** Reads the run from the job's variables and the file of its event; throws AppError outside a job. */
  readonly readRun: (env: JobEnvironment, readFile: (path: string) => string) => CiRun;
  /** Returns the token for comments, issues and pull requests in the job's variables; empty without one. Throws AppError for one that others can read. */
  readonly tokenIn: (env: JobEnvironment) => string;
  /** Returns the environment in which git uses the token for the server of the page; no file is written. */
  readonly gitEnvironment: (env: JobEnvironment, token: string, page: string) => JobEnvironment;
  readonly openLog: (write: (text: string) => void) => JobLog;
  /** Whether annotations show diagnostics of a report; otherwise the log does. */
  readonly hasAnnotations: boolean;
  /** Returns the commands that mask a secret in the log. */
  readonly maskCommands: (secret: string | Uint8Array) => string;
  /** Formats outputs for later steps. */
  readonly outputLines: (outputs: Readonly<Record<string, string>>) => string;
  /** Returns the files for outputs and for the summary of the job; undefined where the runner reads none. */
  readonly filesOf: (env: JobEnvironment) => { readonly outputs: string | undefined; readonly summary: string | undefined };
  /** Opens the cache between runs; undefined where the runner offers none. */
  readonly openCache: (env: JobEnvironment, send: SendRequest | undefined) => CacheService | undefined;
};
