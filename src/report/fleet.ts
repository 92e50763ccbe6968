import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { diagnosticObjects } from './text/diagnostics.ts';

/** A target that a run of several could not finish, the exit code it would have had alone, and why. */
export type TargetFailure = { readonly target: string; readonly exitCode: number; readonly diagnostics: readonly Diagnostic[] };

/** The list that documents of a command hold. */
export type DocumentList = 'plans' | 'drifts' | 'targets' | 'diagnostics';

/**
 * Documents of several targets as one: their lists one after another, the command's own also where it is empty, and in
 * `failures` every target that could not be finished. Where all could, the document is as one target's.
 */
export function fleetDocument(list: DocumentList, documents: readonly JsonObject[], failures: readonly TargetFailure[]): JsonObject {
  const whole = mergeDocuments([{ version: 1, [list]: [] }, ...documents]);
  return failures.length === 0 ? whole : { ...whole, failures: failures.map(failureDocument) };
}

/** Documents of one version as one: their lists one after another. */
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
