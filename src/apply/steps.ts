import { combineDirections, type Direction } from '../model/spec/direction.ts';
import { liveKeyOf, type EdgeChange, type Change, type WriteSlot, type Plan } from '../model/plan/plan.ts';
import type { Kind, Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import { isPointerWithin, pointer } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';
import { specAfter } from '../model/spec/spec-after.ts';
import { renamesOf, withNames } from '../model/plan/renames.ts';
import { effectOn, effectsOf, isRule, type Effect } from './effects.ts';

/**
 * How much of its change a step writes: all of it, only what adds protection (live and desired joined), all with
 * access closed, the opening of what was created closed, the new name alone, or nothing but the end of the object.
 */
export type Part = 'whole' | 'gain' | 'closed' | 'open' | 'name' | 'delete';

/** One write. Steps of a stage run together; a stage begins when the one before is read back. */
export type Step = {
  readonly key: string;
  readonly change: Change;
  readonly kind: Kind;
  /** The edges that the change writes. */
  readonly edges: readonly EdgeChange[];
  readonly part: Part;
  readonly stage: number;
  /** Steps without which this one is not taken. */
  readonly needs: readonly string[];
};

/**
 * Stages: names, so that every later write knows them; rules that gain, new objects, rules that need those, what is there
 * already and openings, what is replaced, rules that lose; then deletions, what is protected before what protects.
 */
const stages = { name: -1, gain: 0, create: 1, gainLater: 2, change: 3, close: 3.5, lose: 4, remove: 5, removeRules: 6 } as const;

/** Where between those a rule stands that is written once; two such stages lie around the one of changes. */
const moments: Readonly<Record<WriteSlot, number>> = { first: 0, 'before-objects': 2.5, 'after-objects': 3.75, last: 4 };

/** Lays out a plan's writes so that no connection is ever less protected than both before and after. */
export function stepsOf(plan: Plan, live: LiveState, registry: Registry): readonly Step[] {
  const all = effectsOf(plan, withNames(live, renamesOf(plan.changes)), registry);
  const effects = all.filter(({ change }) => change.action !== 'delete');
  const objects = new Map(effects.filter(({ kind }) => !isRule(kind)).map((effect) => [liveKeyOf(effect.change), effect]));
  const once = new Map((plan.once ?? []).map(({ id, moment }) => [id, moments[moment]]));
  const rules = placed(
    effects.filter(({ kind }) => isRule(kind)),
    { objects, once },
  );
  const layout: Layout = { objects, guards: guardsOf(rules) };
  const steps = [
    ...rules.flatMap((rule) => ruleSteps(rule, layout)),
    ...[...objects.values()].flatMap((one) => objectSteps(one, layout)),
    ...deletions(all, layout),
  ];
  const sorted = steps.toSorted((left, right) => left.stage - right.stage);
  const last = new Map(sorted.map((step) => [liveKeyOf(step.change), step.key]));
  const laid = sorted.map((step) => replacing(step, last));
  return (once.size === 0 ? laid : withoutLaterNeeds(laid)).toSorted((left, right) => left.stage - right.stage);
}

/** What is replaced is closed, or goes, when the last step of what takes its place is done. */
function replacing(step: Step, last: ReadonlyMap<ResourceId, string>): Step {
  if (!step.change.reasons.includes('replaced')) return step;
  const needs = step.change.needs.flatMap((id) => last.get(id) ?? []);
  return { ...step, stage: Math.max(step.stage, stages.close), needs: [...new Set([...step.needs, ...needs])] };
}

/** What is written once may come after something that would wait for it, had it two writes: the plan names that window. */
function withoutLaterNeeds(steps: readonly Step[]): readonly Step[] {
  const stageOf = new Map(steps.map(({ key, stage }) => [key, stage]));
  return steps.map((step) => ({ ...step, needs: step.needs.filter((need) => (stageOf.get(need) ?? step.stage) < step.stage) }));
}

/** The end of what was left behind; a rule stays until nothing that it protects is worse off without it. */
function deletions(effects: readonly Effect[], layout: Layout): readonly Step[] {
  const doomed = effects.filter(({ change }) => change.action === 'delete');
  const keys = new Set(doomed.map(({ change }) => liveKeyOf(change)));
  return doomed.map((effect): Step => {
    const { change, kind, edges } = effect;
    const step = { key: liveKeyOf(change), change, kind, edges, part: 'delete' } as const;
    if (!isRule(kind)) return { ...step, stage: stages.remove, needs: [] };
    const going = [...effect.connections].filter((id) => keys.has(id));
    return { ...step, stage: stages.removeRules, needs: [...lateNeeds(effect, layout), ...going] };
  });
}

/** A name is changed by a write of its own, before anything else: whatever refers to it does so by the new one. */
function nameStep({ change, kind }: Effect): Step {
  return { key: `${liveKeyOf(change)}#name`, change, kind, edges: [], part: 'name', stage: stages.name, needs: [] };
}

/**
 * A changed rule, and when it is written: gains early, losses late, and twice only where one write would open a window;
 * a number is the stage of one that the plan writes once.
 */
type Rule = Effect & { readonly placement: 'early' | 'late' | 'twice' | number };

type Objects = ReadonlyMap<ResourceId, Effect>;

type Layout = {
  /** The changed objects that are no rules. */
  readonly objects: Objects;
  /** By connection the rules whose early write makes it more protected. */
  readonly guards: ReadonlyMap<ResourceId, readonly Rule[]>;
};

type Placing = { readonly objects: Objects; readonly once: ReadonlyMap<ResourceId, number> };

function placed(rules: readonly Effect[], { objects, once }: Placing): readonly Rule[] {
  const counts = new Map<ResourceId, number>();
  for (const id of rules.flatMap((rule) => [...rule.connections])) counts.set(id, (counts.get(id) ?? 0) + 1);
  const shared = new Set([...counts].filter(([, count]) => count > 1).map(([id]) => id));
  return rules.map((rule) => ({ ...rule, placement: once.get(rule.change.id) ?? placementOf(rule, shared, objects) }));
}

function placementOf(rule: Effect, shared: ReadonlySet<ResourceId>, objects: Objects): Rule['placement'] {
  const total = totalOf(rule);
  if (!total.weakens) return 'early';
  if (!total.strengthens) return 'late';
  const connections = [...rule.connections];
  if (connections.some((id) => shared.has(id))) return 'twice';
  const meeting = connections.map((id) => ({ on: effectOn(rule, id), own: ownDirection(objects.get(id)) }));
  const early = meeting.some(({ on, own }) => on.strengthens && own.weakens);
  const late = meeting.some(({ on, own }) => on.weakens && own.strengthens);
  if (early && late) return 'twice';
  return late ? 'late' : 'early';
}

function totalOf(effect: Effect): Direction {
  return combineDirections([effect.content, { strengthens: effect.attaches.size > 0, weakens: effect.detaches.size > 0 }]);
}

/** What the own change of an object that is no rule does to it; a new one is an opening: what its rules gain must be there before it. */
export function ownDirection(effect: Effect | undefined): Direction {
  if (effect === undefined) return { strengthens: false, weakens: false };
  return effect.change.action === 'create' ? { strengthens: false, weakens: true } : totalOf(effect);
}

function guardsOf(rules: readonly Rule[]): Layout['guards'] {
  const guards = new Map<ResourceId, Rule[]>();
  for (const rule of rules) {
    if (rule.placement === 'late') continue;
    for (const id of rule.connections) {
      if (effectOn(rule, id).strengthens) guards.set(id, [...(guards.get(id) ?? []), rule]);
    }
  }
  return guards;
}

function earlyKey(rule: Effect): string {
  return `${liveKeyOf(rule.change)}#early`;
}

function ruleSteps(rule: Rule, layout: Layout): readonly Step[] {
  if (rule.change.action !== 'rename') return contentSteps(rule, layout);
  const name = nameStep(rule);
  const isMore = rule.edges.length > 0 || rule.change.fields.some(({ held }) => held !== true);
  if (!isMore) return [name];
  return [name, ...contentSteps(rule, layout).map((step) => ({ ...step, needs: [name.key, ...step.needs] }))];
}

function contentSteps(rule: Rule, layout: Layout): readonly Step[] {
  const { change, kind, edges, placement } = rule;
  const newEnds = [...rule.attaches].filter((id) => layout.objects.get(id)?.change.action === 'create');
  const early: Step = {
    key: earlyKey(rule),
    change,
    kind,
    edges,
    part: placement === 'twice' ? 'gain' : 'whole',
    stage: newEnds.length > 0 ? stages.gainLater : stages.gain,
    needs: newEnds,
  };
  if (placement === 'early') return [early];
  const needs = lateNeeds(rule, layout);
  if (typeof placement === 'number') return [{ ...early, stage: Math.max(placement, early.stage), needs: [...newEnds, ...needs] }];
  const late: Step = { key: liveKeyOf(change), change, kind, edges, part: 'whole', stage: stages.lose, needs };
  return placement === 'late' ? [late] : [early, { ...late, needs: [early.key, ...needs] }];
}

/** A loss waits for what makes up for it: other rules' gains and the connection's own, on the same connection. */
function lateNeeds(rule: Effect, { guards, objects }: Layout): readonly string[] {
  const lost = [...rule.connections].filter((id) => effectOn(rule, id).weakens);
  const gains = new Set(lost.flatMap((id) => guards.get(id) ?? []));
  return [...[...gains].filter((other) => other !== rule).map(earlyKey), ...lost.filter((id) => ownDirection(objects.get(id)).strengthens)];
}

/**
 * The steps of an object that is no rule: created closed where protection can only be attached to it afterwards, and
 * changed in two writes where a single one would open it before the gateway has attached what it gains.
 */
function objectSteps(effect: Effect, layout: Layout): readonly Step[] {
  const { change, kind, edges } = effect;
  const key = liveKeyOf(change);
  const step = { key, change, kind, edges, part: 'whole' } as const;
  const guards = layout.guards.get(key) ?? [];
  if (change.action === 'update') {
    const { weakens: loses } = ownDirection(effect);
    const first = guards.filter((rule) => loses || effect.attaches.has(liveKeyOf(rule.change))).map(earlyKey);
    if (!loses || !attachesLate(effect)) return [{ ...step, stage: stages.change, needs: first }];
    const gain = { ...step, key: `${key}#early`, part: 'gain', stage: stages.gainLater, needs: first } as const;
    return [gain, { ...step, stage: stages.change, needs: [gain.key] }];
  }
  const attaching = guards.filter((rule) => rule.attaches.has(key));
  const first = guards.filter((rule) => !rule.attaches.has(key)).map(earlyKey);
  if ((attaching.length === 0 && !attachesLate(effect)) || !opens(effect)) return [{ ...step, stage: stages.create, needs: first }];
  return [
    { ...step, part: 'closed', stage: stages.create, needs: first },
    { ...step, key: `${key}#open`, part: 'open', stage: stages.change, needs: [key, ...attaching.map(earlyKey)] },
  ];
}

/** Tells whether the gateway attaches some of the object's protection only after it has saved it. */
function attachesLate({ change, kind }: Effect): boolean {
  const late = kind.fields.filter((field) => field.late === true).map(({ name }) => pointer(name));
  return change.fields.some(({ path }) => late.some((field) => isPointerWithin(path, field)));
}

/** Tells whether the change, once whole, opens something that can be closed. */
function opens({ change, kind }: Effect): boolean {
  const spec = specAfter(change, kind, {});
  return kind.fields.some((field) => field.closed !== undefined && spec[field.name] !== field.closed);
}
