import { overlaps, tokensOf, type Pointer } from '../../model/pointer.ts';
import { controlTypes, type ControlColumn, type ControlType } from '../../model/protection/protection.ts';
import { analyzerRow, approvalRow, rulepacksRow, whoRow } from './access-rows.ts';
import { accessRow, attributesRow, durationRow, forceRow, metadataRow, redactionRow, reviewRow, schemaRow } from './connection-rows.ts';
import { attachingKind } from '../access/deciding-kinds.ts';
import { accessControlRows, type ControlRow, type RuleControls } from './control-row.ts';
import { runbooksRow } from './runbooks-row.ts';
import { federationRow } from './federation-row.ts';
import { toolsRow } from './tools-row.ts';
import { inputRow, maskingRow, outputRow } from './rule-rows.ts';

/** The only table of controls: what protects, which fields form it, how two states compare, its wording and its risks. */
const rows: Readonly<Record<ControlType, Omit<ControlRow, 'type'>>> = {
  access: accessRow,
  who: whoRow,
  review: reviewRow,
  input: inputRow,
  output: outputRow,
  masking: maskingRow,
  redaction: redactionRow,
  tools: toolsRow,
  force: forceRow,
  duration: durationRow,
  schema: schemaRow,
  metadata: metadataRow,
  attributes: attributesRow,
  approval: approvalRow,
  runbooks: runbooksRow,
  rulepacks: rulepacksRow,
  analyzer: analyzerRow,
  federation: federationRow,
};

/** The rows in the order of their importance. */
export const controlTable: readonly ControlRow[] = controlTypes.map((type) => ({ type, ...rows[type] }));

/** A row of what protects a connection from whoever uses it. The others are about people: what these may do decides them. */
export type AspectRow = ControlRow & Required<Pick<ControlRow, 'compare'>>;

/** The rows of what protects a connection from whoever uses it, in the order of their importance. */
export const aspectRows: readonly AspectRow[] = controlTable.flatMap(({ compare, ...row }) =>
  compare === undefined ? [] : [{ ...row, compare }],
);

/** The columns in which reports show the control types. */
export const controlColumns: readonly ControlColumn[] = controlTable.map(({ type, column }) => ({ type, ...column }));

/** Returns the row of a control type. */
export function controlRow(type: ControlType): ControlRow {
  return { type, ...rows[type] };
}

/** Returns the kinds whose objects decide a control with others; where one cannot be read, the control may have more. */
export function decidingKindsOf({ fields, ofRules, decidedWith = [] }: ControlRow): readonly string[] {
  if (ofRules !== undefined) return [];
  const { Connection: own = [], ...others } = fields;
  return [
    ...(own.includes('access_groups') ? [accessControlRows] : []),
    ...Object.keys(others),
    ...([own, ...Object.values(others)].flat().includes('attributes') ? [attachingKind] : []),
    ...decidedWith.flatMap((type) => decidingKindsOf(controlRow(type))),
  ];
}

/** Returns the kinds whose objects decide what a change of some fields of a connection, or of the rules of some kinds on it, does to its controls. */
export function decidingKindsFor(names: ReadonlySet<string>, rules: ReadonlySet<string>): ReadonlySet<string> {
  const isChanged = ({ fields: { Connection: own = [] }, conditions = [], selects = [], ofRules }: ControlRow): boolean =>
    [...own, ...conditions, ...selects].some((name) => names.has(name)) || (ofRules !== undefined && rules.has(ofRules.kind));
  const changed = controlTable.filter(isChanged);
  // What people may do decides how these compare, and all of them form it.
  const ofPeople = controlTable.filter(({ compare, fields }) => compare === undefined && fields['Connection'] !== undefined);
  const all = changed.some(({ compare }) => compare === undefined) ? [...changed, ...ofPeople] : changed;
  return new Set(all.flatMap(({ fields }) => Object.keys(fields)));
}

/** Returns the names of the fields of a kind that some controls read. */
export function fieldsRead(kind: string, controls: readonly ControlType[] = controlTypes): readonly string[] {
  return [...new Set(controls.flatMap((control) => rows[control].fields[kind] ?? []))];
}

/** Lists the control types that a field of a kind forms; empty when it protects nothing. */
export function controlTypesOf(kind: string, path: Pointer): readonly ControlType[] {
  return typesWith(path, ({ fields }) => fields[kind] ?? []);
}

/** Lists the control types whose enforcement a field of a kind decides. */
function conditionedTypesOf(kind: string, path: Pointer): readonly ControlType[] {
  return kind === 'Connection' ? typesWith(path, ({ conditions }) => conditions ?? []) : [];
}

/** Returns whether a field of a kind protects, or decides whether controls are enforced, or which ways to use a connection there are. */
export function decidesProtection(kind: string, path: Pointer): boolean {
  return controlTypesOf(kind, path).length + conditionedTypesOf(kind, path).length > 0;
}

function formsPart({ within }: ControlRow, path: Pointer): boolean {
  return within === undefined || within.some((part) => overlaps(part, path));
}

function typesWith(path: Pointer, fieldsOf: (row: ControlRow) => readonly string[]): readonly ControlType[] {
  const [name = ''] = tokensOf(path);
  return controlTable.filter((row) => fieldsOf(row).includes(name) && formsPart(row, path)).map(({ type }) => type);
}

/** Lists the control types that the rules of a kind bring to connections, and how. */
export function controlsOfRuleKind(kind: string): readonly (RuleControls & { readonly type: ControlType })[] {
  return controlTable.flatMap(({ type, ofRules }) => (ofRules?.kind === kind ? [{ ...ofRules, type }] : []));
}

/** Lists all control types that a rule of the kind affects, alone or with others. */
export function ruleControlTypes(kind: string): readonly ControlType[] {
  return controlTable.flatMap(({ type, ofRules, ofAccess = {} }) => (ofRules?.kind === kind || ofAccess[kind] !== undefined ? [type] : []));
}

/** Lists the fields of a connection that form a control; `approvals` is part of the review. */
export function fieldsOfControl(control: string): readonly string[] {
  const type = control === 'approvals' ? 'review' : control;
  return controlTable.find((row) => row.type === type)?.fields['Connection'] ?? [];
}

/** The fields of a connection that protect it, by themselves or with rules. */
export const protectingFields: readonly string[] = [
  ...new Set(controlTable.flatMap(({ fields, conditions = [] }) => [...(fields['Connection'] ?? []), ...conditions])),
].toSorted();
