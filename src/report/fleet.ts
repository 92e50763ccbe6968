import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { diagnosticObjects } from './text/diagnostics.ts';

/** A target that a run of several targets could not finish, the exit code of a run of this target alone, and the reasons. */
export type TargetFailure = { readonly target: string; readonly exitCode: number; readonly diagnostics: readonly Diagnostic[] };

/** The name of the list in a command's documents. */
export type DocumentList = 'plans' | 'drifts' | 'targets' | 'diagnostics';

/**
 * Merges the documents of several targets: it concatenates their lists, includes the command's own list even if it is empty, and
 * adds `failures` if a target could not be finished. Without failures, the document has the form of a single target's.
 */
export function fleetDocument(list: DocumentList, documents: readonly JsonObject[], failures: readonly TargetFailure[]): JsonObject {
  const whole = mergeDocuments([{ version: 1, [list]: [] }, ...documents]);
  return failures.length === 0 ? whole : { ...whole, failures: failures.map(failureDocument) };
}

/** Merges documents of one version by concatenating their lists. */
export function mergeDocuments(documents: readonly JsonObject[]): JsonObject {
  const whole: Record<string, Json> = {};
  for (const document of documents) {
    for (const [key, value] of Object.entries(document)) {
      const earlier = whole[key];
      whole[key] = Array.isArray(value) ? [...(Array.isArray(earlier) ? earlier : []), ...value] : value;
    }
  }
  return whole;
}

function failureDocument({ target, exitCode, diagnostics }: TargetFailure): JsonObject {
  return { target, exitCode, diagnostics: diagnosticObjects(diagnostics.filter(({ severity }) => severity === 'error')) };
}
