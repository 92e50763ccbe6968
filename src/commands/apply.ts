import { apply as executePlan } from '../apply/apply.ts';
import { registry } from '../kinds/index.ts';
import { readableKinds } from '../kinds/watched.ts';
import type { AuditMark, Gateway } from '../model/gateway.ts';
import { ApiError, AppError, InputError, RefusedError, UsageError } from '../model/errors.ts';
import type { ApplyResult, OutcomeStatus, RequestEvent } from '../model/result/outcome.ts';
import { isWritten, liveKeyOf, noDigest, type Plan, type Refusal, type SavedPlan } from '../model/plan/plan.ts';
import { leftFieldsAfter } from '../reconcile/record-content/left-fields.ts';
import { liveAfterPlan, recordAccess } from '../reconcile/record-content/record-watched.ts';
import { watchScope } from '../reconcile/record-content/watched-columns.ts';
import { formerNamesAfter, orphansAfter, pendingWritesOf, writesAfter } from '../reconcile/record-content/record-changes.ts';
import { secretProofsAfter, secretVersionsAfter } from '../reconcile/record-content/secret-versions.ts';
import { isUnfinished } from '../report/subjects/apply.ts';
import { renderReport } from '../report/formats.ts';
import { planDocument } from '../report/subjects/plan.ts';
import {
  type ApplyFlags,
  keepGoingOption,
  parseDigest,
  pathsArgument,
  planOptions,
  selectionOption,
  startHelp,
  targetOptions,
  writeOptions,
  type DefineCommand,
} from './context/options.ts';
import { mayWrite } from './session/connect.ts';
import { openApplyJournal, type ApplyJournal, progressOn, announceEnd, announceStop } from './output/progress.ts';
import type { DriftScope } from '../reconcile/drift/filter-drift.ts';
import { digestOfWrites } from '../reconcile/saved-plan/plan-digest.ts';
import { differentPlan } from '../reconcile/saved-plan/saved-plan-checks.ts';
import { createDriftPlan, createPlan } from './planning/create-plan.ts';
import { withDecisions } from './planning/decided-plan.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { printerFor } from './output/printer.ts';
import { openProject } from '../project/open-project.ts';
import { type OpenProject, readableRepository } from '../project/project.ts';
import { isPartialSelection } from '../project/resolved-config.ts';
import { escapeTerminal } from '../report/escape.ts';
import { setTimeout } from 'node:timers/promises';
import { readPlanBase } from '../project/plan-base.ts';
import { openRecorder, type ApplyRecorder } from '../project/record/record-applied.ts';
import { isLeased, runName, withLease } from '../project/record/record-lease.ts';
import { findAppliedRecord, type RecordedEnd } from '../project/record/applied-record.ts';
import { emptyRecord } from '../model/applied-record.ts';
import { unprovenRecordCodes } from '../reconcile/guard/record-refusals.ts';
import { desiredByKey } from '../model/desired.ts';
import { recordSecrets, secretCacheOf, secretLookup } from './planning/read-secrets.ts';
import type { Continuation } from './planning/interrupted-plan.ts';
import type { CreatedRun, PlannedRun } from './planning/planned-run.ts';
import type { OpenedPlan } from './planning/saved-plan.ts';
import { requireWritable, emitPlan, emitApply } from './output/emit.ts';
import type { CliContext } from './context/cli-context.ts';
import { Option } from 'commander';
import { runForTargets } from './command-line/run-for-targets.ts';
import { plural } from '../report/wording/phrases.ts';

/** Defines `ostiary apply`. */
export const defineApply: DefineCommand = (command, run) => {
  writeOptions(planOptions(selectionOption(targetOptions(command.argument(...pathsArgument), true)), 'apply'))
    .addOption(
      new Option('--on-managed <what>', 'what to do when managed_by blocks a change').choices(['refuse', 'skip']).default('refuse'),
    )
    .addOption(keepGoingOption())
    .option('--plan <file>', 'apply exactly the plan saved by plan --out')
    .option('--digest <digest>', 'apply only if the plan has this digest; none: only if the plan has no changes', parseDigest)
    .action((paths, flags) => run((context) => runForTargets({ ...flags, paths }, context, { list: 'targets', run: runApply })));
  startHelp(command, 'ostiary apply --target production', ['--target', '--only', '--yes', '--plan', '--prune']);
};

/**
 * Prints the plan, asks for confirmation, and executes exactly that plan. Returns the exit code: 0, 5 for failures or an
 * interrupt; refusals throw (exit 6). Records no commit as applied if a selection, or the revert of drift, leaves out a part of the plan.
 */
export async function runApply(flags: ApplyFlags, context: CliContext, given?: ApplySource): Promise<number> {
  if (!flags.yes && !context.interactive) throw new UsageError('apply needs confirmation, but stdin is not a terminal', 'pass --yes');
  requireWritable(flags.report, context);
  const journal = openApplyJournal(flags.journal, context);
  const deadline = Date.now() + (flags.lockTimeout ?? 0);
  const clock = { aheadMs: 0 };
  try {
    const source = given ?? (await openSource(flags, context));
    for (;;) {
      try {
        return await planAndApply(source, flags, context, { journal, clock });
      } catch (error) {
        if (!isLocked(error) || Date.now() >= deadline) throw error;
        printerFor(context, flags).hint(`Waiting: ${escapeTerminal(error.message)}.\n`);
        await waitForLease(source.project, flags, context, { deadline, ...clock });
      }
    }
  } finally {
    journal.close();
  }
}

/** What an apply executes: a plan of the manifests, a plan that only reverts their drift or a part of it, or the plan of a file. */
type ApplySource =
  | { readonly of: 'manifests'; readonly project: OpenProject }
  | { readonly of: 'drift'; readonly which: DriftScope; readonly project: OpenProject }
  | ({ readonly of: 'file' } & OpenedPlan);

/** Opens the project, and the plan of a file if the flags name one. */
async function openSource(flags: ApplyFlags, context: CliContext): Promise<ApplySource> {
  if (flags.plan === undefined) return { of: 'manifests', project: await openProject(flags, context) };
  const { openSavedPlan } = await import('./planning/saved-plan.ts');
  return { of: 'file', ...(await openSavedPlan(flags.plan, flags, context)) };
}

async function planAndApply(
  source: ApplySource,
  given: ApplyFlags,
  context: CliContext,
  { journal, clock }: { readonly journal: ApplyJournal; readonly clock: { aheadMs: number } },
): Promise<number> {
  const { planned, flags } = await createOrResumePlan(source, given, context, journal.request);
  const isWhole = planned.is === 'resumed' ? planned.whole : source.of === 'manifests' && !isPartialSelection(planned.project.selection);
  try {
    return await confirmAndApply({ ...planned, journal, isWhole, onlyReverts: source.of === 'drift' }, flags, context);
  } finally {
    clock.aheadMs = planned.gateway.clockAheadMs();
    await planned.gateway.close();
  }
}

function isLocked(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.refusals.every(({ code }) => code === 'git/locked');
}

const pollMs = 1000;

/** Waits until no other apply to the target runs, or until the deadline. */
async function waitForLease(
  project: OpenProject,
  { origin }: ApplyFlags,
  context: CliContext,
  { deadline, aheadMs }: { readonly deadline: number; readonly aheadMs: number },
): Promise<void> {
  const run = runName(context);
  while (Date.now() < deadline) {
    await setTimeout(Math.min(pollMs, Math.max(0, deadline - Date.now())));
    if (!(await isLeased(project, { origin, run, now: new Date(context.now().getTime() + aheadMs) }))) return;
  }
}

/** `isWhole`: the plan covers all manifests, so that their commit is applied when it is done. `onlyReverts`: it leaves out what they change. */
type ApplyContext = PlannedRun & { readonly journal: ApplyJournal; readonly isWhole: boolean; readonly onlyReverts: boolean };

/** A plan to apply, and the flags with what people decided about it. */
type DecidedRun = { readonly planned: PlannedRun; readonly flags: ApplyFlags };

/** Reads the plan of a file, or creates one. */
async function createOrResumePlan(
  source: ApplySource,
  given: ApplyFlags,
  context: CliContext,
  onRequest: (event: RequestEvent) => void,
): Promise<DecidedRun> {
  if (source.of === 'file') {
    const { resumeSavedPlan } = await import('./planning/saved-plan.ts');
    return { planned: await resumeSavedPlan(source, given, { context, onRequest }), flags: given };
  }
  const options = { onRequest, purpose: 'apply' } as const;
  if (source.of === 'drift')
    return { planned: await createDriftPlan(source.project, given, context, { ...options, which: source.which }), flags: given };
  const { created, flags } = await withDecisions(await createPlan(source.project, given, context, options), given, context);
  return { planned: await requireApproved(created, flags, context, onRequest), flags };
}

/** Refuses a plan other than the one that the digest names, unless it is the rest of that one. */
async function requireApproved(
  created: CreatedRun,
  flags: ApplyFlags,
  context: CliContext,
  onRequest: (event: RequestEvent) => void,
): Promise<PlannedRun> {
  if (flags.digest === undefined) return created;
  const refusal = differentPlan(flags.digest, created.plan, created.planBase.read?.record.digest);
  if (refusal === undefined) return created;
  // A pull request need not show the held drift of what it does not change, and apply does not write it.
  if (flags.digest === digestOfWrites(created.plan, created)) {
    const { plan } = created;
    return { ...created, plan: { ...plan, seals: { tree: plan.seals.tree, digest: flags.digest } } };
  }
  const { continueApprovedPlan } = await import('./planning/interrupted-plan.ts');
  const continued = continueApprovedPlan(created, flags.digest) ?? { refusals: [] };
  const resumed = 'saved' in continued ? await resumeApproved(created, continued, flags, { context, onRequest }) : continued;
  if ('is' in resumed) return resumed;
  return { ...created, plan: { ...created.plan, refusals: [...created.plan.refusals, refusal, ...resumed.refusals] } };
}

/**
 * Resumes the approved plan of an interrupted apply instead of the plan of the rest, which would hold what a half-done change left stricter.
 * Returns the refusals if an object changed since.
 */
async function resumeApproved(
  { project, gateway, warnings }: CreatedRun,
  { saved, notice }: Extract<Continuation, { readonly saved: SavedPlan }>,
  flags: ApplyFlags,
  run: { readonly context: CliContext; readonly onRequest: (event: RequestEvent) => void },
): Promise<PlannedRun | { readonly refusals: readonly Refusal[] }> {
  const { resumeSavedPlan } = await import('./planning/saved-plan.ts');
  const resumed = await resumeSavedPlan({ saved, project }, flags, run);
  const moved = resumed.plan.refusals.filter(({ code }) => code === 'plan/moved');
  await (moved.length > 0 ? resumed : { gateway }).gateway.close();
  return moved.length > 0 ? { refusals: moved } : { ...resumed, warnings: [...warnings, notice] };
}

/** Returns the form of a plan for the record, so that the rest of it can be applied later; undefined unless a digest names the plan. */
async function approvedForm(planned: PlannedRun, { digest }: ApplyFlags): Promise<string | undefined> {
  if (planned.is === 'resumed' || digest !== planned.plan.seals.digest) return undefined;
  const { encryptPlan } = await import('./planning/interrupted-plan.ts');
  return encryptPlan(planned);
}

async function confirmAndApply(planned: ApplyContext, flags: ApplyFlags, context: CliContext): Promise<number> {
  const printer = printerFor(context, flags);
  const { plan } = planned;
  const writes = plan.changes.filter(isWritten).length;
  const isJson = flags.format === 'json';
  if (!isJson) await emitPlan(planned, planned.warnings, { flags: { ...flags, report: [] }, context, printer });
  try {
    await requireConsent(planned, writes, flags, context);
  } catch (error) {
    if (isJson || flags.report.length > 0) {
      await emitPlan(planned, isJson ? planned.warnings : [], { flags, context, printer, printed: !isJson });
    }
    throw error;
  }
  const planBase = flags.base === undefined ? planned.planBase : await recordedBase(planned, flags);
  const recorder = recorderFor({ ...planned, planBase }, flags, context);
  const begun = writes === 0 ? [] : await recorder.begin(pendingWritesOf(planned), await approvedForm(planned, flags));
  const result = await withLease(recorder, () => execute(planned, recorder, flags, context));
  recordWritten(planned, result, flags);
  const report = async (): Promise<void> => {
    if (flags.format === 'text') printer.print('\n');
    await reportApplied(result, planned, flags, context);
  };
  // On a terminal, what was done is below all messages, where a reader sees the last lines.
  if (!context.stdout.isTTY) await report();
  const isFailed = result.interrupted || result.outcomes.some(isUnfinished);
  const complete = !isFailed && planned.isWhole;
  const access = accessAfter({ ...planned, planBase }, flags);
  const digest = flags.digest === noDigest ? undefined : flags.digest;
  try {
    const ended =
      complete || writes > 0
        ? await recorder.end({ ...recordedEnd({ ...planned, planBase }, result, complete, flags), access, digest })
        : [];
    const recorded = [...begun, ...ended, ...outsideNotice(planned, ended)];
    context.onEvent?.({ diagnostics: recorded });
    printer.diagnostics(recorded);
  } finally {
    if (context.stdout.isTTY) await report();
  }
  return isFailed ? 5 : 0;
}

/** Reports that the record has the changes outside Ostiary from now on. */
function outsideNotice({ plan }: PlannedRun, ended: readonly Diagnostic[]): readonly Diagnostic[] {
  const count = plan.outside?.changes.length ?? 0;
  if (count === 0 || !ended.some(({ code }) => code === 'git/applied-recorded')) return [];
  const message = `the record has ${plural(count, 'change')} that manifests do not declare; drift no longer reports ${count === 1 ? 'it' : 'them'}`;
  return [{ code: 'git/outside-recorded', severity: 'notice', message }];
}

/** Caches the written secrets, which the next plan then does not read; without a cache it does. */
function recordWritten({ project, identity, desired }: PlannedRun, { reread = [] }: ApplyResult, flags: ApplyFlags): void {
  const declared = desiredByKey(desired.resources);
  const known = reread.map((live) => ({ desired: declared.get(live.id), live }));
  recordSecrets(known, secretCacheOf(project, identity, flags));
}

/**
 * Reads the base that is recorded, although the plan compares with a given one. An unreadable record is replaced by one that has only the
 * given base; any other failure is reported when the apply is recorded.
 */
async function recordedBase({ project, desired, planBase: given }: PlannedRun, flags: ApplyFlags): Promise<PlannedRun['planBase']> {
  const { origin, cache, allow } = flags;
  const fresh = given.base === undefined ? emptyRecord : { ...emptyRecord, commit: given.base.commit };
  try {
    const found = await readPlanBase({ ...project, desired, options: { origin, cache }, applies: true });
    const { read, refusals, remembered: _, ...rest } = found;
    const isTrusted = refusals.every(({ code }) => !unprovenRecordCodes.has(code) || allow.some((one) => one.code === code));
    // The next record must not sign what an unproven one says.
    return isTrusted || read === undefined ? found : { ...rest, read: { ...read, record: fresh } };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { read, unreadable } = error instanceof InputError ? await findRecord(project, origin) : {};
    return read === undefined || unreadable === undefined ? { ...given, base: undefined } : { ...given, read: { ...read, record: fresh } };
  }
}

async function findRecord(project: OpenProject, origin: boolean): Promise<Partial<Awaited<ReturnType<typeof findAppliedRecord>>>> {
  const repository = readableRepository(project);
  return repository === undefined ? {} : findAppliedRecord({ ...project, repository }, origin);
}

function recorderFor({ project, desired, planBase, gateway }: PlannedRun, flags: ApplyFlags, context: CliContext): ApplyRecorder {
  const { allow: allowed } = flags;
  return openRecorder({
    ...project,
    desired,
    options: flags,
    read: planBase.read,
    unmergedHead: planBase.unmergedHead,
    proof: planBase.proof,
    allowed,
    auditMark: () => readAuditMark(gateway),
    now: context.now,
    leaseNow: () => new Date(context.now().getTime() + gateway.clockAheadMs()),
    run: runName(context),
  });
}

/** Reads where the audit log ends; undefined if it cannot be read: drift reports then list the writes of this apply. */
async function readAuditMark(gateway: Gateway): Promise<AuditMark | undefined> {
  try {
    return await gateway.auditMark();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Returns what the record keeps of a run. */
function recordedEnd(planned: ApplyContext, result: ApplyResult, complete: boolean, flags: ApplyFlags): RecordedEnd {
  const { project, plan, desired, live, planBase, identity } = planned;
  const { base, remembered, read } = planBase;
  const secrets = secretVersionsAfter({ plan, desired, live }, result, { before: read?.record.secrets, complete });
  const { key } = secretCacheOf(project, identity, flags);
  const proven = { before: read?.record.verified, complete, key };
  const verified = secretProofsAfter(desired, [...live.resources, ...(result.reread ?? [])], proven);
  const done = new Set(result.outcomes.flatMap(({ id, action, status }) => (action === 'delete' && isDone(status) ? [id] : [])));
  return {
    complete,
    secrets: { ...(secrets === undefined ? {} : { secrets }), ...(verified === undefined ? {} : { verified }) },
    left: complete ? leftFieldsAfter({ plan, desired, live, base, remembered, registry }) : [],
    names: complete ? formerNamesAfter(plan, desired, base) : [],
    orphans: complete ? orphansAfter({ plan, desired, live, base, remembered, released: project.target.released }) : [],
    overrides: plan.allowed.flatMap(({ code, reason }) => (code.startsWith('git/') ? [{ code, reason: reason.slice(0, 1000) }] : [])),
    writes: writesAfter(planned, result, base),
    deleted: new Set(plan.changes.flatMap((change) => (done.has(change.id) ? [liveKeyOf(change)] : []))),
  };
}

/** Returns the unmanaged objects that decide access, for the record. Changes that the plan did not report stay drift. */
function accessAfter(planned: PlannedRun, { base }: ApplyFlags): RecordedEnd['access'] {
  const { project, live, planBase, desired } = planned;
  const before = planBase.read?.record.access;
  if (live.watched === undefined || !project.target.watchAccess) return undefined;
  const isUnreported = base !== undefined || (planned.is === 'resumed' && !planned.reportsOutside);
  return isUnreported && before !== undefined
    ? before
    : recordAccess(liveAfterPlan(live, planned.plan), before, { scope: watchScope(registry, desired), registry: readableKinds });
}

function isDone(status: OutcomeStatus): boolean {
  return status === 'done' || status === 'already';
}

/** Emits the result. A report that cannot be written is a warning: the writes happened, and the record has to follow. */
async function reportApplied(result: ApplyResult, planned: ApplyContext, flags: ApplyFlags, context: CliContext): Promise<void> {
  const printer = printerFor(context, flags);
  try {
    await emitApply(result, planned, { flags, context, printer });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'report/cannot-write') throw error;
    const { message, hint } = error;
    const warning: Diagnostic = { code: 'report/cannot-write', severity: 'warning', message, hint };
    context.onEvent?.({ diagnostics: [warning] });
    printerFor(context, { ...flags, quiet: false }).diagnostics([warning]);
  }
}

/** Throws unless the plan may be executed: without refusals, with a token that may write, and confirmed. */
async function requireConsent(planned: PlannedRun, writes: number, flags: ApplyFlags, context: CliContext): Promise<void> {
  const { plan } = planned;
  const refusals = [...plan.refusals, ...(flags.onManaged === 'skip' ? [] : managedRefusals(plan))];
  if (writes > 0) requireWriteAccess(planned);
  if (refusals.length > 0) throw new RefusedError(refusals, flags.format === 'json' ? [] : plan.refusals);
  if (writes === 0 || flags.yes) return;
  const { errors, note } = printerFor(context, flags);
  if (flags.format === 'json') note(await renderReport(planDocument([plan]), 'text', { terminal: errors }));
  if (!(await context.confirm(`Write ${plural(writes, 'object')} to ${plan.target.name} (${plan.target.url})?`)))
    throw new AppError('apply/declined', 6, 'canceled: nothing was applied');
}

/** Refuses changes and edges of objects that something else manages; `--on-managed skip` leaves them out. */
function managedRefusals(plan: Plan): readonly Refusal[] {
  const blocked = plan.changes
    .filter(({ action, error }) => action === 'blocked' && error === undefined)
    .map((change) => ({ id: change.id, by: change.managedBy ?? 'another manager' }));
  const ids = new Set(blocked.map((one) => one.id));
  const edges = plan.edges
    .filter((edge) => edge.action === 'blocked' && !ids.has(edge.connection) && !ids.has(edge.rule))
    .map((edge) => ({ id: edge.connection, by: 'its manager' }));
  return [...blocked, ...edges].map(({ id, by }) => ({
    code: 'plan/managed',
    message: `${id} is managed by ${by} and would have to change`,
    hint: `change it where it is managed, remove it from the manifests, or pass --on-managed skip`,
    allowable: false,
    resource: id,
  }));
}

function requireWriteAccess({ identity }: PlannedRun): void {
  if (mayWrite(identity)) return;
  throw new AppError(
    'api/read-only-role',
    4,
    `the token has the role ${identity.role} on ${identity.url}, which cannot write; nothing was changed`,
    { hint: 'use a token with the role admin' },
  );
}

async function execute(planned: ApplyContext, recorder: ApplyRecorder, flags: ApplyFlags, context: CliContext): Promise<ApplyResult> {
  const { plan, steps, live, desired, gateway, journal } = planned;
  const progress = progressOn(plan, flags, context);
  const inFlight = new Set<string>();
  const signal = context.interruptSignal(() => announceEnd([...inFlight], flags, context));
  announceStop(signal, flags, context);
  try {
    return await executePlan({
      plan,
      live,
      steps,
      gateway,
      registry,
      concurrency: flags.concurrency,
      signal,
      secretOf: secretLookup(desired),
      leaseLoss: recorder.leaseLoss,
      seen: planned.is === 'resumed' ? planned.seen : undefined,
      observe: (event) => {
        journal.write(event);
        if (event.id !== undefined && event.event === 'write') inFlight.add(event.id);
        else if (event.id !== undefined) inFlight.delete(event.id);
        progress.observe(event);
      },
    });
  } finally {
    progress.end();
  }
}
