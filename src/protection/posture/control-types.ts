import { directionOf, verdictOf } from '../../model/spec/direction.ts';
import type { Kind } from '../../model/kind.ts';
import type { FieldChange } from '../../model/plan/plan.ts';
import { tokensOf, type Pointer } from '../../model/pointer.ts';
import type { ControlType, ProtectionVerdict } from '../../model/protection/protection.ts';

/** Returns the verdict of one changed field of a kind. */
export function fieldVerdict(kind: Kind, field: Pick<FieldChange, 'path' | 'before' | 'after'>): ProtectionVerdict {
  return verdictOf(directionOf(kind.fields, field));
}

const rules: readonly ControlType[] = ['input', 'output', 'masking'];
const connection: Readonly<Record<string, readonly ControlType[]>> = {
  access_mode_connect: ['access'],
  access_mode_exec: ['access'],
  access_mode_runbooks: ['access'],
  reviewers: ['review'],
  min_review_approvals: ['review'],
  redact_enabled: ['redaction'],
  redact_types: ['redaction'],
  force_approve_groups: ['force'],
  access_max_duration: ['duration'],
  access_schema: ['schema'],
  mandatory_metadata_fields: ['metadata'],
  attributes: ['attributes', 'requests', ...rules],
};
const guardrail: Readonly<Record<string, readonly ControlType[]>> = {
  input: ['input'],
  output: ['output'],
  attributes: ['input', 'output'],
};
const masking: Readonly<Record<string, readonly ControlType[]>> = {
  score_threshold: ['masking'],
  supported_entity_types: ['masking'],
  custom_entity_types: ['masking'],
  attributes: ['masking'],
};
const controlTypesByKind: Readonly<Record<string, Readonly<Record<string, readonly ControlType[]>>>> = {
  Connection: connection,
  GuardrailRule: guardrail,
  DataMaskingRule: masking,
};

/** Lists the control types that a field of a kind affects; empty when it protects nothing. */
export function controlTypesOf(kind: string, path: Pointer): readonly ControlType[] {
  const [name = ''] = tokensOf(path);
  return controlTypesByKind[kind]?.[name] ?? [];
}

/** Lists all control types that a rule of the kind affects. */
export function ruleControlTypes(kind: string): readonly ControlType[] {
  if (kind === 'GuardrailRule') return ['input', 'output'];
  return kind === 'DataMaskingRule' ? ['masking'] : [];
}
