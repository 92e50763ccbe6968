import { randomUUID } from 'node:crypto';
import { join, relative } from 'node:path';
import { linkedHash } from '../report/links.ts';
import { type ActionInputs, type ActionMode, argvOf, digestFromComment } from './inputs.ts';
import type { Proposal } from './proposal.ts';
import type { CliContext, CommandEvent } from '../commands/context/cli-context.ts';
import { hasSnapshotKey } from '../commands/planning/snapshot-file.ts';
import { readNetwork } from '../commands/session/connect.ts';
import { version } from '../commands/context/version.ts';
import { repositoryPaths } from '../disk/walk.ts';
import { type HttpExchange, type NetworkOptions, openTransport } from '../gateway/http/transport.ts';
import { fetchHistory, hasOrigin } from '../git/origin.ts';
import { branchOfOrigin } from '../git/resolve-commit.ts';
import { mayBeInRepository, openRepository, type Repository } from '../git/repository.ts';
import type { CiRun, CiSystem, JobLog } from '../forge/ci-system.ts';
import type { Forge, SendRequest, WaitingTime } from '../forge/forge.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { AppError, UsageError } from '../model/errors.ts';
import { noDigest, type Plan } from '../model/plan/plan.ts';
import { loadTarget } from '../project/manifests.ts';
import { openConfig, openProject } from '../project/open-project.ts';
import { type ProjectSelection, isPendingTarget, tokenVariable } from '../project/resolved-config.ts';
import type { TargetFindings } from '../report/subjects/found.ts';
import type { CommentLink } from '../report/markdown/comment.ts';

/** The events of a command, merged. */
export type Findings = Omit<TargetFindings, 'target'> & {
  /** The file that the plan was saved in. */
  readonly saved?: string;
  /** The names of the targets that the change affects, and of the others. */
  readonly affected?: readonly string[];
  readonly unaffected?: readonly string[];
};

/** Adds an event; drops repeated diagnostics, and diagnostics that repeat a refusal of the plan. */
export function addEvent(findings: Findings, event: CommandEvent): Findings {
  if ('secret' in event) return findings;
  if ('saved' in event || 'affected' in event) return { ...findings, ...event };
  if ('plan' in event) return { ...findings, ...event, diagnostics: untold(findings.diagnostics, event.plan) };
  if ('drift' in event) return { ...findings, ...event };
  const known = new Set(findings.diagnostics.map((one) => JSON.stringify(one)));
  const fresh = event.diagnostics.filter((one) => !known.has(JSON.stringify(one)));
  return { ...findings, diagnostics: untold([...findings.diagnostics, ...fresh], findings.plan) };
}

function untold(diagnostics: readonly Diagnostic[], plan: Plan | undefined): readonly Diagnostic[] {
  if (plan === undefined) return diagnostics;
  const known = new Set(plan.refusals.map(({ code, message }) => `${code} ${message}`));
  return diagnostics.filter(({ code, message }) => !known.has(`${code} ${message}`));
}

/** What a step of a workflow does for one target. */
export type ActionTask = {
  readonly inputs: ActionInputs;
  readonly run: CiRun;
  readonly step: ActionStep;
  /** Undefined if the checkout is merged. */
  readonly proposal: Proposal | undefined;
  readonly checkout: Checkout;
  /** The overrides and approvals in comments that count in this run. */
  readonly comments?: readonly CommentLink[];
};

/** The result of a task, and what its report needs. */
export type TaskResult = {
  /** Undefined if the inputs were invalid. */
  readonly task: ActionTask | undefined;
  readonly findings: Findings;
  readonly exitCode: number;
  readonly log: JobLog;
  readonly system: CiSystem;
  readonly context: CliContext;
  readonly waits: Waits;
};

/** Returns the step's exit code for a target. Drift is an expected result, so it fails the step only with detailed-exitcode. */
export function stepExitCode({ task, exitCode }: Pick<TaskResult, 'task' | 'exitCode'>): number {
  return exitCode === 2 && task?.step.mode === 'drift' && !task.inputs.detailed ? 0 : exitCode;
}

/** How the job waits for its forge, and how long it has. */
export type Waits = WaitingTime & { readonly sleep: (milliseconds: number) => Promise<void> };

/** Returns the name of the task's target, if the inputs name one. */
export function targetNameOf(task: ActionTask | undefined): string | undefined {
  return task?.inputs.flags['target'];
}

/** The commit in the working tree. `pathOf` returns a file's path in the repository, undefined outside it. */
export type Checkout = {
  readonly repository: Repository | undefined;
  readonly commit: string;
  readonly pathOf: (file: string) => string | undefined;
};

/** Reads the checkout from the job's variables. */
export function checkoutFromEnvironment(run: CiRun, context: CliContext): Checkout {
  return { repository: undefined, commit: run.commit, pathOf: repositoryPaths(relative(run.workspace, context.cwd), context) };
}

/**
 * Reads the checkout from git, because it can have another commit than the event, in another folder; without a repository,
 * from the job's variables. A shallow clone first fetches the history that all modes but validate compare with.
 */
export async function readCheckout({ run, inputs }: Pick<ActionTask, 'run' | 'inputs'>, context: CliContext): Promise<Checkout> {
  const repository = mayBeInRepository(context.cwd) ? await openCheckout({ run, inputs }, context) : undefined;
  if (repository === undefined) return checkoutFromEnvironment(run, context);
  return { repository, commit: repository.head ?? run.commit, pathOf: repositoryPaths(repository.prefix, context) };
}

async function openCheckout({ run, inputs }: Pick<ActionTask, 'run' | 'inputs'>, context: CliContext): Promise<Repository | undefined> {
  const place = { folder: context.cwd, env: context.env };
  const repository = await openRepository(place);
  if (repository?.shallow !== true || !hasOrigin(repository) || inputs.mode === 'validate') return repository;
  const reviewed = branchOfOrigin(inputs.configRef ?? '');
  const branches = [run.proposedFor?.branch, run.defaultBranch, reviewed].flatMap((one) => (one === undefined || one === '' ? [] : [one]));
  try {
    await fetchHistory(repository, [...new Set(branches)]);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const hint = run.names.historyHint;
    const message = `the history of this shallow clone was not fetched: ${error.message}`;
    context.onEvent?.({ diagnostics: [{ code: 'git/shallow', severity: 'warning', message, hint }] });
  }
  // What git knows of the clone is read once.
  return openRepository(place);
}

export type ActionStep = {
  readonly mode: ActionMode;
  readonly argv: readonly string[];
  /** Sentences at the top of the report. */
  readonly notes: readonly string[];
};

/** The run of a step, with the commit that is checked out. */
type StepRun = Pick<CiRun, 'temp' | 'page' | 'links' | 'commit'>;

/** Makes a command line of the inputs; a proposal is planned with the reviewed config and without secrets. Report files link to the checkout. */
export function createStep(given: ActionInputs, run: StepRun, proposal: Proposal | undefined): ActionStep {
  const { mode, flags } = given;
  // Without a decision in comments, no plan is approved.
  const inputs = flags['digest'] === digestFromComment ? { ...given, flags: { ...flags, digest: noDigest } } : given;
  const links =
    inputs.flags['report'] === undefined ? [] : [`--link-base=${run.links ?? run.page}/blob/${run.commit.slice(0, linkedHash)}`];
  if (mode === 'validate') return { mode, argv: argvOf(inputs, mode), notes: [] };
  if (mode === 'apply' || mode === 'drift') {
    const isWritten = mode === 'apply' || inputs.flags['revert'] !== undefined || inputs.flags['expire'] !== undefined;
    return { mode, argv: argvOf(inputs, mode, [...(isWritten ? ['--yes'] : []), ...links]), notes: [] };
  }
  if (mode === 'targets') return listStep(inputs, proposal);
  const proposed = proposal === undefined ? {} : { own: proposal.own, 'config-ref': proposal.configRef, secrets: 'unresolved' };
  // A plan from a snapshot is not saved: it cannot be applied.
  const out = inputs.flags['snapshot'] === undefined ? { out: join(run.temp, `ostiary-plan-${randomUUID()}.json`) } : {};
  const defaults = Object.entries({ ...out, ...proposed });
  const more = defaults.flatMap(([name, value]) => (inputs.flags[name] === undefined ? [`--${name}=${value}`] : []));
  return { mode, argv: argvOf(inputs, mode, [...more, ...links]), notes: [] };
}

/** Makes a step that lists the targets that a proposal affects. Throws UsageError without a proposal. */
export function listStep(inputs: ActionInputs, proposal: Proposal | undefined): ActionStep {
  const { own = proposal?.own, 'config-ref': configRef = proposal?.configRef } = inputs.flags;
  if (own === undefined)
    throw new UsageError(
      'nothing is proposed here: HEAD is a commit of the reviewed branch, and affected targets differ from that branch',
      'run this step for pull requests and merge requests only, or plan all targets',
    );
  const flags = { ...inputs.flags, own, ...(configRef === undefined ? {} : { 'config-ref': configRef }) };
  return { mode: 'targets', argv: argvOf({ ...inputs, flags }, 'targets'), notes: [] };
}

/**
 * Returns the step, or one that only validates the manifests if the proposal cannot be planned: it has no secrets, or its
 * target is new.
 */
export async function fallbackToValidate(
  step: ActionStep,
  inputs: ActionInputs,
  { run, proposal, context }: StepContext,
): Promise<ActionStep> {
  if (step.mode !== 'plan' || proposal === undefined) return step;
  const reason = withoutSecrets(inputs, run, context) ?? (await withoutTarget(inputs, proposal.configRef, context));
  if (reason === undefined) return step;
  // validate has not all formats of plan.
  const { report: _, ...flags } = inputs.flags;
  return { mode: 'validate', argv: argvOf({ ...inputs, flags }, 'validate'), notes: [...step.notes, reason] };
}

/** Reports every secret that the step of this target can read; leaves errors to the step itself. */
export async function reportSecrets(inputs: ActionInputs, { proposal, context }: Omit<StepContext, 'run'>): Promise<void> {
  const { mode, flags } = inputs;
  if (mode === 'validate') return;
  const secrets = flags['secrets'] ?? (proposal === undefined ? 'resolve' : 'unresolved');
  try {
    const project = await openProject(configFlags(inputs, proposal?.configRef), context);
    context.onEvent?.({ secret: context.env[project.target.token.env] ?? '' });
    if (secrets === 'resolve') loadTarget(project, { secrets });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

type StepContext = { readonly run: CiRun; readonly proposal: Proposal | undefined; readonly context: CliContext };

/** Returns the reason why no gateway can be read yet; undefined if one can. */
async function withoutTarget({ flags }: ActionInputs, base: string, context: CliContext): Promise<string | undefined> {
  const { config } = await openConfig(configFlags({ flags }, base), context);
  if (!isPendingTarget(config, flags)) return undefined;
  return 'The target is new with this change, so Ostiary does not send it a token yet: it checked the manifests without the gateway. The plan follows after the merge.';
}

/** Returns the selection of config and target, with the commit of the reviewed config if there is one. */
export function configFlags(
  { flags: { config, target, 'config-ref': given } }: Pick<ActionInputs, 'flags'>,
  usual?: string,
): ProjectSelection {
  return { config, target, configRef: given ?? usual };
}

/** Returns the reason why the job has no secrets; undefined if it has them. */
function withoutSecrets({ flags }: ActionInputs, { pullRequest, mention, names }: CiRun, context: CliContext): string | undefined {
  if (pullRequest === undefined || (!pullRequest.fork && pullRequest.author !== 'dependabot[bot]')) return undefined;
  // A plan from a snapshot sends no token and reads no secret; the job has the key only where it is meant for such a plan.
  if (flags['snapshot'] !== undefined && hasSnapshotKey(context.env)) return undefined;
  // The secrets of a run that a comment or another run started are not meant for unreviewed manifests of others.
  if (mention === undefined && (context.env[tokenVariable(flags, context)] ?? '') !== '') return undefined;
  const who = pullRequest.fork
    ? 'comes from a fork and has no access to secrets'
    : 'comes from Dependabot and has no access to Actions secrets';
  return `This ${names.request} ${who}: Ostiary checked the manifests without the gateway. The plan follows after the merge.`;
}

/** Opens the forge for the repository of the run, through the proxies of the environment. */
export function openRunForge(
  { inputs, run }: Pick<ActionTask, 'inputs' | 'run'>,
  { waits, context }: Pick<TaskResult, 'waits' | 'context'>,
): Forge {
  return run.openForge({ token: inputs.token, version, sleep: waits.sleep, waits, send: senderOf(environmentOf(run, context)) });
}

/** Returns the environment with the certificates of the forge's server. */
function environmentOf({ certificateFile }: CiRun, { env }: CliContext): CliContext['env'] {
  return certificateFile === undefined || (env['SSL_CERT_FILE'] ?? '') !== '' ? env : { ...env, SSL_CERT_FILE: certificateFile };
}

/** Returns a function that sends requests through the proxies of the environment; undefined if it has none. */
export function senderOf(env: CliContext['env']): SendRequest | undefined {
  const network = readNetwork(env);
  return network === undefined ? undefined : sendThrough(network);
}

const timeouts = { connectMs: 10_000, idleMs: 30_000, wholeMs: 60_000 };
const maxBytes = 64 * 1024 * 1024;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Makes a function that sends requests as Node's `fetch` does, which uses no proxy; a transport is opened for each request. */
function sendThrough(network: NetworkOptions): SendRequest {
  return async (url, { method: given = 'GET', headers, body, signal }) => {
    const method: HttpExchange['method'] | undefined = methods.find((one) => one === given);
    if (method === undefined || (body !== undefined && body !== null && typeof body !== 'string'))
      throw new TypeError(`${given} is not sent`);
    const transport = openTransport(timeouts, maxBytes, network);
    try {
      const { status, header, text } = await transport.exchange({
        method,
        url: url.href,
        headers: Object.fromEntries(new Headers(headers)),
        ...(typeof body === 'string' ? { body } : {}),
        ...(signal instanceof AbortSignal ? { signal } : {}),
      });
      const names = ['content-type', 'link', 'location', 'retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
      const found = names.flatMap((name): [string, string][] => {
        const value = header(name);
        return value === undefined ? [] : [[name, value]];
      });
      return new Response(text === '' ? null : text, { status, headers: found });
    } finally {
      await transport.close();
    }
  };
}
