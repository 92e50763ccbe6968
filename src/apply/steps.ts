import { joinDirections, type Direction } from '../model/direction.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import type { Change, Plan } from '../model/plan.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import { effectOn, effectsOf, isRule, keyOf, specAfter, type Effect } from './effects.ts';

/**
 * How much of its change a step writes: all of it, only what adds protection (live and desired joined), all with
 * access closed, or the opening of what was created closed.
 */
export type Part = 'whole' | 'gain' | 'closed' | 'open';

/** One write. Steps of a stage run together; a stage begins when the one before is read back. */
export type Step = {
  readonly key: string;
  readonly change: Change;
  readonly part: Part;
  readonly stage: number;
  /** Steps without which this one is not taken. */
  readonly needs: readonly string[];
};

/** Stages: rules that gain, new objects, rules that need those, what is there already and openings, rules that lose. */
const stages = { gain: 0, create: 1, gainLater: 2, change: 3, lose: 4 } as const;

/** Lays out a plan's writes so that no connection is ever less protected than both before and after. */
export function stepsOf(plan: Plan, live: LiveState, registry: Registry): readonly Step[] {
  const effects = effectsOf(plan, live, registry);
  const all = [...effects.values()];
  const rules = all.filter((effect) => isRule(registry.get(kindOf(effect.change.id))));
  const others = all.filter((effect) => !rules.includes(effect));
  const created = new Set(others.filter((effect) => effect.change.action === 'create').map((effect) => keyOf(effect.change)));
  const layout: Layout = {
    rules,
    others,
    created,
    placement: new Map(rules.map((rule) => [keyOf(rule.change), placementOf(rule, rules, others)])),
  };
  const steps = [...rules.flatMap((rule) => ruleSteps(rule, layout)), ...others.flatMap((other) => objectSteps(other, layout, registry))];
  return steps.toSorted((left, right) => left.stage - right.stage);
}

type Placement = 'early' | 'late' | 'twice';

type Layout = {
  readonly rules: readonly Effect[];
  readonly others: readonly Effect[];
  readonly created: ReadonlySet<ResourceId>;
  readonly placement: ReadonlyMap<ResourceId, Placement>;
};

/** When a rule is written: gains early, losses late, and twice only where a single write would open a window. */
function placementOf(rule: Effect, rules: readonly Effect[], others: readonly Effect[]): Placement {
  const total = totalOf(rule);
  if (!total.loses) return 'early';
  if (!total.gains) return 'late';
  if (rules.some((other) => other !== rule && meets(rule, other))) return 'twice';
  const early = others.some((other) => effectOn(rule, keyOf(other.change)).gains && changeDirection(other).loses);
  const late = others.some((other) => effectOn(rule, keyOf(other.change)).loses && changeDirection(other).gains);
  if (early && late) return 'twice';
  return late ? 'late' : 'early';
}

function totalOf(effect: Effect): Direction {
  return joinDirections([effect.content, { gains: effect.attaches.size > 0, loses: effect.detaches.size > 0 }]);
}

/** A new object is an opening: what its rules gain must be there before it. */
function changeDirection(effect: Effect): Direction {
  return effect.change.action === 'create' ? { gains: false, loses: true } : totalOf(effect);
}

function meets(left: Effect, right: Effect): boolean {
  for (const connection of left.connections) if (right.connections.has(connection)) return true;
  return false;
}

function earlyKey(id: ResourceId): string {
  return `${id}#early`;
}

function ruleSteps(rule: Effect, layout: Layout): readonly Step[] {
  const { change } = rule;
  const key = keyOf(change);
  const placement = layout.placement.get(key) ?? 'early';
  const newEnds = [...rule.attaches].filter((id) => layout.created.has(id));
  const early: Step = {
    key: earlyKey(key),
    change,
    part: placement === 'twice' ? 'gain' : 'whole',
    stage: newEnds.length > 0 ? stages.gainLater : stages.gain,
    needs: newEnds,
  };
  const late: Step = {
    key,
    change,
    part: 'whole',
    stage: stages.lose,
    needs: placement === 'twice' ? [early.key, ...lateNeeds(rule, layout)] : lateNeeds(rule, layout),
  };
  if (placement === 'early') return [early];
  return placement === 'late' ? [late] : [early, late];
}

/** A loss waits for what makes up for it: other rules' gains and the connection's own, on the same connection. */
function lateNeeds(rule: Effect, layout: Layout): readonly string[] {
  const lost = [...rule.connections].filter((id) => effectOn(rule, id).loses);
  const gains = layout.rules.filter(
    (other) => other !== rule && layout.placement.get(keyOf(other.change)) !== 'late' && lost.some((id) => effectOn(other, id).gains),
  );
  const objects = layout.others.filter((other) => lost.includes(keyOf(other.change)) && changeDirection(other).gains);
  return [...gains.map((other) => earlyKey(keyOf(other.change))), ...objects.map((other) => keyOf(other.change))];
}

/** The steps of an object that is no rule: created closed where a rule can only be attached to it afterwards. */
function objectSteps(effect: Effect, layout: Layout, registry: Registry): readonly Step[] {
  const { change } = effect;
  const key = keyOf(change);
  const attaching = layout.rules.filter((rule) => rule.attaches.has(key));
  const gaining = layout.rules.filter((rule) => layout.placement.get(keyOf(rule.change)) !== 'late' && effectOn(rule, key).gains);
  if (change.action === 'update') {
    const guards = [...(changeDirection(effect).loses ? gaining : []), ...createdRules(effect, layout)];
    return [{ key, change, part: 'whole', stage: stages.change, needs: [...new Set(guards.map((rule) => earlyKey(keyOf(rule.change))))] }];
  }
  const first = [...new Set([...gaining.filter((rule) => !attaching.includes(rule)), ...createdRules(effect, layout)])].map((rule) =>
    earlyKey(keyOf(rule.change)),
  );
  if (attaching.length === 0 || !opens(change, registry)) return [{ key, change, part: 'whole', stage: stages.create, needs: first }];
  const openNeeds = [key, ...attaching.map((rule) => earlyKey(keyOf(rule.change)))];
  return [
    { key, change, part: 'closed', stage: stages.create, needs: first },
    { key: `${key}#open`, change, part: 'open', stage: stages.change, needs: openNeeds },
  ];
}

/** The rules of this plan to which the object itself writes an edge; one that only loses is there, and as strong, already. */
function createdRules(effect: Effect, layout: Layout): readonly Effect[] {
  return layout.rules.filter((rule) => effect.attaches.has(keyOf(rule.change)) && layout.placement.get(keyOf(rule.change)) !== 'late');
}

/** Tells whether the change, once whole, opens something that can be closed. */
function opens(change: Change, registry: Registry): boolean {
  const kind = registry.get(kindOf(change.id));
  if (kind === undefined) return false;
  const spec = specAfter(change, kind, {});
  return kind.fields.some((field) => field.closed !== undefined && spec[field.name] !== field.closed);
}
