import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { adminToken, hoopProject, type HoopProject } from '../../support/hoop-project.ts';
import { commitRecord } from '../../support/commit-record.ts';
import { commitAll, git, type StepEnded } from '../../support/workflow.ts';
import { connection, useProjects } from '../project.ts';
import { useAction } from './use-action.ts';

const makeProject = useProjects();
const bench = useAction(makeProject);

beforeEach(() => void bench.github().cache.entries.splice(0));

const count = 40;
const names = Array.from({ length: count }, (_, index) => `connection-${String(index).padStart(4, '0')}`);
let runs = 1000;
const secret = { 'envvar:PASS': { value: 'canary-value' } };

type Job = StepEnded & { readonly requests: readonly string[]; readonly details: number };
type JobOptions = {
  readonly mode: string;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly pullRequest?: { readonly fork: boolean };
  readonly bundled?: boolean;
};

/** A repository with connections that have secrets, and jobs in fresh clones of it. */
async function repository(): Promise<{
  readonly project: HoopProject;
  readonly job: (options: JobOptions) => Promise<Job>;
  /** Applies in a job, and leaves a record of the commit alone: it proves no secrets, so that only the cache saves reads. */
  readonly apply: (inputs?: JobOptions['inputs']) => Promise<void>;
}> {
  const project = await hoopProject();
  project.write(Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { secret })])));
  commitAll(project.folder);
  const job = async ({ mode, inputs = {}, env = {}, pullRequest, bundled = false }: JobOptions): Promise<Job> => {
    rmSync(join(project.folder, '.ostiary'), { recursive: true, force: true });
    const before = project.model.log.requests.length;
    const commit = '0'.repeat(40);
    const payload =
      pullRequest === undefined
        ? {}
        : {
            pull_request: {
              number: 1,
              merged: false,
              head: { sha: commit, ref: 'topic', repo: { full_name: pullRequest.fork ? 'else/access' : 'octo/access' } },
              base: { sha: commit, ref: 'main', repo: { full_name: 'octo/access' } },
              user: { login: 'ada' },
            },
          };
    const step = {
      cwd: project.folder,
      event: pullRequest === undefined ? 'push' : 'pull_request',
      payload,
      inputs: { mode, comment: 'false', origin: 'false', ...inputs },
      env: { OSTIARY_TOKEN: adminToken, GITHUB_RUN_ID: String((runs += 1)), ...env },
    };
    const ended = await (bundled ? bench.bundled(step) : bench.step(step));
    const requests = project.model.log.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    return { ...ended, requests, details: requests.filter((one) => /^GET \/api\/connections\/./.test(one)).length };
  };
  const apply = async (inputs: JobOptions['inputs'] = {}): Promise<void> => {
    expect((await job({ mode: 'apply', inputs })).code).toBe(0);
    const record = commitRecord({ git: (...args) => git(project.folder, args) }, { commit: git(project.folder, 'rev-parse HEAD') });
    git(project.folder, `update-ref refs/ostiary/applied/prod ${record}`);
  };
  return { project, job, apply };
}

test('a plan in a second job reads no secret that the apply has written', async () => {
  const { job } = await repository();
  expect((await job({ mode: 'apply', bundled: true })).code).toBe(0);
  const planned = await job({ mode: 'plan', bundled: true });
  expect([planned.code, planned.outputs['changed'], planned.details]).toEqual([0, 'false', 0]);
  expect(planned.requests.length).toBeLessThanOrEqual(25);
  const [entry, ...more] = bench.github().cache.entries;
  expect(more).toEqual([]);
  const content = String(Object.values(JSON.parse(entry?.text ?? '{}')));
  for (const form of [content, Buffer.from(content, 'base64').toString('latin1')])
    for (const hidden of ['canary', btoa('canary-value'), adminToken, 'connection-', 'envvar']) expect(form).not.toContain(hidden);
});
