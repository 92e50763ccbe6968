import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder as makeFolders } from '../../../src/disk/write.ts';
import { registry } from '../../../src/kinds/index.ts';
import { startServer } from '../../../src/server/process/start-server.ts';
import { bundle } from '../../support/bundle.ts';
import { adminKey, makeFolder } from '../../support/servers.ts';
import { agentId, callerOf, connectionBody } from '../client.ts';

let home: string;
/** The folder of a stopped gateway with 100 connections; tests start copies of it. */
let template: string;
/** The file of the table of connections, below the folder. */
let tableFile: string;
/** The file of its index by name. */
let indexFile: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ostiary-database-folder-'));
  template = await makeFolder(join(home, 'template'));
  await startOnce(template, async (url) => {
    const call = callerOf({ url, key: adminKey });
    const agent = await agentId(call);
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    await Promise.all(
      numbers.map((n) => call('POST', '/connections', { body: connectionBody(`c${n}`, agent, { command: [`x${n}`.repeat(100)] }) })),
    );
  });
  tableFile = await fileWith(join(template, 'postgres', 'base', '5'), 'x17x17x17');
  indexFile = await fileOf('connections_name_key');
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** Returns the file of a table or an index, below the folder. */
async function fileOf(relation: string): Promise<string> {
  const { PGlite } = await import('@electric-sql/pglite');
  const lite = await PGlite.create(join(await copyOfTemplate(), 'postgres'));
  const { rows } = await lite.query<{ readonly path: string }>('select pg_relation_filepath($1) as path', [relation]);
  await lite.close();
  return join('postgres', rows[0]?.path ?? '');
}

/** Starts a gateway that has its own encryption key, and stops it; returns its log. */
async function startOnce(
  folder: string,
  act: (url: string) => Promise<void> = () => Promise.resolve(),
  key: string | undefined = adminKey,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const server = await startServer({
    database: { folder },
    port: 0,
    registry,
    adminKey: key === '' ? undefined : key,
    version: '0',
    makeFolder: makeFolders,
    now: () => new Date(),
    log: ({ message }) => void lines.push(message),
  });
  await act(server.url).finally(server.close);
  return lines;
}

async function fileWith(folder: string, text: string): Promise<string> {
  for (const name of await readdir(folder)) {
    if ((await readFile(join(folder, name))).includes(text)) return join('postgres', 'base', '5', name);
  }
  throw new Error(`no file has ${text}`);
}

let copies = 0;
async function copyOfTemplate(): Promise<string> {
  const folder = join(home, `copy-${(copies += 1)}`);
  await cp(template, folder, { recursive: true });
  return folder;
}

test('files of the database that others could read or write are closed to them at the start', async () => {
  const folder = await copyOfTemplate();
  await chmod(join(folder, 'postgres'), 0o755);
  await chmod(join(folder, tableFile), 0o666);
  await chmod(folder, 0o711);
  const log = await startOnce(folder);
  expect(((await stat(join(folder, tableFile))).mode & 0o777).toString(8)).toBe('600');
  expect(((await stat(join(folder, 'postgres'))).mode & 0o777).toString(8)).toBe('700');
  expect(log.join('\n')).toContain('now only their owner can');
});

test.each<[string, string, (folder: string) => Promise<unknown>]>([
  ['that others can write', 'serve/open-folder', (folder) => chmod(folder, 0o757)],
  ['that a group can write', 'serve/open-folder', (folder) => chmod(folder, 0o770)],
  ['with a link in its database', 'serve/open-folder', (folder) => symlink('/etc', join(folder, 'postgres', 'pg_link'))],
  [
    'whose key is a link',
    'serve/open-folder',
    (folder) => rm(join(folder, 'encryption.key')).then(() => symlink('/dev/null', join(folder, 'encryption.key'))),
  ],
  ['without its database', 'serve/database-missing', (folder) => rm(join(folder, 'postgres'), { recursive: true })],
  [
    'with an empty database',
    'serve/database-missing',
    (folder) => rm(join(folder, 'postgres'), { recursive: true }).then(() => mkdir(join(folder, 'postgres'))),
  ],
  ['without PG_VERSION', 'serve/database-missing', (folder) => rm(join(folder, 'postgres', 'PG_VERSION'))],
  ['with an empty PG_VERSION', 'serve/database-missing', (folder) => truncate(join(folder, 'postgres', 'PG_VERSION'))],
  ['without pg_control', 'serve/database', (folder) => rm(join(folder, 'postgres', 'global', 'pg_control'))],
  ['of another version of PostgreSQL', 'serve/database', (folder) => writeFile(join(folder, 'postgres', 'PG_VERSION'), '12\n')],
  ['without a table', 'serve/database-damaged', (folder) => rm(join(folder, tableFile))],
  ['with a table cut in half', 'serve/database-damaged', async (folder) => cut(join(folder, tableFile))],
  ['with an index cut in half', 'serve/database-damaged', async (folder) => cut(join(folder, indexFile))],
  ['with a changed page', 'serve/database-damaged', (folder) => scribble(join(folder, tableFile))],
])('a folder %s is refused, with a reason and a hint, and stays as it is', async (_case, code, damage) => {
  const folder = await copyOfTemplate();
  await damage(folder);
  const before = (await readdir(folder)).toSorted();
  const failure: unknown = await startOnce(folder).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code, exitCode: 3, hint: expect.stringMatching(/./) });
  expect(String(failure)).not.toMatch(/\[object|Aborted\(\)/);
  expect((await readdir(folder)).toSorted()).toEqual(before);
});

async function cut(path: string): Promise<void> {
  await truncate(path, Math.floor((await stat(path)).size / 2));
}

async function scribble(path: string): Promise<void> {
  const file = await open(path, 'r+');
  await file.write('scribble', 8192 + 4000);
  await file.close();
}

test.runIf(process.getuid?.() === 0)('a folder of another user is refused', async () => {
  const folder = await copyOfTemplate();
  await chown(folder, 12_345, 12_345);
  await expect(startOnce(folder)).rejects.toMatchObject({
    code: 'serve/open-folder',
    message: expect.stringContaining('belongs to user 12345'),
  });
});

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
  expect((await readdir(folder)).toSorted()).toEqual(['encryption.key', 'lost+found', 'ostiary.lock', 'postgres']);
});

test('a refused start keeps no new encryption key; the next one makes one', async () => {
  const folder = await makeFolder(join(home, 'refused'));
  await expect(startOnce(folder, undefined, '')).rejects.toMatchObject({ code: 'serve/no-key' });
  expect((await readdir(folder)).toSorted()).toEqual(['ostiary.lock', 'postgres']);
  // A start that was killed before it kept its key may have written only a part of it.
  await writeFile(join(folder, 'encryption.key.new'), 'half');
  await startOnce(folder);
  expect((await readdir(folder)).toSorted()).toEqual(['encryption.key', 'ostiary.lock', 'postgres']);
  const lost = join(folder, 'encryption.key');
  await rm(lost);
  await expect(startOnce(folder)).rejects.toMatchObject({ code: 'serve/encryption-key' });
  expect((await readdir(folder)).toSorted()).toEqual(['ostiary.lock', 'postgres']);
});

const canMount = spawnSync('/usr/bin/unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'x', '/mnt']).status === 0;

test.runIf(canMount)(
  'on a full disk a gateway answers 503 with Retry-After and lives; with room it works again, and has every write',
  async () => {
    const disk = join(home, 'disk');
    await mkdir(disk);
    const program = await bundle(new URL('../../support/serve-child.ts', import.meta.url));
    // The shell shares the mount with the server, and makes room when it reads a line.
    const script = `mount -t tmpfs -o size=60m,mode=700 x "$1" && cp -R "$2" "$1/db" && { "$3" "$4" "$1/db" "$5" & } && read line && mount -o remount,size=200m "$1" && echo room && read line; kill -9 $!`;
    const child = spawn('/usr/bin/unshare', ['-Urm', 'sh', '-c', script, 'sh', disk, template, process.execPath, program, adminKey], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    const call = callerOf({ url: String(line).trim(), key: adminKey });
    const written: string[] = [];
    const post = (name: string): ReturnType<typeof call> =>
      call('POST', '/guardrails', { body: { name, description: Array.from({ length: 2000 }, () => Math.random().toString(36)).join('') } });
    const refused = await fill(post, written);
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '5']);
    for (let n = 0; n < 3; n += 1) expect((await post(`full-${n}`)).status).toBe(503);
    expect((await call('GET', '/healthz')).status).toBe(200);
    expect((await call('GET', '/readyz')).status).toBe(503);
    child.stdin.write('more\n');
    await once(child.stdout, 'data');
    await expect.poll(async () => (await post('later')).status).toBe(201);
    expect((await call('GET', '/readyz')).status).toBe(200);
    const names = (await call('GET', '/guardrails')).list.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...written, 'later']));
    child.stdin.end('stop\n');
    await once(child, 'exit');
  },
);

test.runIf(canMount)('a gateway that cannot start because its disk is full states that', async () => {
  const disk = join(home, 'small-disk');
  await mkdir(disk);
  const program = await bundle(new URL('../../support/serve-child.ts', import.meta.url));
  const script = `mount -t tmpfs -o size=8m,mode=700 x "$1" && "$2" "$3" "$1/db" "$4"`;
  const ended = spawnSync('/usr/bin/unshare', ['-Urm', 'sh', '-c', script, 'sh', disk, process.execPath, program, adminKey]);
  expect([ended.status, String(ended.stderr)]).toEqual([1, expect.stringContaining(`No space left on the disk of ${disk}`)]);
});

async function fill(
  post: (name: string) => ReturnType<ReturnType<typeof callerOf>>,
  written: string[],
): ReturnType<ReturnType<typeof callerOf>> {
  for (let n = 0; ; n += 1) {
    const answer = await post(`rule-${n}`);
    if (answer.status !== 201) return answer;
    written.push(`rule-${n}`);
  }
}
