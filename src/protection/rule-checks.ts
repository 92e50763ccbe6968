import type { DesiredResource } from '../model/desired.ts';
import type { DocumentDiagnostic } from '../model/diagnostic.ts';
import { ruleInspector } from './rule-inspector.ts';
import { findSampleChanges } from './samples/sample-changes.ts';

/** The checks of rules that compile patterns; a value, because most plans can do without loading the pattern compiler. */
export type RuleChecks = {
  readonly inspect: (rule: DesiredResource) => readonly DocumentDiagnostic[];
  readonly findSampleChanges: typeof findSampleChanges;
};

/** Prepares the checks of rules; each pattern is compiled once. */
export function ruleChecks(): RuleChecks {
  return { inspect: ruleInspector('warning'), findSampleChanges };
}
