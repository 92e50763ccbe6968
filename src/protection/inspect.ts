import type { DesiredResource } from '../model/desired.ts';
import type { Finding } from '../model/diagnostic.ts';
import { lintRule } from './lint/lint.ts';
import { patternCache } from './pattern/compile.ts';
import { sampleFindings } from './sample-findings.ts';
import { trySamples } from './try-samples.ts';

/**
 * Prepares to look through rules: what is wrong with their words and patterns, and which of their samples fail; each pattern
 * is compiled once.
 */
export function ruleInspector(failing: Finding['severity']): (resource: DesiredResource) => readonly Finding[] {
  const patterns = patternCache();
  return (resource) => {
    const tried = trySamples(resource, patterns);
    return tried === undefined ? [] : [...lintRule(resource, patterns), ...sampleFindings(tried, failing)];
  };
}
