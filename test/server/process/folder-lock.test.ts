import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockFolder, type LockTimes } from '../../../src/server/store/folder-lock.ts';
import { bundle } from '../../support/bundle.ts';
import { adminKey, makeFolder, startTestServer, type TestServer } from '../../support/servers.ts';
import { agentId, base64, callerOf, connectionBody, type CallServer } from '../client.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ostiary-folder-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

test('a folder keeps everything across restarts, and one process at a time can serve it', async () => {
  const folder = join(home, 'db');
  const start = async (): Promise<readonly [TestServer, CallServer]> => {
    const server = await startTestServer({ database: { folder } });
    return [server, callerOf(server)];
  };
  const [first, call] = await start();
  const body = connectionBody('kept', await agentId(call), { secret: { 'envvar:A': base64('a') } });
  const created = await call('POST', '/connections', { body });
  await expect(start()).rejects.toMatchObject({ code: 'serve/locked', message: expect.stringContaining(`process ${process.pid} has`) });
  await first.close();
  expect((await readdir(folder)).toSorted()).toEqual(['ostiary.lock', 'postgres']);
  const [second, callAgain] = await start();
  const found = await callAgain('GET', '/connections/kept');
  expect(found.body).toEqual(created.body);
  expect(found.headers.get('ETag')).toBe(created.headers.get('ETag'));
  expect(await agentId(callAgain)).toBe(body['agent_id']);
  await second.close();
});

test('the next server takes over the lock and the data of a killed one', async () => {
  const folder = await makeFolder(join(home, 'killed'));
  const child = spawn(process.execPath, [await bundle(new URL('../../support/serve-child.ts', import.meta.url)), folder, adminKey], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await firstLine(child);
  const call = callerOf({ url, key: adminKey });
  const created = await call('POST', '/connections', {
    body: connectionBody('survives', await agentId(call), { secret: { 'envvar:A': base64('a') } }),
  });
  expect(created.status).toBe(201);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const key = join(folder, 'encryption.key');
  expect((await stat(key)).mode % 0o1000).toBe(0o600);
  const encryptionKey = await readFile(key, 'utf8');
  const next = await startTestServer({ database: { folder }, encryptionKey });
  expect((await callerOf(next)('GET', '/connections/survives')).body).toEqual(created.body);
  await next.close();
});

const times: LockTimes = { beatMs: 40, trustMs: 160, takeoverMs: 400 };
const quiet = { log: () => {}, times };

/** A lock file as a server on another host wrote it. */
function foreignLock(counter: number): string {
  const holder = { id: 'other', host: 'elsewhere', pid: process.pid, start: '-', place: 'other' };
  return `${String(counter).padStart(12, '0')} ${JSON.stringify(holder)}\n`;
}

async function lockOf(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = join(home, name);
  await mkdir(folder);
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  return folder;
}

test.each([
  ['there is none', {}],
  ['a server on another host left one', { 7: foreignLock(3) }],
  ['an interrupted start left an empty one', { 7: '' }],
  ['one was released', { 7: 'released     {}' }],
])('of many processes one gets the lock when %s', async (name, files) => {
  const folder = await lockOf(name.replaceAll(' ', '-'), files);
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder, quiet)));
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const reasons = attempts.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(reasons).toEqual(reasons.map(() => expect.objectContaining({ code: 'serve/locked', exitCode: 3 })));
  expect(await readdir(folder)).toHaveLength(1);
  for (const one of attempts) if (one.status === 'fulfilled') await one.value.release();
  const [name2 = ''] = await readdir(folder);
  expect(await readFile(join(folder, name2), 'utf8')).toMatch(/^released /);
});

test('a lock file that a server elsewhere writes is not taken over', async () => {
  const folder = await lockOf('beating', { 1: foreignLock(0) });
  let counter = 0;
  // In place, as a server beats: no reader sees an empty file.
  const file = await open(join(folder, '1'), 'r+');
  const beats = setInterval(() => void file.write(foreignLock((counter += 1)), 0), times.beatMs);
  try {
    await expect(lockFolder(folder, quiet)).rejects.toMatchObject({
      code: 'serve/locked',
      message: expect.stringContaining('a server on elsewhere has the database open'),
    });
  } finally {
    clearInterval(beats);
    await file.close();
  }
});

test('a holder that was paused for longer than the takeover notices the new holder', async () => {
  const folder = await lockOf('paused');
  const log: string[] = [];
  const first = await lockFolder(folder, { times, log: ({ message }) => void log.push(message) });
  first.confirm();
  const [file = ''] = await readdir(folder);
  const text = await readFile(join(folder, file), 'utf8');
  // What another container sees: the id is of a process that it does not know.
  await writeFile(join(folder, String(Number(file) + 1)), foreignLock(0));
  await rm(join(folder, file));
  await expect.poll(() => log).toEqual([expect.stringContaining('another server uses the database folder now')]);
  expect(() => first.confirm()).toThrow('another server uses the database folder now');
  await first.release();
  expect(await readFile(join(folder, String(Number(file) + 1)), 'utf8')).toBe(foreignLock(0));
  expect(text).toContain(hostname());
});

const canUnshare = spawnSync('/usr/bin/unshare', ['-Urpf', 'true']).status === 0;

test.runIf(canUnshare)('a server in another process namespace is refused, and takes over after a kill', async () => {
  const folder = await makeFolder(join(home, 'namespaces'));
  const program = await bundle(new URL('../../support/serve-child.ts', import.meta.url));
  const start = (): ChildProcess =>
    spawn('/usr/bin/unshare', ['-Urpf', '--kill-child', '--mount-proc', process.execPath, program, folder, adminKey], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const first = start();
  const call = callerOf({ url: await firstLine(first), key: adminKey });
  const second = start();
  const errors: string[] = [];
  second.stderr?.on('data', (text: Buffer) => errors.push(String(text)));
  expect((await once(second, 'exit'))[0]).toBe(1);
  expect(errors.join('')).toContain('has the database open');
  expect((await call('POST', '/guardrails', { body: { name: 'kept' } })).status).toBe(201);
  first.kill('SIGKILL');
  await once(first, 'exit');
  const third = start();
  const again = callerOf({ url: await firstLine(third), key: adminKey });
  expect((await again('GET', '/guardrails')).list).toMatchObject([{ name: 'kept' }]);
  third.kill('SIGKILL');
  await once(third, 'exit');
});

async function firstLine(child: ChildProcess): Promise<string> {
  const [line] = child.stdout === null ? [] : await once(child.stdout, 'data');
  return String(line).trim();
}
