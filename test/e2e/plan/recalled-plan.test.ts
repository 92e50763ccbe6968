import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { array, assert, asyncProperty, boolean, constantFrom, nat, record } from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../../src/commands/program.ts';
import { answersFor, manifestOf } from '../../bench/fixture.js';
import { isObject } from '../../../src/model/json.ts';
import { createTestContext } from '../../support/cli-context.ts';
import { type FlakyServer, startFlakyServer } from '../../support/flaky-server.ts';
import { hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, useRepositories, type TestRepository } from '../../support/repository.ts';
import { config } from '../project.ts';

const count = 520;
const recalled = 'production: manifests and gateway are the same as at the last plan, which had no changes.\n';
const { make, place } = useRepositories();

/** The gateway: what it answers, as the test wants it. */
const now = { answers: new Map<string, string>(), queues: new Map<string, string[]>(), server: '' };
let gateway: FlakyServer;
let project: TestRepository;

const env: Record<string, string> = {};
const usualEnv = { ...gitEnv, OSTIARY_TOKEN: 'a-token', OSTIARY_SECRET_USER: 'app' };

/** The manifests in five files; the first one has a secret from a variable. */
const texts = Array.from({ length: 5 }, (_, part) =>
  Array.from({ length: count / 5 }, (__, index) => manifestOf(part * (count / 5) + index)).join('---\n'),
).map((text, part) => (part === 0 ? text.replace('USER: { value: app }', 'USER: { valueFrom: { env: OSTIARY_SECRET_USER } }') : text));

beforeAll(async () => {
  gateway = await startFlakyServer((response, { path }) => {
    const body = now.queues.get(path)?.shift() ?? now.answers.get(path);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json', server: now.server });
    response.end(body ?? '{"message":"not found"}');
  });
});
afterAll(() => gateway.close());

function manifestFiles(): Record<string, string> {
  return Object.fromEntries(texts.map((text, part) => [`access/${part}.yaml`, text]));
}

beforeEach(() => {
  now.answers = new Map(Object.entries(answersFor(count)));
  now.queues = new Map();
  now.server = 'ostiary/bench';
  for (const name of Object.keys(env)) delete env[name];
  Object.assign(env, usualEnv);
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string; readonly isRecalled: boolean };

async function plan(line: readonly string[] = [], day = '2026-11-24'): Promise<Ran> {
  const { context, printed } = createTestContext({ cwd: project.folder, env: { ...env }, now: () => new Date(`${day}T12:00:00Z`) });
  const code = await run(['plan', ...line], context);
  const { stdout, stderr } = printed();
  return { code, stdout, stderr: stderr.replace(recalled, ''), isRecalled: stderr.includes(recalled) };
}

/** Plans as a user does, and once more with an empty cache: both must print the same. */
async function planTwice(line: readonly string[] = [], day?: string): Promise<Ran> {
  const usual = await plan(line, day);
  const empty = place();
  const { isRecalled, ...fresh } = await plan([...line, '--cache', empty], day);
  rmSync(empty, { recursive: true, force: true });
  expect(isRecalled).toBe(false);
  expect({ code: usual.code, stdout: usual.stdout, stderr: usual.stderr }).toEqual(fresh);
  return usual;
}

const cache = (): string => join(project.folder, '.ostiary');

/** The path of the one recorded plan. */
function recordPath(): string {
  const [name = ''] = readdirSync(cache()).filter((one) => one.startsWith('unchanged-'));
  return join(cache(), name);
}

/** Edits one answer of the gateway. */
function answer(path: string, edit: (text: string) => string): void {
  now.answers.set(path, edit(now.answers.get(path) ?? ''));
}

describe('a plan without changes', () => {
  let start = '';
  /** A copy of the cache with the record of a plan. */
  let recordedCache = '';
  beforeAll(() => {
    project = make({ ...manifestFiles(), 'ostiary.yaml': config(gateway.url) });
    start = project.git('rev-parse', 'HEAD').trim();
  });
  beforeEach(async () => {
    project.git('reset', '--hard', '--quiet', start);
    project.git('clean', '-fdqx');
    // Until an apply is recorded, each plan has a notice about that, which is reason enough to plan in full.
    project.git('update-ref', 'refs/ostiary/applied/production', 'HEAD');
    if (recordedCache === '') {
      const [first, second] = [await plan(), await plan()];
      if (first.isRecalled || !first.stdout.includes('No changes.') || !second.isRecalled)
        throw new Error(`${first.stdout}${second.stderr}`);
      recordedCache = place();
      cpSync(cache(), recordedCache, { recursive: true });
    }
    cpSync(recordedCache, cache(), { recursive: true });
  });

  test('is recalled in every format, and sends the same reads', async () => {
    for (const line of [
      ['--format', 'json'],
      ['--format', 'markdown'],
      ['--report', 'markdown=plan.md'],
      ['--full'],
      ['--detailed-exitcode'],
    ]) {
      expect([line, (await plan(line)).isRecalled]).toEqual([line, false]);
      const from = gateway.seen.length;
      const { isRecalled } = await plan(line);
      const reads = gateway.seen.slice(from).map(({ method, path }) => `${method} ${path}`);
      expect([line, isRecalled]).toEqual([line, true]);
      expect(reads.toSorted()).toEqual(
        ['agents', 'connections', 'datamasking-rules', 'guardrails', 'runbooks/configurations', 'serverinfo', 'users/groups'].map(
          (path) => `GET /${path}`,
        ),
      );
      await planTwice(line);
    }
  });

  test.each<readonly [string, () => void]>([
    ['a field of a manifest', () => project.write({ 'access/3.yaml': texts[3]?.replace('dba-team', 'dba-teams') ?? '' })],
    ['a comment', () => project.write({ 'access/3.yaml': `${texts[3]}# why\n` })],
    ['a new manifest', () => project.write({ 'access/new.yaml': manifestOf(count) })],
    ['a manifest that is gone', () => project.remove('access/4.yaml')],
    ['a manifest in another file', () => (project.remove('access/4.yaml'), project.write({ 'access/5.yaml': texts[4] ?? '' }))],
    [
      'defaults',
      () => project.write({ 'access/defaults.yaml': 'apiVersion: ostiary/v1\nkind: Defaults\nspec: { Connection: { tags: [x] } }\n' }),
    ],
    ['an invalid manifest', () => project.write({ 'access/3.yaml': `${texts[3]}---\nkind: Connexion\n` })],
    ['the config', () => project.write({ 'ostiary.yaml': config(gateway.url).replace(' }', ', unmanaged: report }') })],
    ['the value of a secret', () => Object.assign(env, { OSTIARY_SECRET_USER: 'root' })],
    ['a secret without a value', () => delete env['OSTIARY_SECRET_USER']],
    ['the token', () => Object.assign(env, { OSTIARY_TOKEN: 'another-token' })],
    ['a live field', () => answer('/connections', (text) => text.replace('"access_schema":"enabled"', '"access_schema":"disabled"'))],
    [
      'a live secret',
      () => answer('/connections', (text) => text.replace(Buffer.from('app').toString('base64'), Buffer.from('apq').toString('base64'))),
    ],
    [
      'an attachment',
      () =>
        answer('/connections', (text) =>
          text.replace('"guardrail_rules":[]', '"guardrail_rules":["00000000-0000-4000-8000-0000000000aa"]'),
        ),
    ],
    ['an unmanaged object', () => answer('/guardrails', () => '[{"id":"00000000-0000-4000-8000-0000000000aa","name":"theirs"}]')],
    ['a lock of another manager', () => answer('/connections', (text) => text.replace('"managed_by":""', '"managed_by":"terraform"'))],
    ['an agent', () => answer('/agents', (text) => text.replace('prod-agent', 'other-agent'))],
    ['the role of the token', () => answer('/serverinfo', (text) => text.replace('admin', 'auditor'))],
    ['the version of the gateway', () => answer('/serverinfo', (text) => text.replace('bench', 'bench2'))],
    ['the server', () => (now.server = 'hoop')],
    ['a list that the gateway no longer has', () => now.answers.delete('/agents')],
    ['a list that is not complete', () => answer('/guardrails', () => '{"data":[],"pages":{"total":3,"page":1,"size":100}}')],
    [
      'another commit as the last applied one',
      () => project.git('update-ref', 'refs/ostiary/applied/production', project.save({ 'access/0.yaml': texts[1] ?? '' })),
    ],
  ])('is not recalled after a change of %s', async (_, change) => {
    change();
    expect((await planTwice()).isRecalled).toBe(false);
  });

  test.each([
    [['--only', 'Connection/db-1']],
    [['--exclude', 'Connection/db-1']],
    [['--max-risk', 'neutral']],
    [['--secrets', 'unresolved']],
    [['access/0.yaml']],
    [['--allow', 'plan/too-many-updates=because']],
    [['--base', 'none']],
    [['--own', 'HEAD']],
    [['--config-ref', 'HEAD']],
    [['--keep-going']],
    [['--prune']],
    [['--report', 'html=page.html']],
  ])('is not recalled for another command line: %j', async (line) => {
    expect((await planTwice(line)).isRecalled).toBe(false);
  });

  test('is not recalled on another day, on which waivers may end', async () => {
    expect((await plan()).isRecalled).toBe(true);
    expect((await planTwice([], '2026-11-25')).isRecalled).toBe(false);
  });

  test('is not recalled from a record that was changed, cut, moved from another project or made with another token', async () => {
    const path = recordPath();
    const recorded = readFileSync(path, 'utf8');
    const places = Array.from({ length: Math.floor(recorded.length / 97) }, (_, index) => index * 97);
    const changed = places.map((at) => `${recorded.slice(0, at)}${recorded[at] === 'A' ? 'B' : 'A'}${recorded.slice(at + 1)}`);
    expect(changed.length).toBeGreaterThan(5);
    const { stdout } = await plan(['--cache', place()]);
    for (const text of [...changed, '', 'x', '{}', recorded.slice(0, 100), `A${recorded}`]) {
      writeFileSync(path, text);
      expect(await plan()).toEqual({ code: 0, stdout, stderr: '', isRecalled: false });
    }
    const home = project;
    project = make({ ...manifestFiles(), 'ostiary.yaml': config(gateway.url) });
    project.git('update-ref', 'refs/ostiary/applied/production', 'HEAD');
    cpSync(join(home.folder, '.ostiary'), cache(), { recursive: true });
    expect((await planTwice()).isRecalled).toBe(false);
    project = home;
  });

  test('prints what a full plan prints, whatever is edited in files and on the gateway', { timeout: 300_000 }, async () => {
    const fields = ['access_schema: enabled', 'dba-team', 'EMAIL_ADDRESS', 'env: prod', 'postgres', 'enabled', '"5432"', 'db-', '3600'];
    const edit = record({
      live: boolean(),
      what: constantFrom(...fields),
      nth: nat(40),
      by: constantFrom('', 'x', 'disabled', '7200'),
    });
    const outcomes: boolean[] = [];
    await assert(
      asyncProperty(array(edit, { maxLength: 2 }), async (edits) => {
        project.write(manifestFiles());
        now.answers = new Map(Object.entries(answersFor(count)));
        for (const { live, what, nth, by } of edits) {
          const replace = (text: string): string => {
            let seen = 0;
            return text.replaceAll(live ? what.replaceAll(/^.*: |"/g, '') : what, (found) => ((seen += 1) === nth ? by : found));
          };
          if (live) answer('/connections', replace);
          else project.write({ 'access/2.yaml': replace(texts[2] ?? '') });
        }
        outcomes.push((await planTwice()).isRecalled);
      }),
      { numRuns: 15 },
    );
    expect(new Set(outcomes)).toEqual(new Set([true, false]));
  });
});

test('a plan that reports anything, or is small, is not recorded', async () => {
  project = make({ ...manifestFiles(), 'ostiary.yaml': config(gateway.url) });
  expect((await plan()).stderr).toContain('no commit is recorded');
  answer('/connections', (text) => text.replace('"access_schema":"enabled"', '"access_schema":"disabled"'));
  expect((await plan(['--base', 'none'])).stdout).toContain('1 to update');
  expect(existsSync(cache())).toBe(false);
  project.write({ 'ostiary.yaml': config(gateway.url).replace('access/', 'access/0.yaml') });
  now.answers = new Map(Object.entries(answersFor(count)));
  project.save({});
  project.git('update-ref', 'refs/ostiary/applied/production', 'HEAD');
  expect((await plan()).stdout).toContain('104 resources in sync');
  expect(existsSync(cache())).toBe(false);
});

/** The config with a folder of overlays that changes nothing. */
const layered = (): string => config(gateway.url).replace(' }\n', ', overlays: [empty] }\n');

test('a plan whose base has the same files, but other overlays, depends on HEAD and is not recorded', async () => {
  project = make({ ...manifestFiles(), 'empty/README.txt': '', 'ostiary.yaml': config(gateway.url) });
  const first = project.git('rev-parse', 'HEAD').trim();
  project.git('update-ref', 'refs/ostiary/applied/production', project.save({ 'ostiary.yaml': layered() }));
  project.save({ 'ostiary.yaml': config(gateway.url) });
  for (let round = 0; round < 2; round += 1) expect(await plan()).toMatchObject({ code: 0, isRecalled: false });
  project.git('checkout', '--quiet', first);
  expect(await planTwice()).toMatchObject({ code: 6, stdout: expect.stringContaining('git/older-commit') });
});

test('a plan before the first commit is not recorded: after it, the plan has a notice', async () => {
  project = make();
  project.write({ ...manifestFiles(), 'ostiary.yaml': config(gateway.url) });
  for (let round = 0; round < 2; round += 1) expect(await plan()).toMatchObject({ code: 0, isRecalled: false });
  project.commit();
  expect((await planTwice()).stderr).toContain('git/no-base');
});

/** A page of a list. */
function page(number: number, of: readonly unknown[], total = count): string {
  return JSON.stringify({ data: of.slice((number - 1) * 100, number * 100), pages: { page: number, size: 100, total } });
}

test('a list that was read twice counts with the order of its answers', async () => {
  project = make({ ...manifestFiles(), 'ostiary.yaml': config(gateway.url) });
  project.git('update-ref', 'refs/ostiary/applied/production', 'HEAD');
  const rows: readonly unknown[] = JSON.parse(now.answers.get('/connections') ?? '[]');
  const drifted = [{ ...(isObject(rows[0]) ? rows[0] : {}), access_schema: 'disabled' }, ...rows.slice(1)];
  /** Reads end with the second states of the first page; the second page is whole only then. */
  const answerInTurn = (states: readonly (readonly unknown[])[]): void => {
    for (const number of [1, 2, 3, 4, 5, 6]) {
      const queue = states.map((state, attempt) =>
        page(number, number === 1 ? state : rows, number === 2 && attempt === 0 ? count + 1 : count),
      );
      now.queues.set(`/connections?page=${number}&page_size=100`, queue);
    }
    now.queues.set('/connections', [page(1, states[0] ?? []), page(1, states[1] ?? [])]);
  };
  answerInTurn([drifted, rows]);
  expect(await plan()).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });
  answerInTurn([drifted, rows]);
  expect(await plan()).toMatchObject({ isRecalled: true });
  answerInTurn([rows, drifted]);
  expect(await plan()).toMatchObject({ isRecalled: false, stdout: expect.stringContaining('1 held') });
});

test('a record that cannot be written is a warning only if the user named its folder', async () => {
  project = make({ ...manifestFiles(), 'ostiary.yaml': config(gateway.url), '.ostiary': 'a file' });
  project.git('update-ref', 'refs/ostiary/applied/production', 'HEAD');
  expect(await plan()).toMatchObject({ code: 0, stderr: '' });
  expect(await plan(['--cache', '.ostiary'])).toMatchObject({ code: 0, stderr: expect.stringContaining('the cache cannot be written to') });
});

test('a plan with secrets from files, which may change while it is made, is not recorded', async () => {
  const fromFile = (texts[0] ?? '').replace('env: OSTIARY_SECRET_USER', 'file: user.txt');
  project = make({ ...manifestFiles(), 'access/0.yaml': fromFile, 'user.txt': 'app', 'ostiary.yaml': config(gateway.url) });
  project.git('update-ref', 'refs/ostiary/applied/production', 'HEAD');
  for (let round = 0; round < 2; round += 1)
    expect(await plan()).toMatchObject({ stdout: expect.stringContaining('No changes.'), stderr: '', isRecalled: false });
  expect(existsSync(cache())).toBe(false);
});

test('a public gateway, which lists groups in any order, is always compared in full', async () => {
  const hoop = await hoopProject();
  const all = texts
    .join('---\n')
    .replaceAll('prod-agent', 'default')
    .replaceAll(/\n {4}envvar:PASS.*/g, '');
  hoop.write({ 'access/all.yaml': all.replace('valueFrom: { env: OSTIARY_SECRET_USER }', 'value: app') });
  expect(await hoop.ostiary(['apply', '--yes', '--quiet'])).toMatchObject({ code: 0 });
  for (let round = 0; round < 3; round += 1)
    expect(await hoop.ostiary(['plan'])).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });
  const { body: found } = await hoop.send('GET', '/connections/db-7');
  if (!isObject(found)) throw new Error('db-7 is not there');
  const secret = { ...(isObject(found['secret']) ? found['secret'] : {}), 'envvar:USER': Buffer.from('root').toString('base64') };
  expect((await hoop.send('PUT', '/connections/db-7', { ...found, secret })).status).toBe(200);
  expect(await hoop.ostiary(['plan'])).toMatchObject({ stdout: expect.stringContaining('1 to update') });
});
