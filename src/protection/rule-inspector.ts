import type { DesiredResource } from '../model/desired.ts';
import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import type { RuleSampleResults } from '../model/protection/protection.ts';
import { lintRule } from './lint/lint-guardrail.ts';
import { patternCache } from './pattern/compile.ts';
import { sampleFindings } from './samples/sample-findings.ts';
import { trySamples } from './samples/try-samples.ts';

/**
 * Returns an inspector of rules. It reports problems of words and patterns, and failing samples with severity `failing`; each
 * pattern is compiled once. `onSamples` receives the results of all samples.
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
