import { randomBytes } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { UsageError } from '../model/errors.ts';
import { createFile } from '../disk/create.ts';
import { createRemoteReader } from '../git/read-remote.ts';
import { registry } from '../kinds/index.ts';
import { isRunbook } from '../server/runbooks/library.ts';
import { chaosBySwitches } from '../server/chaos-switches.ts';
import { createLog, type LogForm, type LogSink } from '../server/log.ts';
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
  readonly log?: LogForm;
  readonly drain: number;
  readonly chaos: boolean;
};

/** Runs a gateway until it is interrupted; then it finishes what it is doing and stops. */
export async function serve(flags: ServeFlags, world: World): Promise<number> {
  const { note } = printerFor(world, flags);
  const { env } = world;
  const logForm = flags.log ?? (world.stderr.isTTY ? 'text' : 'json');
  const sink: LogSink = (line, level) => {
    if (!flags.quiet || level !== 'info') note(`${line}\n`);
  };
  const say = createLog((line) => note(`${line}\n`), logForm, world.now);
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
  const database = /^postgres(ql)?:\/\//.test(flags.database)
    ? { url: flags.database }
    : { folder: isAbsolute(flags.database) ? flags.database : join(world.cwd, flags.database) };
  const server = await startServer({
    database,
    host: flags.host,
    port: flags.port,
    registry,
    adminKey,
    ...(managerKey === undefined ? {} : { managerKey: { key: managerKey, manager: env['OSTIARY_SERVE_MANAGER'] ?? 'platform' } }),
    ...(encryptionKey === undefined ? {} : { encryptionKey }),
    agents: flags.agent.length === 0 ? ['default'] : flags.agent,
    now: world.now,
    log: sink,
    logForm,
    drainMs: flags.drain * 1000,
    version,
    runbooks: repositories,
    ...(flags.chaos ? { chaos: chaosBySwitches } : {}),
  });
  // The address ends at a space, in JSON too: scripts look for it.
  say({ level: 'info', message: `ostiary ${version} serves on ${server.url} from ${'url' in database ? 'PostgreSQL' : 'a folder'}` });
  if (flags.chaos) say({ level: 'warn', message: 'callers can make requests fail (--chaos): for tests only' });
  if (!stopped.aborted) {
    await new Promise<void>((resolve) => {
      stopped.addEventListener('abort', () => resolve(), { once: true });
    });
  }
  if (!flags.quiet) say({ level: 'info', message: 'stopping: finishing what is under way' });
  await server.close();
  return 0;
}

function inFolder(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}
