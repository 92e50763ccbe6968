import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { adminToken, hoopProject, organisationKey, type CommandResult, type HoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync } from './expectations.ts';

const secret = { 'envvar:PASS': { value: 'canary-value' }, 'envvar:KEY': { keep: true } };

async function prepared(): Promise<HoopProject> {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { secret: { ...secret, 'envvar:KEY': { value: 'kept' } } }) });
  await applyAndExpectInSync(project);
  project.write({ 'access/a.yaml': connection('orders-db', { secret }) });
  await project.ostiary(['plan']);
  return project;
}

/** How often single connections were read. */
function reads({ requests }: CommandResult): number {
  return requests.filter((request) => /\/connections\/./.test(request)).length;
}

function cacheFile(folder: string): string {
  return join(folder, readdirSync(folder).find((name) => name.startsWith('verified-')) ?? 'none');
}

// security: cache
test('a verified secret is not read again, and the cache contains no value, no name and not the token', async () => {
  const project = await prepared();
  const again = await project.ostiary(['plan', '--detailed-exitcode']);
  expect([again.code, reads(again)]).toEqual([0, 0]);
  const text = readFileSync(cacheFile(join(project.folder, '.ostiary')), 'utf8');
  const open = [text, Buffer.from(text, 'base64').toString('latin1')].join('\n');
  for (const value of ['canary', btoa('canary-value'), adminToken, 'orders-db', 'envvar']) expect(open).not.toContain(value);
  expect(readFileSync(join(project.folder, '.ostiary', '.gitignore'), 'utf8')).toBe('*\n');
});

test('the plan is the same, byte for byte, whether secrets were read or cached', async () => {
  const project = await prepared();
  project.write({ 'access/a.yaml': connection('orders-db', { secret, reviewers: ['dba'] }) });
  const known = await project.ostiary(['plan', '--format', 'json']);
  const read = await project.ostiary(['plan', '--format', 'json', '--cache', 'elsewhere']);
  expect([reads(known), reads(read)]).toEqual([0, 1]);
  expect(read.stdout).toBe(known.stdout);
});

test('a change outside Ostiary moves the version, and is found', async () => {
  const project = await prepared();
  const row = project.model.store.findConnection('orders-db');
  await project.send('PATCH', '/connections/orders-db', { secret: { ...row?.secret, 'envvar:PASS': btoa('by hand') } });
  const { code, stdout } = await project.ostiary(['plan', '--detailed-exitcode']);
  expect([code, stdout]).toEqual([2, expect.stringContaining('secret envvar:PASS')]);
});

test.each([
  ['another token', async (project: HoopProject): Promise<CommandResult> => project.ostiary(['plan'], { OSTIARY_TOKEN: organisationKey })],
  [
    'another organisation',
    async (project: HoopProject): Promise<CommandResult> => {
      Object.assign(project.model.organisation, { id: '9f0c7b1e-0000-4000-8000-000000000000' });
      return project.ostiary(['plan']);
    },
  ],
  [
    'another wish',
    async (project: HoopProject): Promise<CommandResult> => {
      project.write({ 'access/a.yaml': connection('orders-db', { secret: { ...secret, 'envvar:PASS': { value: 'another' } } }) });
      return project.ostiary(['plan']);
    },
  ],
  ['a lost cache', async (project: HoopProject): Promise<CommandResult> => project.ostiary(['plan', '--cache', 'lost'])],
])('%s is a miss', async (_, plan) => {
  const project = await prepared();
  const ended = await plan(project);
  expect([ended.code, reads(ended)]).toEqual([0, 1]);
});

/** Ways in which the file of the cache is not what Ostiary wrote there. */
const spoiled: readonly (readonly [string, (file: string) => void])[] = [
  // security: cache
  [
    'one changed byte',
    (file) =>
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
      ),
  ],
  [
    'one changed byte of the end',
    (file) =>
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace(/.(?==*$)/, (last) => (last === 'A' ? 'Q' : 'A')),
      ),
  ],
  ['half of the file', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
  ['an empty file', (file) => truncateSync(file)],
  ['JSON', (file) => writeFileSync(file, '{"a": ')],
  ['a file without an end', (file) => truncateSync(file, 65 * 1024 * 1024)],
  ['a link', replaceBy((file, moved) => symlinkSync(moved, file))],
  ['a link to nothing', replaceBy((file) => symlinkSync(`${file}-none`, file))],
  ['a folder', replaceBy((file) => mkdirSync(file))],
  ['a pipe', replaceBy((file) => execFileSync('mkfifo', [file]))],
];

/** Moves the file away, and puts something else in its place. */
function replaceBy(put: (file: string, moved: string) => void): (file: string) => void {
  return (file) => {
    const moved = file.replace('verified-', 'moved-');
    renameSync(file, moved);
    put(file, moved);
  };
}

test.each(spoiled)('%s in place of the cache is a miss', async (_, spoil) => {
  const project = await prepared();
  spoil(cacheFile(join(project.folder, '.ostiary')));
  const ended = await project.ostiary(['plan', '--detailed-exitcode']);
  expect([ended.code, reads(ended)]).toEqual([0, 1]);
});

test('the cache of another gateway is a miss', async () => {
  const [project, other] = [await prepared(), await prepared()];
  cpSync(cacheFile(join(other.folder, '.ostiary')), cacheFile(join(project.folder, '.ostiary')));
  expect(reads(await project.ostiary(['plan']))).toBe(1);
});

async function applied(): Promise<HoopProject> {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'canary-value' } } }) });
  await project.ostiary(['apply', '--yes']);
  return project;
}

describe('after an apply', () => {
  test('the first plan reads no secret', async () => {
    const ended = await (await applied()).ostiary(['plan', '--detailed-exitcode']);
    expect([ended.code, reads(ended)]).toEqual([0, 0]);
  });

  test('a change outside Ostiary is found, and is drift', async () => {
    const project = await applied();
    await project.send('PATCH', '/connections/orders-db', { secret: { 'envvar:PASS': btoa('by hand') } });
    const { code, stdout } = await project.ostiary(['drift']);
    expect([code, stdout]).toEqual([2, expect.stringContaining('secret envvar:PASS')]);
  });

  test('a gateway that stores another value is not taken for equal', async () => {
    const project = await hoopProject();
    const { store } = project.model;
    project.write({ 'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'canary-value' } } }) });
    await project.ostiary(['apply', '--yes']);
    project.write({ 'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'canary-other' } } }) });
    const { code, stdout } = await project.ostiary(['plan', '--detailed-exitcode']);
    expect([code, stdout]).toEqual([2, expect.stringContaining('secret envvar:PASS')]);
    expect(store.findConnection('orders-db')?.secret).toEqual({ 'envvar:PASS': btoa('canary-value') });
  });
});

describe('after a pull', () => {
  const values = { 'envvar:PASS': { value: 'canary-value' }, 'envvar:HOST': { value: '10.0.0.5' } };

  /** A pulled project, whose manifest keeps both secrets. */
  async function pulled(): Promise<HoopProject> {
    const project = await hoopProject();
    project.write({ 'access/a.yaml': connection('orders-db', { secret: values }) });
    await project.ostiary(['apply', '--yes']);
    for (const made of ['.ostiary', 'access']) rmSync(join(project.folder, made), { recursive: true });
    expect(reads(await project.ostiary(['pull']))).toBe(1);
    return project;
  }

  test('the first plan reads no secret, whether manifests keep the secrets, set them, or one of them', async () => {
    const project = await pulled();
    const kept = await project.ostiary(['plan', '--detailed-exitcode']);
    expect([kept.code, reads(kept)]).toEqual([0, 0]);
    project.write({ 'access/connections/orders-db.yaml': connection('orders-db', { secret: values }) });
    const set = await project.ostiary(['plan', '--detailed-exitcode']);
    expect([set.code, reads(set)]).toEqual([0, 0]);
    project.write({
      'access/connections/orders-db.yaml': connection('orders-db', { secret: { ...values, 'envvar:HOST': { keep: true } } }),
    });
    const mixed = await project.ostiary(['plan', '--detailed-exitcode']);
    const again = await project.ostiary(['plan', '--detailed-exitcode']);
    expect([mixed.code, reads(mixed), again.code, reads(again)]).toEqual([0, 1, 0, 0]);
  });

  test('a secret that the gateway lost is drift', async () => {
    const project = await pulled();
    await project.send('PUT', '/connections/orders-db', {
      ...JSON.parse(JSON.stringify((await project.send('GET', '/connections/orders-db')).body)),
      secret: { 'envvar:PASS': btoa('canary-value') },
    });
    const { code, stderr, stdout } = await project.ostiary(['plan']);
    expect([code, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('plan/secret-deleted-outside')]);
  });

  test('an undeclared secret is neither read again nor removed unless the manifest states the whole map', async () => {
    const project = await pulled();
    project.write({ 'access/connections/orders-db.yaml': connection('orders-db', { secret: { 'envvar:PASS': { keep: true } } }) });
    const cached = await project.ostiary(['plan', '--format', 'json']);
    const read = await project.ostiary(['plan', '--format', 'json', '--cache', 'elsewhere']);
    expect([reads(cached), reads(read), cached.stdout]).toEqual([0, 1, read.stdout]);
  });

  test('a value that never was equal is not taken for a change of the manifest', async () => {
    const project = await pulled();
    project.write({
      'access/connections/orders-db.yaml': connection('orders-db', { secret: { ...values, 'envvar:PASS': { value: 'x' } } }),
    });
    const cached = await project.ostiary(['plan', '--format', 'json']);
    const read = await project.ostiary(['plan', '--format', 'json', '--cache', 'elsewhere']);
    expect([reads(cached), cached.stdout]).toEqual([1, read.stdout]);
  });
});

test('a connection whose resource has secrets of its own is read every time', async () => {
  const project = await prepared();
  const { store } = project.model;
  const resource = store.resources.get('orders-db');
  if (resource !== undefined) store.resources.set('orders-db', { ...resource, envVars: { 'envvar:SHARED': 'c2hhcmVk' } });
  expect(reads(await project.ostiary(['plan']))).toBe(1);
  expect(reads(await project.ostiary(['plan']))).toBe(1);
});

test('a manifest without secrets reads no secrets', async () => {
  const project = await prepared();
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: ['dba'] }) });
  expect(reads(await project.ostiary(['plan']))).toBe(0);
  await applyAndExpectInSync(project);
  expect(project.model.store.findConnection('orders-db')?.secret).toEqual({
    'envvar:PASS': btoa('canary-value'),
    'envvar:KEY': btoa('kept'),
  });
});

test.each(['file', '/dev/null/here', '/proc/none/here'])(
  'a folder %s that cannot be written is reported and causes no failure',
  async (folder) => {
    const project = await prepared();
    writeFileSync(join(project.folder, 'file'), '');
    const { code, stderr } = await project.ostiary(['plan', '--cache', folder]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('cache/cannot-write')]);
  },
);

test('an existing folder is not hidden from git', async () => {
  const project = await prepared();
  mkdirSync(join(project.folder, 'mine'));
  await project.ostiary(['plan', '--cache', 'mine']);
  expect(existsSync(join(project.folder, 'mine', '.gitignore'))).toBe(false);
});
