import { type DesiredResource, type DesiredState, desiredById } from '../../model/desired.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import { isPointerWithin, pointer, tokensOf, type Pointer } from '../../model/pointer.ts';
import { controlTypesOf } from '../posture/control-types.ts';
import type { RiskDraft } from './field-risks.ts';
import { textsIn } from '../posture/protection-snapshot.ts';
import type { RiskName } from './risk-codes.ts';

/** What the manifest says otherwise than the base's that is no field: what it selects, and what it leaves to others. */
export function manifestRisks(kind: Kind, desired: DesiredResource, base: DesiredResource): readonly RiskDraft[] {
  return [...selectorRisks(desired, base), ...ignoreRisks(kind, desired.ignore, base.ignore)];
}

function selectorRisks({ selector: is }: DesiredResource, { selector: was }: DesiredResource): readonly RiskDraft[] {
  const field = is?.field ?? was?.field;
  if (field === undefined) return [];
  const draft = (name: RiskName): RiskDraft => ({ name, fields: [field] });
  return [
    ...(selectsAllOf(is?.value, was?.value) ? [] : [draft('selector-narrowed')]),
    ...(selectsAllOf(was?.value, is?.value) ? [] : [draft('selector-widened')]),
  ];
}

/** Whatever `other` selects, `one` selects, too: it asks for no more tags and leaves out no more names. */
function selectsAllOf(one: JsonObject | undefined, other: JsonObject | undefined): boolean {
  if (other === undefined) return true;
  if (one === undefined) return false;
  const asked = tagsOf(other);
  const excepted = new Set(textsIn(other['except']));
  return (
    Object.entries(tagsOf(one)).every(([key, value]) => asked[key] === value) && textsIn(one['except']).every((name) => excepted.has(name))
  );
}

function tagsOf(selector: JsonObject): Readonly<Record<string, Json>> {
  const tags = selector['match_tags'];
  return isObject(tags) ? tags : {};
}

function ignoreRisks(kind: Kind, now: readonly Pointer[], then: readonly Pointer[]): readonly RiskDraft[] {
  const more = now.filter((path) => !then.some((other) => isPointerWithin(path, other)) && touchesProtection(kind, path));
  const less = then.filter((path) => !now.some((other) => isPointerWithin(path, other)) && touchesProtection(kind, path));
  return [
    ...more.map((path): RiskDraft => ({ name: 'ignore-added', fields: tokensOf(path) })),
    ...less.map((path): RiskDraft => ({ name: 'ignore-removed', fields: tokensOf(path) })),
  ];
}

/** Tells whether a field that protects, or an edge, lies at or below the path. */
function touchesProtection(kind: Kind, path: Pointer): boolean {
  return kind.fields.some(({ name, edge }) => {
    const own = pointer(name);
    return (isPointerWithin(own, path) || isPointerWithin(path, own)) && (edge !== undefined || controlTypesOf(kind.name, own).length > 0);
  });
}

/** Resources as the base wants them, by their id. */
export function baseline(base: DesiredState | undefined): ReadonlyMap<string, DesiredResource> {
  return desiredById(base?.resources ?? []);
}
