import { AppError } from '../model/errors.ts';
import { isObject, type Json, type JsonObject } from '../model/json.ts';

/** A pull request as the event of a run tells of it. */
export type PullRequest = {
  readonly number: number;
  /** The commit that was pushed to it. */
  readonly head: string;
  /** The commit of its target branch. */
  readonly base: string;
  /** It comes from another repository. */
  readonly fork: boolean;
  /** The login of who opened it. */
  readonly author: string;
  readonly merged: boolean;
};

/** The run of a workflow: where it runs, for which commit, what started it. */
export type WorkflowRun = {
  readonly owner: string;
  readonly repo: string;
  readonly event: string;
  readonly commit: string;
  readonly branch: string;
  readonly apiUrl: string;
  readonly graphqlUrl: string;
  /** The repository's page, and the run's. */
  readonly page: string;
  readonly url: string;
  /** The folder of the checkout. */
  readonly workspace: string;
  /** A folder that is emptied after the job. */
  readonly temp: string;
  readonly pullRequest?: PullRequest;
  /** The commit that says what is checked, where the checkout is a proposal. */
  readonly base?: string;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the run from the variables that every job has and from the payload of its event; throws where that is no workflow of GitHub. */
export function readRun(env: Environment, payload: string): WorkflowRun {
  const [owner = '', repo = ''] = variable(env, 'GITHUB_REPOSITORY', /^[\w.-]+\/[\w.-]+$/).split('/');
  const server = variable(env, 'GITHUB_SERVER_URL', plainUrl).replace(/\/+$/, '');
  const page = `${server}/${owner}/${repo}`;
  const event = parsed(payload);
  const name = variable(env, 'GITHUB_EVENT_NAME', /^\w+$/);
  const pullRequest = pullRequestOf(event['pull_request']);
  const group = event['merge_group'];
  const base = pullRequest?.base ?? (isObject(group) ? commitAt(group, 'base_sha') : undefined);
  const run = {
    owner,
    repo,
    event: name,
    commit: variable(env, 'GITHUB_SHA', hash),
    branch: (env['GITHUB_REF'] ?? '').replace(/^refs\/heads\//, ''),
    apiUrl: variable(env, 'GITHUB_API_URL', plainUrl),
    graphqlUrl: variable(env, 'GITHUB_GRAPHQL_URL', plainUrl),
    page,
    url: `${page}/actions/runs/${variable(env, 'GITHUB_RUN_ID', /^\d+$/)}`,
    workspace: variable(env, 'GITHUB_WORKSPACE', /^./),
    temp: variable(env, 'RUNNER_TEMP', /^./),
    ...(pullRequest === undefined ? {} : { pullRequest }),
    ...(base === undefined ? {} : { base }),
  };
  // Without it the proposal would count as merged, and its own config would count.
  if (base === undefined && proposals.test(name)) throw incomplete(name);
  return run;
}

/** The events of what is not merged yet, or was just now. */
const proposals = /^(?:pull_request|merge_group)/;

function incomplete(event: string): AppError {
  return new AppError('github/no-workflow', 3, `the payload of this ${event} does not say what is proposed to which commit`, {
    hint: 'GITHUB_EVENT_PATH names the file that GitHub wrote for the event',
  });
}

const hash = /^[0-9a-f]{40,64}$/;
// It ends up in links.
const plainUrl = /^https?:\/\/[\w.:-]+(?:\/[\w./-]*)?$/;

function variable(env: Environment, name: string, form: RegExp): string {
  const value = env[name] ?? '';
  if (form.test(value)) return value;
  throw new AppError('github/no-workflow', 3, `${name} is ${value === '' ? 'not set' : 'not what GitHub sets it to'}`, {
    hint: 'the action runs in a workflow of GitHub; elsewhere use the command line',
  });
}

function parsed(payload: string): JsonObject {
  try {
    const event: Json = JSON.parse(payload);
    if (isObject(event)) return event;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new AppError('github/no-workflow', 3, 'the payload of the event is no JSON object', {
    hint: 'the action runs in a workflow of GitHub, which writes the file that GITHUB_EVENT_PATH names',
  });
}

function pullRequestOf(value: Json | undefined): PullRequest | undefined {
  if (!isObject(value)) return undefined;
  const { number, head, base, merged, user } = value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || !isObject(head) || !isObject(base)) return undefined;
  const [from, to] = [repositoryOf(head), repositoryOf(base)];
  const commits = { head: commitAt(head, 'sha'), base: commitAt(base, 'sha') };
  if (commits.head === undefined || commits.base === undefined) return undefined;
  const author = isObject(user) && typeof user['login'] === 'string' ? user['login'] : '';
  // A fork that was deleted has no repository any more.
  const fork = from === undefined || from !== to;
  return { number, head: commits.head, base: commits.base, fork, author, merged: merged === true };
}

function repositoryOf({ repo }: JsonObject): string | undefined {
  return isObject(repo) && typeof repo['full_name'] === 'string' ? repo['full_name'] : undefined;
}

function commitAt(value: JsonObject, key: string): string | undefined {
  const commit = value[key];
  return typeof commit === 'string' && hash.test(commit) ? commit : undefined;
}
