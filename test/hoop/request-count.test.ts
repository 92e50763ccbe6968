import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connection, guardrail } from '../e2e/project.ts';
import { hoopProject, type CommandResult, type HoopProject, userToken } from '../support/hoop-project.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { encodedText } from '../../src/model/secret.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';

const count = 120;
const names: readonly string[] = Array.from({ length: count }, (_, index) => `connection-${String(index).padStart(4, '0')}`);

const secret = { 'envvar:PASS': { value: 'canary-value' }, 'envvar:HOST': { value: '10.0.0.5' } };

const fromVariable = {
  'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } },
  'envvar:HOST': { valueFrom: { env: 'OSTIARY_SECRET_HOST' } },
};
const variables = { OSTIARY_SECRET_PASS: 'canary-value', OSTIARY_SECRET_HOST: '10.0.0.5' };

function detailReads({ requests }: CommandResult): readonly string[] {
  return requests.filter((request) => request.startsWith('GET /api/connections/'));
}

/** Expects a plan without changes in at most 30 requests, none of them for one connection. */
async function expectFewRequests(plan: Promise<CommandResult>): Promise<void> {
  const ended = await plan;
  expect([ended.code, ended.stderr, detailReads(ended)]).toEqual([0, '', []]);
  expect(ended.requests.length).toBeLessThanOrEqual(30);
}

const unchanged = ['plan', '--detailed-exitcode', '--quiet'] as const;

/** Runs a plan in a copy of the project that has nothing but its files and the cache, as a second job has. */
function planElsewhere(project: HoopProject): Promise<CommandResult> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-second-job-'));
  cpSync(project.folder, folder, { recursive: true });
  return project.runIn(folder, unchanged);
}

test('plans of many connections after an apply make at most 30 requests, none per object', async () => {
  const project = await hoopProject();
  project.write(Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { secret, reviewers: ['dba'] })])));
  project.write({ 'access/no-drop.yaml': guardrail('no-drop', ['DROP'], { connection_ids: names.slice(0, 60) }) });
  project.write({ 'access/no-truncate.yaml': guardrail('no-truncate', ['TRUNCATE']) });
  const applied = await project.ostiary(['apply', '--yes', '--quiet']);
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  expect(applied.requests.length).toBeLessThanOrEqual(count + 50);
  await expectFewRequests(project.ostiary(unchanged));
  await expectFewRequests(planElsewhere(project));
  const selected = ['plan', '--only', 'Connection/connection-0007'] as const;
  const part = await project.ostiary(selected);
  expect([part.code, part.stdout]).toEqual([0, expect.stringMatching(/in sync\. Not compared: 119 other connections, and access/)]);
  expect(part.requests.length).toBeLessThanOrEqual(11);
  // What changes is judged by what decides this change alone: a review depends on who can use the connection, a tag on nothing.
  for (const [spec, most] of [
    [{ reviewers: ['sre'] }, 14],
    [{ reviewers: ['dba'], connection_tags: { env: 'prod' } }, 12],
    [{ reviewers: ['dba'], guardrail_rules: ['no-drop', 'no-truncate'] }, 12],
  ] as const) {
    project.write({ 'access/connection-0007.yaml': connection('connection-0007', { secret, ...spec }) });
    const judged = await project.ostiary(selected);
    expect([judged.stdout, judged.requests.length, new Set(judged.requests).size]).toEqual([
      expect.stringContaining('Not compared: 119 other connections'),
      most,
      most,
    ]);
  }
  // Where it leads elsewhere, what the others do matters; nothing is read twice.
  project.write({
    'access/connection-0007.yaml': connection('connection-0007', { secret: { ...secret, 'envvar:HOST': { value: '10.0.0.6' } } }),
  });
  const moved = await project.ostiary(selected);
  expect([moved.stdout, moved.requests.toSorted()]).toEqual([
    expect.not.stringContaining('Not compared'),
    [...new Set(moved.requests)].toSorted(),
  ]);
  expect(moved.requests).toContain('GET /api/resources?page=2&page_size=100');
  project.write({ 'access/connection-0007.yaml': connection('connection-0007', { secret, reviewers: ['dba'] }) });
  const rotated = { ...secret, 'envvar:PASS': { value: 'canary-rotated' } };
  project.write(Object.fromEntries(names.slice(0, 9).map((name) => [`access/${name}.yaml`, connection(name, { secret: rotated })])));
  const second = await project.ostiary(['apply', '--yes', '--quiet', '--allow', 'plan/too-many-weaker=test']);
  expect([second.code, second.stderr]).toEqual([0, '']);
  await expectFewRequests(project.ostiary(unchanged));
});

function led(host: string): JsonObject {
  return { 'envvar:USER': { value: 'app' }, 'envvar:HOST': { value: host } };
}

test('the page of a selection shows all that decides access to its connections, whatever changes', async () => {
  const project = await hoopProject({ rulepacks: 'default' });
  project.write(Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name)])));
  expect(await project.ostiary(['apply', '--yes', '--quiet'])).toMatchObject({ code: 0 });
  const [pack] = project.model.store.rulepacks.keys();
  const { status } = await project.send('POST', `/rulepacks/${pack}/apply`, { connection_names: ['connection-0007'] });
  project.write({ 'access/connection-0007.yaml': connection('connection-0007', { connection_tags: { env: 'prod' } }) });
  const planned = await project.ostiary(['plan', '--only', 'Connection/connection-0007', '--report', 'html=page.html']);
  expect([status, planned.code, planned.stdout]).toEqual([204, 0, expect.stringContaining('Not compared: 119 other connections')]);
  expect(readFileSync(join(project.folder, 'page.html'), 'utf8')).toMatch(/<th[^>]*>rulepacks</);
});

test.each([[{}], [{ secret: { 'envvar:USER': { keep: true }, 'envvar:HOST': { keep: true } } }]])(
  'where a connection is led elsewhere, those that no manifest leads anywhere are read: %j',
  async (kept) => {
    const project = await hoopProject();
    project.write({ 'access/sandbox.yaml': connection('sandbox', { secret: led('10.0.0.5') }) });
    expect(await project.ostiary(['apply', '--yes', '--quiet'])).toMatchObject({ code: 0 });
    const there = { 'envvar:USER': encodedText('app'), 'envvar:HOST': encodedText('10.0.0.6') };
    const guarded = { ...(await detailOf(project, 'sandbox')), name: 'guarded', reviewers: ['dba'], secret: there };
    expect((await project.send('POST', '/connections', guarded)).status).toBe(201);
    if ('secret' in kept) project.write({ 'access/guarded.yaml': connection('guarded', { reviewers: ['dba'], ...kept }) });
    await project.ostiary(unchanged);
    await expectFewRequests(project.ostiary(unchanged));
    project.write({ 'access/sandbox.yaml': connection('sandbox', { secret: led('10.0.0.6') }) });
    const moved = await project.ostiary(['plan', '--no-new-access']);
    expect([moved.code, moved.stdout, detailReads(moved).length]).toEqual([
      6,
      expect.stringContaining('can reach what guarded leads to, without approval, through sandbox'),
      2,
    ]);
  },
);

const { create } = useHoopRepositories();

test('after a recorded apply, a job without a cache makes at most 30 requests, and reads what changed since', async () => {
  const project = await hoopProject();
  const files = names.map((name) => [`access/${name}.yaml`, connection(name, { secret: fromVariable })] as const);
  const { repository, run, commit } = create(project, Object.fromEntries(files));
  const cache = join(repository.folder, '.ostiary');
  /** Runs a command line as a new job does: in a checkout, with nothing of earlier jobs. */
  const inNewJob = async (line: string, secrets = variables, token?: string): Promise<CommandResult> => {
    rmSync(cache, { recursive: true, force: true });
    return run(line, token, secrets);
  };
  expect(await inNewJob('apply --yes --quiet')).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(cache)).toBe(true);
  await expectFewRequests(inNewJob('plan --detailed-exitcode --quiet'));
  await expectFewRequests(inNewJob('drift --quiet'));
  // Without the values of secrets there is nothing to compare.
  repository.git('update-ref', 'refs/kept', 'refs/ostiary/applied/production');
  repository.git('update-ref', '-d', 'refs/ostiary/applied/production');
  const unresolved = await inNewJob('plan --quiet --secrets unresolved');
  expect([unresolved.code, detailReads(unresolved)]).toEqual([0, []]);
  const first = await inNewJob('plan');
  expect([first.code, detailReads(first).length, first.stderr]).toEqual([
    0,
    count,
    expect.stringContaining(`reading ${count} objects one`),
  ]);
  repository.git('update-ref', 'refs/ostiary/applied/production', 'refs/kept');
  // A job that changes nothing records the same.
  expect(await inNewJob('apply --yes --quiet')).toMatchObject({ code: 0, stderr: '' });
  await expectFewRequests(inNewJob('plan --detailed-exitcode --quiet'));
  // Only one of the connections has other secrets now.
  await project.send('PUT', '/connections/connection-0007', {
    ...(await detailOf(project, 'connection-0007')),
    secret: { 'envvar:PASS': Buffer.from('outside').toString('base64'), 'envvar:HOST': Buffer.from('10.0.0.5').toString('base64') },
  });
  const drifted = await inNewJob('drift');
  expect([drifted.code, detailReads(drifted).length, drifted.stdout]).toEqual([2, 1, expect.stringContaining('connection-0007')]);
  expect(await inNewJob('apply --yes --quiet')).toMatchObject({ code: 0, stderr: '' });
  commit({
    'access/connection-0003.yaml': connection('connection-0003', { secret: { ...fromVariable, 'envvar:HOST': { value: '10.0.0.6' } } }),
  });
  const changed = await inNewJob('plan --detailed-exitcode');
  expect([changed.code, detailReads(changed).length]).toEqual([2, 1]);
  // A secret that was rotated at its source has another hash everywhere; a change of so many connections is refused.
  const rotated = await inNewJob('plan --detailed-exitcode', { ...variables, OSTIARY_SECRET_PASS: 'canary-rotated' });
  expect([rotated.code, detailReads(rotated).length]).toEqual([6, count]);
});

function limited(name: string, spec: object = {}): string {
  return connection(name, { access_max_duration: 3600, reviewers: ['dba'], ...spec });
}

test('a pull request reads the rows of what it changes; apply takes its digest unless it would write what that did not show', async () => {
  const project = await hoopProject();
  const { run, commit } = create(project, Object.fromEntries(names.map((name) => [`access/${name}.yaml`, limited(name)])));
  expect(await run('apply --yes --quiet')).toMatchObject({ code: 0, stderr: '' });
  commit({ 'access/connection-0005.yaml': limited('connection-0005', { reviewers: ['dba', 'sre'] }) });
  const propose = async (shown: string): Promise<string> => {
    const { code, stdout, requests } = await run('plan --own HEAD~1 --detailed-exitcode');
    expect([code, stdout]).toEqual([2, expect.stringContaining(shown)]);
    expect([requests.length <= 25, new Set(requests).size, requests.filter((path) => path.includes('/resources?page'))]).toEqual([
      true,
      requests.length,
      [],
    ]);
    return /Digest ([0-9a-f]{64})/.exec(stdout)?.[1] ?? '';
  };
  const change = async (name: string, fields: object): Promise<void> => {
    const body = { ...(await detailOf(project, name)), ...fields };
    expect((await project.send('PUT', `/connections/${name}`, body)).status).toBe(200);
  };
  const unread = 'Not compared: approvals, limits and secrets of';
  const digest = await propose(`${unread} 119 connections that it leaves as applied.`);
  // A plan of everything names drift of rows that is held, and writes nothing more.
  await change('connection-0007', { access_max_duration: 600 });
  expect(await propose(`${unread} 119 `)).toBe(digest);
  const whole = await run('plan --detailed-exitcode');
  expect([whole.stdout, whole.stdout]).toEqual([expect.stringContaining('connection-0007'), expect.not.stringContaining(digest)]);
  // Drift that apply would revert is a write that the pull request did not show.
  await change('connection-0009', { access_max_duration: 7200 });
  expect(await propose(`${unread} 119 `)).toBe(digest);
  const other = await run(`apply --yes --digest ${digest}`);
  expect([other.code, other.stdout + other.stderr]).toEqual([6, expect.stringContaining('plan/other-digest')]);
  await change('connection-0009', { access_max_duration: 3600 });
  const applied = await run(`apply --yes --digest ${digest}`);
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining(digest)]);
  expect(await detailOf(project, 'connection-0007')).toMatchObject({ access_max_duration: 600 });
});

test('a plan of a selection states who changed a secret as a plan of everything does', async () => {
  const project = await hoopProject();
  const files = Object.fromEntries(
    ['one', 'two'].map((name) => [`access/${name}.yaml`, connection(`conn-${name}`, { resource_name: 'a\\%b\\', secret: fromVariable })]),
  );
  const { run } = create(project, files);
  expect(await run('apply --yes --quiet', undefined, variables)).toMatchObject({ code: 0 });
  const changesOf = async (line: string): Promise<readonly unknown[]> => {
    const { stdout } = await run(`${line} --base HEAD --format json`, undefined, { ...variables, OSTIARY_SECRET_PASS: 'canary-rotated' });
    const changes: readonly { readonly id: string }[] = JSON.parse(stdout).plans[0].changes;
    return changes.filter(({ id }) => id === 'Connection/conn-one');
  };
  const narrow = await changesOf('plan --only Connection/conn-one');
  expect(narrow).toMatchObject([{ fields: [{ origin: 'intent', cause: 'source' }] }]);
  expect(narrow).toEqual(await changesOf('plan'));
});

// security: push
test('a record proves nothing to another token, and nothing of another object or version', async () => {
  const project = await hoopProject();
  const { repository, run } = create(project, {
    'access/first.yaml': connection('first-db', { secret }),
    'access/second.yaml': connection('second-db', { secret }),
  });
  const applied = await run('apply --yes --quiet');
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  const plan = async (token?: string): Promise<readonly string[]> => {
    rmSync(join(repository.folder, '.ostiary'), { recursive: true, force: true });
    const ended = await run('plan --quiet', token);
    expect(ended.code).toBe(0);
    return detailReads(ended);
  };
  expect(await plan()).toEqual([]);
  expect(await plan(userToken)).toHaveLength(2);
  const [, verified = ''] =
    /"verified":"([^"]+)"/.exec(repository.git('log', '-1', '--format=%B', 'refs/ostiary/applied/production')) ?? [];
  expect(verified).toHaveLength(40);
  const swapped = `${verified.slice(0, 8)}${verified.slice(28)}${verified.slice(20, 28)}${verified.slice(8, 20)}`;
  const message = repository.git('log', '-1', '--format=%B', 'refs/ostiary/applied/production').replace(verified, swapped);
  const parents = repository.git('log', '-1', '--format=%P', 'refs/ostiary/applied/production').trim().split(' ');
  const tree = repository.git('log', '-1', '--format=%T', 'refs/ostiary/applied/production').trim();
  const forged = repository.git('commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', message.trim()).trim();
  repository.git('update-ref', 'refs/ostiary/applied/production', forged);
  expect(await plan()).toHaveLength(2);
});

async function detailOf({ send }: HoopProject, name: string): Promise<object> {
  const { body } = await send('GET', `/connections/${name}`);
  return typeof body === 'object' && body !== null ? body : {};
}
