import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockFolder } from '../../../src/server/store/database.ts';
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
  expect(await readdir(folder)).toEqual(['postgres']);
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
  expect(existsSync(join(folder, 'ostiary.lock'))).toBe(true);
  const key = join(folder, 'encryption.key');
  expect((await stat(key)).mode % 0o1000).toBe(0o600);
  const encryptionKey = await readFile(key, 'utf8');
  const next = await startTestServer({ database: { folder }, encryptionKey });
  expect((await callerOf(next)('GET', '/connections/survives')).body).toEqual(created.body);
  await next.close();
  expect(existsSync(join(folder, 'ostiary.lock'))).toBe(false);
});

test('of many processes that find a stale lock, one takes it over', async () => {
  const path = join(home, 'stale.lock');
  await writeFile(path, '999999999 1\n');
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(path)));
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a later process with the same id does not hold the lock', async () => {
  const path = join(home, 'reused.lock');
  await writeFile(path, `${process.pid} 1\n`);
  const lock = await lockFolder(path);
  await expect(lockFolder(path)).rejects.toThrow('has the database open');
  await lock.release();
});

async function firstLine(child: ChildProcess): Promise<string> {
  const [line] = child.stdout === null ? [] : await once(child.stdout, 'data');
  return String(line).trim();
}
