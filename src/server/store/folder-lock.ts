import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, systemCodeOf } from '../../model/errors.ts';

const lockName = 'ostiary.lock';

/** Returns whether a name in a database folder is of its lock. */
export function isLockName(name: string): boolean {
  return name.startsWith(lockName);
}

const [turnMs, mostTurns] = [50, 200];

/**
 * Locks a database folder until `release`. The lock is a socket that this process listens on: the system closes it with the process,
 * however that ends, in every container of the machine. Throws `AppError` when another process has it.
 *
 * A process first listens under a name of its own, and takes the lock when it then finds no other process. Of processes that start at once,
 * each finds those that listened before; the one with the lowest name waits until all others have gone or one has the lock.
 */
export async function lockFolder(folder: string): Promise<{ readonly release: () => Promise<void> }> {
  const path = join(folder, lockName);
  const ownName = `${lockName}.${randomUUID().slice(0, 8)}`;
  const own = join(folder, ownName);
  const server = createServer((socket) => socket.destroy()).unref();
  server.listen(shortest(own));
  await once(server, 'listening');
  const { ino } = await stat(own);
  const isOwn = async (name: string): Promise<boolean> => (await stat(name).catch(() => undefined))?.ino === ino;
  const release = async (): Promise<void> => {
    for (const name of [own, path]) if (await isOwn(name)) await rm(name);
    await new Promise((resolve) => server.close(resolve));
  };
  for (let turn = 1; ; turn += 1) {
    const names = (await readdir(folder)).filter((name) => name.startsWith(`${lockName}.`) && name !== ownName);
    const answered: string[] = [];
    for (const name of names) if (await isAnswered(join(folder, name))) answered.push(name);
    // Last, because another process may have taken the lock while its own name was looked for.
    if ((await isAnswered(path)) || answered.some((name) => name < ownName) || turn === mostTurns) {
      await release();
      throw lockedBy(path);
    }
    if (answered.length === 0) {
      await rename(own, path);
      for (const name of names) await rm(join(folder, name), { force: true });
      return { release };
    }
    await delay(turnMs);
  }
}

/** What a system answers for a socket on which no process listens, and for a file that is none. */
const deadCodes: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK']);

/** Returns whether a process may listen on a socket. */
async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(shortest(path));
  return once(socket, 'connect')
    .then(
      () => true,
      (error: unknown) => !deadCodes.has(systemCodeOf(error)),
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
