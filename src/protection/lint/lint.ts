import type { DesiredResource } from '../../model/desired.ts';
import type { DocumentDiagnostic } from '../../model/diagnostic.ts';
import { kindOf } from '../../model/resource.ts';
import type { PatternCompiler } from '../pattern/compile.ts';
import { lintGuardrail } from './lint-guardrail.ts';
import { lintMasking } from './lint-masking.ts';

/** Finds problems of a guardrail or masking rule; returns nothing for other kinds. */
export function lintRule({ id, written, spec }: DesiredResource, patterns: PatternCompiler): readonly DocumentDiagnostic[] {
  switch (kindOf(id)) {
    case 'GuardrailRule':
      return lintGuardrail(written ?? spec, patterns);
    case 'DataMaskingRule':
      return lintMasking(written ?? spec, patterns);
    default:
      return [];
  }
}
