import type { DesiredResource } from '../../model/desired.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import { isPointerWithin, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { controlTypesOf } from '../posture/control-types.ts';
import type { RiskDraft } from './field-risks.ts';
import { textsIn } from '../posture/protection-snapshot.ts';
import type { RiskName } from './risk-codes.ts';

/** Finds differences between a manifest and the base that are not fields: its selector and its ignored paths. */
export function manifestRisks(kind: Kind, desired: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  return [...selectorRisks(desired, base), ...ignoreRisks(kind, desired.ignore, base.ignore)];
}

function selectorRisks({ selector: current }: DesiredResource, { selector: applied }: DesiredResource): readonly RiskDraft[] {
  const field = current?.field ?? applied?.field;
  if (field === undefined) return [];
  const draft = (name: RiskName): RiskDraft => ({ name, fields: [field] });
  return [
    ...(selectsAllOf(current?.value, applied?.value) ? [] : [draft('selector-narrowed')]),
    ...(selectsAllOf(applied?.value, current?.value) ? [] : [draft('selector-widened')]),
  ];
}

/** Returns whether `one` selects everything that `other` selects: it requires no other tags and excludes no other names. */
function selectsAllOf(one: JsonObject | undefined, other: JsonObject | undefined): boolean {
  if (other === undefined) return true;
  if (one === undefined) return false;
  const required = tagsOf(other);
  const excluded = new Set(textsIn(other['except']));
  return (
    Object.entries(tagsOf(one)).every(([key, value]) => required[key] === value) &&
    textsIn(one['except']).every((name) => excluded.has(name))
  );
}

function tagsOf(selector: JsonObject): Readonly<Record<string, Json>> {
  const tags = selector['match_tags'];
  return isObject(tags) ? tags : {};
}

function ignoreRisks(kind: Kind, current: readonly Pointer[], applied: readonly Pointer[]): readonly RiskDraft[] {
  const added = current.filter((path) => !applied.some((other) => isPointerWithin(path, other)) && touchesProtection(kind, path));
  const removed = applied.filter((path) => !current.some((other) => isPointerWithin(path, other)) && touchesProtection(kind, path));
  return [
    ...added.map((path): RiskDraft => ({ name: 'ignore-added', fields: tokensOf(path) })),
    ...removed.map((path): RiskDraft => ({ name: 'ignore-removed', fields: tokensOf(path) })),
  ];
}

/** Returns whether the path overlaps a protecting field or an edge field. */
function touchesProtection(kind: Kind, path: Pointer): boolean {
  return kind.fields.some(({ name, edge }) => {
    const own = pointer(name);
    return (isPointerWithin(own, path) || isPointerWithin(path, own)) && (edge !== undefined || controlTypesOf(kind.name, own).length > 0);
  });
}
