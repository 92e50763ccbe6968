import type { Diagnostic } from '../model/diagnostic.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { toJsonText } from '../report/serialize.ts';
import { plural } from '../report/wording/counts.ts';
import { escapeTerminal } from '../report/escape.ts';
import { fleetDocument, merged, type DocumentList, type Failure } from '../report/fleet.ts';
import { pad, visibleWidth } from '../report/text/width.ts';
import type { OutputFlags, ReportFlag, TargetFlags } from './flags.ts';
import { runGuarded } from './context/guard.ts';
import { printerFor } from './printer.ts';
import { pathForTarget, requirePathPerTarget, selectTargets, type TargetSelector } from '../project/select-targets.ts';
import { version } from './context/version.ts';
import type { CommandEvent, CliContext } from './context/cli-context.ts';

/** Flags of a command that may go to several targets in one run. */
type FleetFlags = TargetFlags &
  TargetSelector & {
    readonly format?: string;
    readonly report?: readonly ReportFlag<string>[];
    readonly out?: string;
    readonly journal?: string;
  };

/** What a command does for one target, with the exit code that it returns, and the list that its JSON documents hold. */
export type MultiTargetCommand<F> = { readonly list: DocumentList; readonly run: (flags: F, context: CliContext) => Promise<number> };

/** Which exit code stands for all: the first of these that any target ended with. */
const precedence = [1, 3, 4, 5, 6, 2] as const;

const meanings: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'internal error',
  2: 'there are changes',
  3: 'input invalid',
  4: 'unreachable or denied',
  5: 'finished with failures',
  6: 'refused',
};

/**
 * Does the work for every target that is meant, one after another: what fails for one does not stop the others. Texts stand
 * one after another, JSON documents become one that also names each target that could not be finished, and why. A file of
 * its own for each target has `{target}` in its name.
 */
export async function runForTargets<F extends FleetFlags>(flags: F, context: CliContext, verb: MultiTargetCommand<F>): Promise<number> {
  const names = selectTargets(flags, context);
  if (names === undefined) return runAlone(flags, context, verb);
  requirePathPerTarget(pathsOf(flags));
  const { note, print } = printerFor(context, flags);
  const codes = new Map<string, number>();
  const documents: JsonObject[] = [];
  const failures: Failure[] = [];
  const isText = flags.format !== 'json' && flags.format !== 'sarif';
  for (const [index, name] of names.entries()) {
    if (isText && index > 0) print('\n\n');
    // What is found in manifests says nothing of the target.
    const isTitled = isText && verb.list === 'diagnostics';
    if (isTitled) print(`${escapeTerminal(name)}\n\n`);
    const heard = listening(context, isText);
    const { code, failure } = await runForTarget(name, heard, flags, verb);
    codes.set(name, code);
    if (failure !== undefined) failures.push(failure);
    if (code === 1 || code === 3 || code === 4) note(`  target: ${escapeTerminal(name)}\n`);
    if (isText && heard.text() === '')
      print(await untoldSection(isTitled ? undefined : name, code, { markdown: flags.format === 'markdown', ...heard }));
    if (!isText) documents.push(...documentsIn(heard.text()));
  }
  if (flags.format === 'json') print(toJsonText(fleetDocument(verb.list, documents, failures)));
  else if (!isText) print(toJsonText(merged(documents)));
  printExitCodes(codes, flags, context);
  return worstExitCode([...codes.values()]);
}

/** Does the work for the one target that is meant. Where its others have command lines of their own it is still one of several. */
async function runAlone<F extends FleetFlags>(flags: F, context: CliContext, verb: MultiTargetCommand<F>): Promise<number> {
  if (context.oneOfSeveral !== true || flags.target === undefined) return verb.run(flags, context);
  const { code } = await runForTarget(flags.target, listening(context, true), flags, verb);
  return code;
}

/** Does the work for one target of several; what could not be finished stands in its JSON reports, too. */
async function runForTarget<F extends FleetFlags>(
  name: string,
  { context, diagnostics, told }: Listening,
  flags: F,
  { list, run: work }: MultiTargetCommand<F>,
): Promise<{ readonly code: number; readonly failure?: Failure }> {
  const own = flagsForTarget(flags, name);
  let isDone = false;
  const ended = await runGuarded(
    async () => {
      const code = await work(own, context);
      isDone = code !== invalid;
      return code;
    },
    { context, color: flags.color },
  );
  if (isDone) return { code: ended };
  const failure = { target: name, exitCode: ended, diagnostics: diagnostics() };
  const { report: reports = [] } = own;
  if (!reports.some(({ format }) => format === 'json')) return { code: ended, failure };
  const { writeFailure } = await import('./fleet-failure.ts');
  const written = await runGuarded(
    async () => {
      writeFailure({ list, failure, told: told(), reports }, context);
      return 0;
    },
    { context, color: flags.color },
  );
  return { code: worstExitCode([ended, written]), failure };
}

/** What the work returns, without throwing, where it has told what is wrong with the manifests. */
const invalid = 3;

/** The exit code that stands for all. */
export function worstExitCode(codes: readonly number[]): number {
  return precedence.find((code) => codes.includes(code)) ?? 0;
}

function pathsOf({ report = [], out, journal }: FleetFlags): readonly string[] {
  return [...report.map(({ path }) => path), ...[out, journal].filter((path) => path !== undefined)];
}

function flagsForTarget<F extends FleetFlags>(flags: F, name: string): F {
  const { report, out, journal } = flags;
  const named = (path: string): string => pathForTarget(path, name);
  return {
    ...flags,
    target: name,
    allTargets: false,
    ...(report === undefined ? {} : { report: report.map((one) => ({ ...one, path: named(one.path) })) }),
    ...(out === undefined ? {} : { out: named(out) }),
    ...(journal === undefined ? {} : { journal: named(journal) }),
  };
}

type Listening = {
  readonly context: CliContext;
  readonly text: () => string;
  readonly diagnostics: () => readonly Diagnostic[];
  /** The last that was told of a plan, its result or a drift. */
  readonly told: () => CommandEvent | undefined;
};

/** A context that keeps what is printed as a result, and what was found; `passes`: the result is printed, too. */
function listening(context: CliContext, passes: boolean): Listening {
  const parts: string[] = [];
  const found: Diagnostic[] = [];
  let last: CommandEvent | undefined;
  const write = (text: string): void => {
    parts.push(text);
    if (passes) context.stdout.write(text);
  };
  const onEvent = (event: CommandEvent): void => {
    context.onEvent?.(event);
    if ('diagnostics' in event) found.push(...event.diagnostics);
    if ('plan' in event || 'drift' in event) last = event;
  };
  return {
    context: { ...context, stdout: { ...context.stdout, write }, onEvent },
    text: () => parts.join(''),
    diagnostics: () => found,
    told: () => last,
  };
}

function documentsIn(text: string): readonly JsonObject[] {
  const parsed: unknown = text.trim() === '' ? undefined : JSON.parse(text);
  return isObject(parsed) ? [parsed] : [];
}

/** The section of a target that there is nothing else to print of; its title, where it has none yet. */
async function untoldSection(
  name: string | undefined,
  code: number,
  { markdown, diagnostics }: Pick<Listening, 'diagnostics'> & { readonly markdown: boolean },
): Promise<string> {
  const why = `exit ${code}, ${meanings[code] ?? ''}`;
  if (name === undefined || !markdown) return `${name === undefined ? '' : `${escapeTerminal(name)}\n\n`}Nothing to show: ${why}.\n`;
  const { messageMarkdown } = await import('../report/markdown/comment.ts');
  return messageMarkdown({ title: `Nothing to show for ${name}: ${why}`, notes: [], diagnostics: diagnostics(), version }, longestSection);
}

const longestSection = 60_000;

/** Says how each target ended. */
export function printExitCodes(codes: ReadonlyMap<string, number>, flags: OutputFlags, context: CliContext): void {
  const { hint } = printerFor(context, flags);
  hint(`\n${plural(codes.size, 'target')}:\n`);
  const names = [...codes.keys()].map(escapeTerminal);
  const widest = Math.max(...names.map(visibleWidth));
  for (const [name, code] of codes)
    hint(`  ${pad(escapeTerminal(name), widest)}  ${code === 0 ? 'done' : `exit ${code}, ${meanings[code] ?? ''}`}\n`);
}
