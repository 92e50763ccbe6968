import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getAsset, getAssetAsBlob, isSea } from 'node:sea';
import type { PGlite, PGliteOptions } from '@electric-sql/pglite';
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { limitConcurrency } from '../../model/concurrency.ts';
import { AppError, systemCodeOf } from '../../model/errors.ts';
import { asObject } from '../../model/json.ts';
import { keyLength } from '../secrets.ts';
import { isLockName, lockFolder } from './folder-lock.ts';

const dataName = 'postgres';
/** Where a first start creates the database, so that an interrupted one leaves nothing in its place. */
const draftName = 'postgres.new';
const keyName = 'encryption.key';
/** What Ostiary writes into a database folder, and what a file system keeps at its top. */
const knownNames: ReadonlySet<string> = new Set([dataName, draftName, keyName, '.gitignore', 'lost+found']);

/** An open database folder: its database, the text of its own encryption key, and the end of both. */
type OpenFolder = { readonly lite: PGlite; readonly ownKey: () => Promise<string>; readonly close: () => Promise<void> };

/** Opens the embedded database of a folder, which no other process can open until `close`; an empty or missing one gets a new one. */
export async function openFolder(folder: string, makeFolder: (path: string, mode: number) => void): Promise<OpenFolder> {
  const { PGlite: Lite, parts } = await loadPglite();
  makeFolder(folder, 0o700);
  await requirePrivate(folder);
  const [data, draft] = [join(folder, dataName), join(folder, draftName)];
  const strange = (await readdir(folder)).find((name) => !knownNames.has(name) && !isLockName(name));
  if (strange !== undefined) {
    throw new AppError('serve/folder-in-use', 3, `${folder} is not a database folder: it contains ${JSON.stringify(strange)}`, {
      hint: 'use an empty or new folder for --database',
    });
  }
  const lock = await lockFolder(folder);
  try {
    if (!(await readdir(folder)).includes(dataName)) {
      await rm(draft, { recursive: true, force: true });
      // Other users can reach none of the files in it, whatever their modes.
      await mkdir(draft, { mode: 0o700 });
      await (await Lite.create(draft, parts)).close();
      await rename(draft, data);
    }
    const lite = await Lite.create(data, parts);
    return { lite, ownKey: () => ownKeyOf(folder), close: () => lite.close().finally(lock.release) };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    await lock.release();
    throw asObject(error)['errno'] === fullDiskErrno ? fullDisk(folder, 'is full') : error;
  }
}

// The embedded database throws objects of its own, with the numbers of WASI, for what the system refuses.
const fullDiskErrno = 51;

/** Returns the error of a full disk, as the database has it. */
function fullDisk(folder: string, state: string): Error {
  return Object.assign(new Error(`the disk of ${folder} ${state}`), { code: '53100' });
}

/** Throws `AppError` where other users can write into a folder: they could replace its database and its key. */
async function requirePrivate(folder: string): Promise<void> {
  if (process.platform === 'win32' || ((await stat(folder)).mode & 0o022) === 0) return;
  throw new AppError('serve/open-folder', 3, `the database folder ${folder} can be written by other users`, {
    hint: `check its content, then run: chmod go-w ${folder}`,
  });
}

/** Returns the key file of a folder; the first start writes it before anything is sealed. */
async function ownKeyOf(folder: string): Promise<string> {
  const path = join(folder, keyName);
  const made = randomBytes(keyLength).toString('base64');
  await writeFile(path, `${made}\n`, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  });
  return readFile(path, 'utf8');
}

/** Returns a pool of the one connection to an embedded database: a transaction has it until it ends. */
export function createLitePool(lite: PGlite, folder?: string): PostgresPool {
  const one = limitConcurrency(1);
  const connect = (): Promise<PostgresPoolClient> =>
    new Promise((resolve) => {
      void one(() => new Promise<void>((release) => resolve(new LiteClient(lite, release, folder))));
    });
  return { connect, end: () => Promise.resolve() };
}

// The write-ahead log grows by files of 16 MB: without room for the next one, the embedded database runs in circles and answers nothing.
const reservedBytes = 32 * 1024 * 1024;

/** Throws the error of a full disk while a write could need more than the disk of a folder has. */
async function requireRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < reservedBytes) throw fullDisk(folder, 'has less than 32 MB left');
}

class LiteClient implements PostgresPoolClient {
  readonly #lite: PGlite;
  readonly #folder: string | undefined;
  readonly release: () => void;

  constructor(lite: PGlite, release: () => void, folder: string | undefined) {
    this.#lite = lite;
    this.#folder = folder;
    this.release = release;
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(text: string | PostgresCursor<R>, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    return typeof text === 'string' ? this.#run<R>(text, values) : text;
  }

  async #run<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    if (this.#folder !== undefined && /^\s*(?:insert|update|delete)\b/i.test(text)) await requireRoom(this.#folder);
    const { rows } = await this.#lite.query<R>(text, [...values]);
    return { command: 'SELECT', rowCount: rows.length, rows };
  }
}

declare const __PGLITE_VERSION__: string;

/** The types of Node 20 leave it out. */
declare const WebAssembly: { readonly compile: (bytes: ArrayBuffer) => Promise<object> };

/** The embedded database and the options that it needs where its files are part of the executable. */
type LoadedPglite = { readonly PGlite: typeof PGlite; readonly parts: PGliteOptions };

/**
 * Loads the embedded database. It is an optional peer dependency of the package, because it is ten times as large as
 * everything else; the single executable contains it. Throws `AppError` with the command that installs it when it is missing.
 */
async function loadPglite(): Promise<LoadedPglite> {
  try {
    const module = await import('@electric-sql/pglite');
    return { PGlite: module.PGlite, parts: isSea() ? await partsOfExecutable() : {} };
  } catch (error) {
    if (systemCodeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new AppError('serve/no-embedded-database', 3, 'the embedded database is not installed', {
      cause: error,
      hint: `install it with npm install --global @electric-sql/pglite@${pgliteVersion}, or pass --database postgres://…`,
    });
  }
}

/** The version that this build was tested with; `latest` if the source runs without a build. */
const pgliteVersion = typeof __PGLITE_VERSION__ === 'string' ? __PGLITE_VERSION__ : 'latest';

async function partsOfExecutable(): Promise<PGliteOptions> {
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    WebAssembly.compile(getAsset('pglite.wasm')),
    WebAssembly.compile(getAsset('initdb.wasm')),
  ]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: getAssetAsBlob('pglite.data') };
}
