import { createHash } from 'node:crypto';
import { editSpec, specValueAt, type Edit } from '../model/spec/edit.ts';
import { mergeStrictest } from '../model/spec/merge-strictest.ts';
import type { FieldRule, Kind, Registry } from '../model/kind.ts';
import { type DesiredResource, type DesiredState, desiredById } from '../model/desired.ts';
import { canonical, equal, type Json, type JsonObject, distinctSorted } from '../model/json.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import {
  isOnLiveObject,
  isRestored,
  liveKeyOf,
  type Change,
  type FieldChange,
  type Plan,
  type Fingerprint,
  type SavedPlan,
  isSecretChange,
  shownValue,
} from '../model/plan/plan.ts';
import { pointer, type Pointer } from '../model/pointer.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';

/** A live object as it was when the plan was made: its fingerprint, the known fields, and whether an earlier apply of the plan may have written it. */
export type PlannedObject = Fingerprint & { readonly spec: JsonObject; readonly begun: boolean };

/** A field that has neither the value before the plan nor a value that the plan writes; undefined values are not known. */
export type ChangedField = {
  readonly path: Pointer;
  readonly from: Json | undefined;
  readonly now: Json | undefined;
  readonly desired: Json | undefined;
};

/** Returns the text of a changed field, with all known values. */
export function changedFieldText({ path, from, now, desired }: ChangedField): string {
  const known = from === undefined && desired === undefined ? 'planned from another value' : `planned from ${valueText(from)}`;
  const wanted = desired === undefined && from === undefined ? '' : `, desired ${valueText(desired)}`;
  return `${path}: ${known}, now ${valueText(now)}${wanted}`;
}

const longestValue = 200;

function valueText(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`;
}

/** The manifests and the live state of a plan. */
type PlanStates = { readonly desired: DesiredState; readonly live: LiveState; readonly registry: Registry };

/** Returns the fingerprints of all live objects that a plan writes, with one hash per field so that a difference names its field. */
export function fingerprintsOf({ changes }: Plan, { desired, live, registry }: PlanStates): readonly Fingerprint[] {
  const found = new Map(live.resources.map((resource) => [`${kindOf(resource.id)} ${resource.uid}`, resource]));
  const declared = desiredById(desired.resources);
  return changes.filter(isOnLiveObject).flatMap((change): readonly Fingerprint[] => {
    const { id, uid, action } = change;
    const kind = registry.get(kindOf(id));
    const resource = found.get(`${kindOf(id)} ${uid}`);
    if (kind === undefined || resource === undefined) return [];
    const without = uncompared(kind, resource, action === 'delete' ? undefined : declared.get(id));
    return [{ id: liveKeyOf(change), uid: resource.uid, fields: hashesOf(kind, resource.spec, without), without }];
  });
}

/** Returns the paths that a plan did not compare: fields that manifests ignore or keep, and fields that the token may not read. */
function uncompared(kind: Kind, live: LiveResource, desired: DesiredResource | undefined): readonly Pointer[] {
  const kept = kind.fields.flatMap(({ name, omitted }) =>
    desired !== undefined && omitted === 'kept' && desired.spec[name] === undefined ? [pointer(name)] : [],
  );
  return distinctSorted([...(desired?.ignore ?? []), ...kept, ...live.unknown]);
}

/** Returns the objects of a saved plan as they were, by the keys of their changes, as far as fingerprints and manifests show it. */
export function plannedObjectsOf(
  { plan, live }: SavedPlan,
  { desired, registry, begun }: Omit<PlanStates, 'live'> & { readonly begun: ReadonlySet<ResourceId> },
): ReadonlyMap<ResourceId, PlannedObject> {
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  const declared = new Map(desired.resources.map((resource) => [resource.id, resource.spec]));
  return new Map(
    live.flatMap((fingerprint) => {
      const change = changes.get(fingerprint.id);
      const kind = registry.get(kindOf(fingerprint.id));
      if (change === undefined || kind === undefined) return [];
      const plain = change.fields.filter((field) => !isSecretChange(field));
      const wanted = change.action === 'delete' ? {} : (declared.get(change.id) ?? {});
      return [
        [fingerprint.id, { ...fingerprint, spec: withPlanned(kind, wanted, plain, 'before'), begun: begun.has(fingerprint.id) }] as const,
      ];
    }),
  );
}

/**
 * Returns what changed about an object since the plan was made: planned fields that have neither the value before nor after
 * the plan and, if its fingerprint is known, all other compared fields. The plan's own writes do not count, complete or not, once it `hasBegun`.
 */
export function changesSincePlan(
  change: Change,
  kind: Kind,
  live: LiveResource,
  { seen, hasBegun = seen?.begun === true }: { readonly seen?: PlannedObject | undefined; readonly hasBegun?: boolean } = {},
): readonly ChangedField[] {
  if (change.action === 'create') return [];
  const planned = change.fields.filter(isPlain);
  const found =
    change.action === 'delete'
      ? unhidden(planned, kind, reopened(planned, kind, live))
      : change.closed === 'between'
        ? reopened(planned, kind, live)
        : live;
  const unexpected = unexpectedFields(planned, kind, { live: found, hasBegun });
  if (seen === undefined) return unexpected;
  const others = changedOtherFields(planned, kind, { live: found, seen });
  return [...unexpected, ...others.filter(({ path }) => !unexpected.some((one) => one.path === path))];
}

/** Returns the object as it was before the plan closed it, if nothing else did. */
function reopened(planned: readonly FieldChange[], kind: Kind, live: LiveResource): LiveResource {
  const closed = kind.fields.filter(({ name, closed: value }) => value !== undefined && live.spec[name] === value);
  const paths = new Set(closed.map(({ name }) => pointer(name)));
  const closing = planned.filter(({ path }) => paths.has(path));
  return { ...live, spec: withPlanned(kind, live.spec, closing, 'before') };
}

/** Returns the object as it was before the plan switched access control on, if nothing else did. */
function unhidden(planned: readonly FieldChange[], kind: Kind, live: LiveResource): LiveResource {
  const named = new Set(planned.map(({ path }) => path));
  const hidden = kind.fields.filter(
    ({ name, implied }) => implied !== undefined && equal(live.spec[name], []) && !named.has(pointer(name)),
  );
  return { ...live, spec: { ...live.spec, ...Object.fromEntries(hidden.map(({ name, empty }) => [name, empty])) } };
}

/**
 * Returns planned fields with an unexpected value. After the first of two writes, each entry of a list has one of the two values,
 * and any other field the stricter one; a number that counts a list which changes too is as `mergeStrictest` sets it. An entry that is there before and
 * after the plan may be missing in between, once the plan has begun to write the object.
 */
function unexpectedFields(
  planned: readonly FieldChange[],
  kind: Kind,
  { live, hasBegun }: { readonly live: LiveResource; readonly hasBegun: boolean },
): readonly ChangedField[] {
  const unplanned = planned.filter(({ path, before, after }) => {
    const now = specValueAt(kind.fields, live.spec, path);
    const isBetween = hasBegun && now === undefined && isRestored({ before, after });
    return !isBetween && !equal(shownValue(before), now) && !equal(shownValue(after), now);
  });
  if (unplanned.length === 0) return [];
  // All fields are merged together, because a number depends on the list that it counts.
  const joined = mergeStrictest(
    kind.fields,
    withPlanned(kind, live.spec, planned, 'after'),
    withPlanned(kind, live.spec, planned, 'before'),
  );
  return unplanned.flatMap(({ path, before, after }): readonly ChangedField[] => {
    const now = specValueAt(kind.fields, live.spec, path);
    return equal(specValueAt(kind.fields, joined, path), now) ? [] : [{ path, from: shownValue(before), now, desired: shownValue(after) }];
  });
}

type PlannedAndLive = { readonly live: LiveResource; readonly seen: PlannedObject };

function changedOtherFields(planned: readonly FieldChange[], kind: Kind, { live, seen }: PlannedAndLive): readonly ChangedField[] {
  const hashes = hashesOf(kind, withPlanned(kind, live.spec, planned, 'before'), seen.without);
  const known = knownFields(kind, seen);
  const wanted = withPlanned(kind, known, planned, 'after');
  return kind.fields.flatMap((field): readonly ChangedField[] => {
    const { name } = field;
    const hash = seen.fields[name];
    if (hash === undefined || hash === hashes[name] || isUnreadable(field, live)) return [];
    const from = known[name];
    const now = live.spec[name] ?? field.empty;
    return [{ path: pointer(name), from, now, desired: from === undefined ? undefined : wanted[name] }];
  });
}

/** Returns the fields of the spec whose hash proves that the plan saw them. */
function knownFields(kind: Kind, { spec, fields, without }: PlannedObject): JsonObject {
  const hashes = hashesOf(kind, spec, without);
  return Object.fromEntries(Object.entries(spec).filter(([name]) => fields[name] !== undefined && fields[name] === hashes[name]));
}

/** Returns the spec after the plan's writes, or as it was before them if nothing else wrote. */
function withPlanned(kind: Kind, spec: JsonObject, planned: readonly FieldChange[], side: 'before' | 'after'): JsonObject {
  const edits = planned.map(({ path, [side]: value }): Edit => ({ path, value: shownValue(value) }));
  return editSpec(kind.fields, spec, edits);
}

function hashesOf(kind: Kind, spec: JsonObject, without: readonly Pointer[]): Readonly<Record<string, string>> {
  const whole = new Set(without);
  const compared = editSpec(
    kind.fields,
    spec,
    without.map((path): Edit => ({ path, value: undefined })),
  );
  const fields = kind.fields.filter((field) => isCompared(field) && !whole.has(pointer(field.name)));
  return Object.fromEntries(fields.map((field) => [field.name, hashOf(compared[field.name] ?? field.empty)]));
}

/** Returns whether a field is in the fingerprint: no secret, no edge, and not only in manifests. */
export function isCompared(field: FieldRule): boolean {
  return field.secret === undefined && field.edge === undefined && field.manifestOnly !== true;
}

function isUnreadable(field: FieldRule, { unknown }: LiveResource): boolean {
  return unknown.includes(pointer(field.name));
}

/** Shortens the hash to 64 bits: enough to detect a change. It need not hide values, because the plan shows them. */
function hashOf(value: Json): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);
}

/** Returns whether the plan writes the field, and the field is not a secret. */
function isPlain({ before, after, held }: FieldChange): boolean {
  return held !== true && !isSecretChange({ before, after });
}
