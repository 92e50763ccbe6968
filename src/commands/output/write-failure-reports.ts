import { writeReport } from '../../disk/write.ts';
import type { JsonObject } from '../../model/json.ts';
import { applyDocument } from '../../report/subjects/apply.ts';
import { toJsonText, fleetDocument, type DocumentList, type TargetFailure } from '../../report/serialize.ts';
import { driftDocument } from '../../report/subjects/drift.ts';
import { planDocument } from '../../report/subjects/plan.ts';
import type { ReportFlag } from '../flags.ts';
import { absolutePath } from '../../project/resolved-config.ts';
import { isWritable } from './emit.ts';
import type { CommandEvent, CliContext } from '../context/cli-context.ts';

/** A target that failed, and its last result if there was one. */
type FailedTarget = {
  readonly list: DocumentList;
  readonly failure: TargetFailure;
  readonly lastResult: CommandEvent | undefined;
  readonly reports: readonly ReportFlag<string>[];
};

/**
 * Writes the JSON reports of a failed target with its last result and the failure, so that no file of an earlier run looks
 * like a report of this one. Skips paths that cannot be written: they were reported before.
 */
export function writeFailureReports({ list, failure, lastResult, reports }: FailedTarget, context: CliContext): void {
  const text = toJsonText(fleetDocument(list, documentsOf(lastResult), [failure]));
  for (const { format, path } of reports)
    if (format === 'json' && isWritable(path, context)) writeReport(absolutePath(path, context), text);
}

function documentsOf(event: CommandEvent | undefined): readonly JsonObject[] {
  if (event !== undefined && 'drift' in event) return [driftDocument([event.drift]).json()];
  if (event === undefined || !('plan' in event)) return [];
  const { plan, result } = event;
  return [result === undefined ? planDocument([plan]).json() : applyDocument([{ plan, result }]).json()];
}
