import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectId, type TestGitLab } from './gitlab.ts';
import { git } from './workflow.ts';

/** What starts a pipeline: a push to main, its schedule, a merge request, or a webhook about one. */
export type Pipeline =
  | { readonly source: 'push' | 'schedule' }
  | { readonly source: 'merge_request_event' | 'trigger'; readonly iid: number };

/** The folder of a job and its variables, as the runner of GitLab makes them. */
export type GitLabJob = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** Checks out a pipeline in an empty folder, as the runner does: 20 commits, without a branch; and returns the variables of its jobs. */
export function prepareJob(cwd: string, origin: string, { url, token, requests }: TestGitLab, pipeline: Pipeline): GitLabJob {
  const iid = 'iid' in pipeline ? pipeline.iid : undefined;
  const request = requests.find((one) => one.iid === iid);
  const isOfRequest = pipeline.source === 'merge_request_event' && request !== undefined;
  const ref = isOfRequest ? `refs/merge-requests/${request.iid}/head` : 'refs/heads/main';
  const commit = git(origin, ['rev-parse', ref]);
  git(cwd, 'init --quiet --initial-branch=none');
  git(cwd, ['remote', 'add', 'origin', `file://${origin}`]);
  const refs = isOfRequest ? [`+${ref}:refs/pipelines/1`] : [`+${ref}:refs/pipelines/1`, '+refs/heads/main:refs/remotes/origin/main'];
  git(cwd, ['fetch', '--quiet', '--depth=20', '--no-tags', 'origin', ...refs]);
  git(cwd, ['checkout', '--quiet', '--detach', commit]);
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
