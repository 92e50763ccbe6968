import type { DesiredResource } from '../model/desired.ts';
import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import type { RuleSampleResults } from '../model/result/sample-result.ts';
import { lintRule } from './lint/lint.ts';
import { patternCache } from './pattern/compile.ts';
import { sampleFindings } from './samples/sample-findings.ts';
import { trySamples } from './samples/try-samples.ts';

/**
 * Prepares to look through rules: what is wrong with their words and patterns, and which of their samples fail; each pattern
 * is compiled once. `hears` is told what came of all samples.
 */
export function ruleInspector(
  failing: DocumentDiagnostic['severity'],
  onSamples?: (tried: RuleSampleResults) => void,
): (resource: DesiredResource) => readonly DocumentDiagnostic[] {
  const patterns = patternCache();
  return (resource) => {
    const tried = trySamples(resource, patterns);
    if (tried === undefined) return [];
    onSamples?.(tried);
    return [...lintRule(resource, patterns), ...sampleFindings(tried, failing)];
  };
}
