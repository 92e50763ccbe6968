import { addToGroup } from '../../model/collections.ts';
import type { StepKey } from '../../model/plan/schedule.ts';
import type { ResourceId } from '../../model/resource.ts';
import { type Direction, isRule } from './effects.ts';
import { directionOn, type Form, hasHalf, type Unit } from './forms.ts';
import type { Moments, Written } from './moments.ts';

/** What can be written next, after what is written already. */
export type Safety = {
  /** Returns the connections that some of the forms may expose, whichever of them the gateway rejects. */
  readonly exposedBy: (forms: readonly Form[], ignored: ReadonlySet<ResourceId>) => ReadonlySet<ResourceId>;
  /** Returns as many forms as are safe together, and with those that are written anyway. */
  readonly most: (forms: readonly Form[], ignored: ReadonlySet<ResourceId>, beside?: readonly Form[]) => readonly Form[];
  /** Returns whether more rules whose protection adds up change on a connection than are tried in every combination. */
  readonly isCrowded: (forms: readonly Form[]) => boolean;
  /** Returns the steps without which a form of a round may expose a connection. */
  readonly needsOf: (batch: readonly Form[]) => (form: Form) => readonly StepKey[];
  /** Notes that forms are written. */
  readonly write: (batch: readonly Form[]) => void;
  /** Returns whether a connection is exposed now. */
  readonly isExposed: (connection: ResourceId) => boolean;
};

/** As many writes that decide together are tried in every combination; of more, the others wait for the next round. */
const mostTogether = 4;

/** Returns what is safe between the writes of a plan; nothing is written yet. */
export function createSafety({ contested, isExposed }: Moments): Safety {
  const writtenOn = new Map<ResourceId, Form[]>();
  const doneOf = new Map<Unit, StepKey[]>();
  const affectedOf = createAffected(contested);
  const doneOn = (id: ResourceId): readonly Form[] => writtenOn.get(id) ?? [];
  const exposes = (id: ResourceId, forms: readonly Form[]): boolean => {
    const done = doneOn(id).map(whole);
    return combinationsOf(id, forms).some((some) => isExposed(id, [...done, ...some]));
  };
  const exposedBy: Safety['exposedBy'] = (forms, ignored) => {
    const found = new Set<ResourceId>();
    for (const [id, own] of groupedBy(forms, affectedOf)) if (!ignored.has(id) && exposes(id, own)) found.add(id);
    return found;
  };
  const most: Safety['most'] = (forms, ignored, beside = []) => {
    const few = withoutCrowds(forms, affectedOf);
    const exposed = exposedBy([...beside, ...few], ignored);
    if (exposed.size === 0) return few;
    const isSuspect = (form: Form): boolean => affectedOf(form).some((id) => exposed.has(id) && directionOn(form, id).weakens);
    const rest = few.filter((form) => !isSuspect(form));
    if (rest.length > 0 || beside.length > 0) return rest;
    const own = few.filter(({ kind }) => !isRule(kind));
    const failing = exposedBy(own, ignored);
    const safe = own.filter((form) => !affectedOf(form).some((id) => failing.has(id)));
    return withMost(
      safe,
      few.filter(({ kind }) => isRule(kind)),
      (some) => exposedBy(some, ignored).size === 0,
    );
  };
  return {
    exposedBy,
    most,
    isCrowded(forms) {
      const few = new Set(withoutCrowds(forms, affectedOf));
      return forms.some((form) => !few.has(form) && isRule(form.kind) && !form.unit.effect.isJoint);
    },
    isExposed: (id) => isExposed(id, doneOn(id).map(whole)),
    write: (batch) => {
      for (const form of batch) {
        addToGroup(doneOf, form.unit, form.key);
        for (const id of affectedOf(form)) addToGroup(writtenOn, id, form);
      }
    },
    needsOf(batch) {
      const beside = groupedBy(batch, affectedOf);
      return (form) => {
        const needs = [...(doneOf.get(form.unit) ?? [])];
        for (const id of affectedOf(form)) {
          if (!directionOn(form, id).weakens) continue;
          const earlier = doneOn(id);
          const guards = earlier.filter((one) => one.unit !== form.unit && directionOn(one, id).strengthens);
          if (guards.length === 0 || isFreeOf(guards, { id, form, beside: beside.get(id) ?? [], earlier, isExposed })) continue;
          for (const { key } of guards) needs.push(key);
        }
        return needs;
      };
    },
  };
}

/** Returns a lookup of the contested connections that a form affects. */
function createAffected(contested: Moments['contested']): (form: Form) => readonly ResourceId[] {
  const known = new Map<Unit, ResourceId[]>();
  for (const [id, units] of contested) for (const unit of units) addToGroup(known, unit, id);
  return ({ unit }) => known.get(unit) ?? [];
}

function groupedBy(forms: readonly Form[], affectedOf: (form: Form) => readonly ResourceId[]): ReadonlyMap<ResourceId, readonly Form[]> {
  const groups = new Map<ResourceId, Form[]>();
  for (const form of forms) for (const id of affectedOf(form)) addToGroup(groups, id, form);
  return groups;
}

/** Leaves out what would decide about a connection together with more writes than are tried in every combination. */
function withoutCrowds(forms: readonly Form[], affectedOf: (form: Form) => readonly ResourceId[]): readonly Form[] {
  const counts = new Map<ResourceId, number>();
  return forms.filter((form) => {
    const ids = affectedOf(form).filter((id) => isSelected(form, id) && form.key.id !== id);
    if (ids.some((id) => (counts.get(id) ?? 0) >= mostTogether)) return false;
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
    return true;
  });
}

/** Returns whether a form may strengthen a connection as well as weaken it. */
function isEither(form: Form, id: ResourceId): boolean {
  const { strengthens, weakens } = directionOn(form, id);
  return strengthens && weakens;
}

function whole(form: Form): Written {
  return { form, extent: 'whole' };
}

/**
 * Lists the combinations of writes in which they may expose a connection: all that weaken it, without those that only strengthen it, which is what a rejection
 * leaves, with each selection of those that may do both. Of a list that may be empty in between, and then decides nothing, also the fewest.
 */
function combinationsOf(id: ResourceId, forms: readonly Form[]): readonly (readonly Written[])[] {
  if (!forms.some((form) => directionOn(form, id).weakens)) return [];
  const either = forms.filter((form) => isSelected(form, id));
  const others = forms.filter((form) => !isSelected(form, id));
  const selections = selectionsOf(either);
  const granting = (form: Form): Direction => form.unit.effect.grant ?? directionOn(form, id);
  const lists = [
    others.filter((form) => granting(form).weakens),
    ...(others.some(({ unit }) => unit.effect.grant !== undefined)
      ? [others.filter((form) => (form.unit.effect.grant === undefined ? granting(form).weakens : !granting(form).weakens))]
      : []),
  ];
  return lists.flatMap((list) => selections.map((some) => [...list.map(whole), ...some]));
}

/** Returns whether a form is tried both written and not written. */
function isSelected(form: Form, id: ResourceId): boolean {
  const { grant } = form.unit.effect;
  return grant === undefined ? isEither(form, id) : grant.strengthens && grant.weakens;
}

function extentsOf(form: Form): readonly (readonly Written[])[] {
  return [[], ...(hasHalf(form) ? [[{ form, extent: 'half' } as const]] : []), [whole(form)]];
}

/** Adds to forms as many others, one after the other, as stay safe; halves of those that do not are tried again. */
function withMost(safe: readonly Form[], others: readonly Form[], isSafe: (forms: readonly Form[]) => boolean): readonly Form[] {
  if (others.length === 0) return safe;
  if (isSafe([...safe, ...others])) return [...safe, ...others];
  if (others.length === 1) return safe;
  const middle = Math.ceil(others.length / 2);
  return withMost(withMost(safe, others.slice(0, middle), isSafe), others.slice(middle), isSafe);
}

type GuardedForm = {
  readonly id: ResourceId;
  readonly form: Form;
  readonly beside: readonly Form[];
  readonly earlier: readonly Form[];
  readonly isExposed: Moments['isExposed'];
};

/** Returns whether a form exposes a connection in none of the states that rejections of some earlier writes leave. */
function isFreeOf(guards: readonly Form[], { id, form, beside, earlier, isExposed }: GuardedForm): boolean {
  // Protection that adds up is missed as soon as one of the writes that added it was rejected.
  const isJoint = [...guards, form].some((one) => one.unit.effect.isJoint || isEither(one, id));
  if (!isJoint || guards.length > mostTogether) return false;
  const others = beside.filter((one) => one !== form);
  return selectionsOf(guards).every((some) => {
    const extents = new Map(some.map((one) => [one.form, one]));
    const rejected = guards.filter((one) => extents.get(one)?.extent !== 'whole');
    if (rejected.length === 0) return true;
    // No later form of a change is written after one that was rejected.
    const isPossible = ({ unit }: Form): boolean => rejected.every((one) => one.unit !== unit);
    const done = earlier.flatMap((one) => extents.get(one) ?? (!guards.includes(one) && isPossible(one) ? [whole(one)] : []));
    return combinationsOf(id, [form, ...others.filter(isPossible)]).every((more) => {
      const all = more.some((one) => one.form === form) ? more : [...more, whole(form)];
      return !isExposed(id, [...done, ...all]);
    });
  });
}

/** Lists each selection of forms, with as much of each as the gateway may save. */
function selectionsOf(forms: readonly Form[]): readonly (readonly Written[])[] {
  return forms.reduce<readonly (readonly Written[])[]>(
    (all, form) => all.flatMap((some) => extentsOf(form).map((more) => [...some, ...more])),
    [[]],
  );
}
