import { registry } from '../kinds/index.ts';
import type { Adoption, Drift, AuditedWrite } from '../model/result/drift.ts';
import { UsageError } from '../model/errors.ts';
import type { ResourceId } from '../model/resource.ts';
import { isDrifted, needsReport } from '../reconcile/drift/filter-drift.ts';
import { unprovenRecordCodes } from '../reconcile/guard/record-refusals.ts';
import { findWriters } from '../reconcile/drift/find-writers.ts';
import { protectionOfDrift } from '../protection/protection.ts';
import { adoptDrift } from '../import/adopt-drift.ts';
import { runApply } from './apply.ts';
import {
  type ApplyFlags,
  baseOptions,
  cacheOption,
  collect,
  groups,
  parseConfigLabel,
  pathsArgument,
  reportOptions,
  secretsOption,
  selectionOption,
  targetOptions,
  writeOptions,
  type DefineCommand,
} from './context/options.ts';
import { trackSecretReads } from './session/connect.ts';
import { expiredAccess } from '../model/plan/expired-access.ts';
import { hasHeld, needsValues } from '../model/plan/plan.ts';
import { readAuditedWrites, timeOfBase } from './planning/audit-log.ts';
import { openProject } from '../project/open-project.ts';
import type { OpenProject } from '../project/project.ts';
import { createDriftPlan } from './planning/create-plan.ts';
import type { CreatedRun, DriftRun } from './planning/planned-run.ts';
import { saveSnapshot, snapshotKey } from './planning/snapshot-file.ts';
import { checkLivePolicies } from './planning/target-policies.ts';
import { printerFor } from './output/printer.ts';
import { requireWritable, emitDrift } from './output/emit.ts';
import type { CliContext } from './context/cli-context.ts';
import { runForTargets } from './command-line/run-for-targets.ts';

type DriftFlags = Omit<ApplyFlags, 'revert' | 'import' | 'prune' | 'onManaged' | 'plan' | 'digest'> & {
  /** How far back the gateway's audit log is read: a time, or hours, days or weeks. */
  readonly since?: string;
  /** Undoes the drift, including held changes. */
  readonly revert: boolean;
  /** Removes the groups whose access has ended, and nothing else, if the config says so. */
  readonly expire: boolean;
  /** Edits the manifests until they match the live objects. */
  readonly adopt: boolean;
  /** Unmanaged live objects that also get a manifest. */
  readonly new: readonly string[];
  /** Commits the edits. */
  readonly commit: boolean;
  /** The file that gets a snapshot of what was read. */
  readonly snapshot?: string;
  /** A part of the name of the branch with the edits. */
  readonly label?: string;
};

/** Defines `ostiary drift`. */
export const defineDrift: DefineCommand = (command, run) => {
  reportOptions(baseOptions(cacheOption(selectionOption(targetOptions(command.argument(...pathsArgument), true)))))
    .optionsGroup(groups.own)
    .option('--since <time>', 'how far back to search the audit log: 2026-11-01, 12h, 7d (default: the last apply, or 30d)')
    .option('--revert', 'revert all drift, held drift included; shows the plan and asks for confirmation', false)
    .option('--expire', 'with expire: apply in the config: first remove the groups whose access has ended, and nothing else', false)
    .option('--adopt', 'accept drift: edit the manifests and commit them on the branch ostiary/adopt/TARGET', false)
    .option('--new <kind/name>', 'with --adopt: also write a manifest for this unmanaged object (repeatable)', collect, [])
    .option('--snapshot <file>', 'write what was read, without values of secrets and encrypted, for plan --snapshot')
    .option('--no-commit', 'with --adopt: edit the files in place without a commit')
    .option(
      '--label <text>',
      'with --adopt: a part of the name of the branch, for two configs whose targets have the same name',
      parseConfigLabel,
    )
    .addOption(secretsOption());
  writeOptions(command).action((paths, flags) =>
    run((context) => runForTargets({ ...flags, paths }, context, { list: 'drifts', run: runDrift })),
  );
};

/**
 * Reports the drift since the last apply and its authors; `--revert` undoes it, `--adopt` accepts it. Returns the exit code:
 * 2 for remaining drift, an apply of a commit that is not reviewed or a live object that violates a policy, otherwise 0; with `--revert` the exit code of apply, or 2 if changes in no manifest remain.
 */
async function runDrift(flags: DriftFlags, context: CliContext): Promise<number> {
  if (flags.adopt && flags.revert) throw new UsageError('--adopt and --revert cannot be combined', 'pass one of them');
  if (flags.revert && flags.secrets === 'unresolved')
    throw new UsageError('--revert needs the values of secrets', 'remove --secrets unresolved');
  if (!flags.commit && !flags.adopt) throw new UsageError('--no-commit requires --adopt', 'add --adopt, or remove --no-commit');
  if (flags.new.length > 0 && !flags.adopt) throw new UsageError('--new requires --adopt', 'add --adopt, or remove --new');
  if (flags.expire && (flags.adopt || flags.revert))
    throw new UsageError('--expire cannot be combined with --adopt or --revert', 'run drift --expire first');
  requireWritable(flags.report, context);
  if (flags.snapshot !== undefined) {
    if (flags.revert) throw new UsageError('--snapshot cannot be combined with --revert', 'take the snapshot after the revert');
    requireWritable([{ what: 'snapshot', path: flags.snapshot }], context);
    snapshotKey(context);
  }
  const since = flags.since === undefined ? undefined : parseSince(flags.since, context.now());
  const planFlags = { ...flags, import: [] };
  const project = await openProject(flags, context);
  let taken = context.now();
  const createWhole = (): Promise<DriftRun> => {
    taken = context.now();
    return createDriftPlan(project, { ...planFlags, revert: [] }, context, { which: 'all', purpose: 'preview' });
  };
  const before = await withNewObjects(await createWhole(), flags, context);
  const expires = flags.expire && project.target.expire === 'apply' && expiredAccess(before.plan).length > 0;
  if (expires) {
    const code = await removeExpired(planFlags, project, context);
    if (code !== 0) return code;
  }
  const planned = expires ? await withNewObjects(await createWhole(), flags, context) : before;
  const { plan, whole, pending, unfinished } = planned;
  const found: Drift = {
    plan,
    pending,
    unfinished,
    unmerged: planned.planBase.unmerged,
    unproven: planned.unproven,
    protection: protectionOfDrift(plan, planned.live, registry, { desired: planned.desired, base: planned.base?.desired }),
  };
  if (flags.revert && isDrifted(plan)) {
    context.onEvent?.({ drift: found });
    const revert = [...new Set([...plan.changes.map(({ id }) => id), ...plan.edges.flatMap(({ rule, connection }) => [rule, connection])])];
    const code = await runApply({ ...planFlags, revert, onManaged: 'skip' }, context, { of: 'drift', which: 'only', project });
    // What no manifest declares is never reverted, and what lost secrets cannot be.
    const isLeft = (plan.outside?.changes.length ?? 0) > 0 || planned.warnings.some(needsValues);
    return code === 0 && isLeft ? 2 : code;
  }
  const writes = isDrifted(plan)
    ? await findDriftWriters(planned, since ?? (await timeOfLastApply(planned, context)), flags, context)
    : undefined;
  const drifted = { ...found, writes };
  const livePolicies = await checkLivePolicies({ plan, whole }, planned);
  const warnings = [
    ...planned.warnings.filter(
      ({ code }) => !code.startsWith('policy/') && code !== 'git/unmerged-apply' && !unprovenRecordCodes.has(code),
    ),
    ...livePolicies.diagnostics,
  ];
  const report = (one: Drift): Promise<void> =>
    emitDrift(
      one,
      { warnings: [...warnings, ...(one.adoption?.left ?? [])], project },
      { flags, context, printer: printerFor(context, flags) },
    );
  const keep = async (): Promise<void> => {
    if (flags.snapshot !== undefined) await saveSnapshot(flags.snapshot, planned, taken, context);
  };
  if (!flags.adopt) {
    await report(drifted);
    await keep();
    return needsReport(found) || livePolicies.fails ? 2 : 0;
  }
  const adoption = await emitAdoption(drifted, planned, { flags, context, report });
  await keep();
  return adoption.left.some(({ code, severity }) => code.startsWith('adopt/') && severity !== 'notice') ? 2 : 0;
}

/** Removes the groups whose access has ended, and prints that to stderr: the result of the command is the drift that remains. */
function removeExpired(flags: Omit<DriftFlags, 'adopt'>, project: OpenProject, context: CliContext): Promise<number> {
  const applyFlags: ApplyFlags = { ...flags, import: [], revert: [], report: [], format: 'text', onManaged: 'skip' };
  const { onEvent, ...rest } = context;
  const inner = { ...rest, stdout: context.stderr, ...(onEvent === undefined ? {} : { onEvent: withoutPlans(onEvent) }) };
  return runApply(applyFlags, inner, { of: 'drift', which: 'expired', project });
}

/** Returns a receiver of events that leaves out plans: a caller reports the drift. */
function withoutPlans(receive: NonNullable<CliContext['onEvent']>): NonNullable<CliContext['onEvent']> {
  return (event) => {
    if (!('plan' in event)) receive(event);
  };
}

/** Adds to the plan the details of the objects of `--new`, then closes its gateway. */
async function withNewObjects(planned: DriftRun, flags: DriftFlags, context: CliContext): Promise<DriftRun> {
  try {
    if (flags.new.length === 0) return planned;
    const { readDetails } = await import('../import/choose-objects.ts');
    const named = planned.live.resources.filter(({ id }) => flags.new.includes(id));
    const live = await readDetails(planned.live, named, {
      gateway: planned.gateway,
      concurrency: planned.project.target.readConcurrency,
      track: trackSecretReads({ flags, context }),
    });
    return { ...planned, live };
  } finally {
    await planned.gateway.close();
  }
}

type AdoptionContext = { readonly flags: DriftFlags; readonly context: CliContext; readonly report: (drift: Drift) => Promise<void> };

/** Adopts the drift and reports it, even if adopting fails. */
async function emitAdoption(found: Drift, planned: CreatedRun, { flags, context, report }: AdoptionContext): Promise<Adoption> {
  const { commit, origin, new: names, label } = flags;
  try {
    const mayPush = (branch: string): Promise<boolean> =>
      flags.yes || !context.interactive ? Promise.resolve(true) : context.confirm(`Push the branch ${branch} to origin?`);
    const adoption = await adoptDrift(found, planned, { now: context.now, names, commit, origin, label, mayPush });
    await report({ ...found, adoption });
    return adoption;
  } catch (error) {
    await report(found);
    throw error;
  }
}

/**
 * Returns the time from which the audit log is searched: when the base was committed, because drift is younger. Without a base,
 * and for held changes and deletions that Ostiary cannot undo, which outlive applies, it is 30 days ago.
 */
function timeOfLastApply({ plan, project, warnings }: CreatedRun, context: CliContext): Promise<Date> {
  return timeOfBase(hasHeld(plan) || warnings.some(needsValues) ? undefined : plan.base, project, context);
}

/** Returns the audited writes of each object that differs; undefined if the gateway provides none, so that the drift is reported without them. */
async function findDriftWriters(
  { project, plan, desired, live, planBase }: CreatedRun,
  since: Date,
  flags: DriftFlags,
  context: CliContext,
): Promise<ReadonlyMap<ResourceId, readonly AuditedWrite[]> | undefined> {
  const writes = await readAuditedWrites(since, project.target, { flags, context });
  return writes === undefined ? undefined : findWriters(plan, { desired, live, writes, record: planBase.read?.record });
}

const units: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function parseSince(text: string, now: Date): Date {
  const [, count, unit = ''] = /^(\d{1,4})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now.getTime() - Number(count) * (units[unit] ?? 0));
  const time = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time) || time > now.getTime())
    throw new UsageError(
      `invalid value "${text}" for --since`,
      'expected a time in the past, such as 2026-11-01, 2026-11-01T08:00:00Z, 12h, 7d or 2w',
    );
  return new Date(time);
}
