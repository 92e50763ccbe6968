import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { makeFolder as makeFolders } from '../../../src/disk/write.ts';
import { registry } from '../../../src/kinds/index.ts';
import { createCipher } from '../../../src/server/secrets.ts';
import { startServer } from '../../../src/server/http/start-server.ts';
import { adminKey, createDatabase, makeFolder, startTestServer, type TestServer, type TestServerOptions } from '../../support/servers.ts';
import { agentId, base64, callerOf, connectionBody, type CallServer } from '../client.ts';

const [first, second, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString('base64'));
const idOfKey = (key: string | undefined): string => createCipher(Buffer.from(key ?? '', 'base64')).keyId;

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ostiary-keys-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

type Place = { readonly database: NonNullable<TestServerOptions['database']>; readonly drop: () => Promise<void> };
const places: readonly (readonly [string, () => Promise<Place>])[] = [
  ['a PGlite folder', async () => ({ database: { folder: await makeFolder(join(home, 'db')) }, drop: async () => {} })],
  [
    'PostgreSQL',
    async () => {
      const { url, drop } = await createDatabase();
      return { database: { url }, drop };
    },
  ],
];

/** Runs a server with these keys, then stops it. */
async function during<T>(
  { database }: Place,
  keys: readonly (string | undefined)[],
  act: (call: CallServer, server: TestServer) => Promise<T>,
): Promise<T> {
  const [encryptionKey = '', ...previous] = keys;
  const server = await startTestServer({ database, encryptionKey, previousEncryptionKeys: previous.join(', ') });
  try {
    return await act(callerOf(server), server);
  } finally {
    await server.close();
  }
}

async function resealed({ log }: TestServer): Promise<string> {
  const found = (): string => log.find((one) => one.includes('re-encrypted')) ?? '';
  await expect.poll(found).not.toBe('');
  return found();
}

describe.each(places)('the encryption key of %s', (_name, make) => {
  let place: Place;
  beforeAll(async () => {
    place = await make();
  });
  afterAll(() => place.drop());

  test('can be replaced without losing a secret, and the earlier one can be retired', async () => {
    const written = await during(place, [first], async (call) => {
      const agent = await agentId(call);
      const numbers = Array.from({ length: 120 }, (_, n) => n);
      const body = (n: number): JsonObject => connectionBody(`c${n}`, agent, { secret: { 'envvar:PASS': base64(`p${n}`) } });
      await Promise.all(numbers.map((n) => call('POST', '/connections', { body: body(n) })));
      await call('POST', '/connections', { body: connectionBody('none', agent) });
      await call('POST', '/runbooks/configurations', { body: { git_url: 'https://git.example.com/r', git_password: 'canary' } });
      return [(await call('GET', '/connections')).list, (await call('GET', '/runbooks/configurations')).list];
    });

    await expect(during(place, [second], async () => {})).rejects.toMatchObject({
      code: 'serve/encryption-key',
      exitCode: 3,
      message: expect.stringContaining(idOfKey(first)),
    });

    await during(place, [second, third, first], async (call, server) => {
      const message = `re-encrypted 121 secrets; OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS is no longer needed`;
      expect(await resealed(server)).toBe(message);
      expect([(await call('GET', '/connections')).list, (await call('GET', '/runbooks/configurations')).list]).toEqual(written);
      expect(server.log.join('\n')).not.toContain('canary');
    });

    await during(place, [second], async (call) => {
      expect((await call('GET', '/connections')).list).toEqual(written[0]);
    });
    await expect(during(place, [first], async () => {})).rejects.toMatchObject({ code: 'serve/encryption-key' });
  });
});

test('writes are sealed with the new key while both keys are known', async () => {
  const { url, drop } = await createDatabase();
  const place: Place = { database: { url }, drop };
  await during(place, [first], async (call, firstServer) => {
    const agent = await agentId(call);
    const secret = { 'envvar:PASS': base64('canary') };
    await call('POST', '/connections', { body: connectionBody('a', agent, { secret }) });
    await during(place, [second, first], async (callSecond, server) => {
      await resealed(server);
      await callSecond('PUT', '/connections/a', { body: connectionBody('a', agent, { secret: { 'envvar:PASS': null } }) });
      expect((await callSecond('GET', '/connections/a')).body).toMatchObject({ secret });
    });
    // The first server does not know the new key: it can neither read secrets of the other server …
    expect((await call('GET', '/connections/a')).status).toBe(500);
    expect(firstServer.log.join('\n')).toContain(`sealed with another encryption key: ${idOfKey(second)}`);
    await during(place, [second], async () => {});
    // … nor, once its key is retired, write secrets that the others could not read.
    const late = await call('POST', '/connections', { body: connectionBody('b', agent, { secret }) });
    expect([late.status, late.body['message']]).toEqual([503, expect.stringContaining('encryption key of this server is retired')]);
    expect((await call('POST', '/connections', { body: connectionBody('c', agent) })).status).toBe(201);
  });
  await drop();
});

test('a folder can switch from its own key to one of the environment', async () => {
  const folder = await makeFolder(join(home, 'own'));
  const usual = { port: 0, makeFolder: makeFolders, registry, adminKey, version: '0', now: () => new Date(), log: () => {} };
  const own = await startServer({ ...usual, database: { folder } });
  const git = { git_url: 'https://git.example.com/r', git_password: 'canary' };
  await callerOf({ ...own, key: adminKey })('POST', '/runbooks/configurations', { body: git });
  await own.close();
  const made = await readFile(join(folder, 'encryption.key'), 'utf8');
  await during({ database: { folder }, drop: async () => {} }, [second, made], async (call, server) => {
    await resealed(server);
    expect((await call('GET', '/runbooks/configurations')).list).toMatchObject([{ git_password: 'canary' }]);
  });
});
