import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError, InputError, RefusedError, systemCodeOf } from '../../model/errors.ts';
import type { Refusal } from '../../model/plan/plan.ts';
import { foldSimilar } from '../../report/rows/fold-similar.ts';
import { escapeTerminal } from '../../report/escape.ts';
import type { OutputFlags } from '../context/options.ts';
import { printerFor } from '../output/printer.ts';
import type { CliContext } from '../context/cli-context.ts';

/** `onError` receives an error as diagnostics, and its exit code. */
type GuardOptions = {
  readonly context: CliContext;
  readonly flags: OutputFlags;
  readonly onError?: (found: readonly Diagnostic[], exitCode: number) => void;
};

/** Runs the work and returns its exit code; prints an error that it throws and returns the error's exit code. */
export async function runGuarded(work: () => Promise<number>, options: GuardOptions): Promise<number> {
  const done = await attempt(work, options);
  return 'value' in done ? done.value : done.exitCode;
}

/** The result of some work, or the exit code of its error. */
export type Attempt<T> = { readonly value: T } | { readonly exitCode: number };

/** Runs the work and returns its result; prints an error that it throws and returns the error's exit code. */
export async function attempt<T>(work: () => Promise<T>, { context, flags, onError }: GuardOptions): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (thrown) {
    const error = await namedError(thrown);
    const found = diagnosticsOf(error);
    context.onEvent?.({ diagnostics: found });
    report(error, found, { context, flags });
    const exitCode = error instanceof AppError ? error.exitCode : 1;
    onError?.(found, exitCode);
    return { exitCode };
  }
}

/** An error, or one of the refusals that an error contains. */
type ShownError = Pick<AppError, 'code' | 'message'> & { readonly hint?: string | undefined } & Partial<
    Pick<Refusal, 'allowable' | 'at' | 'resource'>
  >;

function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  if (error instanceof InputError) return error.diagnostics;
  if (error instanceof RefusedError) return error.refusals.map((refusal) => ({ ...refusal, severity: 'error' }));
  if (!(error instanceof AppError)) return [{ code: 'internal/error', severity: 'error', message: mistake }];
  const { code, message, hint } = error;
  return [{ code, severity: 'error', message, hint }];
}

const machineCodes: ReadonlySet<string> = new Set(['EACCES', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOSPC', 'EPERM', 'EROFS']);

/** Returns the error of a full disk or a read-only folder in its own words: it is no bug. Other errors are unchanged. */
async function namedError(error: unknown): Promise<unknown> {
  const code = systemCodeOf(error);
  if (!(error instanceof Error) || error instanceof AppError || code === undefined) return error;
  if (!machineCodes.has(code)) return error;
  const place = 'path' in error && typeof error.path === 'string' ? JSON.stringify(error.path) : 'a file';
  const { reasonOf } = await import('../../disk/text-file.ts');
  return new AppError('cli/disk', 3, `${place} cannot be read or written: ${reasonOf(error)}`, {
    hint: 'check the disk and the permissions, then run the command again',
    cause: error,
  });
}

const mistake = 'internal error: this is a bug in Ostiary, not in your input';

/** Returns the refusals of an error; those that were printed with the plan become one line, which names their codes. */
function errorsOf({ code, refusals, printed }: RefusedError): readonly ShownError[] {
  const codes = new Set(refusals.flatMap((refusal) => (printed.has(refusal) ? [refusal.code] : [])));
  const summary = { code, message: `nothing was applied; the plan above gives the reason: ${[...codes].join(', ')}` };
  return [...(codes.size === 0 ? [] : [summary]), ...refusals.filter((refusal) => !printed.has(refusal))];
}

function report(error: unknown, found: readonly Diagnostic[], { context, flags }: GuardOptions): void {
  const { note, diagnostics, errors: terminal } = printerFor(context, flags);
  if (error instanceof InputError) {
    diagnostics(found);
    return;
  }
  // An error alone needs no count.
  if (context.printed?.all().length !== 0) context.printed?.add(found);
  if (error instanceof AppError) {
    const refused: readonly ShownError[] = error instanceof RefusedError ? errorsOf(error) : [error];
    for (const { entry: one, others } of foldSimilar(refused, ({ code }) => code, flags)) {
      const { file, line, column } = one.at ?? {};
      const place = file === undefined ? '' : `${escapeTerminal(file)}:${line}:${column} `;
      const about = one.resource === undefined || one.message.startsWith(one.resource) ? '' : `${one.resource}: `;
      note(`${place}${terminal.color.red('error')} ${one.code}  ${escapeTerminal(`${about}${one.message}`)}\n`);
      if (one.hint !== undefined) note(`  hint: ${escapeTerminal(one.hint)}\n`);
      if (others.length > 0) note(`  and ${others.length} more of this code; --full prints them\n`);
      if (one.allowable === true) note(`  override: --allow ${one.code}=REASON\n`);
    }
    return;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  note(`${mistake}\n${detail.split('\n').map(escapeTerminal).join('\n')}\n`);
  note('  hint: report it with the command line and this text (remove private data first)\n');
}
