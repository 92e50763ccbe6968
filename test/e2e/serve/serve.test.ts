import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { callerOf, type CallServer } from '../../server/client.ts';
import { addressOf, ostiary, startOstiary, type Running } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { createDatabase, encryptionKey as keyBytes, fixture } from '../../support/servers.ts';
import { useProjects } from '../project.ts';

const makeProject = useProjects();
const key = 'key-of-the-tests';
const encryptionKey = keyBytes.toString('base64');

/** Drops the databases of this file. */
const drops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(drops.map((drop) => drop())));

/** The environment of a `serve` on a database of PostgreSQL, which starts in a third of the time of a folder. */
async function onPostgres(): Promise<Readonly<Record<string, string>>> {
  const { url, drop } = await createDatabase(await fixture('template'));
  drops.push(drop);
  return { OSTIARY_SERVE_KEY: key, OSTIARY_SERVE_DATABASE: url, OSTIARY_SERVE_ENCRYPTION_KEY: encryptionKey };
}

async function serve(flags: string): Promise<{ readonly running: Running; readonly call: CallServer }> {
  const args = ['serve', '--port', '0', ...flags.split(' ').filter((flag) => flag !== '')];
  const running = await startOstiary(args, { cwd: makeProject({}), env: await onPostgres() });
  return { running, call: callerOf({ url: await addressOf(running), key }) };
}

test('without a terminal every line on stderr is a JSON object', async () => {
  const { running, call } = await serve('--agent edge --agent edge');
  expect((await call('GET', '/agents')).list).toMatchObject([{ name: 'edge', status: 'offline' }]);
  running.child.kill('SIGTERM');
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  const lines = stderr.trim().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { level: 'info', message: expect.stringMatching(/^ostiary \S+ serves on http:\/\/127\.0\.0\.1:\d+ from PostgreSQL$/) },
    { level: 'info', method: 'GET', path: '/agents', status: 200, request_id: expect.any(String), time: expect.any(String) },
    { level: 'info', message: 'stopping: finishing open requests' },
  ]);
});

test('--drain keeps serving after SIGTERM, but is not ready', async () => {
  const { running, call } = await serve('--drain 1');
  expect((await call('GET', '/readyz')).status).toBe(200);
  running.child.kill('SIGTERM');
  while (!running.printed().stderr.includes('stopping')) await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await call('GET', '/readyz')).status).toBe(503);
  expect((await call('GET', '/agents')).status).toBe(200);
  expect((await running.ended).code).toBe(0);
});

test('the default folder is not made through a link', async () => {
  const cwd = makeProject({});
  mkdirSync(join(cwd, 'elsewhere'));
  symlinkSync('elsewhere', join(cwd, '.ostiary'));
  const { code, stderr } = await ostiaryInProcess(['serve', '--port', '0'], { cwd, env: { OSTIARY_SERVE_KEY: key } });
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringMatching(/^error cli\/cache-folder {2}the folder ".*\.ostiary" cannot be used: it is a link\n/),
  });
  expect(readdirSync(join(cwd, 'elsewhere'))).toEqual([]);
});

test.each([
  ['the environment', false],
  ['a file', true],
])('the database with its password, and keys, can come from %s', async (_case, isFile) => {
  const cwd = makeProject({ place: 'postgres://gateway:canary-password@127.0.0.1:1/gateway\n', sealing: `${encryptionKey}\n` });
  const place = readFileSync(join(cwd, 'place'), 'utf8').trim();
  const given = isFile
    ? { OSTIARY_SERVE_DATABASE_FILE: 'place', OSTIARY_SERVE_ENCRYPTION_KEY_FILE: 'sealing' }
    : { OSTIARY_SERVE_DATABASE: place, OSTIARY_SERVE_ENCRYPTION_KEY: encryptionKey };
  const env = { OSTIARY_SERVE_KEY: key, ...given };
  const { code, stderr } = await ostiaryInProcess(['serve', '--port', '0'], { cwd, env });
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringMatching(/^error serve\/database {2}.*connection refused by 127\.0\.0\.1:1\n/),
  });
  expect(stderr).not.toContain('canary');
});

test('a PostgreSQL server on another host without TLS is a warning, in every task and format of the log', async () => {
  const cwd = makeProject({});
  // This machine, by an address that does not say so; its port refuses connections.
  const run = async (place: string, flags: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const env = { OSTIARY_SERVE_KEY: key, OSTIARY_SERVE_ENCRYPTION_KEY: encryptionKey, OSTIARY_SERVE_DATABASE: place, ...more };
    // The library of PostgreSQL reads the variables of its own process.
    const runs = 'PGHOST' in more ? ostiary : ostiaryInProcess;
    const { code, stderr } = await runs(['serve', '--port', '0', ...flags], { cwd, env });
    expect([code, stderr]).toEqual([3, expect.stringContaining('error serve/database')]);
    expect(stderr).not.toContain('canary');
    return stderr;
  };
  const place = 'postgres://gateway:canary@0.0.0.0:1/gateway';
  const text = /^serve\/insecure-database {2}the data of the gateway can travel unencrypted to 0\.0\.0\.0: end the URL/m;
  for (const flags of [[], ['--init'], ['--quiet']]) expect(await run(place, ['--log', 'text', ...flags])).toMatch(text);
  const [line = ''] = (await run(place, ['--log', 'json'])).split('\n');
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', code: 'serve/insecure-database' });
  for (const fine of [`${place}?sslmode=verify-full`, 'postgres://gateway:canary@127.0.0.1:1/gateway'])
    expect(await run(fine, [])).not.toContain('insecure');
});

test.runIf(existsSync('/proc/self/cmdline'))('a password on the command line leaves the list of processes, with a warning', async () => {
  const cwd = makeProject({});
  // It accepts connections and never answers.
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const env = { OSTIARY_SERVE_KEY: key, OSTIARY_SERVE_ENCRYPTION_KEY: encryptionKey };
  const args = ['serve', '--port', '0', '--log', 'text', '--database', `postgres://gateway:canary-password@127.0.0.1:${port}/gateway`];
  const running = await startOstiary(args, { cwd, env });
  await expect.poll(() => running.printed().stderr).toContain('other users can see the password in --database briefly');
  expect(readFileSync(`/proc/${running.child.pid}/cmdline`, 'utf8')).not.toContain('canary');
  running.child.kill('SIGKILL');
  await running.ended;
  silent.close();
});
