import { PGlite } from '@electric-sql/pglite';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder as makeFolders } from '../../../src/disk/write.ts';
import { registry } from '../../../src/kinds/index.ts';
import { startServer } from '../../../src/server/http/start-server.ts';
import { adminKey, makeFolder } from '../../support/servers.ts';
import { createLitePool } from '../../../src/server/store/embedded-database.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ostiary-database-folder-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** Starts a gateway that has its own encryption key, and stops it. */
async function startOnce(folder: string): Promise<void> {
  const server = await startServer({
    database: { folder },
    port: 0,
    registry,
    adminKey,
    version: '0',
    makeFolder: makeFolders,
    now: () => new Date(),
    log: () => {},
  });
  await server.close();
}

test('a folder with other files is refused and stays as it is; one that a file system prepared is not', async () => {
  const folder = join(home, 'documents');
  await mkdir(folder);
  await writeFile(join(folder, 'letter.txt'), 'x');
  await expect(startOnce(folder)).rejects.toMatchObject({ code: 'serve/folder-in-use', message: expect.stringContaining('letter.txt') });
  expect(await readdir(folder)).toEqual(['letter.txt']);
  await rm(join(folder, 'letter.txt'));
  await mkdir(join(folder, 'lost+found'));
  // A start that was interrupted left a part of a new database.
  await mkdir(join(folder, 'postgres.new'));
  await writeFile(join(folder, 'postgres.new', 'PG_VERSION'), '18\n');
  await startOnce(folder);
  expect((await readdir(folder)).toSorted()).toEqual(['encryption.key', 'lost+found', 'postgres']);
  const modes = await Promise.all(['postgres', 'encryption.key'].map(async (name) => (await stat(join(folder, name))).mode & 0o777));
  expect(modes).toEqual([0o700, 0o600]);
});

test('a folder that others can write is refused, with a hint, and stays as it is', async () => {
  for (const mode of [0o770, 0o757]) {
    const folder = await makeFolder(join(home, `open-${mode}`));
    const names = await readdir(folder);
    await chmod(folder, mode);
    await expect(startOnce(folder)).rejects.toMatchObject({ code: 'serve/open-folder', hint: expect.stringContaining('chmod go-w') });
    expect(await readdir(folder)).toEqual(names);
  }
});

test('a database without its key, and one that is damaged, are refused with a reason and a hint, and the lock is released', async () => {
  const folder = await makeFolder(join(home, 'damaged'));
  await startOnce(folder);
  const key = join(folder, 'encryption.key');
  const text = await readFile(key);
  await rm(key);
  const refused = { exitCode: 3, hint: expect.stringMatching(/./) };
  await expect(startOnce(folder)).rejects.toMatchObject({ code: 'serve/encryption-key', ...refused });
  await writeFile(key, text);
  await startOnce(folder);
  await rm(join(folder, 'postgres', 'global', 'pg_control'));
  await expect(startOnce(folder)).rejects.toMatchObject({ code: 'serve/database', ...refused });
  expect((await readdir(folder)).toSorted()).toEqual(['encryption.key', 'postgres']);
});

test('a database of another version is refused with what to do', async () => {
  const folder = await makeFolder(join(home, 'of-another-version'));
  await startOnce(folder);
  const lite = await PGlite.create(join(folder, 'postgres'));
  await lite.exec('alter table agents drop column platform; comment on table encryption_keys is null');
  await lite.close();
  await expect(startOnce(folder)).rejects.toMatchObject({ code: 'serve/database', message: expect.stringContaining('another version') });
});

test.runIf(process.platform === 'linux')('a disk without room for the write-ahead log refuses writes, and serves reads', async () => {
  const lite = await PGlite.create('memory://');
  // No byte is free there.
  const client = await createLitePool(lite, '/proc').connect();
  await expect(client.query('insert into t values (1)', [])).rejects.toMatchObject({ code: '53100' });
  expect(await client.query('select 1 as one', [])).toMatchObject({ rows: [{ one: 1 }] });
  await lite.close();
});
