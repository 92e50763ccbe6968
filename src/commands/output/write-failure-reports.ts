import { writeReport } from '../../disk/write.ts';
import { applyDocument } from '../../report/subjects/apply.ts';
import type { ReportDocument } from '../../report/document.ts';
import { renderReportPieces } from '../../report/formats.ts';
import { findingsSection } from '../../report/subjects/findings.ts';
import { type DocumentList, fleetDocument, type TargetFailure } from '../../report/serialize.ts';
import { driftDocument } from '../../report/subjects/drift.ts';
import { planDocument } from '../../report/subjects/plan.ts';
import type { ReportFlag, ReportFlags } from '../context/options.ts';
import {
  chooseTargets,
  isPathPerTarget,
  outputPath,
  pathForTarget,
  type ProjectSelection,
  resolveConfig,
} from '../../project/resolved-config.ts';
import { AppError } from '../../model/errors.ts';
import { diagnosticsDocument } from '../../report/wording/diagnostics.ts';
import { isWritable, pathInRepository, renderOptions } from './emit.ts';
import { version } from '../context/version.ts';
import type { CliContext, CommandEvent } from '../context/cli-context.ts';

/** A target that failed, its last result if there was one, and a sentence about the failure. */
export type FailedTarget = {
  readonly list: DocumentList;
  readonly failure: TargetFailure;
  readonly sentence: string;
  readonly lastResult: CommandEvent | undefined;
  readonly flags: ReportFlags & ProjectSelection & { readonly report?: readonly ReportFlag[] };
};

/**
 * Writes the reports of a failed target with its last result and the errors, so that no file of an earlier run looks like a report
 * of this one. Skips paths that cannot be written: they were reported before.
 */
export async function writeFailureReports(failed: FailedTarget, context: CliContext): Promise<void> {
  const document = failedDocument(failed, context);
  const { report = [] } = failed.flags;
  const names = report.some(({ path }) => isPathPerTarget(path)) ? targetNames(failed.flags, context) : [];
  const files = report.flatMap(({ format, path }) =>
    isPathPerTarget(path) ? names.map((name) => ({ format, path: pathForTarget(path, name) })) : [{ format, path }],
  );
  for (const { format, path } of files) {
    if (!isWritable(path, context)) continue;
    writeReport(outputPath(path, context), await renderReportPieces(document, format, renderOptions(failed.flags, context)));
  }
}

/** Returns the names of the selected targets; none if the config cannot be read. */
function targetNames(selection: ProjectSelection, context: CliContext): readonly string[] {
  try {
    return chooseTargets(resolveConfig(selection, context), selection).map(({ name }) => name);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

/** Returns the document of a failed target: its last result, and the errors. */
export function failedDocument({ list, failure, sentence, lastResult, flags }: FailedTarget, context: CliContext): ReportDocument {
  const { target, diagnostics } = failure;
  const last = list === 'diagnostics' ? { json: () => diagnosticsDocument(diagnostics), sections: () => [] } : documentOf(lastResult);
  const fallback = flags.config ?? 'ostiary.yaml';
  const run = { targets: [{ target, diagnostics }], version, pathOf: pathInRepository(context), fallback };
  return {
    json: () => fleetDocument(list, last === undefined ? [] : [last.json()], [failure]),
    sections: () => [findingsSection(run, sentence), ...(last?.sections() ?? [])],
  };
}

function documentOf(event: CommandEvent | undefined): ReportDocument | undefined {
  if (event !== undefined && 'drift' in event) return driftDocument([event.drift]);
  if (event === undefined || !('plan' in event)) return undefined;
  const { plan, result } = event;
  return result === undefined ? planDocument([plan]) : applyDocument([{ plan, result }]);
}
