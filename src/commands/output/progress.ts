import type { ApplyEvent, JournalEntry, RequestEvent } from '../../model/result/outcome.ts';
import type { ResourceId } from '../../model/resource.ts';
import { isWritten, type Plan } from '../../model/plan/plan.ts';
import { escapeTerminal } from '../../report/escape.ts';
import { shortList } from '../../report/wording/phrases.ts';
import { clip } from '../../report/wrap.ts';
import type { OutputFlags } from '../context/options.ts';
import type { CliContext } from '../context/cli-context.ts';
import { openJournal } from '../../disk/journal.ts';
import { AppError } from '../../model/errors.ts';
import { outputPath } from '../../project/resolved-config.ts';

type ProgressView = { readonly observe: (event: ApplyEvent) => void; readonly end: () => void };

const silent: ProgressView = { observe: () => undefined, end: () => undefined };

const clearLine = '\r\u001b[K';

/**
 * Returns a view that rewrites one line of a terminal at every event; a terminal that cannot redraw gets a line for each tenth of the
 * objects. Elsewhere and with --quiet it prints nothing.
 */
export function progressOn(plan: Plan, flags: OutputFlags, context: CliContext): ProgressView {
  const { stderr } = context;
  if (!stderr.isTTY || flags.quiet) return silent;
  const total = plan.changes.filter(isWritten).length;
  const done = new Set<string>();
  const failed = new Set<string>();
  let tenths = 0;
  return {
    observe({ event, id }) {
      if (id === undefined) return;
      if (event === 'written') done.add(id);
      if (event === 'failed') failed.add(id);
      const counts = { total, done: done.size, failed: failed.size };
      if (stderr.ansi) {
        stderr.write(`${clearLine}${progressLine({ ...counts, id }, stderr.columns ?? 80)}`);
        return;
      }
      const reached = Math.floor((10 * (done.size + failed.size)) / total);
      if (reached > tenths) stderr.write(`${progressLine(counts, 80)}\n`);
      tenths = Math.max(tenths, reached);
    },
    end() {
      if (stderr.ansi) stderr.write(clearLine);
    },
  };
}

/** Prints a line to stderr; it replaces a progress line. */
export function interject(line: string, { stderr }: CliContext): void {
  stderr.write(`${stderr.ansi ? clearLine : ''}${line}\n`);
}

/** Prints a line when the signal stops the run. */
export function announceStop(signal: AbortSignal, flags: OutputFlags, context: CliContext): void {
  if (flags.quiet) return;
  const line = 'stopping after the current requests; press Ctrl-C again to stop at once';
  signal.addEventListener('abort', () => interject(line, context), { once: true });
}

/** Prints what a run was writing when a second signal ended it. */
export function announceEnd(writing: readonly string[], flags: OutputFlags, context: CliContext): void {
  if (flags.quiet) return;
  const ids =
    writing.length === 0 ? 'no write was in flight' : `it is unknown whether the gateway wrote ${shortList(writing, 5).join(', ')}`;
  interject(`stopped: ${escapeTerminal(ids)}; plan and apply again to finish`, context);
}

/** Runs the work; after one second a terminal shows a text. */
export async function waiting<T>(
  text: string,
  { flags, context }: { readonly flags: OutputFlags; readonly context: CliContext },
  work: () => Promise<T>,
): Promise<T> {
  return counted(text, undefined, { flags, context, work: () => work() });
}

/** Runs work of `total` steps; after one second a terminal shows the number of finished steps and the time left, if the total is known. */
export async function counted<T>(
  text: string,
  total: number | undefined,
  { flags, context, work }: { readonly flags: OutputFlags; readonly context: CliContext; readonly work: (step: () => void) => Promise<T> },
): Promise<T> {
  const { stderr } = context;
  if (!stderr.isTTY || flags.quiet) return work(() => undefined);
  const began = performance.now();
  let done = 0;
  let isShown = false;
  const show = (): void => {
    if (isShown && !stderr.ansi) return;
    isShown = true;
    const counts = total === undefined ? '' : ` ${done} of ${total}${timeLeft(performance.now() - began, done, total)}`;
    const line = clip(`${text} …${counts}`, stderr.columns ?? 80);
    stderr.write(stderr.ansi ? `${clearLine}${line}` : `${line}\n`);
  };
  const timer = setInterval(show, 1000);
  try {
    return await work(() => {
      done += 1;
    });
  } finally {
    clearInterval(timer);
    if (isShown && stderr.ansi) stderr.write(clearLine);
  }
}

/** Returns the time that the remaining steps take at the speed of the finished ones; empty before the first one. */
function timeLeft(elapsedMs: number, done: number, total: number): string {
  if (done === 0) return '';
  const seconds = Math.ceil((elapsedMs / done) * ((total - done) / 1000));
  return seconds < 120 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}

type ProgressCounts = { readonly done: number; readonly total: number; readonly failed: number; readonly id?: ResourceId };

/** Returns one line, no wider than the terminal: the counts, then the object that is being written. */
export function progressLine(progress: ProgressCounts, columns: number): string {
  const failed = progress.failed === 0 ? '' : `, ${progress.failed} failed`;
  const now = progress.id === undefined ? '' : `  ${escapeTerminal(progress.id)}`;
  return clip(`${progress.done}/${progress.total} done${failed}${now}`, columns);
}

export type ApplyJournal = {
  readonly write: (event: ApplyEvent) => void;
  readonly request: (event: RequestEvent) => void;
  readonly close: () => void;
};

/** Opens the journal of `--journal`. An error of a later write is reported once, and the apply continues without a journal. */
export function openApplyJournal(path: string | undefined, context: CliContext): ApplyJournal {
  const journal = path === undefined ? undefined : openJournal(outputPath(path, context));
  let broken = false;
  const attempt = (action: () => void): void => {
    if (broken) return;
    try {
      action();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      broken = true;
      context.stderr.write(`warning ${error.code}  ${escapeTerminal(error.message)}; the apply continues without it\n`);
    }
  };
  const append = (entry: JournalEntry): void => attempt(() => journal?.append(JSON.stringify(entry)));
  const at = (): string => context.now().toISOString();
  return {
    write: (event) => append({ at: at(), ...event }),
    request: (event) => append({ at: at(), event: 'request', ...event }),
    close() {
      attempt(() => journal?.close());
      // Responses that arrive later belong to no apply.
      broken = true;
    },
  };
}
