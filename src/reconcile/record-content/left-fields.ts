import type { RecordedFields, Remembered } from '../../model/applied-record.ts';
import type { BaseState, DesiredResource, DesiredState } from '../../model/desired.ts';
import { canonical, type Json } from '../../model/json.ts';
import { comparedFields, type FieldRule, type Registry } from '../../model/kind.ts';
import { liveById, type LiveResource, type LiveState } from '../../model/live.ts';
import {
  type FieldChange,
  liveKeyOf,
  type Plan,
  renamesOf,
  shownValue,
  withNames,
  withoutAttributes,
  deletedKeys,
} from '../../model/plan/plan.ts';
import { isWithinAny, pointer } from '../../model/pointer.ts';
import { kindOf, nameOf } from '../../model/resource.ts';
import { compareSpecs } from '../cells/compare-specs.ts';
import { lastAppliedLookup } from '../prepare/base-states.ts';
import { layWrites } from '../prepare/lay-record.ts';

/** Both sides of a complete apply. */
type CompleteApply = {
  readonly plan: Pick<Plan, 'changes' | 'accepted'>;
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly remembered: Remembered | undefined;
  readonly registry: Registry;
};

/**
 * Returns the fields that manifests stated once and leave to the gateway now, with the values that a complete apply leaves there. A change
 * outside Ostiary that the plan does not name is not recorded: the next plan names it.
 */
export function leftFieldsAfter({ plan, desired, live, base, remembered, registry }: CompleteApply): readonly RecordedFields[] {
  const found = liveById(withNames(live, renamesOf(plan.changes)).resources);
  const named = new Set(plan.accepted.flatMap((one) => one.fields.map((field) => changeText(liveKeyOf(one), field))));
  const pastOf = lastAppliedLookup(base && remembered ? layWrites(base, remembered, { live, registry }) : base);
  const deleted = deletedKeys(plan.changes);
  return desired.resources.flatMap((resource): readonly RecordedFields[] => {
    const { id, key } = resource;
    const [kind, present, past] = [registry.get(kindOf(id)), found.get(key), pastOf(resource, true)];
    if (kind === undefined || past === undefined) return [];
    const initial = kind.createDefaults(nameOf(id));
    const valueOf = (field: FieldRule, before: Json): Json => {
      if (present === undefined) return resource.spec[field.name] ?? initial[field.name] ?? field.empty;
      return isNamed(field, before, present, (change) => named.has(changeText(key, change)))
        ? (present.spec[field.name] ?? field.empty)
        : before;
    };
    const left = comparedFields(kind).flatMap((field) => {
      const before = isLeft(field, resource) ? past.spec[field.name] : undefined;
      return before === undefined ? [] : [[field.name, valueOf(field, before)] as const];
    });
    return left.length === 0 ? [] : [{ id: key, fields: withoutAttributes(Object.fromEntries(left), deleted) }];
  });
}

/** A successor that is created has the value of its predecessor where its manifest states none. */
function isLeft({ name, omitted }: FieldRule, { stated }: DesiredResource): boolean {
  return omitted === 'kept' && !stated.has(name);
}

/** Returns whether a field is readable, and a plan names all that changed in it. */
function isNamed(field: FieldRule, before: Json, { spec, unknown }: LiveResource, names: (change: FieldChange) => boolean): boolean {
  const { name, empty } = field;
  const changes = compareSpecs([field], { [name]: spec[name] ?? empty }, { [name]: before }, []);
  return !isWithinAny(pointer(name), unknown) && changes.every(names);
}

function changeText(key: string, { path, after }: Pick<FieldChange, 'path' | 'after'>): string {
  return canonical([key, path, shownValue(after) ?? null]);
}
