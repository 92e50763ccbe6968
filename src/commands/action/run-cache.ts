import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { listCaches, readCache, writeCache } from '../../disk/cache.ts';
import { openCacheService, type CacheService } from '../../github/cache-service.ts';
import type { SendRequest } from '../../github/github-client.ts';
import type { JobLog } from '../../github/job-log.ts';
import type { WorkflowRun } from '../../github/workflow-run.ts';
import { isObject } from '../../model/json.ts';
import { escapeTerminal } from '../../report/escape.ts';
import type { CliContext } from '../context/cli-context.ts';
import { projectKeyOf, type ActionInputs } from './inputs.ts';

/** The cache of verified secrets between the runs of a workflow. */
export type RunCache = {
  /** The folder for `--cache`. */
  readonly folder: string;
  /** Keeps what the run has added for later runs. */
  readonly save: () => Promise<void>;
};

type CacheOptions = {
  readonly run: Pick<WorkflowRun, 'temp' | 'pullRequest'>;
  readonly env: CliContext['env'];
  readonly log: JobLog;
  readonly send: SendRequest | undefined;
};

/** The names of files that Ostiary writes: an entry that another job made can name nothing else. */
const fileName = /^verified-[0-9a-f]{16}$/;

/**
 * Restores the cache that an earlier run kept; undefined if the job has none. Its files are encrypted with the token of the gateway, so
 * an entry that anything else wrote is a miss. A failure is a debug message, never an error.
 */
export async function restoreRunCache(inputs: ActionInputs, { run, env, log, send }: CacheOptions): Promise<RunCache | undefined> {
  const isWanted = inputs.cache && inputs.mode !== 'validate' && run.pullRequest?.fork !== true;
  const service = isWanted ? openCacheService(env, send) : undefined;
  if (service === undefined) return undefined;
  const folder = join(run.temp, 'ostiary-cache');
  const prefix = `ostiary-${shortHash(JSON.stringify(projectKeyOf(inputs)))}-`;
  await quietly('restored', log, () => restoreFiles(service, prefix, folder));
  const before = archiveOf(folder);
  return {
    folder,
    async save() {
      const after = archiveOf(folder);
      if (after === before || after === '{}') return;
      const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt = '1' } = env;
      const digest = shortHash(after);
      await quietly('saved', log, () => service.save(`${prefix}${id}-${attempt}-${digest}`, after));
    },
  };
}

async function restoreFiles(service: CacheService, prefix: string, folder: string): Promise<void> {
  const text = await service.restore(prefix);
  const files: unknown = text === undefined ? {} : JSON.parse(text);
  if (!isObject(files)) return;
  for (const [name, content] of Object.entries(files))
    if (fileName.test(name) && typeof content === 'string') writeCache(folder, name, content);
}

function archiveOf(folder: string): string {
  const names = listCaches(folder).filter((name) => fileName.test(name));
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, readCache(folder, name) ?? ''])));
}

/** Runs work whose failure must not change the result of the step. */
async function quietly(what: string, log: JobLog, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.command(`::debug::the cache was not ${what}: ${escapeTerminal(reason).replaceAll('\n', ' ')}\n`);
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
