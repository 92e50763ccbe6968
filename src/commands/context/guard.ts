import type { Diagnostic } from '../../model/diagnostic.ts';
import { AppError, InputError, RefusedError } from '../../model/errors.ts';
import type { Refusal } from '../../model/plan/plan.ts';
import { diagnosticsText } from '../../report/text/diagnostics.ts';
import { foldSimilar } from '../../report/subjects/fold-similar.ts';
import { escapeTerminal } from '../../report/escape.ts';
import type { ColorChoice, OutputFlags } from '../flags.ts';
import { printerFor } from '../output/printer.ts';
import type { CliContext } from './cli-context.ts';

/** Runs the work and returns its exit code; prints an error that it throws and returns the error's exit code. */
export async function runGuarded(
  work: () => Promise<number>,
  { context, color, full = false }: { readonly context: CliContext; readonly color: ColorChoice; readonly full?: boolean },
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    context.onEvent?.({ diagnostics: diagnosticsOf(error) });
    return report(error, context, { color, full, quiet: false });
  }
}

/** An error, or one of the refusals that an error contains. */
type Told = Pick<AppError, 'code' | 'message'> & { readonly hint?: string | undefined } & Partial<
    Pick<Refusal, 'allowable' | 'at' | 'resource'>
  >;

/** Converts an error to diagnostics. */
function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  if (error instanceof InputError) return error.diagnostics;
  if (error instanceof RefusedError) return error.refusals.map((refusal) => ({ ...refusal, severity: 'error' }));
  if (!(error instanceof AppError)) return [{ code: 'internal/error', severity: 'error', message: mistake }];
  const [area = '', reason = ''] = error.code.split('/');
  const { message, hint } = error;
  return [{ code: `${area}/${reason}`, severity: 'error', message, ...(hint === undefined ? {} : { hint }) }];
}

const mistake = 'internal error: this is a bug in Ostiary, not in your input';

function report(error: unknown, context: CliContext, flags: OutputFlags): number {
  const { note, errors: terminal } = printerFor(context, flags);
  if (error instanceof InputError) {
    note(diagnosticsText(error.diagnostics, terminal));
    return error.exitCode;
  }
  if (error instanceof AppError) {
    const refused: readonly Told[] = error instanceof RefusedError ? error.refusals : [error];
    for (const { entry: one, others } of foldSimilar(refused, ({ code }) => code, flags)) {
      const { file, line, column } = one.at ?? {};
      const place = file === undefined ? '' : `${escapeTerminal(file)}:${line}:${column} `;
      const about = one.resource === undefined || one.message.startsWith(one.resource) ? '' : `${one.resource}: `;
      note(`${place}${terminal.color.red('error')} ${one.code}  ${escapeTerminal(`${about}${one.message}`)}\n`);
      if (one.hint !== undefined) note(`  hint: ${escapeTerminal(one.hint)}\n`);
      if (others.length > 0) note(`  and ${others.length} more of this code; --full prints them\n`);
      if (one.allowable === true) note(`  override: --allow ${one.code}=reason\n`);
    }
    return error.exitCode;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  note(`${mistake}\n${detail.split('\n').map(escapeTerminal).join('\n')}\n`);
  note('  hint: report it with the command line and this text (remove private data first)\n');
  return 1;
}
