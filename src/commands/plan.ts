import { Option } from 'commander';
import { hasDifferences, isDeletedOutside, unplannedChanges } from '../model/plan/plan.ts';
import {
  type PlanFlags,
  configRefOption,
  groups,
  keepGoingOption,
  parseDays,
  pathsArgument,
  planOptions,
  secretsOption,
  selectionOption,
  startHelp,
  targetOptions,
  type DefineCommand,
} from './context/options.ts';
import { UsageError } from '../model/errors.ts';
import { readSnapshot } from './planning/snapshot-file.ts';
import { openProject } from '../project/open-project.ts';
import type { CreatedRun } from './planning/planned-run.ts';
import type { Replayed } from './planning/replay-plan.ts';
import { createPlan } from './planning/create-plan.ts';
import { withDecisions } from './planning/decided-plan.ts';
import { printerFor } from './output/printer.ts';
import { escapeTerminal } from '../report/escape.ts';
import { requireWritable, emitPlan } from './output/emit.ts';
import type { CliContext } from './context/cli-context.ts';
import { runForTargets } from './command-line/run-for-targets.ts';

type PlanCommandFlags = PlanFlags & {
  readonly detailedExitcode: boolean;
  readonly out?: string;
  readonly replay?: number;
  /** The file of a snapshot that is read instead of the gateway. */
  readonly snapshot?: string;
};

/** Defines `ostiary plan`. */
export const definePlan: DefineCommand = (command, run) => {
  planOptions(configRefOption(selectionOption(targetOptions(command.argument(...pathsArgument), true))), 'plan')
    .optionsGroup(groups.own)
    .option('--detailed-exitcode', 'exit with 2 if there are changes', false)
    .option('--affected', 'with --all-targets: plan only the targets that the changes since the branch of --own affect', false)
    .option('--out <file>', 'save the plan for apply --plan')
    .option('--replay <days>', 'ask what the plan would have done to the sessions of the last days: 30d (at most 1,000)', parseDays)
    .addOption(
      new Option('--snapshot <file>', 'plan from the snapshot of drift --snapshot, without a token; such a plan cannot be applied').implies(
        {
          secrets: 'unresolved',
        },
      ),
    )
    .addOption(secretsOption())
    .addOption(keepGoingOption())
    .action((paths, flags) => run((context) => runForTargets({ ...flags, paths }, context, { list: 'plans', run: runPlan })));
  startHelp(command, "ostiary plan --target production --only '*/orders-*'", [
    '--target',
    '--only',
    '--format',
    '--out',
    '--detailed-exitcode',
  ]);
};

type Running = { readonly flags: PlanCommandFlags; readonly context: CliContext };

/** Loads the pattern compiler only for a replay. */
async function replayLast(made: CreatedRun, days: number, running: Running): Promise<Replayed> {
  const { replayPlan } = await import('./planning/replay-plan.ts');
  return replayPlan(made, days, running);
}

/** Shows what apply would do, or what a snapshot of the gateway shows of that. Exit 0, or 2 with changes if asked, or 6 for what apply would refuse; managed objects do not count. */
async function runPlan(flags: PlanCommandFlags, context: CliContext): Promise<number> {
  const { snapshot: file } = flags;
  const other = file === undefined ? undefined : (['out', 'replay'] as const).find((name) => flags[name] !== undefined);
  if (other !== undefined)
    throw new UsageError(`--snapshot and --${other} cannot be combined: --${other} needs the gateway itself`, 'remove one of them');
  if (file !== undefined && flags.secrets === 'resolve')
    throw new UsageError('--snapshot and --secrets resolve cannot be combined: a snapshot has no values of secrets', 'remove one of them');
  requireWritable(flags.report, context);
  if (flags.out !== undefined) requireWritable([{ what: 'saved plan', path: flags.out }], context);
  const project = await openProject(flags, context);
  const snapshot = file === undefined ? undefined : readSnapshot(file, project, context);
  const showsStates = flags.replay !== undefined || flags.report.some(({ format }) => format === 'html');
  const { created: made } = await withDecisions(
    await createPlan(project, flags, context, { followsSelection: flags.out === undefined, showsStates, snapshot }),
    flags,
    context,
  );
  await made.gateway.close();
  const { plan: result, warnings } = made;
  const replayed = flags.replay === undefined ? undefined : await replayLast(made, flags.replay, { flags, context });
  const printer = printerFor(context, flags);
  const notes = [...warnings, ...(replayed?.warnings ?? [])];
  await emitPlan({ ...made, replay: replayed?.replay }, notes, { flags, context, printer, asksForDigest: flags.detailedExitcode });
  if (flags.out !== undefined) {
    const { savePlan } = await import('./planning/saved-plan.ts');
    await savePlan(flags.out, made, context);
    printer.hint(`Saved: ostiary apply --plan ${escapeTerminal(flags.out)} applies exactly this plan.\n`);
  }
  if (unplannedChanges(result).some((change) => !isDeletedOutside(change))) return 3;
  if (result.refusals.length > 0) return 6;
  return flags.detailedExitcode && hasDifferences(result) ? 2 : 0;
}
