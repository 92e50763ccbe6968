import { randomUUID } from 'node:crypto';
import type { CiSystem } from '../forge/ci-system.ts';
import { openGitHub } from './github-client.ts';
import { maskCommands, openCacheService, openJobLog, outputLines, readWorkflowRun, withGitCredentials } from './workflow-run.ts';

/** GitHub Actions. */
export const githubSystem: CiSystem = {
  readRun(env, readFile) {
    const event = env['GITHUB_EVENT_PATH'] ?? '';
    const { owner, repo, apiUrl, graphqlUrl, ...run } = readWorkflowRun(env, event === '' ? '' : readFile(event));
    return { ...run, openForge: (options) => openGitHub({ owner, repo, apiUrl, graphqlUrl, ...options }) };
  },
  gitEnvironment: withGitCredentials,
  openLog: (write) => openJobLog(write, randomUUID()),
  maskCommands,
  outputLines,
  filesOf: (env) => ({ outputs: env['GITHUB_OUTPUT'], summary: env['GITHUB_STEP_SUMMARY'] }),
  openCache: openCacheService,
};
