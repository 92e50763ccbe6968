import { addToGroup } from '../../model/collections.ts';
import type { EdgeChange, FieldChange } from '../../model/plan/plan.ts';
import type { Step, StepKey } from '../../model/plan/schedule.ts';
import { specAfterStep, writesOnlyPart } from '../../model/plan/step-spec.ts';
import { asText } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import { type AccessRequestRule, isRequestRule } from '../../model/protection/access-objects.ts';
import { nameOf, type ResourceId, type Spec } from '../../model/resource.ts';
import { attributesIn } from '../../protection/access/deciding-kinds.ts';
import { modesOfStep } from '../../protection/access/effective-access.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import type { ProtectionSnapshot } from '../../protection/posture/protection-snapshot.ts';
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

/** The access-request rules between the writes of a plan. A rule claims a step of a connection or of an attribute, after the rule before has let go of it. */
export type Claims = {
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

/** Finds the access-request rules before and after a plan that writes some. */
export function findMoves(effects: readonly Effect[], snapshots: () => PlanSnapshots): RuleMoves {
  if (!effects.some(({ change }) => isRequestRule(change.id))) return { before: new Map(), after: new Map() };
  const { before, after } = snapshots();
  return { before: rulesOf(before), after: rulesOf(after) };
}

function rulesOf({ resources, edges }: ProtectionSnapshot): RulesById {
  const named = new Map<ResourceId, ResourceId[]>();
  for (const [connection, rules] of edges) for (const rule of rules) if (isRequestRule(rule)) addToGroup(named, rule, connection);
  return new Map(
    [...resources].flatMap(([id, { spec }]) => (isRequestRule(id) ? [[id, governing(spec, new Set(named.get(id)))] as const] : [])),
  );
}

function governing(spec: Spec, connections: ReadonlySet<ResourceId>): Governing {
  return { spec, type: asText(spec['access_type']), connections, targets: new Set([...connections, ...attributesIn(spec)]) };
}

/** Lists what a rule governs, step by step: the gateway lets one rule of a step name a connection, or have an attribute. */
function claimsOf({ type, targets }: Pick<Governing, 'type' | 'targets'>): readonly string[] {
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
  return new Map([...rules].flatMap(([id, rule]) => claimsOf(rule).map((claim) => [claim, id])));
}

/** Returns the claims of the rules of a plan; nothing is written yet. */
export function createClaims({ before, after }: RuleMoves): Claims {
  const now = new Map(before);
  const [owners, takers] = [ownersOf(before), ownersOf(after)];
  const releasedBy = new Map<string, StepKey>();
  const gained = (form: Form): readonly string[] => {
    const next = isRequestRule(form.key.id) ? governingAfter(form, now.get(form.key.id)) : undefined;
    return next === undefined ? [] : claimsOf(next).filter((claim) => owners.get(claim) !== form.key.id);
  };
  const isTaken = (claim: string, rule: ResourceId): boolean => (takers.get(claim) ?? rule) !== rule;
  return {
    // A rule that would take more between two writes leaves it to the rule that has it at the end.
    isFree: (form) => gained(form).every((claim) => !owners.has(claim) && !isTaken(claim, form.key.id)),
    needsOf: (form) => gained(form).flatMap((claim) => releasedBy.get(claim) ?? []),
    releaseOf(unit) {
      const [form] = unit.forms;
      const had = form && now.get(form.key.id);
      if (form === undefined || had === undefined || (form.part !== 'whole' && form.part !== 'delete')) return undefined;
      const { id } = form.key;
      const stays = governingAfter(form, now.get(id))?.targets ?? new Set();
      // Of what it loses anyway, it lets go where another rule takes only the other step, too.
      const lost = [...had.targets].filter((target) =>
        claimsOf({ type: stays.has(target) ? had.type : 'jit_command', targets: new Set([target]) }).some((claim) => isTaken(claim, id)),
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
      const [had, next] = [now.get(id), governingAfter(form, now.get(id))];
      for (const claim of had === undefined ? [] : claimsOf(had)) {
        owners.delete(claim);
        releasedBy.set(claim, form.key);
      }
      for (const claim of next === undefined ? [] : claimsOf(next)) owners.set(claim, id);
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
