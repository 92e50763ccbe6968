import { resolve, join } from 'node:path';
import { isFolder, readRunnerFile } from '../../disk/write.ts';
import { UsageError } from '../../model/errors.ts';
import { withGitCredentials, readWorkflowRun, type WorkflowRun } from '../../github/workflow-run.ts';
import { pathForTarget, requirePathPerTarget, selectTargets, type TargetSelector } from '../../project/resolved-config.ts';
import { digestFromComment } from './decisions.ts';
import { findProposal } from './proposal.ts';
import { senderOf } from './open-run-github.ts';
import type { JobLog } from '../../github/job-log.ts';
import { linesOf, readInputs, type ActionInputs, projectKeyOf } from './inputs.ts';
import { type ActionTask, checkoutFromEnvironment, createStep, readCheckout, reportSecrets } from './task.ts';
import { readNetwork } from '../context/connect.ts';
import type { CommandEvent, CliContext } from '../context/cli-context.ts';
import { createHash } from 'node:crypto';
import { listCaches, readCache, writeCache } from '../../disk/cache.ts';
import { openCacheService, type CacheService } from '../../github/cache-service.ts';
import type { SendRequest } from '../../github/github-client.ts';
import { isObject } from '../../model/json.ts';
import { escapeTerminal } from '../../report/escape.ts';

/** The tasks of a step, one for each target, and the environment and the folder to run them in. */
export type PreparedTasks = Pick<CliContext, 'env' | 'cwd'> & {
  readonly tasks: readonly ActionTask[];
  readonly cache: RunCache | undefined;
};

/** A context, the receiver of its events, and the log of the job. */
export type EventReceiver = { readonly context: CliContext; readonly onEvent: (event: CommandEvent) => void; readonly log: JobLog };

/** Reads the inputs, the event and the checkout; calls `onTask` with each intermediate state, for the report of an error. */
export async function prepareTasks(
  context: CliContext,
  { context: inner, onEvent, log }: EventReceiver,
  onTask: (task: ActionTask) => void,
): Promise<PreparedTasks> {
  const inputs = readInputs(context.env);
  const first = firstTask(inputs, context);
  const { run } = first;
  onTask({ ...first, inputs: withoutComment(inputs) });
  if (inputs.token !== '') onEvent({ secret: inputs.token });
  const env = withGitCredentials(context.env, inputs.token, run.page);
  const cwd = workingDirectoryOf(inputs, run, context);
  const inGit: CliContext = { ...inner, env, cwd };
  const checkout = await readCheckout(run, inGit);
  // Before anything is sent to GitHub: an invalid proxy fails the step once.
  readNetwork(context.env);
  // Until the checkout is known to belong to the event, its comment stays as it is.
  onTask({ ...first, checkout, inputs: withoutComment(inputs) });
  const proposal = await findProposal(inputs, run, inGit);
  onTask({ ...first, checkout, ...(inputs.several ? { inputs: withoutComment(inputs) } : {}) });
  const cache = await restoreRunCache(inputs, { run, env: context.env, log, send: senderOf(context.env) });
  const cached = cache === undefined ? inputs : { ...inputs, flags: { ...inputs.flags, cache: cache.folder } };
  const tasks = splitByTarget(cached, inGit).map((own) => ({
    inputs: own,
    run,
    checkout,
    proposal,
    step: createStep(own, { ...run, commit: checkout.commit }, proposal),
  }));
  // The output of one target can contain a secret of another.
  if (tasks.length > 1) for (const task of tasks) await reportSecrets(task.inputs, { proposal, context: inGit });
  return { tasks, env, cwd, cache };
}

/** Returns the folder that the step works in. Throws UsageError if the input names no folder. */
function workingDirectoryOf({ workingDirectory }: ActionInputs, { workspace }: WorkflowRun, { cwd }: CliContext): string {
  if (workingDirectory === undefined) return cwd;
  const folder = resolve(workspace, workingDirectory);
  if (isFolder(folder)) return folder;
  throw new UsageError(
    `the working-directory "${workingDirectory}" does not exist`,
    'name a folder of the repository, and check it out first',
  );
}

/** Returns inputs without a comment; several targets have no comment in common, because it would never be updated. */
function withoutComment(inputs: ActionInputs): ActionInputs {
  const { target, ...flags } = inputs.flags;
  return { ...inputs, comment: false, flags: inputs.several || target === undefined ? flags : { ...flags, target } };
}

function firstTask(inputs: ActionInputs, context: CliContext): ActionTask {
  const { env } = context;
  const event = env['GITHUB_EVENT_PATH'] ?? '';
  const run = readWorkflowRun(env, event === '' ? '' : readRunnerFile(event));
  const step = { mode: inputs.mode, argv: [], notes: [] };
  return { inputs, run, step, proposal: undefined, checkout: checkoutFromEnvironment(run, context) };
}

/** Returns the inputs for each selected target, with files of its own. Throws UsageError for an invalid selection. */
function splitByTarget(inputs: ActionInputs, context: CliContext): readonly ActionInputs[] {
  const names = selectTargets(aimOf(inputs), context);
  if (names === undefined) return [inputs];
  const { environment } = inputs;
  if (environment?.includes('{target}') === false)
    throw new UsageError(`several targets would use the same environment "${environment}"`, 'add {target} to its name');
  const { 'all-targets': _, ...flags } = inputs.flags;
  const written = files.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]] as const]));
  requirePathPerTarget(written.flatMap(([name, text]) => (name === 'report' ? linesOf(text).map(pathOf) : [text])));
  return names.map((target) => ({
    ...inputs,
    flags: { ...flags, ...Object.fromEntries(written.map(([name, text]) => [name, pathForTarget(text, target)])), target },
  }));
}

/** Inputs that name files to write. */
const files = ['report', 'out', 'journal'] as const;

function pathOf(report: string): string {
  return report.slice(report.indexOf('=') + 1);
}

function aimOf({ flags: { config, target, url, plan, digest, 'all-targets': all } }: ActionInputs): TargetSelector {
  // Each target has its own comment, and so its own digest.
  const one = digest === digestFromComment ? undefined : digest;
  const given = Object.entries({ config, target, url, plan, digest: one }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), allTargets: all !== undefined };
}

/** The cache of verified secrets between the runs of a workflow. */
type RunCache = {
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
async function restoreRunCache(inputs: ActionInputs, { run, env, log, send }: CacheOptions): Promise<RunCache | undefined> {
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
  const restored: unknown = text === undefined ? {} : JSON.parse(text);
  if (!isObject(restored)) return;
  for (const [name, content] of Object.entries(restored))
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
