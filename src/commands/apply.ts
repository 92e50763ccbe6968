import { apply as carryOut } from '../apply/apply.ts';
import { registry } from '../kinds/index.ts';
import { AppError, RefusedError, UsageError } from '../model/errors.ts';
import type { ApplyResult } from '../model/result/outcome.ts';
import { isWritten, type Plan, type Refusal } from '../model/plan/plan.ts';
import { withoutLimits } from '../reconcile/guard/refusals.ts';
import { diagnosticsText } from '../report/text/diagnostics.ts';
import { isUnfinished } from '../report/subjects/apply.ts';
import { renderReport } from '../report/formats.ts';
import { planDocument } from '../report/subjects/plan.ts';
import type { ApplyFlags } from './flags.ts';
import { mayWrite } from './connect.ts';
import { openApplyJournal, type ApplyJournal } from './output/apply-journal.ts';
import { differentPlan } from './saved-plan-checks.ts';
import { createPlan, type PlanResult } from './create-plan.ts';
import type { PlanFilter } from '../reconcile/prepare/prepare.ts';
import { printerFor } from './output/printer.ts';
import { progressOn, announceStop } from './output/progress.ts';
import { recordApplied } from './recording.ts';
import { secretOf } from './saved-secrets.ts';
import type { ResumedPlan } from './saved.ts';
import { requireWritable, emitPlan, emitApply } from './output/emit.ts';
import type { CliContext } from './context/cli-context.ts';
import { Option } from 'commander';
import { runForTargets } from './run-for-targets.ts';
import { parseDigest, pathsArgument, planOptions, selectionOption, targetOptions, writeOptions, type DefineCommand } from './options.ts';

/** Defines `ostiary apply`. */
export const defineApply: DefineCommand = (command, run) => {
  writeOptions(planOptions(selectionOption(targetOptions(command.argument(...pathsArgument), true)), 'apply'))
    .addOption(new Option('--on-managed <what>', 'when a change is blocked by managed_by').choices(['refuse', 'skip']).default('refuse'))
    .option('--plan <file>', 'carry out the plan that plan --out saved, and nothing else')
    .option('--digest <digest>', 'carry out the plan with this digest alone; none: only one that writes nothing', parseDigest)
    .action((paths, flags) => run((context) => runForTargets({ ...flags, paths }, context, { list: 'targets', run: runApply })));
};

/**
 * Shows the plan, asks, and carries out exactly that. Exit 0, 5 with failures or interrupted, 6 refused. Where `filter`
 * leaves out a part of the plan, nothing is recorded as wholly applied.
 */
export async function runApply(flags: ApplyFlags, context: CliContext, filter?: PlanFilter): Promise<number> {
  if (!flags.yes && !context.interactive) throw new UsageError('apply asks before it writes, and here nobody can answer', 'pass --yes');
  requireWritable(flags.report, context);
  const journal = openApplyJournal(flags.journal, context);
  try {
    const result = await planOf(flags, context, { journal, filter });
    try {
      return await applyPlanned({ ...result, journal, isWhole: filter === undefined && result.whole !== false }, flags, context);
    } finally {
      await result.gateway.close();
    }
  } finally {
    journal.close();
  }
}

type Made = PlanResult & Partial<Pick<ResumedPlan, 'seen' | 'whole'>>;
type Journaled = Made & { readonly journal: ApplyJournal; readonly isWhole: boolean };

type Making = { readonly journal: ApplyJournal; readonly filter: PlanFilter | undefined };

/** The plan of a file, or a new one; breakers do not bind what somebody has seen. */
async function planOf(flags: ApplyFlags, context: CliContext, { journal: { request }, filter }: Making): Promise<Made> {
  if (flags.plan !== undefined) {
    const { resumePlan: resumed } = await import('./saved.ts');
    return resumed(flags.plan, flags, { context, onRequest: request });
  }
  const made = await createPlan(flags, context, { onRequest: request, filter });
  if (flags.digest === undefined) return made;
  const unlike = differentPlan(flags.digest, made.plan);
  if (unlike === undefined) return { ...made, plan: withoutLimits(made.plan) };
  return { ...made, plan: { ...made.plan, refusals: [...made.plan.refusals, unlike] } };
}

async function applyPlanned(result: Journaled, flags: ApplyFlags, context: CliContext): Promise<number> {
  const printer = printerFor(context, flags);
  const { plan } = result;
  const writes = plan.changes.filter(isWritten).length;
  const machine = flags.format === 'json';
  if (!machine) await emitPlan(result, result.warnings, { flags: { ...flags, report: [] }, context, printer });
  try {
    await requireConsent(result, writes, flags, context);
  } catch (error) {
    if (machine || flags.report.length > 0) {
      await emitPlan(result, machine ? result.warnings : [], { flags, context, printer, printed: !machine });
    }
    throw error;
  }
  const outcome = await execute(result, flags, context);
  if (flags.format === 'text') printer.print('\n');
  await emitApply(outcome, result, { flags, context, printer });
  if (outcome.interrupted || outcome.outcomes.some(isUnfinished)) return 5;
  if (!result.isWhole || flags.paths.length > 0 || flags.only.length > 0) return 0;
  const recorded = await recordApplied({ ...result, options: flags, context });
  context.onEvent?.({ diagnostics: recorded });
  printer.hint(diagnosticsText(recorded, printer.errors));
  return 0;
}

/** Throws where the plan is not to be carried out: it is refused, the token may not write, or nobody said yes. */
async function requireConsent(result: PlanResult, writes: number, flags: ApplyFlags, context: CliContext): Promise<void> {
  const { plan } = result;
  const refusals = [...plan.refusals, ...(flags.onManaged === 'skip' ? [] : managedRefusals(plan))];
  if (writes > 0) refuseReaders(result);
  if (refusals.length > 0) throw new RefusedError(refusals);
  if (writes === 0 || flags.yes) return;
  const { errors, note } = printerFor(context, flags);
  if (flags.format === 'json') note(await renderReport(planDocument([plan]), 'text', errors));
  const count = `${writes} ${writes === 1 ? 'object' : 'objects'}`;
  if (!(await context.confirm(`Write ${count} on ${plan.target.name} (${plan.target.url})?`)))
    throw new AppError('apply/declined', 6, 'not applied: nobody said yes');
}

/** A change or an edge that a manager blocks stops the run, unless it is to be skipped. */
function managedRefusals(plan: Plan): readonly Refusal[] {
  const blocked = plan.changes
    .filter((change) => change.action === 'blocked')
    .map((change) => ({ id: change.id, by: change.managedBy ?? 'somebody else' }));
  const ids = new Set(blocked.map((one) => one.id));
  const edges = plan.edges
    .filter((edge) => edge.action === 'blocked' && !ids.has(edge.connection) && !ids.has(edge.rule))
    .map((edge) => ({ id: edge.connection, by: 'its manager' }));
  return [...blocked, ...edges].map(({ id, by }) => ({
    code: 'plan/managed',
    message: `${id} is managed by ${by} and would have to change`,
    hint: `change it where it is managed, take it out of the manifests, or pass --on-managed skip`,
    allowable: false,
    resource: id,
  }));
}

function refuseReaders({ identity }: PlanResult): void {
  if (mayWrite(identity)) return;
  throw new AppError(
    'api/read-only-role',
    4,
    `the token has the role ${identity.role} on ${identity.url}, which may not write; nothing was changed`,
    { hint: 'use the token of an admin' },
  );
}

async function execute(
  { plan, steps, live, desired, gateway, journal, seen }: Journaled,
  flags: ApplyFlags,
  context: CliContext,
): Promise<ApplyResult> {
  const progress = progressOn(plan, flags, context);
  const signal = context.interruptSignal();
  announceStop(signal, flags, context);
  try {
    return await carryOut({
      plan,
      live,
      steps,
      gateway,
      registry,
      concurrency: flags.concurrency,
      signal,
      secretOf: secretOf(desired),
      ...(seen === undefined ? {} : { seen }),
      observe: (event) => {
        journal.write(event);
        progress.observe(event);
      },
    });
  } finally {
    progress.end();
  }
}
