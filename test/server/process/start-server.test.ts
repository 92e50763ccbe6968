import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder as makeFolders } from '../../../src/disk/write.ts';
import { registry } from '../../../src/kinds/index.ts';
import { startServer, type RunningServer, type ServeOptions } from '../../../src/server/http/start-server.ts';
import { encryptionKey, makeFolder, startPgliteServer } from '../../support/servers.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ostiary-start-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

function start(options: Partial<ServeOptions>): Promise<RunningServer> {
  const usual = {
    database: { folder: join(home, 'none') },
    port: 0,
    registry,
    adminKey: 'a',
    version: '0',
    makeFolder: makeFolders,
    now: () => new Date(),
    log: () => {},
  };
  return startServer({ ...usual, ...options });
}

test.each<[string, Partial<ServeOptions>, string]>([
  ['without a key', { adminKey: '' }, 'serve/key'],
  ['with one key for two', { managerKey: { key: 'a', manager: 'platform' } }, 'serve/key'],
  ['for a manager without a name', { managerKey: { key: 'b', manager: '' } }, 'serve/key'],
  ['with half a key', { encryptionKey: encryptionKey.subarray(16) }, 'serve/encryption-key'],
])('the server does not start %s', async (_case, options, code) => {
  await expect(start(options)).rejects.toMatchObject({ code, exitCode: 3 });
});

test('the error for an unreachable database does not contain its password', async () => {
  const url = 'postgres://user:canary@127.0.0.1:1/db';
  const failure = await start({ database: { url }, encryptionKey }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'serve/database', message: expect.stringContaining('connection refused by 127.0.0.1') });
  expect(String(failure)).not.toContain('canary');
});

test('a folder that cannot be created is an error', async () => {
  await writeFile(join(home, 'file'), '');
  await expect(start({ database: { folder: join(home, 'file', 'db') } })).rejects.toMatchObject({ code: 'serve/database' });
});

test.runIf(process.platform === 'linux')('a folder below a read-only one is an immediate error', async () => {
  for (const folder of ['/proc/none', '/proc/none/deeper/db', '/proc/self'])
    await expect(start({ database: { folder } })).rejects.toMatchObject({
      code: folder === '/proc/self' ? 'serve/folder-in-use' : 'serve/database',
      exitCode: 3,
      message: expect.stringContaining('/proc/'),
      hint: expect.stringContaining('--database'),
    });
});

test('only the owner can read the created folders', async () => {
  const folder = join(home, 'outer', 'inner');
  await expect(start({ database: { folder }, encryptionKey: 'short' })).rejects.toMatchObject({ code: 'serve/encryption-key' });
  for (const made of [folder, join(home, 'outer')]) expect((await stat(made)).mode & 0o777).toBe(0o700);
});

test('when the port is in use, the folder is unlocked again', async () => {
  const taken = await startPgliteServer();
  const folder = await makeFolder(join(home, 'db'));
  await expect(start({ database: { folder }, port: Number(new URL(taken.url).port) })).rejects.toMatchObject({
    code: 'serve/port',
    message: expect.stringContaining('the address is in use'),
    hint: expect.stringContaining('--port'),
  });
  await taken.close();
  const next = await start({ database: { folder } });
  await next.close();
});
