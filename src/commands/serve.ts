import { randomBytes } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { UsageError } from '../model/errors.ts';
import { createFile } from '../disk/create.ts';
import { createRemoteReader } from '../git/read-remote.ts';
import { registry } from '../kinds/index.ts';
import { isRunbook } from '../server/runbooks/library.ts';
import { startServer } from '../server/start.ts';
import { defaultDatabase, type OutputFlags } from './flags.ts';
import { printerFor } from './printer.ts';
import { version } from './version.ts';
import type { World } from './world.ts';

export type ServeFlags = OutputFlags & {
  readonly port: number;
  readonly host: string;
  readonly database: string;
  readonly agent: readonly string[];
};

/** Runs a gateway until it is interrupted; then it finishes what it is doing and stops. */
export async function serve(flags: ServeFlags, world: World): Promise<number> {
  const { hint, note } = printerFor(world, flags);
  const { env } = world;
  const adminKey = env['OSTIARY_SERVE_KEY'] ?? '';
  if (adminKey === '')
    throw new UsageError('serve needs an admin key', `set OSTIARY_SERVE_KEY, for example to ${randomBytes(24).toString('base64url')}`);
  const managerKey = env['OSTIARY_SERVE_MANAGER_KEY'];
  const encryptionKey = env['OSTIARY_SERVE_ENCRYPTION_KEY'];
  const knownHosts = env['OSTIARY_SERVE_KNOWN_HOSTS'];
  const repositories = createRemoteReader({
    env,
    wanted: isRunbook,
    ...(knownHosts === undefined ? {} : { knownHosts: inFolder(world.cwd, knownHosts) }),
  });
  const stopped = world.interrupts();
  // The default folder holds keys and data: git leaves it alone, whatever the project's own .gitignore says.
  if (flags.database === defaultDatabase) createFile(join(world.cwd, '.ostiary', '.gitignore'), '*\n');
  const server = await startServer({
    database: /^postgres(ql)?:\/\//.test(flags.database) ? { url: flags.database } : { folder: inFolder(world.cwd, flags.database) },
    host: flags.host,
    port: flags.port,
    registry,
    adminKey,
    ...(managerKey === undefined ? {} : { managerKey: { key: managerKey, manager: env['OSTIARY_SERVE_MANAGER'] ?? 'platform' } }),
    ...(encryptionKey === undefined ? {} : { encryptionKey }),
    agents: flags.agent.length === 0 ? ['default'] : flags.agent,
    now: world.now,
    log: (line) => hint(`${line}\n`),
    version,
    runbooks: repositories,
  });
  note(`ostiary ${version} serves on ${server.url}\n`);
  if (!stopped.aborted) {
    await new Promise<void>((resolve) => {
      stopped.addEventListener('abort', () => resolve(), { once: true });
    });
  }
  hint('stopping: finishing what is under way\n');
  await server.close();
  return 0;
}

function inFolder(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}
