import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Drift } from '../model/result/drift.ts';
import { UsageError } from '../model/errors.ts';
import type { ApplyResult } from '../model/result/outcome.ts';
import type { Plan } from '../model/plan/plan.ts';
import { writeReport } from '../disk/write.ts';
import { applyJson, applyMarkdown, applyText } from '../report/apply.ts';
import { diagnosticsText } from '../report/text/diagnostics.ts';
import { driftJson } from '../report/drift-json.ts';
import { driftMarkdown } from '../report/drift-markdown.ts';
import { driftText } from '../report/drift-text.ts';
import { planJson } from '../report/subjects/plan-json.ts';
import { planMarkdown } from '../report/markdown/changes.ts';
import { planText } from '../report/text/changes.ts';
import { plainPalette, type Terminal } from '../report/text/terminal.ts';
import type { Format, PlanFlags } from './flags.ts';
import type { Printer } from './printer.ts';
import { absolutePath } from '../project/resolved-config.ts';
import type { CliContext } from './context/cli-context.ts';

type OutputOptions = {
  readonly flags: Pick<PlanFlags, 'format' | 'report'>;
  readonly context: CliContext;
  readonly printer: Printer;
  /** Makes the page, where one may be asked for. */
  readonly html?: () => string;
  /** It was printed before: only the reports are left to write. */
  readonly printed?: boolean;
};

const plain: Terminal = { color: plainPalette };

/** Prints plans and writes the reports that were asked for; warnings go to stderr. */
export function emitPlan(plans: readonly Plan[], warnings: readonly Diagnostic[], telling: OutputOptions): void {
  for (const plan of plans) telling.context.onEvent?.({ plan });
  tellWarnings(warnings, telling);
  tell(telling, (format, terminal) => {
    if (format === 'json') return planJson(plans);
    return format === 'markdown' ? planMarkdown(plans) : planText(plans, terminal);
  });
}

/** Prints what somebody changed by hand and writes the reports that were asked for; warnings go to stderr. */
export function emitDrift(drifts: readonly Drift[], warnings: readonly Diagnostic[], telling: OutputOptions): void {
  for (const drift of drifts) telling.context.onEvent?.({ drift });
  tellWarnings(warnings, telling);
  tell(telling, (format, terminal) => {
    if (format === 'json') return driftJson(drifts);
    return format === 'markdown' ? driftMarkdown(drifts) : driftText(drifts, terminal);
  });
}

function tellWarnings(warnings: readonly Diagnostic[], { context, printer }: OutputOptions): void {
  context.onEvent?.({ diagnostics: warnings });
  if (warnings.length > 0) printer.hint(diagnosticsText(warnings, printer.errors));
}

/** Prints what became of a plan and writes the reports that were asked for. */
export function emitResult(result: ApplyResult, plan: Plan, telling: OutputOptions): void {
  telling.context.onEvent?.({ plan, result });
  tell(telling, (format, terminal) => {
    if (format === 'json') return applyJson([{ plan, result }]);
    return format === 'markdown' ? applyMarkdown([{ plan, result }]) : applyText([{ plan, result }], terminal);
  });
}

function tell({ flags, context, printer, printed, html }: OutputOptions, render: (format: Format, terminal: Terminal) => string): void {
  if (printed !== true) printer.print(render(flags.format, printer.results));
  for (const { format, path } of flags.report)
    writeReport(absolutePath(path, context), format === 'html' ? pageOf(html) : render(format, plain));
}

function pageOf(html: OutputOptions['html']): string {
  if (html === undefined) throw new Error('nobody makes a page here');
  return html();
}

/** Refuses files that could not be written, before anything is done. */
export function requireWritable(files: readonly { readonly path: string; readonly what?: string }[], context: CliContext): void {
  const lost = files.find(({ path }) => !isWritable(path, context));
  if (lost !== undefined)
    throw new UsageError(
      `the ${lost.what ?? 'report'} "${lost.path}" cannot be written`,
      'check that its folder exists and may be written to',
    );
}

/** Whether a file may be written there, as far as can be told beforehand. */
export function isWritable(path: string, context: CliContext): boolean {
  const place = absolutePath(path, context);
  try {
    accessSync(statSync(place, { throwIfNoEntry: false })?.isFile() === false ? place : dirname(place), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
