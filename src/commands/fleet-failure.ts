import { writeReport } from '../disk/write.ts';
import type { JsonObject } from '../model/json.ts';
import { applyDocument } from '../report/subjects/apply.ts';
import { toJsonText } from '../report/serialize.ts';
import { driftDocument } from '../report/subjects/drift.ts';
import { fleetDocument, type DocumentList, type Failure } from '../report/fleet.ts';
import { planDocument } from '../report/subjects/plan.ts';
import type { ReportFlag } from './flags.ts';
import { absolutePath } from '../project/resolved-config.ts';
import { isWritable } from './emit.ts';
import type { CommandEvent, CliContext } from './context/cli-context.ts';

/** What a target that could not be finished has told last, if it came so far. */
type Untold = {
  readonly list: DocumentList;
  readonly failure: Failure;
  readonly told: CommandEvent | undefined;
  readonly reports: readonly ReportFlag<string>[];
};

/**
 * Writes the JSON reports of a target that could not be finished: what was told of it, and why there is no more. So no
 * file of an earlier run is taken for this one's. A path that cannot be written was told before.
 */
export function writeFailure({ list, failure, told, reports }: Untold, context: CliContext): void {
  const text = toJsonText(fleetDocument(list, documentsOf(told), [failure]));
  for (const { format, path } of reports)
    if (format === 'json' && isWritable(path, context)) writeReport(absolutePath(path, context), text);
}

function documentsOf(told: CommandEvent | undefined): readonly JsonObject[] {
  if (told !== undefined && 'drift' in told) return [driftDocument([told.drift]).json()];
  if (told === undefined || !('plan' in told)) return [];
  const { plan, result } = told;
  return [result === undefined ? planDocument([plan]).json() : applyDocument([{ plan, result }]).json()];
}
