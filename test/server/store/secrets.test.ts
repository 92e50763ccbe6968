import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCipher } from '../../../src/server/secrets.ts';
import { createDatabase, makeFolder, startTestServer, type TestServer } from '../../support/servers.ts';
import { agentId, base64, callerOf, connectionBody, createKey } from '../client.ts';

const canary = 'canary-7f3a9c';
/** The created keys. */
const keys: string[] = [];
const forms = [canary, base64(canary), Buffer.from(canary).toString('hex')];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ostiary-secrets-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes the canary into every secret, also in rejected requests. */
async function writeCanaries(server: TestServer): Promise<string> {
  const call = callerOf(server);
  const agent = await agentId(call);
  const secret = { 'envvar:DB': base64(canary), 'envvar:PASS': base64(`${canary}!`) };
  const body = connectionBody('c', agent, { secret });
  const git = { git_url: 'https://example.com/r', git_password: canary, ssh_key: canary, ssh_keypass: canary };
  const stored = [await call('POST', '/connections', { body }), await call('POST', '/runbooks/configurations', { body: git })];
  expect(stored.map(({ status }) => status)).toEqual([201, 201]);
  expect(JSON.stringify(stored.map((answer) => answer.body))).toContain(canary);
  const key = await createKey(call, 'hashed', ['admin']);
  await call('GET', '/connections', { key });
  keys.push(key);
  const refused = [
    await call('POST', '/connections', { body }),
    await call('PUT', '/connections/c', { body: { ...body, secret: { 'envvar:DB': canary } } }),
    await call('PUT', '/connections/c', { body: { ...body, type: 1 } }),
    await call('POST', '/connections', { text: `{"secret":{"envvar:A":"${canary}` }),
    await call('POST', '/runbooks/configurations', { body: { ...git, git_password: [canary] } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([409, 422, 422, 400, 422]);
  return JSON.stringify(refused.map((answer) => answer.body)) + server.log.join('\n');
}

test('no secret is in a PGlite folder, in a log or in an error', async () => {
  const server = await startTestServer({ database: { folder: await makeFolder(join(folder, 'db')) } });
  const output = await writeCanaries(server);
  const open = await bytesBelow(folder);
  await server.close();
  const bytes = Buffer.concat([open, await bytesBelow(folder)]);
  expect(bytes.includes('envvar')).toBe(false);
  expect(bytes.includes('git_user')).toBe(true);
  for (const form of [...forms, ...keys])
    expect({ form, printed: output.includes(form), stored: bytes.includes(form) }).toEqual({ form, printed: false, stored: false });
});

test('no secret is in a PostgreSQL database', async () => {
  const database = await createDatabase();
  const server = await startTestServer({ database: { url: database.url } });
  await writeCanaries(server);
  const dump = await dumpOf(database.url);
  await server.close();
  await database.drop();
  expect(dump).toContain('git_user');
  for (const form of [...forms, ...keys]) expect(dump).not.toContain(form);
});

test('a sealed text opens only with its own path and key, and differs each time', () => {
  const cipher = createCipher(Buffer.alloc(32, 1));
  const sealed = cipher.seal('ä secret', 'connections/1/secrets');
  expect(cipher.open(sealed, 'connections/1/secrets')).toBe('ä secret');
  expect(cipher.seal('ä secret', 'connections/1/secrets')).not.toBe(sealed);
  expect(sealed.split(':')[0]).toBe(cipher.keyId);
  expect(() => cipher.open(sealed, 'connections/2/secrets')).toThrow('unable to authenticate');
  expect(() => createCipher(Buffer.alloc(32, 2)).open(sealed, 'connections/1/secrets')).toThrow('another encryption key');
});

test('PostgreSQL requires the encryption key that it was created with', async () => {
  const database = await createDatabase();
  const start = (encryptionKey: string): Promise<TestServer> => startTestServer({ database: { url: database.url }, encryptionKey });
  await expect(start('')).rejects.toThrow('requires an encryption key');
  await expect(start('c2hvcnQ=')).rejects.toThrow('has 5 bytes, not 32');
  await (await start(base64('k'.repeat(32)))).close();
  await expect(start('ab'.repeat(32))).rejects.toThrow('encrypted with another key');
  await (await start(base64('k'.repeat(32)))).close();
  await database.drop();
});

async function bytesBelow(path: string): Promise<Buffer> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
}

async function dumpOf(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ readonly dump: string }>(`
    select query_to_xml(format('select * from %I', table_name), true, false, '')::text as dump
    from information_schema.tables where table_schema = 'public'`);
  await client.end();
  return rows.map(({ dump }) => dump).join('\n');
}
