import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockFolder } from '../../../src/server/store/folder-lock.ts';
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
  await expect(start()).rejects.toMatchObject({ code: 'serve/locked', message: expect.stringContaining('another process has') });
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
  const key = join(folder, 'encryption.key');
  expect((await stat(key)).mode % 0o1000).toBe(0o600);
  const encryptionKey = await readFile(key, 'utf8');
  const next = await startTestServer({ database: { folder }, encryptionKey });
  expect((await callerOf(next)('GET', '/connections/survives')).body).toEqual(created.body);
  await next.close();
});

test.each([
  ['there is none', undefined],
  ['a server that was killed left one', ''],
])('of many processes one gets the lock when %s', async (name, text) => {
  const folder = join(home, name.replaceAll(' ', '-'));
  await mkdir(folder);
  if (text !== undefined) await writeFile(join(folder, 'ostiary.lock'), text);
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)));
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const reasons = attempts.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(reasons).toEqual(reasons.map(() => expect.objectContaining({ code: 'serve/locked', exitCode: 3 })));
  expect(await readdir(folder)).toEqual(['ostiary.lock']);
  for (const one of attempts) if (one.status === 'fulfilled') await one.value.release();
  expect(await readdir(folder)).toEqual([]);
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
