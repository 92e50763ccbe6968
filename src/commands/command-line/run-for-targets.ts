import { appendAll, largestOf } from '../../model/collections.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { UsageError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { plural } from '../../report/wording/phrases.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { isJsonFormat, renderJsonDocument, type FormatName } from '../../report/formats.ts';
import { fleetDocument, mergeDocuments, type DocumentList, type TargetFailure } from '../../report/serialize.ts';
import { pad, visibleWidth } from '../../report/wrap.ts';
import type { OutputFlags, ReportFlag, ReportFlags, TargetFlags } from '../context/options.ts';
import { runGuarded } from './guard.ts';
import { printerFor } from '../output/printer.ts';
import type { FailedTarget } from '../output/write-failure-reports.ts';
import {
  isPathPerTarget,
  pathForTarget,
  requireOwnFiles,
  requirePathPerTarget,
  selectTargets,
  type TargetSelector,
} from '../../project/resolved-config.ts';
import { resolveProject } from '../../project/project.ts';
import { version } from '../context/version.ts';
import type { CommandEvent, CliContext } from '../context/cli-context.ts';

type MultiTargetFlags = TargetFlags &
  ReportFlags &
  TargetSelector & {
    readonly format?: FormatName;
    readonly report?: readonly ReportFlag[];
    readonly out?: string;
    readonly journal?: string;
    readonly snapshot?: string;
    /** Run only for the targets that the changes since the branch `own` affect. */
    readonly affected?: boolean;
    readonly own?: string;
  };

/** A command for one target: `run` returns its exit code; `list` is the list that its JSON documents contain. */
type MultiTargetCommand<F> = {
  readonly list: DocumentList;
  readonly run: (flags: F, context: CliContext) => Promise<number>;
  /** The command runs once for all targets. */
  readonly isJoint?: true;
};

/** Exit codes by importance: the run of several targets ends with the first one that any target ended with. */
const precedence = [1, 3, 4, 5, 6, 2] as const;

/** The exit codes of commands, and what each means. */
export const exitMeanings: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'internal error',
  2: 'changes',
  3: 'input invalid',
  4: 'gateway unreachable or access denied',
  5: 'finished with failures',
  6: 'refused',
};

/** How the run of a target ended; `found` says what it found or did. */
export type TargetEnd = { readonly name: string; readonly code: number; readonly found: string | undefined };

/** The exit code of a target, its failure if it could not be finished, and its output. */
type TargetRun = TargetEnd & {
  readonly failure?: TargetFailure;
  readonly documents: readonly JsonObject[];
  /** Whether anything was printed to stdout. */
  readonly hasOutput: boolean;
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * Runs the command for each selected target, one after another; a failed target does not stop the others. Text is printed
 * target by target. JSON documents are merged into one, which also lists each failed target and the reason. Returns the most
 * important exit code. Throws UsageError when outputs or targets would use the same file.
 */
export async function runForTargets<F extends MultiTargetFlags>(
  flags: F,
  context: CliContext,
  command: MultiTargetCommand<F>,
): Promise<number> {
  requireOwnFiles(pathsOf(flags), flags, context);
  const selected = command.isJoint === true ? undefined : selectTargets(flags, context);
  const affected = flags.affected === true ? await readAffected(flags, context) : undefined;
  const names = affected?.names ?? selected;
  if (names === undefined) return runAlone(flags, context, command);
  requirePathPerTarget(pathsOf(flags));
  const runs: TargetRun[] = [];
  const isText = !isJsonFormat(flags.format ?? 'text');
  const run = { flags, context, command };
  for (const name of names) runs.push(isText ? await printSection(name, runs.length === 0, run) : await runForTarget(name, run));
  const { print, printDocument } = printerFor(context, flags);
  if (isText && names.length === 0) print(affected?.text ?? '');
  const documents = runs.flatMap((one) => one.documents);
  const failures = runs.flatMap(({ failure }) => failure ?? []);
  if (flags.format === 'json') printDocument({ ...fleetDocument(command.list, documents, failures), ...affected?.document });
  else if (!isText) printDocument(mergeDocuments(documents));
  if (runs.length > 0) printTargetEnds(runs, flags, context);
  return worstExitCode(runs.map(({ code }) => code));
}

/** The targets that a change affects, and what a run for them prints about it. */
type AffectedRun = { readonly names: readonly string[]; readonly text: string; readonly document: JsonObject };

/** Finds the affected targets, and lists them with the reasons. Throws UsageError unless all targets are selected. */
async function readAffected(flags: MultiTargetFlags, context: CliContext): Promise<AffectedRun> {
  if (flags.allTargets !== true) throw new UsageError('--affected requires --all-targets', 'pass --all-targets, and no --target');
  const { affectedDocument, affectedLines, affectedNames, findAffectedTargets } = await import('../planning/affected-targets.ts');
  const found = await findAffectedTargets(flags, context);
  const names = affectedNames(found);
  const text = affectedLines(found)
    .map((line) => `${escapeTerminal(line)}\n`)
    .join('');
  const { diagnostics, hint } = printerFor(context, flags);
  diagnostics(found.diagnostics);
  if (names.length > 0) hint(`${text}\n`);
  return { names, text, document: { affected: affectedDocument(found) } };
}

type MultiTargetRun<F> = { readonly flags: F; readonly context: CliContext; readonly command: MultiTargetCommand<F> };

/** Runs the command for one target in a section of text; an empty section states the exit code. */
async function printSection<F extends MultiTargetFlags>(
  name: string,
  isFirst: boolean,
  { flags, context, command }: MultiTargetRun<F>,
): Promise<TargetRun> {
  const { print } = printerFor(context, flags);
  if (!isFirst) print('\n\n');
  const run = await runForTarget(name, { flags, context, command });
  if (!run.hasOutput) print(await emptySection(run, flags.format === 'markdown'));
  return run;
}

/** Runs the command once. A failure is also written to its reports, and printed as JSON if that is the format. */
async function runAlone<F extends MultiTargetFlags>(given: F, context: CliContext, command: MultiTargetCommand<F>): Promise<number> {
  const hasName = command.isJoint === true || !pathsOf(given).some(isPathPerTarget);
  const flags = hasName ? given : withPathsFor(given, resolveProject(given, context).target.name);
  const { format = 'text' } = flags;
  const isJson = isJsonFormat(format);
  if ((flags.report ?? []).length === 0 && !isJson) return command.run(flags, context);
  const documents: JsonObject[] = [];
  const recording = recordRun(isJson ? { ...context, onDocument: (document) => documents.push(document) } : context);
  const { code, failed } = await runRecorded(recording, { flags, context, command });
  if (!isJson) return code;
  const document = failed === undefined ? mergeDocuments(documents) : await failedJson(failed, format, context);
  printerFor(context, flags).printDocument(document);
  return code;
}

async function failedJson(failed: FailedTarget, format: FormatName, context: CliContext): Promise<JsonObject> {
  const { failedDocument } = await import('../output/write-failure-reports.ts');
  return (await renderJsonDocument(failedDocument(failed, context), format)) ?? {};
}

/** Runs the command for one target of several, and notes the target of an error. */
async function runForTarget<F extends MultiTargetFlags>(name: string, run: MultiTargetRun<F>): Promise<TargetRun> {
  const { flags, context } = run;
  const documents: JsonObject[] = [];
  const recording = recordRun({ ...context, onDocument: (document) => documents.push(document) });
  const { code, failed } = await runRecorded(recording, { ...run, flags: flagsForTarget(flags, name) });
  if (code === 1 || code === 3 || code === 4) printerFor(context, flags).note(`  target: ${escapeTerminal(name)}\n`);
  const { hasOutput, diagnostics, lastResult } = recording;
  const last = lastResult();
  return {
    name,
    code,
    found: last && (await foundText(last)),
    ...(failed === undefined ? {} : { failure: failed.failure }),
    documents,
    hasOutput: hasOutput(),
    diagnostics: diagnostics(),
  };
}

/** Runs the command with a recorded context; writes a failure to the reports of the target, too. */
async function runRecorded<F extends MultiTargetFlags>(
  { context, diagnostics, lastResult }: RecordedRun,
  { flags, command }: MultiTargetRun<F>,
): Promise<{ readonly code: number; readonly failed?: FailedTarget }> {
  let returned: number | undefined;
  const ended = await runGuarded(
    async () => {
      returned = await command.run(flags, context);
      return returned;
    },
    { context, flags },
  );
  if (returned !== undefined && (returned !== invalidInput || command.isJoint === true)) return { code: ended };
  const target = flags.target?.includes(',') === true ? undefined : flags.target;
  const failure = { target, exitCode: ended, diagnostics: diagnostics() };
  const sentence = failureText(target, ended);
  const failed = { list: command.list, failure, sentence, lastResult: lastResult(), flags };
  // A command that returns has written its reports; a report that cannot be written fails once.
  const isReported = returned !== undefined || failure.diagnostics.some(({ code }) => code.startsWith('report/'));
  if (isReported || (flags.report ?? []).length === 0) return { code: ended, failed };
  const { writeFailureReports } = await import('../output/write-failure-reports.ts');
  const written = await runGuarded(
    async () => {
      await writeFailureReports(failed, context);
      return 0;
    },
    { context, flags },
  );
  return { code: worstExitCode([ended, written]), failed };
}

/** The exit code of a command that reports invalid manifests without throwing. */
const invalidInput = 3;

/** Returns the most important of the exit codes. */
export function worstExitCode(codes: readonly number[]): number {
  return precedence.find((code) => codes.includes(code)) ?? 0;
}

function pathsOf({ report = [], out, journal, snapshot }: MultiTargetFlags): readonly string[] {
  return [...report.map(({ path }) => path), ...[out, journal, snapshot].filter((path) => path !== undefined)];
}

function flagsForTarget<F extends MultiTargetFlags>(flags: F, name: string): F {
  return { ...withPathsFor(flags, name), target: name, allTargets: false };
}

/** Returns the flags with the name of the target in all paths. */
function withPathsFor<F extends MultiTargetFlags>(flags: F, name: string): F {
  const { report, out, journal, snapshot } = flags;
  const named = (path: string): string => pathForTarget(path, name);
  return {
    ...flags,
    ...(report === undefined ? {} : { report: report.map((one) => ({ ...one, path: named(one.path) })) }),
    ...(out === undefined ? {} : { out: named(out) }),
    ...(journal === undefined ? {} : { journal: named(journal) }),
    ...(snapshot === undefined ? {} : { snapshot: named(snapshot) }),
  };
}

type ResultEvent = Extract<CommandEvent, { readonly plan: unknown } | { readonly drift: unknown }>;

/** A context that records what a command prints and reports. */
type RecordedRun = {
  readonly context: CliContext;
  readonly hasOutput: () => boolean;
  readonly diagnostics: () => readonly Diagnostic[];
  /** The last plan, result or drift. */
  readonly lastResult: () => ResultEvent | undefined;
};

function recordRun(context: CliContext): RecordedRun {
  const found: Diagnostic[] = [];
  let hasOutput = false;
  let last: ResultEvent | undefined;
  const write = (text: string): void => {
    hasOutput ||= text !== '';
    context.stdout.write(text);
  };
  const onEvent = (event: CommandEvent): void => {
    context.onEvent?.(event);
    if ('diagnostics' in event) appendAll(found, event.diagnostics);
    if ('plan' in event || 'drift' in event) last = event;
  };
  return {
    context: { ...context, stdout: { ...context.stdout, write }, onEvent },
    hasOutput: () => hasOutput,
    diagnostics: () => found,
    lastResult: () => last,
  };
}

/** Returns the verdict of a target without a result, such as `Failed on prod: input invalid (exit 3)`. */
function failureText(target: string | undefined, code: number): string {
  return `Failed${target === undefined ? '' : ` on ${target}`}: ${exitMeanings[code] ?? 'no result'} (exit ${code})`;
}

/** Returns the section of a target without output. */
async function emptySection({ name, code, diagnostics }: TargetRun, isMarkdown: boolean): Promise<string> {
  if (!isMarkdown) return `${escapeTerminal(failureText(name, code))}.\n`;
  const { runReportMarkdown: messageMarkdown } = await import('../../report/markdown/comment.ts');
  const { runBody } = await import('../../report/subjects/run-end.ts');
  return messageMarkdown({ title: failureText(name, code), notes: [], ...runBody({ diagnostics }), version }, longestSection);
}

/** In characters: the limit of a comment on GitHub is 65,536. */
const longestSection = 60_000;

async function foundText(event: ResultEvent): Promise<string | undefined> {
  const { runEndBesideTarget } = await import('../../report/subjects/run-end.ts');
  return runEndBesideTarget(event);
}

/** Prints how each target ended to stderr. */
export function printTargetEnds(ends: readonly TargetEnd[], flags: OutputFlags, context: CliContext): void {
  const { hint } = printerFor(context, flags);
  hint(`\n${plural(ends.length, 'target')}:\n`);
  const widest = largestOf(
    ends.map(({ name }) => visibleWidth(escapeTerminal(name))),
    0,
  );
  for (const { name, code, found } of ends) {
    const failure = code === 0 ? [] : [`exit ${code}, ${exitMeanings[code] ?? ''}`];
    const end = found === undefined && code === 0 ? ['done'] : [...failure, ...(found === undefined ? [] : [found])];
    hint(`  ${pad(escapeTerminal(name), widest)}  ${end.join(': ')}\n`);
  }
}
