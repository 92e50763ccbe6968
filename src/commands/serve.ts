import { isAbsolute, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../model/errors.ts';
import { cacheFolder, makeOwnFolder } from '../disk/cache.ts';
import { textReader } from '../disk/text-file.ts';
import { makeFolder } from '../disk/write.ts';
import { mayRevealSecret } from '../gateway/http/reveal-secrets.ts';
import { registry } from '../kinds/index.ts';
import { type AllowedNetwork, parseNetwork } from '../server/rules/runbooks/host-problem.ts';
import { createRemoteReader } from '../server/rules/runbooks/read-remote.ts';
import { isRunbookPath } from '../server/rules/runbooks/runbook-library.ts';
import type { DatabaseOptions } from '../server/store/database.ts';
import { createFirstAdminKey } from '../server/rules/api-keys.ts';
import { createLog, type Log, type LogFormat } from '../server/log.ts';
import { startServer } from '../server/http/start-server.ts';
import { collect, defaultDatabase, type DefineCommand, type OutputFlags, wholeNumber } from './context/options.ts';
import { printerFor } from './output/printer.ts';
import { version } from './context/version.ts';
import type { CliContext } from './context/cli-context.ts';
import { Option } from 'commander';

type ServeFlags = OutputFlags & {
  readonly port: number;
  readonly host: string;
  readonly database?: string;
  readonly agent: readonly string[];
  /** Makes the first key instead of serving. */
  readonly init: boolean;
  readonly trustProxy: boolean;
  readonly log?: LogFormat;
  readonly drain: number;
  /** In days. */
  readonly auditKeep?: number;
  /** Networks or addresses. */
  readonly allowPrivateRepositories: readonly string[];
};

/** Defines `ostiary serve`. */
export const defineServe: DefineCommand = (command, run) => {
  command
    .addHelpText(
      'after',
      `
Environment variables:
  OSTIARY_SERVE_KEY                      key of an admin
  OSTIARY_SERVE_MANAGER_KEY              key that sets managed_by on objects
  OSTIARY_SERVE_MANAGER                  value of managed_by for that key
  OSTIARY_SERVE_DATABASE                 same as --database, but private
  OSTIARY_SERVE_ENCRYPTION_KEY           32 bytes in base64, for PostgreSQL
  OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS  earlier keys, for reading only
  NAME_FILE                              file with the value of NAME, see above`,
    )
    .option('--port <n>', 'port to listen on; 0 selects a free port', wholeNumber(0, 65_535), 8009)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--database <where>', `a folder for the embedded database, or postgres://… (default: ${defaultDatabase})`)
    .option('--agent <name>', 'register an agent with this name (repeatable)', collect, [])
    .option('--init', 'create the first admin key, print it and exit', false)
    .option('--trust-proxy', 'read client addresses from X-Forwarded-For', false)
    .addOption(new Option('--log <form>', 'log format (default: text on a terminal, otherwise json)').choices(['text', 'json']))
    .option('--drain <seconds>', 'seconds to keep serving after SIGTERM while /readyz answers 503', wholeNumber(0, 3600), 0)
    .option('--audit-keep <days>', 'days to keep audit entries (default: keep all)', wholeNumber(1, 36_500))
    .option(
      '--allow-private-repositories <network>',
      'allow runbook repositories in this network, such as 10.1.0.0/16 (repeatable)',
      collect,
      [],
    )
    .action((flags) => run((context) => runServe(flags, context)));
};

/** Runs a gateway until it is interrupted, finishes open requests and stops. Returns exit code 0. */
async function runServe(flags: ServeFlags, context: CliContext): Promise<number> {
  // Files that a library creates are also only for their owner.
  process.umask(0o077);
  const { note, print } = printerFor(context, flags);
  const { env } = context;
  const logForm = flags.log ?? (context.stderr.isTTY ? 'text' : 'json');
  const say = createLog((line) => note(`${line}\n`), logForm, context.now);
  const log: Log = (entry) => {
    if (!flags.quiet || entry.level !== 'info') say(entry);
  };
  const database = flags.database ?? readVariable('OSTIARY_SERVE_DATABASE', context) ?? defaultDatabase;
  if (flags.database !== undefined && /^postgres(ql)?:\/\/[^/?#]*:[^/?#]*@|[?&]password=/i.test(flags.database)) {
    // Replaces the command line in the list of processes.
    process.title = 'ostiary serve';
    log({ level: 'warn', message: 'other users can see the password in --database briefly: set OSTIARY_SERVE_DATABASE instead' });
  }
  const adminKey = readVariable('OSTIARY_SERVE_KEY', context) ?? '';
  const managerKey = readVariable('OSTIARY_SERVE_MANAGER_KEY', context);
  const knownHosts = env['OSTIARY_SERVE_KNOWN_HOSTS'];
  const repositories = createRemoteReader({
    env,
    isWanted: isRunbookPath,
    mayRevealSecret,
    knownHosts: knownHosts === undefined ? undefined : inFolder(context.cwd, knownHosts),
    allowedNetworks: flags.allowPrivateRepositories.map(networkOf),
  });
  const store = {
    database: databaseOf(database, context.cwd),
    encryptionKey: readVariable('OSTIARY_SERVE_ENCRYPTION_KEY', context),
    makeFolder,
    previousEncryptionKeys: readVariable('OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS', context),
    now: context.now,
    log,
  };
  const stopped = context.interruptSignal();
  // The default folder contains keys and data, so git ignores it, whatever the project's own .gitignore says.
  if (database === defaultDatabase) makeOwnFolder(join(context.cwd, cacheFolder));
  if (flags.init) {
    print(`${await createFirstAdminKey(store)}\n`);
    return 0;
  }
  const server = await startServer({
    ...store,
    host: flags.host,
    port: flags.port,
    registry,
    ...(adminKey === '' ? {} : { adminKey }),
    ...(managerKey === undefined ? {} : { managerKey: { key: managerKey, manager: env['OSTIARY_SERVE_MANAGER'] ?? 'platform' } }),
    agents: flags.agent.length === 0 ? ['default'] : flags.agent,
    trustProxy: flags.trustProxy,
    drain: () => delay(flags.drain * 1000),
    auditKeepDays: flags.auditKeep,
    version,
    runbooks: repositories,
  });
  // The address ends at a space, in JSON too: scripts search for it.
  say({ level: 'info', message: `ostiary ${version} serves on ${server.url} from ${'url' in store.database ? 'PostgreSQL' : 'a folder'}` });
  if (!stopped.aborted) {
    await new Promise<void>((resolve) => {
      stopped.addEventListener('abort', () => resolve(), { once: true });
    });
  }
  log({ level: 'info', message: 'stopping: finishing open requests' });
  await server.close();
  return 0;
}

function networkOf(text: string): AllowedNetwork {
  const network = parseNetwork(text);
  if (network !== undefined) return network;
  throw new UsageError(
    `invalid network ${JSON.stringify(text)} for --allow-private-repositories`,
    'expected a network such as 10.1.0.0/16, or an address',
  );
}

function inFolder(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

/** Returns the value of a variable: the content of the file that `NAME_FILE` names, without it the value of `NAME`. */
function readVariable(name: string, { env, cwd }: CliContext): string | undefined {
  const path = env[`${name}_FILE`];
  if (path === undefined) return env[name];
  const read = textReader()(inFolder(cwd, path));
  if ('text' in read) return read.text.trim();
  throw new UsageError(`${name}_FILE cannot be read: ${read.problem.reason}`, 'check the path and its permissions');
}

function databaseOf(flag: string, cwd: string): DatabaseOptions {
  if (flag === '' || flag === '-')
    throw new UsageError(flag === '' ? '--database is empty' : '"-" is not a folder', 'expected postgres://… or a folder');
  const scheme = /^[a-z][a-z0-9+.-]+(?=:\/\/)/i.exec(flag)?.[0];
  if (scheme !== undefined && !/^postgres(ql)?$/.test(scheme)) {
    throw new UsageError(`unsupported scheme ${scheme} in --database`, 'expected postgres://… or a folder');
  }
  return /^postgres(ql)?:\/\//.test(flag) ? { url: flag } : { folder: inFolder(cwd, flag) };
}
