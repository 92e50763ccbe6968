import { addToGroup } from '../../model/collections.ts';
import { equal } from '../../model/json.ts';
import { closableFields, isClosable, isOpen } from '../../model/kind.ts';
import { liveById, type LiveState, rowFieldsOf } from '../../model/live.ts';
import { type Change, type FieldChange, liveKeyOf, otherEnd } from '../../model/plan/plan.ts';
import { type Step, type StepKey, stepKeyText } from '../../model/plan/schedule.ts';
import { specAfterStep } from '../../model/plan/step-spec.ts';
import { isWithinAny, pointer, tokensOf } from '../../model/pointer.ts';
import type { ResourceId, Spec } from '../../model/resource.ts';
import { attributesIn } from '../../protection/access/deciding-kinds.ts';
import { anyEffect, type Direction, type Effect, effectOn, isRule, noEffect, writesLate } from './effects.ts';

/** Names first, then what closes; deletions only where nothing else is left to write. */
export const tiers = ['name', 'close', 'write', 'delete-objects', 'delete-rules', 'delete-attributes'] as const;

/** When a form may be written at the earliest, whatever is safe; what was closed opens at the very end. */
type Tier = (typeof tiers)[number] | 'reopen';

/** One write of a change, or one that may take its place. `needs` are writes of other changes that the gateway demands before it. */
export type Form = Omit<Step, 'round'> & { readonly unit: Unit; readonly tier: Tier };

/** A change, and what is left to write of it. */
export type Unit = {
  readonly number: number;
  readonly effect: Effect;
  readonly forms: Form[];
  /** It is written in more forms than the plan has to. */
  isSplit: boolean;
};

/** What the forms of changes are read from. */
export type FormInput = {
  readonly effects: readonly Effect[];
  /** The gateway with the names after the plan. */
  readonly live: LiveState;
};

/** Returns the forms of each change in their order, with what the gateway demands of the order of all of them. */
export function unitsOf(input: FormInput): readonly Unit[] {
  const found = liveById(input.live.resources);
  const units = input.effects.map((effect, number) => {
    const unit: Unit = { number, effect, forms: [], isSplit: false };
    addForms(unit, found.get(liveKeyOf(effect.change))?.spec, input);
    return unit;
  });
  addDemands(units, input);
  return units;
}

function addForms(unit: Unit, spec: Spec | undefined, { live }: FormInput): void {
  const { change, kind, edges } = unit.effect;
  const id = liveKeyOf(change);
  const add = (phase: StepKey['phase'], part: Form['part'], tier: Tier, more: Partial<Form> = {}): void =>
    void unit.forms.push({ unit, key: { id, phase }, change, kind, edges, part, tier, needs: [], ...more });
  const modes = closableFields(kind).map(({ path }) => path);
  const isMore = (ignored: readonly string[]): boolean =>
    edges.length > 0 || change.fields.some(({ path, held }) => held !== true && !isWithinAny(path, ignored));
  if (change.action === 'rename') add('rename', 'name', 'name', { edges: [] });
  if (spec !== undefined && isOpen(kind, spec) && (change.action === 'delete' || change.closed === 'between'))
    add('early', 'close', 'close', { edges: [] });
  if (change.action === 'delete')
    add('main', 'delete', kind.combines === 'granted' ? 'delete-attributes' : isRule(kind) ? 'delete-rules' : 'delete-objects');
  else if (change.closed === 'between') {
    if (isMore(modes)) add('main', 'closed', 'write');
    add('open', 'open', 'reopen');
  } else if (change.action === 'create' && modes.length > 0 && (spec !== undefined || isAttachedLater(unit, live))) {
    // What an earlier run created may be closed: both forms accept it.
    add('main', 'closed', 'write');
    add('open', 'open', 'write');
    unit.isSplit = true;
  } else if (change.action !== 'rename' || isMore([])) add('main', 'whole', 'write');
}

/** Returns whether a creation opens something before the gateway has saved all that protects it. */
function isAttachedLater({ effect: { change, kind } }: Unit, live: LiveState): boolean {
  if (!isOpen(kind, specAfterStep({ change, kind, part: 'whole' }, {}))) return false;
  const rows = rowFieldsOf(live, kind.name).map(({ path }) => path);
  return (
    writesLate(change, kind) || change.fields.some(({ path, after }) => rows.includes(path) && 'value' in after && !equal(after.value, []))
  );
}

/** Adds to forms what the gateway demands: names, both ends of an attachment, and successors before what they replace. */
function addDemands(units: readonly Unit[], { live }: FormInput): void {
  const byId = new Map(units.map((unit) => [liveKeyOf(unit.effect.change), unit]));
  const formsOf = (id: ResourceId): readonly Form[] => byId.get(id)?.forms ?? [];
  const creates = (id: ResourceId): readonly StepKey[] => (byId.get(id)?.effect.change.action === 'create' ? [{ id, phase: 'main' }] : []);
  const found = liveById(live.resources);
  // The gateway would take an attribute that is deleted before from what has it, which is then not as planned.
  const deletedWith = new Map<ResourceId, StepKey[]>();
  for (const { effect, forms } of units)
    for (const attribute of effect.change.action === 'delete' ? attributesIn(found.get(liveKeyOf(effect.change))?.spec ?? {}) : [])
      for (const { key, part } of forms) if (part === 'delete') addToGroup(deletedWith, attribute, key);
  for (const unit of units) {
    const { change } = unit.effect;
    const id = liveKeyOf(change);
    const demands = (form: Form): readonly StepKey[] => {
      const { key, part, edges } = form;
      if (part === 'name') return [];
      const named = unit.forms.flatMap((one) => (one.part === 'name' ? [one.key] : []));
      const made = part === 'open' || part === 'close' || part === 'delete' ? [] : edges.filter(({ action }) => action === 'attach');
      const ends = made.flatMap((edge) => creates(otherEnd(edge, id)));
      const attributes = part === 'delete' ? [] : gainedAttributes(form).flatMap(creates);
      return [
        ...named,
        ...ends,
        ...attributes,
        ...(change.replacedBy !== undefined ? change.needs.flatMap((other) => lastKeys(formsOf(other))) : []),
        ...(part === 'delete' ? (deletedWith.get(id) ?? []) : []),
      ].filter((need) => stepKeyText(need) !== stepKeyText(key));
    };
    for (const [index, form] of unit.forms.entries()) unit.forms[index] = { ...form, needs: demands(form) };
  }
}

/** Returns the key of the last form; what is created closed may get another one that opens it. */
function lastKeys(forms: readonly Form[]): readonly StepKey[] {
  const last = forms.at(-1)?.key;
  return last === undefined ? [] : [last, { id: last.id, phase: 'open' }];
}

/** Returns the attributes that an object gets, which the gateway may have to create first. */
function gainedAttributes({ change }: Form): readonly ResourceId[] {
  return change.fields.flatMap(({ path, after }) =>
    tokensOf(path)[0] === 'attributes' && 'value' in after ? attributesIn({ attributes: [after.value].flat() }) : [],
  );
}

/**
 * Returns the first of two writes that take the place of a form: closed, or as strict as both ends; undefined where there is none. A change may have to
 * state more fields for it.
 */
export function firstOfTwo(form: Form, now: Spec): Form | undefined {
  const { change, kind, part, key, unit, edges } = form;
  if (part !== 'whole' || key.phase === 'release' || unit.isSplit) return undefined;
  if (change.action === 'create') return isClosable(kind) ? { ...form, part: 'closed' } : undefined;
  const first: Form = { ...form, key: { id: key.id, phase: 'early' }, part: 'gain' };
  const [joined, after] = [specAfterStep(first, now), specAfterStep(form, now)];
  // What a rule grants is never stricter where it is attached before the rest of its change.
  const isFirst = !equal(joined, now) || (kind.combines !== 'granted' && edges.some(({ action }) => action === 'attach'));
  const isLast = !equal(joined, after) || edges.some(({ action }) => action === 'detach');
  return isFirst && isLast ? first : undefined;
}

/** Returns the fields that a first write changes and the change does not state: they are at the end as before, and have another value in between. */
export function restoredFields({ change, kind, part }: Pick<Form, 'change' | 'kind' | 'part'>, live: Spec): readonly FieldChange[] {
  if (part !== 'gain') return [];
  const joined = specAfterStep({ change, kind, part }, live);
  const stated = new Set(change.fields.map(({ path }) => tokensOf(path)[0]));
  return kind.fields.flatMap(({ name, empty }): readonly FieldChange[] => {
    const value = live[name] ?? empty;
    return stated.has(name) || equal(joined[name] ?? empty, value) ? [] : [{ path: pointer(name), before: { value }, after: { value } }];
  });
}

/** Returns a change that states more fields, which are at the end as before. */
export function withRestored(change: Change, more: readonly FieldChange[]): Change {
  const fields = more.filter(({ path }) => change.fields.every((field) => field.path !== path));
  if (fields.length === 0) return change;
  const carried = change.carried.filter((path) => fields.every((field) => field.path !== path));
  return { ...change, fields: [...change.fields, ...fields], carried };
}

/** Puts two writes in the place of the first form of a change, and returns whether that was possible. */
export function split(first: Form): void {
  const { unit } = first;
  const [form] = unit.forms;
  if (form === undefined) return;
  const second: Form = first.part === 'closed' ? { ...form, key: { id: form.key.id, phase: 'open' }, part: 'open', needs: [] } : form;
  unit.isSplit = true;
  unit.forms.splice(0, 1, first, second);
}

/** Returns what a form may do to a connection that its change affects. */
export function directionOn({ part, key, unit }: Form, connection: ResourceId): Direction {
  const { effect, isSplit } = unit;
  if (part === 'name' || part === 'closed') return noEffect;
  if (part === 'close') return { strengthens: true, weakens: false };
  if (part === 'open') return { strengthens: false, weakens: true };
  const whole = effectOn(effect, connection);
  if (key.phase === 'release') return anyEffect;
  if (effect.isJoint || effect.grant !== undefined || !isRule(effect.kind)) return whole;
  if (part === 'gain') return { strengthens: whole.strengthens, weakens: false };
  return isSplit && part === 'whole' ? { strengthens: false, weakens: whole.weakens } : whole;
}

/**
 * Returns whether the gateway saves a form in two transactions, of which the first one alone may expose something: a rule lets go of a connection that it
 * names before it has the attribute of it.
 */
export function hasHalf({ part, unit: { effect } }: Form): boolean {
  if (part !== 'whole' && part !== 'gain') return false;
  const { change, kind, isJoint, detaches } = effect;
  return (isJoint || !isRule(kind) || detaches.size > 0) && change.action !== 'delete' && writesLate(change, kind);
}
