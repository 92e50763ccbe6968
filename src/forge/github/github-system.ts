import { randomUUID } from 'node:crypto';
import type { CiSystem, ForgeNames } from '../ci-system.ts';
import { withGitCredentials } from '../git-credentials.ts';
import { openGitHub } from './github-client.ts';
import { maskCommands, openCacheService, openJobLog, outputLines, readWorkflowRun } from './workflow-run.ts';

const names: ForgeNames = {
  forge: 'GitHub',
  request: 'pull request',
  guide: 'docs/how-to/github.md',
  sharedAccount: 'github-actions[bot]',
  mayDecide: 'write access',
  commentPath: (number, comment) => `/pull/${number}#issuecomment-${comment}`,
  tokenHint: 'pass github-token (ostiary ci: GITHUB_TOKEN), or comment: false and issue: false',
  wholeHistory: 'fetch-depth: 0',
  historyHint: 'give actions/checkout fetch-depth: 0, and the job contents: read',
  checkoutHint({ event, mention }, number) {
    const instead = event === 'pull_request' ? 'another checkout' : event;
    const other = mention === undefined ? `run the workflow on pull_request instead of ${instead}, or ` : '';
    return `${other}give actions/checkout ref: refs/pull/${number}/merge and fetch-depth: 0`;
  },
};

/** GitHub Actions. */
export const githubSystem: CiSystem = {
  readRun(env, readFile) {
    const event = env['GITHUB_EVENT_PATH'] ?? '';
    const { owner, repo, apiUrl, graphqlUrl, ...run } = readWorkflowRun(env, event === '' ? '' : readFile(event));
    return { ...run, names, openForge: (options) => openGitHub({ owner, repo, apiUrl, graphqlUrl, ...options }) };
  },
  tokenIn: (env) => env['GITHUB_TOKEN'] ?? '',
  gitEnvironment: (env, token, page) => withGitCredentials(env, 'x-access-token', token, page),
  openLog: (write) => openJobLog(write, randomUUID()),
  hasAnnotations: true,
  maskCommands,
  outputLines,
  filesOf: (env) => ({ outputs: env['GITHUB_OUTPUT'], summary: env['GITHUB_STEP_SUMMARY'] }),
  openCache: openCacheService,
};
