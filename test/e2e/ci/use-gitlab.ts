import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startGitLab, type TestGitLab } from '../../support/gitlab.ts';
import { type Pipeline, prepareJob } from '../../support/gitlab-job.ts';
import type { Ended } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { commitAll, git, pushToOrigin, runShell } from '../../support/workflow.ts';
import { writeFiles, type Files } from '../project.ts';
import type { Gateway } from '../use-gateway.ts';

type Options = { readonly env?: Readonly<Record<string, string>>; readonly checkout?: string };

/** A GitLab, the origin of its project, and its pipelines. */
export type GitLabBench = {
  readonly gitlab: () => TestGitLab;
  readonly origin: () => string;
  /** The clone that `push` works in. */
  readonly clone: () => string;
  /** Runs `ostiary ci` in a job of a pipeline. */
  readonly ci: (line: string, pipeline: Pipeline, options?: Options) => Promise<Ended>;
  /** Commits files to a branch as a person, and pushes it. */
  readonly push: (branch: string, files: Files, message?: string, login?: string) => string;
  /** Plans a merge request as the webhook of its event starts it. */
  readonly planRequest: (iid: number, line?: string, options?: Options) => Promise<Ended>;
  readonly notesOn: (iid: number) => readonly string[];
};

// A branch that the origin does not have begins at main.
const checkoutBranch = `git fetch --quiet origin
git checkout --quiet -B "$1" "origin/$1" 2>/dev/null || git checkout --quiet -B "$1" origin/main`;

/** Sets up a GitLab with a project for the tests of one file. */
export function useGitLab(makeFolder: (files: Files) => string, gateway: Gateway, first: () => Files): GitLabBench {
  let gitlab: TestGitLab | undefined;
  let origin = '';
  let clone = '';
  const running = (): TestGitLab => {
    if (gitlab === undefined) throw new Error('GitLab is not started yet');
    return gitlab;
  };
  beforeAll(async () => {
    clone = makeFolder(first());
    commitAll(clone);
    origin = pushToOrigin(clone, makeFolder({}));
    gitlab = await startGitLab(origin);
  });
  beforeEach(() => running().intercept(undefined));
  afterAll(() => gitlab?.close());

  async function ci(line: string, pipeline: Pipeline, { env = {}, checkout }: Options = {}): Promise<Ended> {
    const job = prepareJob(makeFolder({}), origin, running(), pipeline);
    if (checkout !== undefined) {
      runShell(job.cwd, 'git fetch --quiet origin "$1"; git checkout --quiet --detach FETCH_HEAD', [checkout]);
    }
    return ostiaryInProcess(['ci', ...line.split(' ')], { cwd: job.cwd, env: { ...job.env, ...gateway.env(), ...env } });
  }

  return {
    gitlab: running,
    origin: () => origin,
    clone: () => clone,
    ci,
    push(branch, files, message = branch, login = 'ada') {
      runShell(clone, checkoutBranch, [branch]);
      writeFiles(clone, files);
      const commit = commitAll(clone, message, login);
      git(clone, ['push', '--quiet', 'origin', branch]);
      return commit;
    },
    planRequest: (iid, line = 'plan', options = {}) =>
      ci(line, { source: 'trigger', iid }, { checkout: `refs/merge-requests/${iid}/head`, ...options }),
    notesOn: (iid) =>
      running()
        .requests.find((one) => one.iid === iid)
        ?.notes.map(({ body }) => body) ?? [],
  };
}
