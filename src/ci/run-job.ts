import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { findAffectedPlans } from './affected-plans.ts';
import { type Decisions, openDecisions } from './decisions.ts';
import { type ActionInputs, digestFromComment, linesOf, projectKeyOf, readInputs } from './inputs.ts';
import {
  type ActionTask,
  addEvent,
  type Checkout,
  checkoutFromEnvironment,
  createStep,
  fallbackToValidate,
  type Findings,
  readCheckout,
  reportSecrets,
  senderOf,
  stepExitCode,
  targetNameOf,
  type TaskResult,
  type Waits,
} from './task.ts';
import { withoutTakenBranch } from './drift-issue.ts';
import { findMentioned } from './mentioned-pull-request.ts';
import { findProposal } from './proposal.ts';
import { type OnReported, reportRun } from './report-run.ts';
import { runEndBesideTarget } from '../report/subjects/run-end.ts';
import { workflowCommands } from '../commands/workflow-commands.ts';
import type { CliContext, CommandEvent } from '../commands/context/cli-context.ts';
import { readNetwork } from '../commands/session/connect.ts';
import { attempt, runGuarded } from '../commands/command-line/guard.ts';
import { runCommandLine } from '../commands/command-line/run-command-line.ts';
import { printTargetEnds, worstExitCode } from '../commands/command-line/run-for-targets.ts';
import { listCaches, readCache, writeCache } from '../disk/cache.ts';
import { isFolder, readRunnerFile } from '../disk/write.ts';
import type { CacheService, CiRun, CiSystem, JobLog } from '../forge/ci-system.ts';
import type { SendRequest } from '../forge/forge.ts';
import { UsageError } from '../model/errors.ts';
import { isObject } from '../model/json.ts';
import { requireConfigOfCheckout } from '../project/config-checkout.ts';
import { requirePathPerTarget, selectTargets, type TargetSelector } from '../project/resolved-config.ts';
import { escapeTerminal } from '../report/escape.ts';
import { requireWritable } from '../commands/output/emit.ts';

const plainFlags = { color: false, quiet: false } as const;

/**
 * Runs one step of a job: converts the inputs to a command line for each target, runs them and reports the results on the
 * forge. Never throws.
 */
export async function runJob(
  system: CiSystem,
  context: CliContext,
  sleep: Waits['sleep'],
  inputsIn: (env: CliContext['env']) => Promise<ActionInputs> = readInputs,
  onReported?: OnReported,
): Promise<number> {
  const log = system.openLog(context.stdout.write);
  const inner = jobContext(context, log);
  const results = await runTasks({ log, system, inputsIn, context, inner, waits: { sleep, waited: 0 } });
  const reported = await runGuarded(async () => reportRun(results, onReported), { context: inner, flags: plainFlags });
  log.close();
  const ended = worstExitCode(results.map(stepExitCode));
  return ended === 0 ? reported : ended;
}

type Job = Pick<TaskResult, 'log' | 'system' | 'context' | 'waits'> & {
  readonly inner: CliContext;
  readonly inputsIn: (env: CliContext['env']) => Promise<ActionInputs>;
  /** What was found before the tasks. */
  readonly before?: Findings;
};

/** Runs the tasks of all targets one after another; a failed target does not stop the others. */
async function runTasks(job: Job): Promise<readonly TaskResult[]> {
  const { log, system, context, waits, inner } = job;
  const recorder = recordFindings(job);
  const prepared = await prepareTasks(job, recorder);
  if ('exitCode' in prepared) return [{ ...prepared, findings: recorder.findings(), log, system, context, waits }];
  const results: TaskResult[] = [];
  for (const one of prepared.tasks) {
    if (results.length > 0) inner.stdout.write('\n\n');
    const { env, cwd } = prepared;
    results.push(
      await runTask(
        one,
        { env, oneOfSeveral: prepared.tasks.length > 1, request: one.run.names.request },
        { ...job, before: recorder.findings(), context: { ...context, cwd }, inner: { ...inner, cwd } },
      ),
    );
  }
  await prepared.cache?.save();
  const ends = results.map(({ task: done, exitCode: code, findings }) => {
    return { name: targetNameOf(done) ?? '', code, found: runEndBesideTarget(findings) };
  });
  if (results.length > 1) printTargetEnds(ends, plainFlags, inner);
  return results;
}

type FindingsRecorder = EventReceiver & { readonly findings: () => Findings };

/** Makes a context that collects events; masks secrets at once. */
function recordFindings({
  log,
  system,
  inner,
  before = { diagnostics: [] },
}: Pick<Job, 'log' | 'system' | 'inner' | 'before'>): FindingsRecorder {
  let findings = before;
  const onEvent = (event: CommandEvent): void => {
    if ('secret' in event) log.command(system.maskCommands(event.secret));
    findings = addEvent(findings, event);
  };
  return { context: { ...inner, onEvent }, onEvent, log, system, findings: () => findings };
}

async function runTask(given: ActionTask, place: Pick<CliContext, 'env' | 'oneOfSeveral' | 'request'>, job: Job): Promise<TaskResult> {
  const { log, system, context, waits } = job;
  const { context: recorded, findings } = recordFindings(job);
  const taskContext: CliContext = { ...recorded, ...place };
  const begun = await attempt(() => begin(given, taskContext, waits), { context: taskContext, flags: plainFlags });
  if ('exitCode' in begun) return { task: given, findings: findings(), ...begun, log, system, context, waits };
  const { task, decisions } = begun.value;
  const deciding = decisions === undefined ? taskContext : { ...taskContext, decide: decisions.decide };
  const code = await runCommandLine(task.step.argv, deciding, { byHeading: { 'Commands:': Object.values(workflowCommands) } });
  const { findings: found, exitCode } = withoutTakenBranch({ findings: findings(), exitCode: code });
  const diagnostics = [...found.diagnostics, ...((await decisions?.noticesAbout(found)) ?? [])];
  const done = { ...task, comments: decisions?.comments() ?? [] };
  return { task: done, findings: { ...found, diagnostics }, exitCode, log, system, context, waits };
}

/** Opens what people decide about a task, and chooses its step. */
async function begin(
  task: ActionTask,
  context: CliContext,
  waits: Waits,
): Promise<{ readonly task: ActionTask; readonly decisions: Decisions | undefined }> {
  const { run, inputs, proposal } = task;
  const decisions = openDecisions(task, { context, waits });
  return { task: { ...task, step: await fallbackToValidate(task.step, inputs, { run, proposal, context }) }, decisions };
}

/** Makes a context with one stream for all output, so that no text overtakes the command that allows it. */
function jobContext(context: CliContext, log: JobLog): CliContext {
  const output = { write: log.text, isTTY: false, columns: undefined, ansi: false };
  return { ...context, interactive: false, stdout: output, stderr: output };
}

/** The tasks of a step, one for each target, and the environment and the folder to run them in. */
type PreparedTasks = Pick<CliContext, 'env' | 'cwd'> & {
  readonly tasks: readonly ActionTask[];
  readonly cache: RunCache | undefined;
};

type EventReceiver = { readonly context: CliContext; readonly onEvent: (event: CommandEvent) => void } & Pick<Job, 'log' | 'system'>;

/** How far the preparation of the tasks came before an error; without a task if the inputs are invalid. */
type FailedPreparation = Pick<TaskResult, 'task' | 'exitCode'>;

/** Reads the inputs, the event and the checkout. */
async function prepareTasks({ context, waits, inputsIn }: Job, recorder: EventReceiver): Promise<PreparedTasks | FailedPreparation> {
  const guarded = { context: recorder.context, flags: plainFlags };
  const begun = await attempt(async () => firstTask(await inputsIn(context.env), recorder.system, context), guarded);
  if ('exitCode' in begun) return { task: undefined, ...begun };
  const mentioned = await attempt(() => findMentioned(begun.value, { context: recorder.context, waits }), guarded);
  if ('exitCode' in mentioned) return { task: { ...begun.value, inputs: withoutComment(begun.value.inputs) }, ...mentioned };
  const { value: first } = mentioned;
  if (first === undefined) return { task: { ...begun.value, inputs: withoutComment(begun.value.inputs) }, exitCode: 0 };
  const { inputs, run } = first;
  // Until the checkout is known to belong to the event, its comment stays as it is.
  const silent = { ...first, inputs: withoutComment(inputs) };
  const found = await attempt(() => findCheckout(first, context, recorder), guarded);
  if ('exitCode' in found) return { task: silent, ...found };
  const { checkout, inGit } = found.value;
  const judged = await attempt(() => findProposal(inputs, run, { repository: checkout.repository, context: inGit }), guarded);
  if ('exitCode' in judged) return { task: { ...silent, checkout }, ...judged };
  const known = { ...first, checkout, proposal: judged.value };
  const made = await attempt(() => makeTasks(known, { ...recorder, env: context.env, inGit }), guarded);
  return 'value' in made ? made.value : { task: { ...known, inputs: inputs.several ? silent.inputs : inputs }, ...made };
}

/** Finds the checkout that the step is about, and the context to run git in. */
async function findCheckout(
  { inputs, run }: ActionTask,
  context: CliContext,
  { context: inner, onEvent, system }: EventReceiver,
): Promise<{ readonly checkout: Checkout; readonly inGit: CliContext }> {
  if (inputs.token !== '') onEvent({ secret: inputs.token });
  const env = system.gitEnvironment(context.env, inputs.token, run.page);
  const inGit: CliContext = { ...inner, env, cwd: workingDirectoryOf(inputs, run, context) };
  if (inputs.sarif !== undefined) requireWritable([{ what: 'file of findings', path: inputs.sarif }], inGit);
  requireConfigOfCheckout({ config: inputs.flags['config'] }, inGit);
  const checkout = await readCheckout({ run, inputs }, inGit);
  // Before anything is sent to the forge: an invalid proxy fails the step once.
  readNetwork(context.env);
  return { checkout, inGit };
}

/** Makes a task for each target of the step. */
async function makeTasks(
  { inputs, run, checkout, proposal }: ActionTask,
  { env, inGit, log, system }: { readonly env: CliContext['env']; readonly inGit: CliContext } & Pick<Job, 'log' | 'system'>,
): Promise<PreparedTasks> {
  const cache = await restoreRunCache(inputs, { run, env, log, system, send: senderOf(env) });
  const cached = cache === undefined ? inputs : { ...inputs, flags: { ...inputs.flags, cache: cache.folder } };
  const affected = await findAffectedPlans({ inputs, proposal }, inGit);
  const all = splitByTarget(cached, inGit).map((own) => ({
    inputs: own,
    run,
    checkout,
    proposal,
    step: createStep(own, { ...run, commit: checkout.commit }, proposal),
  }));
  const tasks = affected === undefined ? all : affected.select(all);
  // The output of one target can contain a secret of another.
  if (tasks.length > 1) for (const task of tasks) await reportSecrets(task.inputs, { proposal, context: inGit });
  return { tasks, env: inGit.env, cwd: inGit.cwd, cache };
}

/** Returns the folder that the step works in. Throws UsageError if the input names no folder. */
function workingDirectoryOf({ workingDirectory }: ActionInputs, { workspace }: CiRun, { cwd }: CliContext): string {
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
  return { ...inputs, comment: false, status: false, flags: inputs.several || target === undefined ? flags : { ...flags, target } };
}

function firstTask(inputs: ActionInputs, system: CiSystem, context: CliContext): ActionTask {
  const run = system.readRun(context.env, readRunnerFile);
  const step = { mode: inputs.mode, argv: [], notes: [] };
  return { inputs, run, step, proposal: undefined, checkout: checkoutFromEnvironment(run, context) };
}

/** Returns the inputs for each selected target; commands put its name into the paths of files. Throws UsageError for an invalid selection. */
function splitByTarget(inputs: ActionInputs, context: CliContext): readonly ActionInputs[] {
  const names = selectTargets(aimOf(inputs), context);
  if (names === undefined) return [inputs];
  const { 'all-targets': _, affected: __, ...flags } = inputs.flags;
  const { report = '', out = [], journal = [], snapshot = [] } = flags;
  requirePathPerTarget([...linesOf(report).map((line) => line.slice(line.indexOf('=') + 1)), out, journal, snapshot].flat());
  return names.map((target) => ({ ...inputs, flags: { ...flags, target } }));
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
  readonly run: Pick<CiRun, 'temp' | 'pullRequest' | 'mention'>;
  readonly env: CliContext['env'];
  readonly log: JobLog;
  readonly system: CiSystem;
  readonly send: SendRequest | undefined;
};

/** The names of files that Ostiary writes: an entry that another job made can name nothing else. */
const fileName = /^(?:verified|record)-[0-9a-f]{16}$/;

/**
 * Restores the cache that an earlier run kept; undefined if the job has none. Its files are encrypted with the token of the gateway, so
 * an entry that anything else wrote is a miss. A failure is a debug message, never an error.
 */
async function restoreRunCache(inputs: ActionInputs, { run, env, log, system, send }: CacheOptions): Promise<RunCache | undefined> {
  const isWanted =
    inputs.cache && inputs.mode !== 'validate' && inputs.mode !== 'targets' && run.pullRequest?.fork !== true && run.mention === undefined;
  const service = isWanted ? system.openCache(env, send) : undefined;
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
      const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: runAttempt = '1' } = env;
      const digest = shortHash(after);
      await quietly('saved', log, () => service.save(`${prefix}${id}-${runAttempt}-${digest}`, after));
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
