import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../model/errors.ts';
import type { Log } from '../log.ts';
import { keyLength, parseEncryptionKey } from '../secrets.ts';

const dataName = 'postgres';
const draftName = 'postgres.new';
const keyName = 'encryption.key';
const newKeyName = 'encryption.key.new';
const lockName = 'ostiary.lock';

/** Everything that Ostiary writes into a database folder, and what a file system keeps at its top. */
const knownNames: ReadonlySet<string> = new Set([dataName, draftName, keyName, newKeyName, lockName, '.gitignore', 'lost+found']);

type DatabasePaths = {
  /** The files of PostgreSQL. */
  readonly data: string;
  /** Where a first start creates the files of PostgreSQL, so that an interrupted one leaves nothing in `data`. */
  readonly draft: string;
  readonly lock: string;
};

/** Returns the paths in a folder. */
export function databasePaths(folder: string): DatabasePaths {
  return { data: join(folder, dataName), draft: join(folder, draftName), lock: join(folder, lockName) };
}

/** Throws `AppError` when other users own the folder or can write into it: they could replace the database. */
export async function requirePrivateFolder(folder: string): Promise<void> {
  const { uid, mode } = await stat(folder);
  const user = process.getuid?.();
  if (user === undefined) return;
  if (uid !== user)
    throw openFolder(
      folder,
      `belongs to user ${uid}, and this process runs as user ${user}`,
      `chown it to user ${user}, or use another folder`,
    );
  if ((mode & 0o022) !== 0) throw openFolder(folder, 'can be written by other users', `check its content, then run: chmod go-w ${folder}`);
}

function openFolder(folder: string, what: string, hint: string): AppError {
  return new AppError('serve/open-folder', 3, `the database folder ${folder} ${what}`, { hint });
}

/** Returns whether the folder has a database; one that is empty gets a new one. Throws `AppError` when it is neither. */
export async function hasDatabase(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  const version = await lstat(join(folder, dataName, 'PG_VERSION')).catch(() => undefined);
  if (version?.isFile() === true && version.size > 0) return true;
  const parts = names.includes(dataName) ? await readdir(join(folder, dataName)) : [];
  if (names.includes(keyName) || parts.length > 0) {
    const state = parts.length > 0 ? 'incomplete' : names.includes(dataName) ? 'empty' : 'missing';
    throw new AppError('serve/database-missing', 3, `the database ${join(folder, dataName)} is ${state}`, {
      hint: `restore the whole folder from a backup; for a new gateway, use an empty folder`,
    });
  }
  const strange = names.find((name) => !knownNames.has(name) && !name.startsWith(`${lockName}.`));
  if (strange === undefined) return false;
  throw new AppError('serve/folder-in-use', 3, `${folder} is not a database folder: it contains ${JSON.stringify(strange)}`, {
    hint: 'use an empty or new folder for --database',
  });
}

/**
 * Makes the files of PostgreSQL readable by their owner only, and warns when other users could read or write them. Throws
 * `AppError` for a link, which could lead out of the folder.
 */
export async function closeToOthers(data: string, log: Log): Promise<void> {
  const wasReachable = ((await lstat(dirname(data))).mode & 0o011) !== 0 && ((await lstat(data)).mode & 0o077) !== 0;
  let changed = 0;
  const visit = async (path: string): Promise<void> => {
    const stats = await lstat(path);
    if (!stats.isFile() && !stats.isDirectory()) {
      throw openFolder(path, 'contains a link or a device', 'restore the folder from a backup: Ostiary creates no links or devices');
    }
    if (process.getuid !== undefined && (stats.mode & 0o077) !== 0) {
      await chmod(path, stats.mode & 0o700);
      changed += 1;
    }
    if (stats.isDirectory()) for (const name of await readdir(path)) await visit(join(path, name));
  };
  await visit(data);
  if (!wasReachable || changed === 0) return;
  log({ level: 'warn', message: `other users could read or change ${changed} files and folders in ${data}; now only their owner can` });
}

/** Creates the folder of a new database; removes what an interrupted first start left. */
export async function createDraft({ draft }: DatabasePaths): Promise<void> {
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
}

/** Makes the draft the database of the folder. */
export async function keepDraft({ data, draft }: DatabasePaths): Promise<void> {
  await rm(data, { recursive: true, force: true });
  await rename(draft, data);
}

/** The encryption key of a folder. A new one is kept only if the start succeeds. */
export type FolderKey = {
  readonly key: Buffer;
  readonly keep: () => Promise<void>;
  /** Removes a new key that was not kept. */
  readonly discard: () => Promise<void>;
};

/** Returns a key that the caller gave; no file has it. */
export function givenKey(key: Buffer): FolderKey {
  return { key, keep: doNothing, discard: doNothing };
}

const doNothing = (): Promise<void> => Promise.resolve();

/** Reads the key file of a database folder, or creates a new key. The caller must hold the folder lock. */
export async function openFolderKey(folder: string): Promise<FolderKey> {
  const [path, draft] = [join(folder, keyName), join(folder, newKeyName)];
  const known = await readKey(path);
  if (known !== undefined) return givenKey(known);
  // A start that was killed may have registered this key in the database.
  const started = await readKey(draft).catch(() => rm(draft, { force: true }).then(() => undefined));
  const key = started ?? randomBytes(keyLength);
  if (started === undefined) await writeKey(draft, key);
  let kept = false;
  return {
    key,
    async keep() {
      await rename(draft, path);
      kept = true;
    },
    async discard() {
      if (!kept && started === undefined) await rm(draft, { force: true });
    },
  };
}

async function writeKey(path: string, key: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  await file.writeFile(`${key.toString('base64')}\n`).finally(() => file.close());
}

/** Reads a key file without following a link, and makes it readable by its owner only; undefined when it does not exist. */
async function readKey(path: string): Promise<Buffer | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw openFolder(path, 'is not a regular file', 'restore it from a backup');
  if ((stats.mode & 0o077) !== 0) await chmod(path, 0o600);
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  return parseEncryptionKey(await readFile(file, 'utf8').finally(() => file.close()));
}
