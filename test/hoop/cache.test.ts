import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('a verified secret is not read again, and the cache contains neither a value nor the token', async () => {
  const project = await prepared();
  const again = await project.ostiary(['plan', '--detailed-exitcode']);
  expect([again.code, reads(again)]).toEqual([0, 0]);
  const text = readFileSync(cacheFile(join(project.folder, '.ostiary')), 'utf8');
  for (const value of ['canary', btoa('canary-value'), adminToken, 'orders-db']) expect(text).not.toContain(value);
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
  [
    'a modified cache',
    async (project: HoopProject): Promise<CommandResult> => {
      const file = cacheFile(join(project.folder, '.ostiary'));
      writeFileSync(file, readFileSync(file, 'utf8').replace('2', '3'));
      return project.ostiary(['plan']);
    },
  ],
  [
    'a cache that is no text of ours',
    async (project: HoopProject): Promise<CommandResult> => {
      writeFileSync(cacheFile(join(project.folder, '.ostiary')), '{"a": ');
      return project.ostiary(['plan']);
    },
  ],
  ['a lost cache', async (project: HoopProject): Promise<CommandResult> => project.ostiary(['plan', '--cache', 'lost'])],
])('%s is a miss', async (_, plan) => {
  const project = await prepared();
  const ended = await plan(project);
  expect([ended.code, reads(ended)]).toEqual([0, 1]);
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
