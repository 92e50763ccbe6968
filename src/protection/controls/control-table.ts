import { tokensOf, type Pointer } from '../../model/pointer.ts';
import { controlTypes, type ControlType } from '../../model/protection/protection.ts';
import { compareDuration, compareEnforced, compareGranted, compareNamed } from './compare-controls.ts';
import { compareForce, compareReview } from './compare-review.ts';
import type { ControlComparison, Posture } from './control.ts';
import { byBlockedText, byMaskedText } from './coverage-rules.ts';

/** Fields of resources by kind. */
type FieldsByKind = Readonly<Record<string, readonly string[]>>;

/** Everything that Ostiary knows about one control type; its wording is in `headline-wording.ts`, its reasons in `risk/reasons.ts`. */
export type ControlRow = {
  readonly type: ControlType;
  /** The fields that form it. */
  readonly fields: FieldsByKind;
  /** The fields of a connection that decide whether the gateway enforces it. */
  readonly conditions?: readonly string[];
  /** The field of a connection that decides what the entries of the others are worth, so that they are held only together. */
  readonly decides?: string;
  /** The kind of rules that bring it to connections. */
  readonly ruleKind?: string;
  /** Returns what is lost and gained between two states of a whole connection. */
  readonly compare: (before: Posture, after: Posture) => ControlComparison;
};

const enforcing = ['type', 'subtype', 'access_mode_connect'];

/** The only table of controls: what protects, which fields form it, and how two states compare. */
const rows: Readonly<Record<ControlType, Omit<ControlRow, 'type'>>> = {
  access: {
    fields: { Connection: ['access_mode_connect', 'access_mode_exec', 'access_mode_runbooks'] },
    compare: compareGranted('access'),
  },
  review: { fields: { Connection: ['reviewers', 'min_review_approvals'] }, decides: 'min_review_approvals', compare: compareReview },
  input: {
    fields: { Connection: ['attributes'], GuardrailRule: ['input', 'attributes'] },
    conditions: enforcing,
    ruleKind: 'GuardrailRule',
    compare: compareEnforced('input', byBlockedText),
  },
  output: {
    fields: { Connection: ['attributes'], GuardrailRule: ['output', 'attributes'] },
    conditions: enforcing,
    ruleKind: 'GuardrailRule',
    compare: compareEnforced('output', byBlockedText),
  },
  masking: {
    fields: {
      Connection: ['attributes'],
      DataMaskingRule: ['score_threshold', 'supported_entity_types', 'custom_entity_types', 'attributes'],
    },
    conditions: enforcing,
    ruleKind: 'DataMaskingRule',
    compare: compareEnforced('masking', byMaskedText),
  },
  redaction: {
    fields: { Connection: ['redact_enabled', 'redact_types'] },
    decides: 'redact_enabled',
    compare: compareNamed('redaction'),
  },
  force: { fields: { Connection: ['force_approve_groups'] }, compare: compareForce },
  duration: { fields: { Connection: ['access_max_duration'] }, compare: compareDuration },
  schema: { fields: { Connection: ['access_schema'] }, compare: compareGranted('schema') },
  metadata: { fields: { Connection: ['mandatory_metadata_fields'] }, compare: compareNamed('metadata') },
  attributes: { fields: { Connection: ['attributes'] }, compare: compareNamed('attributes') },
  requests: { fields: { Connection: ['attributes'] }, compare: compareNamed('requests') },
};

/** The rows in the order of their importance. */
export const controlTable: readonly ControlRow[] = controlTypes.map((type) => ({ type, ...rows[type] }));

/** Lists the control types that a field of a kind forms; empty when it protects nothing. */
export function controlTypesOf(kind: string, path: Pointer): readonly ControlType[] {
  return typesWith(path, ({ fields }) => fields[kind] ?? []);
}

/** Lists the control types whose enforcement a field of a kind decides. */
export function conditionedTypesOf(kind: string, path: Pointer): readonly ControlType[] {
  return kind === 'Connection' ? typesWith(path, ({ conditions }) => conditions ?? []) : [];
}

function typesWith(path: Pointer, fieldsOf: (row: ControlRow) => readonly string[]): readonly ControlType[] {
  const [name = ''] = tokensOf(path);
  return controlTable.filter((row) => fieldsOf(row).includes(name)).map(({ type }) => type);
}

/** Lists all control types that a rule of the kind affects. */
export function ruleControlTypes(kind: string): readonly ControlType[] {
  return controlTable.filter(({ ruleKind }) => ruleKind === kind).map(({ type }) => type);
}

/** Lists the fields of a connection that form a control; `approvals` is part of the review. */
export function fieldsOfControl(control: string): readonly string[] {
  const type = control === 'approvals' ? 'review' : control;
  return controlTable.find((row) => row.type === type)?.fields['Connection'] ?? [];
}
