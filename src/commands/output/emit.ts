import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { reasonOf } from '../../disk/text-file.ts';
import { writeReport } from '../../disk/write.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { systemCodeOf, UsageError } from '../../model/errors.ts';
import type { ProtectionMatrix } from '../../model/protection/protection.ts';
import type { Replay } from '../../model/result/replay.ts';
import type { Drift } from '../../model/result/drift.ts';
import type { ApplyResult } from '../../model/result/outcome.ts';
import type { WholeProject } from '../../project/project.ts';
import { absolutePath, configInForce, isPathPerTarget, outputPath, pathForTarget } from '../../project/resolved-config.ts';
import { linksBelow } from '../../report/links.ts';
import type { ReportDocument } from '../../report/document.ts';
import { type FormatName, renderJsonDocument, type RenderOptions, renderReport, renderReportPieces } from '../../report/formats.ts';
import { applyDocument } from '../../report/subjects/apply.ts';
import { driftDocument } from '../../report/subjects/drift.ts';
import { planDocument } from '../../report/subjects/plan.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { ReportFlag, ReportFlags } from '../context/options.ts';
import { locateRepository } from '../../git/git-environment.ts';
import type { Printer } from './printer.ts';
import { warningsOfChanges } from './change-warnings.ts';
import { repositoryPaths } from '../../disk/walk.ts';
import type { DesiredState } from '../../model/desired.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { respellPlan } from '../../model/spec/spelling.ts';
import { spellingOf } from '../../gateway/dialects/choose-dialect.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';

/** The formats of a command's output, and the files that it writes beside it. */
type OutputOptions = {
  readonly flags: ReportFlags & { readonly format: FormatName; readonly report?: readonly ReportFlag[]; readonly quiet?: boolean };
  readonly context: CliContext;
  readonly printer: Printer;
  /** A plan without changes has a digest, too: a script or a person compares it. */
  readonly asksForDigest?: boolean;
  /** The report was printed before: only the files remain to be written. */
  readonly printed?: boolean;
};

/** A plan with the states that it compares, as far as they are known. */
type PlanWithStates = {
  readonly plan: Plan;
  readonly desired?: DesiredState;
  readonly snapshots?: () => PlanSnapshots;
  readonly project?: WholeProject;
  readonly replay?: Replay | undefined;
};

/** Prints a document and writes its report files. Throws the first error of writing them after it has tried all. */
export async function emit(document: ReportDocument, { flags, context, printer, printed }: OutputOptions): Promise<void> {
  const options = renderOptions(flags, context);
  if (printed !== true) {
    const json = await renderJsonDocument(document, flags.format);
    if (json !== undefined) printer.printDocument(json);
    else printer.print(await renderReport(document, flags.format, { ...options, terminal: printer.results }));
  }
  const errors: unknown[] = [];
  for (const { format, path } of flags.report ?? []) {
    const text = await renderReportPieces(document, format, options);
    try {
      writeReport(outputPath(path, context), text);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** Emits one document for all targets, and one for each target to each report with `{target}` in its path. */
export async function emitForTargets<T extends { readonly target: string }>(
  targets: readonly T[],
  documentOf: (targets: readonly T[]) => ReportDocument,
  options: OutputOptions,
): Promise<void> {
  const { flags } = options;
  const { report = [] } = flags;
  await emit(documentOf(targets), { ...options, flags: { ...flags, report: report.filter(({ path }) => !isPathPerTarget(path)) } });
  const each = report.filter(({ path }) => isPathPerTarget(path));
  for (const one of targets) {
    const own = each.map(({ format, path }) => ({ format, path: pathForTarget(path, one.target) }));
    await emit(documentOf([one]), { ...options, printed: true, flags: { ...flags, report: own } });
  }
}

/** Returns the links and the length that the flags ask for. The links are to files of the repository of the working directory. */
export function renderOptions({ linkBase, maxLength }: ReportFlags, context: CliContext): RenderOptions {
  return { linkOf: linkBase === undefined ? undefined : linksBelow(linkBase, pathInRepository(context)), limit: maxLength };
}

/** Makes a function that returns a file's path in the repository of the working directory; without one, below the working directory. */
export function pathInRepository(context: CliContext): (file: string) => string | undefined {
  return repositoryPaths(locateRepository({ folder: context.cwd, env: context.env })?.prefix ?? '', context);
}

/** Emits a plan; warnings go to stderr. */
export async function emitPlan(planned: PlanWithStates, warnings: readonly Diagnostic[], options: OutputOptions): Promise<void> {
  const { project, replay } = planned;
  const { flags, context } = options;
  const plan = respelled(planned);
  context.onEvent?.({ plan, replay });
  const config = project === undefined ? undefined : configInForce(project.config, plan.target.name);
  const asksForDigest = options.asksForDigest === true || context.env['CI'] === 'true';
  const isText = flags.format === 'text' && flags.quiet !== true && options.printed !== true;
  const fresh = isText ? warnings.filter((one) => context.printed?.has(one) !== true) : [];
  const beside = warningsOfChanges({ ...planned, plan }, fresh);
  const document = planDocument([plan], {
    matrix: await matrixFor(planned, options),
    config,
    asksForDigest,
    warnings: beside,
    replay,
  });
  const shown = new Set([...beside.values()].flat());
  context.printed?.add([...shown]);
  await emitBesideWarnings(
    document,
    warnings.filter((one) => !shown.has(one)),
    options,
  );
}

/** Emits a drift; warnings go to stderr. */
export async function emitDrift(
  found: Drift,
  { warnings, project }: { readonly warnings: readonly Diagnostic[]; readonly project: WholeProject },
  options: OutputOptions,
): Promise<void> {
  const drift = { ...found, plan: respellPlan(found.plan, spellingOf(project.config.targets)) };
  options.context.onEvent?.({ drift });
  const { columns } = await matrixFor({ plan: drift.plan }, options);
  await emitBesideWarnings(driftDocument([drift], columns, configInForce(project.config, drift.plan.target.name)), warnings, options);
}

/** Emits the result of an apply. */
export async function emitApply(result: ApplyResult, planned: PlanWithStates, options: OutputOptions): Promise<void> {
  const plan = respelled(planned);
  options.context.onEvent?.({ plan, result });
  const whole = applyDocument([{ plan, result }]);
  if (options.flags.format !== 'text') return emit(whole, options);
  // The plan above has the heading, the digest and the allowances.
  await emit(applyDocument([{ plan, result }], false), { ...options, flags: { ...options.flags, report: [] } });
  await emit(whole, { ...options, printed: true });
}

/** Returns the plan with the names of the gateway, where the config names its dialect. */
function respelled({ plan, project }: Pick<PlanWithStates, 'plan' | 'project'>): Plan {
  return respellPlan(plan, spellingOf(project?.config.targets ?? []));
}

/** Emits a document and warnings, which do not decide: below it, and on a terminal above it, where a reader sees the last lines. */
async function emitBesideWarnings(document: ReportDocument, warnings: readonly Diagnostic[], options: OutputOptions): Promise<void> {
  const { context, printer } = options;
  context.onEvent?.({ diagnostics: warnings });
  if (context.stdout.isTTY) printer.diagnostics(warnings);
  try {
    await emit(document, options);
  } finally {
    if (!context.stdout.isTTY) printer.diagnostics(warnings);
  }
}

/** Computes the protection of all connections if a page is asked for; otherwise, and for unknown states, it is empty. */
async function matrixFor({ plan, snapshots }: PlanWithStates, { flags }: OutputOptions): Promise<ProtectionMatrix> {
  if (flags.report?.some(({ format }) => format === 'html') !== true) return { columns: [], rows: [] };
  const { buildProtectionMatrix } = await import('../../protection/protection-matrix.ts');
  return buildProtectionMatrix(plan, snapshots?.());
}

/** Throws a UsageError if a file cannot be written, before the command does anything. */
export function requireWritable(files: readonly { readonly path: string; readonly what?: string }[], context: CliContext): void {
  for (const { path } of files) outputPath(path, context);
  for (const { path, what = 'report' } of files) {
    const reason = whyNotWritable(path, context);
    if (reason === undefined) continue;
    throw new UsageError(`the ${what} "${path}" cannot be written: ${reason}`, 'check that its folder exists and is writable');
  }
}

/** Returns whether a file can be written at the path, as far as permissions show. */
export function isWritable(path: string, context: CliContext): boolean {
  return whyNotWritable(path, context) === undefined;
}

function whyNotWritable(path: string, context: CliContext): string | undefined {
  const file = absolutePath(path, context);
  try {
    accessSync(statSync(file, { throwIfNoEntry: false })?.isFile() === false ? file : dirname(file), constants.W_OK);
    return undefined;
  } catch (error) {
    return systemCodeOf(error) === 'ENOENT' ? 'its folder does not exist' : reasonOf(error);
  }
}
