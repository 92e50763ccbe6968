import { tmpdir } from 'node:os';
import {
  type CiRun,
  type CiSystem,
  type ForgeNames,
  type JobEnvironment,
  plainUrl,
  type PullRequestMention,
  variableReader,
} from '../ci-system.ts';
import type { PullRequest } from '../forge.ts';
import { withGitCredentials } from '../git-credentials.ts';
import { AppError } from '../../model/errors.ts';
import { asObject, parseJson } from '../../model/json.ts';
import { openGitLab } from './gitlab-client.ts';

const names: ForgeNames = {
  forge: 'GitLab',
  request: 'merge request',
  guide: 'docs/how-to/gitlab.md',
  mayDecide: 'the role Maintainer',
  commentPath: (number, comment) => `/-/merge_requests/${number}#note_${comment}`,
  tokenHint: 'set the protected variable OSTIARY_GITLAB_TOKEN to a project access token, or pass --no-comment and --no-issue',
  wholeHistory: 'GIT_DEPTH: 0',
  historyHint: 'set GIT_DEPTH: 0 for the job',
  checkoutHint: (_, number) => `run git fetch origin refs/merge-requests/${number}/head && git checkout --detach FETCH_HEAD in the job`,
};

/** GitLab CI/CD. */
export const gitlabSystem: CiSystem = {
  readRun,
  tokenIn(env) {
    const token = env['OSTIARY_GITLAB_TOKEN'] ?? '';
    if (token === '' || env['CI_COMMIT_REF_PROTECTED'] === 'true') return token;
    // Whoever can push a branch decides what its jobs run.
    throw new AppError('forge/exposed-token', 3, 'OSTIARY_GITLAB_TOKEN is set in a job of a ref that is not protected', {
      hint: 'protect the variable; a pipeline of the default branch writes the note of a merge request (docs/how-to/gitlab.md)',
    });
  },
  // GitLab accepts any name beside a token.
  gitEnvironment: (env, token, page) => withGitCredentials(env, 'oauth2', token, page),
  openLog: (write) => ({ text: write, command: ignore, close: ignore }),
  hasAnnotations: false,
  // GitLab masks the values of variables by itself.
  maskCommands: () => '',
  outputLines: () => '',
  filesOf: () => ({ outputs: undefined, summary: undefined }),
  openCache: () => undefined,
};

function ignore(): void {}

/** Reads the run from the job's variables; throws AppError `forge/no-job` for variables that GitLab does not set. */
function readRun(env: JobEnvironment, readFile: (path: string) => string): CiRun {
  const page = variable(env, 'CI_PROJECT_URL', plainUrl).replace(/\/+$/, '');
  const apiUrl = variable(env, 'CI_API_V4_URL', plainUrl);
  const project = variable(env, 'CI_PROJECT_ID', /^\d+$/);
  const defaultBranch = variable(env, 'CI_DEFAULT_BRANCH', /^./);
  const event = variable(env, 'CI_PIPELINE_SOURCE', /^\w+$/);
  const branch = env['CI_COMMIT_BRANCH'] ?? '';
  if (branch === defaultBranch && env['CI_COMMIT_REF_PROTECTED'] !== 'true')
    throw new AppError(
      'forge/not-reviewed',
      3,
      `the default branch ${branch} is not protected, so its commits are not known to be reviewed`,
      {
        hint: 'protect it in Settings > Repository > Protected branches',
      },
    );
  const pullRequest = pullRequestOf(env);
  const mention = mentionIn(env, readFile);
  const certificateFile = env['CI_SERVER_TLS_CA_FILE'] ?? '';
  return {
    event,
    commit: variable(env, 'CI_COMMIT_SHA', commitId),
    branch,
    page,
    links: `${page}/-`,
    url: variable(env, 'CI_JOB_URL', plainUrl),
    startPage: `${page}/-/pipelines/new`,
    workspace: variable(env, 'CI_PROJECT_DIR', /^./),
    temp: tmpdir(),
    ...(pullRequest === undefined ? {} : { pullRequest, proposedFor: { commit: pullRequest.base, branch: pullRequest.baseBranch } }),
    mention,
    defaultBranch,
    names,
    ...(env['CI_COMMIT_REF_PROTECTED'] === 'true' ? {} : { isTokenless: true }),
    ...(certificateFile === '' ? {} : { certificateFile }),
    openForge: (options) => openGitLab({ apiUrl, graphqlUrl: variable(env, 'CI_API_GRAPHQL_URL', plainUrl), project, ...options }),
  };
}

const commitId = /^[0-9a-f]{40,64}$/;

/** Returns the merge request of a merge request pipeline; undefined in other pipelines. */
function pullRequestOf(env: JobEnvironment): PullRequest | undefined {
  if (env['CI_PIPELINE_SOURCE'] !== 'merge_request_event') return undefined;
  // A pipeline of merged results has a commit of its own.
  const commitIn = (name: string, otherwise: string): string => variable(env, (env[name] ?? '') === '' ? otherwise : name, commitId);
  return {
    number: Number(variable(env, 'CI_MERGE_REQUEST_IID', /^\d{1,15}$/)),
    head: commitIn('CI_MERGE_REQUEST_SOURCE_BRANCH_SHA', 'CI_COMMIT_SHA'),
    base: commitIn('CI_MERGE_REQUEST_TARGET_BRANCH_SHA', 'CI_MERGE_REQUEST_DIFF_BASE_SHA'),
    baseBranch: variable(env, 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME', /^./),
    fork: env['CI_MERGE_REQUEST_SOURCE_PROJECT_ID'] !== env['CI_MERGE_REQUEST_PROJECT_ID'],
    author: env['GITLAB_USER_LOGIN'] ?? '',
    merged: false,
  };
}

/** Returns the merge request of the event that a webhook sent to start this pipeline; its state is asked from the API. */
function mentionIn(env: JobEnvironment, readFile: (path: string) => string): PullRequestMention | undefined {
  const file = env['TRIGGER_PAYLOAD'] ?? '';
  if (file === '') return undefined;
  const payload = parseJson(readFile(file));
  if (payload === undefined)
    throw new AppError('forge/no-job', 3, 'the payload of the trigger is not JSON', { hint: 'start the pipeline by a webhook of GitLab' });
  const { object_kind: kind, object_attributes: request } = asObject(payload);
  const { iid: number } = asObject(request);
  if (kind !== 'merge_request' || typeof number !== 'number' || !Number.isSafeInteger(number)) return undefined;
  return { by: 'event', number };
}

const variable = variableReader('GitLab', 'ostiary ci requires a job of GitLab CI/CD; elsewhere, use the command line');
