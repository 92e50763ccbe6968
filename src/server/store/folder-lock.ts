import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../model/errors.ts';

const lockName = 'ostiary.lock';

/** Returns whether a name in a database folder is of its lock. */
export function isLockName(name: string): boolean {
  return name.startsWith(lockName);
}

// Two servers that start at once over the lock of a dead one: the last that replaces it has the folder, and the other one notices.
const settleMs = 100;

/**
 * Locks a database folder until `release`. The lock is a socket that this process listens on: the system closes it with the process,
 * however that ends, in every container of the machine. Throws `AppError` when another process has it.
 */
export async function lockFolder(folder: string): Promise<{ readonly release: () => Promise<void> }> {
  const path = join(folder, lockName);
  if (await isAnswered(path)) throw lockedBy(path);
  const draft = `${path}.${randomUUID().slice(0, 8)}`;
  const server = createServer((socket) => socket.destroy()).unref();
  server.listen(shortest(draft));
  await once(server, 'listening');
  const { ino: own } = await stat(draft);
  const isOwn = async (): Promise<boolean> => (await stat(path).catch(() => undefined))?.ino === own;
  const release = async (): Promise<void> => {
    if (await isOwn()) await rm(path);
    await new Promise((resolve) => server.close(resolve));
  };
  await rename(draft, path);
  await delay(settleMs);
  if (await isOwn()) return { release };
  await release();
  throw lockedBy(path);
}

/** Returns whether a process listens on a socket. */
async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(shortest(path));
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

/** Returns the shorter form of a path: the path of a socket has about a hundred characters at most. */
function shortest(path: string): string {
  const short = relative(process.cwd(), path);
  return short.length < path.length ? short : path;
}

function lockedBy(path: string): AppError {
  return new AppError('serve/locked', 3, `another process has the database open (${path})`, {
    hint: 'a folder can be used by only one process; stop the other process, or use PostgreSQL',
  });
}
