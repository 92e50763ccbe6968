import { type Diagnostic, sortDiagnostics } from '../../model/diagnostic.ts';
import type { JsonObject } from '../../model/json.ts';
import { documentJson } from '../document-json.ts';
import { escapeJson } from '../escape.ts';
import { plural } from './phrases.ts';

/** Returns the counts of diagnostics: `2 errors, 1 warning`. */
export function diagnosticCounts(diagnostics: readonly Diagnostic[]): string {
  const counted = (['error', 'warning', 'notice'] as const).map(
    (severity) => [diagnostics.filter((one) => one.severity === severity).length, severity] as const,
  );
  return counted.flatMap(([count, severity]) => (count > 0 ? [plural(count, severity)] : [])).join(', ');
}

/** Renders diagnostics as one JSON document, without code frames. */
export function diagnosticsJson(diagnostics: readonly Diagnostic[]): string {
  return `${escapeJson(JSON.stringify(diagnosticsDocument(diagnostics), null, 2))}\n`;
}

/** Returns diagnostics as a JSON document, without code frames. */
export function diagnosticsDocument(diagnostics: readonly Diagnostic[]): JsonObject {
  return { version: 1, diagnostics: [...diagnosticObjects(diagnostics)] };
}

/** Returns diagnostics as data, sorted by position, without code frames. */
export function diagnosticObjects(diagnostics: readonly Diagnostic[]): readonly JsonObject[] {
  return sortDiagnostics(diagnostics).map((one) => documentJson(one, 'diagnostics#/$defs/diagnostic'));
}
