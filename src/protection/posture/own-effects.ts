import type { Kind } from '../../model/kind.ts';
import { editSpec, type Edit } from '../../model/spec/edit.ts';
import type { FieldChange, Value } from '../../model/plan/plan.ts';
import type { JsonObject } from '../../model/json.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { compareProtection, effectsOfDifferences, type ControlDifference, type ProtectionEffect } from '../controls/compare-protection.ts';
import type { Posture } from '../controls/control.ts';
import { conditionedTypesOf } from '../controls/control-table.ts';
import { createPostureBuilder } from './posture.ts';
import type { ResourceSnapshot } from './protection-snapshot.ts';

/** Both sides of one object. */
type ObjectSides = { readonly before: JsonObject; readonly after: JsonObject; readonly longestAccess?: number | undefined };

/**
 * Compares what an object brings to a connection by itself: a connection without rules, or a rule alone on a connection. Every
 * connection of a rule loses at most what it loses here, because rules only add.
 */
export function compareOwn(id: ResourceId, { before, after, longestAccess }: ObjectSides): readonly ControlDifference[] {
  return compareProtection(ownPosture(id, before, longestAccess), ownPosture(id, after, longestAccess));
}

type OwnPosture = { readonly id: ResourceId; readonly longestAccess: number | undefined; readonly posture: Posture };

/** The posture that was last read of each spec, which never changes: a change is compared field by field, always with the same sides. */
const known = new WeakMap<JsonObject, OwnPosture>();

function ownPosture(id: ResourceId, spec: JsonObject, longestAccess: number | undefined): Posture {
  const last = known.get(spec);
  if (last?.id === id && last.longestAccess === longestAccess) return last.posture;
  const posture = readOwnPosture(id, spec, longestAccess);
  known.set(spec, { id, longestAccess, posture });
  return posture;
}

function readOwnPosture(id: ResourceId, spec: JsonObject, longestAccess: number | undefined): Posture {
  const build = createPostureBuilder({ incomplete: new Set(), longestAccess });
  const resource: ResourceSnapshot = { spec, unknown: [] };
  if (kindOf(id) === 'Connection') return build({ resource, rules: new Map(), accessRules: [] });
  const attributes = spec['attributes'] ?? [];
  return build({ resource: { spec: { attributes }, unknown: [] }, rules: new Map([[id, resource]]), accessRules: [] });
}

/** Returns the effects of some changed fields of an object: from its state before, and towards its state after the change. */
export function fieldEffects(
  kind: Kind,
  id: ResourceId,
  { fields, sides }: { readonly fields: readonly FieldChange[]; readonly sides: ObjectSides },
): ReadonlySet<ProtectionEffect> {
  const { before, after } = sides;
  const isUnseen = fields.some((field) => 'unknown' in field.before || 'unknown' in field.after);
  const made = editSpec(kind.fields, before, editsOf(fields, 'after'));
  const undone = editSpec(kind.fields, after, editsOf(fields, 'before'));
  const found = effectsOfDifferences([...compareOwn(id, { ...sides, after: made }), ...compareOwn(id, { ...sides, before: undone })]);
  // What a type enforces depends on the rules, which are not compared here.
  const isCondition = fields.some(({ path }) => conditionedTypesOf(kind.name, path).length > 0);
  return isUnseen || (isCondition && found.size === 0) ? new Set([...found, 'unknown']) : found;
}

function editsOf(fields: readonly FieldChange[], side: 'before' | 'after'): readonly Edit[] {
  return fields.flatMap(({ path, [side]: value }) => editOf(path, value));
}

function editOf(path: FieldChange['path'], value: Value): readonly Edit[] {
  if ('value' in value) return [{ path, value: value.value }];
  return 'absent' in value ? [{ path, value: undefined }] : [];
}
