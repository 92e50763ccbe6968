import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { adminToken, hoopProject, type HoopProject } from '../../support/hoop-project.ts';
import { newRecordKey } from '../../../src/project/record/record-signature.ts';
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

test('the cache knows the last signed record, so that a job refuses an earlier one', async () => {
  const { job, project } = await repository();
  const { key, secret: OSTIARY_RECORD_KEY } = newRecordKey();
  const config = readFileSync(join(project.folder, 'ostiary.yaml'), 'utf8');
  project.write({ 'ostiary.yaml': `${config}record: { keys: ['${key}'] }\n` });
  commitAll(project.folder);
  const ref = 'refs/ostiary/applied/prod';
  expect((await job({ mode: 'apply', env: { OSTIARY_RECORD_KEY } })).code).toBe(0);
  const earlier = git(project.folder, `rev-parse ${ref}`);
  project.write({ 'access/more.yaml': connection('more') });
  commitAll(project.folder);
  const applied = await job({ mode: 'apply', env: { OSTIARY_RECORD_KEY } });
  expect(applied.code).toBe(0);
  expect(applied.stdout).toContain(`::add-mask::${OSTIARY_RECORD_KEY}`);
  git(project.folder, `update-ref ${ref} ${earlier}`);
  expect(await job({ mode: 'plan' })).toMatchObject({ code: 6, summary: expect.stringContaining('git/earlier-record') });
});

/** What another job may have left in the cache. */
const poisoned: readonly (readonly [string, (text: string) => string])[] = [
  ['half of it', (text) => text.slice(0, text.length / 2)],
  ['no JSON', () => 'PK\u0003\u0004'],
  ['a list', () => '[1]'],
  ['other content under its name', (text) => text.replace(/":"..../, '":"AAAA')],
  ['files of other names', (text) => JSON.stringify({ '../../ostiary.yaml': 'x', '/tmp/x': 'x', 'verified-x': text })],
];

/** Jobs that can use no cache. */
const without: readonly (readonly [string, Omit<JobOptions, 'mode'>])[] = [
  ['cache: false', { inputs: { cache: 'false' } }],
  ['another token', { env: { OSTIARY_TOKEN: '7d0c4a0e-5a3c-4f0e-9d0a-1c0f4ad5a3c4|org-canary-key' } }],
  ['no service', { env: { ACTIONS_RESULTS_URL: '' } }],
  ['a token that the service refuses', { env: { ACTIONS_RUNTIME_TOKEN: 'expired' } }],
  ['a service that is not there', { env: { ACTIONS_RESULTS_URL: 'http://127.0.0.1:9/' } }],
];

// security: cache
test('a cache that is poisoned, of another token or not there is a miss without a warning; an unchanged one is not saved again', async () => {
  const { job, project, apply } = await repository();
  await apply();
  const { entries } = bench.github().cache;
  const saved = entries[0]?.text ?? '';
  for (const [what, change] of poisoned) {
    entries.splice(1);
    Object.assign(entries[0] ?? {}, { text: change(saved) });
    const planned = await job({ mode: 'plan' });
    expect([what, planned.code, planned.outputs['changed'], planned.details]).toEqual([what, 0, 'false', count]);
    expect([what, (await job({ mode: 'plan' })).details]).toEqual([what, 0]);
  }
  const kept = entries.length;
  for (const [what, options] of without) {
    const planned = await job({ mode: 'plan', ...options });
    expect([what, planned.code, planned.details]).toEqual([what, 0, count]);
    expect(planned.stdout).not.toMatch(/^::(?:warning|error|notice)[^\n]*cache/m);
  }
  expect((await job({ mode: 'plan' })).details).toBe(0);
  expect(project.model.store.findConnection(names[0] ?? '')?.secret).toEqual({ 'envvar:PASS': btoa('canary-value') });
  expect(entries.length - kept).toBeLessThanOrEqual(1);

  bench
    .github()
    .intercept(({ path }) => (path.startsWith('/twirp/') ? { status: 500, body: { code: 'internal', msg: 'canary' } } : undefined));
  const failed = await job({ mode: 'plan' });
  expect([failed.code, failed.details]).toEqual([0, count]);
  expect(failed.stdout).toContain('::debug::the cache was not restored: GetCacheEntryDownloadURL: status 500');
});

// security: cache
test('a secret that changed on the gateway since is found', async () => {
  const { job, project, apply } = await repository();
  await apply();
  await project.send('PATCH', `/connections/${names[0]}`, { secret: { 'envvar:PASS': btoa('by hand') } });
  const drifted = await job({ mode: 'drift', inputs: { issue: 'false' } });
  expect([drifted.outputs['outcome'], drifted.details]).toEqual(['drifted', 1]);
});
