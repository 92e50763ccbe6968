import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { type EdgeChange, type FieldChange, liveKeyOf } from '../../model/plan/plan.ts';
import type { Step, StepKey } from '../../model/plan/schedule.ts';
import { specAfterStep, writesOnlyPart } from '../../model/plan/step-spec.ts';
import { asText } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { type AccessRequestRule, isRequestRule } from '../../model/protection/access-objects.ts';
import { kindOf, nameOf, type ResourceId, type Spec } from '../../model/resource.ts';
import { attributesIn } from '../../protection/access/deciding-kinds.ts';
import { modesOfStep } from '../../protection/access/effective-access.ts';
import type { Effect } from './effects.ts';
import { type Form, withRestored, type Unit } from './forms.ts';

/** An access-request rule, and what it governs: the steps of its type, on the connections that it names and on those with its attributes. */
type Governing = {
  readonly spec: Spec;
  readonly type: string;
  readonly connections: ReadonlySet<ResourceId>;
  /** The connections, and the attributes. */
  readonly targets: ReadonlySet<ResourceId>;
};

type RulesById = ReadonlyMap<ResourceId, Governing>;

/** Access-request rules before and after a plan, by their live keys. */
export type RuleMoves = { readonly before: RulesById; readonly after: RulesById };

/** The access-request rules between the writes of a plan. A rule takes a slot, a step of a connection or of an attribute, after the rule before has let go of it. */
export type Slots = {
  /** Returns whether no other rule has what a form takes, or has it at the end. */
  readonly isFree: (form: Form) => boolean;
  /** Returns the steps that let go of what a form takes. */
  readonly needsOf: (form: Form) => readonly StepKey[];
  /** Returns the write that lets go of what others take before the next form of a change does; undefined where it has nothing of that. */
  readonly releaseOf: (unit: Unit) => Release | undefined;
  /** Notes that a form is written. */
  readonly write: (form: Form) => void;
};

/** A write that lets go of what others take, and the next form of its change after it. */
export type Release = {
  readonly form: Form;
  readonly rest: Form;
  /** Nothing is left: the rule governs nothing meanwhile. */
  readonly isWhole: boolean;
};

type Written = Pick<Step, 'change' | 'kind' | 'part' | 'edges'>;

/** Finds the access-request rules before and after a plan. `live` has the names after it. */
export function findMoves(effects: readonly Effect[], live: LiveState, registry: Registry): RuleMoves {
  const own = effects.filter(({ change }) => isRequestRule(change.id));
  if (own.length === 0) return { before: new Map(), after: new Map() };
  const before = rulesOf(live, registry);
  const after = new Map(before);
  for (const { change, kind, edges } of own) {
    const key = liveKeyOf(change);
    const has = governingAfter({ change, kind, edges, part: change.action === 'delete' ? 'delete' : 'whole' }, before.get(key));
    if (has === undefined) after.delete(key);
    else after.set(key, has);
  }
  return { before, after };
}

function rulesOf({ resources }: LiveState, registry: Registry): RulesById {
  return new Map(
    resources
      .filter(({ id }) => isRequestRule(id))
      .map(({ id, spec, edges }) => {
        const named = (registry.get(kindOf(id))?.fields ?? []).flatMap((field) => (field.edge === 'rule' ? (edges[field.name] ?? []) : []));
        return [id, governing(spec, new Set(named))];
      }),
  );
}

function governing(spec: Spec, connections: ReadonlySet<ResourceId>): Governing {
  return { spec, type: asText(spec['access_type']), connections, targets: new Set([...connections, ...attributesIn(spec)]) };
}

/** Lists what a rule governs, step by step: the gateway lets one rule of a step name a connection, or have an attribute. */
function slotsOf({ type, targets }: Pick<Governing, 'type' | 'targets'>): readonly string[] {
  return stepsOf(type).flatMap((step) => [...targets].map((target) => `${step} ${target}`));
}

function stepsOf(type: string): readonly string[] {
  return Object.keys(modesOfStep).filter((step) => type === step || type === 'jit_command');
}

/** Returns whether rules of two types govern a step together. */
export function sharesStep(one: AccessRequestRule['access_type'], other: AccessRequestRule['access_type']): boolean {
  return stepsOf(one).some((step) => stepsOf(other).includes(step));
}

/** Returns a rule after a write of it. It keeps the name of a connection that is deleted. */
function governingAfter(step: Written, now: Governing | undefined): Governing | undefined {
  if (step.part === 'delete') return undefined;
  const spec = specAfterStep(step, now?.spec ?? {});
  const connections = new Set(now?.connections);
  for (const { action, connection } of writesOnlyPart(step.part) ? [] : step.edges) {
    if (action === 'attach') connections.add(connection);
    if (action === 'detach' && step.part !== 'gain') connections.delete(connection);
  }
  return governing(spec, connections);
}

function ownersOf(rules: RulesById): Map<string, ResourceId> {
  return new Map([...rules].flatMap(([id, rule]) => slotsOf(rule).map((slot) => [slot, id])));
}

/** Returns the slots of the rules of a plan; nothing is written yet. */
export function createSlots({ before, after }: RuleMoves): Slots {
  const now = new Map(before);
  const [owners, takers] = [ownersOf(before), ownersOf(after)];
  const releasedBy = new Map<string, StepKey>();
  const released = new Set<Unit>();
  const gained = (form: Form): readonly string[] => {
    const next = isRequestRule(form.key.id) ? governingAfter(form, now.get(form.key.id)) : undefined;
    return next === undefined ? [] : slotsOf(next).filter((slot) => owners.get(slot) !== form.key.id);
  };
  const isTaken = (slot: string, rule: ResourceId): boolean => (takers.get(slot) ?? rule) !== rule;
  return {
    // A rule that would take more between two writes leaves it to the rule that has it at the end.
    isFree: (form) => gained(form).every((slot) => !owners.has(slot) && !isTaken(slot, form.key.id)),
    needsOf: (form) => gained(form).flatMap((slot) => releasedBy.get(slot) ?? []),
    releaseOf(unit) {
      const [form] = unit.forms;
      const had = form && now.get(form.key.id);
      if (form === undefined || had === undefined || released.has(unit) || (form.part !== 'whole' && form.part !== 'delete'))
        return undefined;
      const { id } = form.key;
      const stays = governingAfter(form, now.get(id))?.targets ?? new Set();
      // Of what it loses anyway, it lets go where another rule takes only the other step, too.
      const lost = [...had.targets].filter((target) =>
        slotsOf({ type: stays.has(target) ? had.type : 'jit_command', targets: new Set([target]) }).some((slot) => isTaken(slot, id)),
      );
      if (lost.length === 0) return undefined;
      const connections = lost.filter((target) => had.connections.has(target));
      const attributes = lost.filter((target) => !had.connections.has(target));
      const isKept = (target: ResourceId): boolean => stays.has(target);
      return {
        form: { ...releasing(form, attributes), edges: edgesOf(id, 'detach', connections) },
        rest: {
          ...form,
          change: withRestored(form.change, fieldsOf(attributes.filter(isKept), true)),
          edges: [...form.edges, ...edgesOf(id, 'attach', connections.filter(isKept))],
        },
        isWhole: lost.length === had.targets.size,
      };
    },
    write(form) {
      const { id } = form.key;
      if (!isRequestRule(id)) return;
      if (form.key.phase === 'release') released.add(form.unit);
      const [had, next] = [now.get(id), governingAfter(form, now.get(id))];
      for (const slot of had === undefined ? [] : slotsOf(had)) {
        owners.delete(slot);
        releasedBy.set(slot, form.key);
      }
      for (const slot of next === undefined ? [] : slotsOf(next)) owners.set(slot, id);
      if (next === undefined) now.delete(id);
      else now.set(id, next);
    },
  };
}

function releasing(form: Form, attributes: readonly ResourceId[]): Form {
  // A renamed rule has its new name already.
  const { key: former, ...named } = form.change;
  const keyed = former === undefined || form.change.action === 'rename' ? named : { ...named, key: former };
  const change = { ...keyed, action: 'update', fields: fieldsOf(attributes, false) } as const;
  return { ...form, key: { id: form.key.id, phase: 'release' }, part: 'whole', tier: 'write', needs: [], change };
}

function fieldsOf(attributes: readonly ResourceId[], isRestored: boolean): readonly FieldChange[] {
  return attributes.map((id) => {
    const value = nameOf(id);
    return { path: pointer('attributes', value), before: { value }, after: isRestored ? { value } : { absent: true } };
  });
}

function edgesOf(rule: ResourceId, action: 'attach' | 'detach', connections: readonly ResourceId[]): readonly EdgeChange[] {
  return connections.map((connection) => ({ rule, connection, action, declared: [], by: rule }));
}

/** Returns the rule that lets go of a connection, and the one that takes it; undefined where none does. */
export function moveOf(
  { before, after }: RuleMoves,
  connection: ResourceId,
): { readonly from: ResourceId; readonly to: ResourceId } | undefined {
  const naming = (rules: RulesById): readonly (readonly [ResourceId, string])[] =>
    [...rules].flatMap(([id, { type, targets }]) => (targets.has(connection) ? [[id, type]] : []));
  const moves = naming(before).flatMap(([from, had]) =>
    naming(after).flatMap(([to, has]) => (to !== from && sharesStep(had, has) ? [{ from, to }] : [])),
  );
  return moves[0];
}
