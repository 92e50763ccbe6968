import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { builtPackage } from './cli.ts';
import { projectId, type TestGitLab } from './gitlab.ts';
import { gitEnv } from './repository.ts';
import { git, runShell } from './workflow.ts';

/** What starts a pipeline: a push to main, its schedule, a job of another pipeline, a merge request, or a webhook about one. */
export type Pipeline =
  | { readonly source: 'push' | 'schedule' | 'parent_pipeline' }
  | { readonly source: 'merge_request_event' | 'trigger'; readonly iid: number };

/** The folder of a job and its variables, as the runner of GitLab makes them. */
export type GitLabJob = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

const checkout = `git init --quiet --template= --initial-branch=none
git remote add origin "$1"
shift
git fetch --quiet --depth=20 --no-tags origin "$@"
git checkout --quiet --detach refs/pipelines/1`;

/** Checks out a pipeline in an empty folder, as the runner does: 20 commits, without a branch; and returns the variables of its jobs. */
export function prepareJob(cwd: string, origin: string, { url, token, requests }: TestGitLab, pipeline: Pipeline): GitLabJob {
  const iid = 'iid' in pipeline ? pipeline.iid : undefined;
  const request = requests.find((one) => one.iid === iid);
  const isOfRequest = pipeline.source === 'merge_request_event' && request !== undefined;
  const ref = isOfRequest ? `refs/merge-requests/${request.iid}/head` : 'refs/heads/main';
  const refs = isOfRequest ? [`+${ref}:refs/pipelines/1`] : [`+${ref}:refs/pipelines/1`, '+refs/heads/main:refs/remotes/origin/main'];
  runShell(cwd, checkout, [`file://${origin}`, ...refs]);
  const commit = git(cwd, 'rev-parse HEAD');
  const payload = join(cwd, '.git', 'payload');
  if (pipeline.source === 'trigger')
    writeFileSync(payload, JSON.stringify({ object_kind: 'merge_request', object_attributes: { iid, action: 'update' } }));
  return {
    cwd,
    env: {
      CI: 'true',
      GITLAB_CI: 'true',
      CI_API_GRAPHQL_URL: `${url}/api/graphql`,
      CI_API_V4_URL: `${url}/api/v4`,
      CI_COMMIT_SHA: commit,
      CI_COMMIT_REF_PROTECTED: String(!isOfRequest),
      CI_DEFAULT_BRANCH: 'main',
      CI_JOB_URL: 'https://gitlab.test/team/access/-/jobs/4711',
      CI_PIPELINE_SOURCE: pipeline.source,
      CI_PROJECT_DIR: cwd,
      CI_PROJECT_ID: String(projectId),
      CI_PROJECT_URL: 'https://gitlab.test/team/access',
      GITLAB_USER_LOGIN: 'ada',
      // Protected variables are set for jobs of protected refs alone.
      ...(isOfRequest ? {} : { CI_COMMIT_BRANCH: 'main', OSTIARY_GITLAB_TOKEN: token }),
      ...(pipeline.source === 'trigger' ? { TRIGGER_PAYLOAD: payload } : {}),
      ...(isOfRequest
        ? {
            CI_MERGE_REQUEST_DIFF_BASE_SHA: git(origin, ['merge-base', 'refs/heads/main', commit]),
            CI_MERGE_REQUEST_IID: String(request.iid),
            CI_MERGE_REQUEST_PROJECT_ID: String(projectId),
            CI_MERGE_REQUEST_SOURCE_PROJECT_ID: request.fork ? '43' : String(projectId),
            CI_MERGE_REQUEST_TARGET_BRANCH_NAME: request.target,
          }
        : {}),
    },
  };
}

/** A job of a pipeline file, as far as tests read it. */
export type RecipeJob = {
  readonly script?: readonly string[];
  readonly rules?: readonly { readonly if: string }[];
  readonly needs?: readonly string[];
  readonly parallel?: { readonly matrix: readonly [{ readonly TARGET: readonly string[] }] };
  readonly environment?: { readonly name: string };
  readonly artifacts?: {
    readonly paths?: readonly string[];
    readonly reports?: Readonly<Record<string, string>>;
  };
};

/** Returns the jobs of a pipeline file. */
export function readRecipe(path: string): Readonly<Record<string, RecipeJob>> {
  const { default: _, ...jobs }: Readonly<Record<string, RecipeJob>> = parse(readFileSync(path, 'utf8'));
  return jobs;
}

/** Puts the program that a recipe calls, the built command, into an empty folder. */
export async function addProgram(folder: string): Promise<void> {
  const command = join(await builtPackage(), 'dist', 'cli.js');
  writeFileSync(join(folder, 'ostiary'), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`, { mode: 0o755 });
}

export type RecipeEnded = { readonly code: number; readonly output: string };

/** Runs the commands of a job in its checkout, as the runner's shell does. */
export async function runRecipe({ script = [] }: RecipeJob, { cwd, env }: GitLabJob, programs: string): Promise<RecipeEnded> {
  const all = { ...gitEnv, HOME: cwd, PATH: `${programs}:${gitEnv['PATH']}`, ...env };
  const child = spawn('sh', ['-e', '-c', script.join('\n')], { cwd, env: all, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  await once(child, 'close');
  return { code: child.exitCode ?? -1, output };
}
