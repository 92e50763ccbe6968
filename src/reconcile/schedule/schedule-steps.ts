import { addToGroup, largestOf, onFirstUse } from '../../model/collections.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { closableFields, type Registry } from '../../model/kind.ts';
import { equal } from '../../model/json.ts';
import { liveById, type LiveState, rowFieldsOf } from '../../model/live.ts';
import { type Change, type Diff, isClosedBetween, liveKeyOf, renamesOf, withNames, type WriteSlot } from '../../model/plan/plan.ts';
import { isWithinAny, tokensOf } from '../../model/pointer.ts';
import { isAttribute } from '../../model/protection/access-objects.ts';
import type { ResourceId, Spec } from '../../model/resource.ts';
import {
  compareTimes,
  slotStages,
  type Stage,
  stagesBetween,
  type Step,
  type StepKey,
  stepKeyText,
  uniqueStepKeys,
} from '../../model/plan/schedule.ts';
import { sharesSlot } from '../../protection/access/rule-moves.ts';
import { type PlannedWrites, snapshotPlan } from '../../protection/posture/diff-postures.ts';
import {
  affectedBy,
  type Effect,
  effectOn,
  effectsOf,
  gainsLate,
  isRule,
  ownDirection,
  type PlanEffects,
  totalDirection,
} from '../compare/effects.ts';
import { mergeStrictest } from '../../model/spec/merge-strictest.ts';
import type { BothSnapshots } from '../compare/joint-states.ts';
import { findMoves, type RuleMoves } from './rule-moves.ts';

/** The slot of each rule that the gateway accepts only as one write, by the id of its change. */
export type WriteSlots = ReadonlyMap<ResourceId, WriteSlot>;

const noSlots: WriteSlots = new Map();

/** A plan, and what its changes do to protection: found once for everything that orders its writes. */
export type ScheduleInput = PlanEffects & {
  readonly plan: Pick<Diff, 'changes' | 'edges'>;
  /** The gateway with the names after the plan. */
  readonly live: LiveState;
  readonly registry: Registry;
  readonly moves: RuleMoves;
};

/** Reads what the order of writes depends on. */
export function scheduleInput(
  plan: PlannedWrites,
  live: LiveState,
  registry: Registry,
  snapshots: () => BothSnapshots = onFirstUse(() => snapshotPlan(plan, live, registry)),
): ScheduleInput {
  const named = withNames(live, renamesOf(plan.changes));
  return { plan, live: named, registry, moves: findMoves(plan, named, registry), ...effectsOf(plan, named, registry, snapshots) };
}

/** Orders the writes of a plan so that no connection is ever less protected than both before and after. */
export function scheduleSteps({ effects: all, live, moves }: ScheduleInput, slots: WriteSlots = noSlots): readonly Step[] {
  const effects = all.filter(({ change }) => change.action !== 'delete');
  const objects = new Map(effects.filter(({ kind }) => !isRule(kind)).map((effect) => [liveKeyOf(effect.change), effect]));
  const closings = closingsOf(all, live);
  const rules = placeRules(
    effects.filter(({ kind }) => isRule(kind)),
    { objects, closings, closedFirst: closedFirstOf(all), slots },
  );
  const layout: Layout = { objects, guards: guardsOf(rules), closings, moves, live };
  const steps = [
    ...closings.values(),
    ...effects.flatMap((effect) => releaseSteps(effect, layout)),
    ...rules.flatMap((rule) => ruleSteps(rule, layout)),
    ...[...objects.values()].flatMap((one) => objectSteps(one, layout)),
    ...deletions(all, layout, slots),
  ];
  const deleted = all.filter(({ change, joint }) => change.action === 'delete' && joint !== undefined);
  const sorted = steps.map((step) => reopenAfterRules(step, steps, [...rules, ...deleted])).toSorted(compareTimes);
  const last = new Map(sorted.flatMap((step) => (step.stage === 'reopen' ? [] : [[liveKeyOf(step.change), step.key]])));
  const closed = sorted.map((step) => closeAfterSuccessor(step, last));
  return slots.size === 0 ? closed.toSorted(compareTimes) : withoutLaterNeeds(inRounds(closed, all)).toSorted(compareTimes);
}

/** The most writes that run together on a connection whose access several changes decide: each state between them is checked. */
export const mostTogether = 4;

/** Splits the writes of a stage into rounds, where more of them decide the access to a connection together. */
function inRounds(steps: readonly Step[], effects: readonly Effect[]): readonly Step[] {
  const byChange = new Map(effects.map((effect) => [effect.change, effect]));
  const decided = new Set(effects.flatMap((effect) => (effect.joint === undefined ? [] : affectedBy(effect))));
  const counts = new Map<Stage, Map<ResourceId, { readonly round: number; readonly writes: number }>>();
  return steps.map((step) => {
    const effect = byChange.get(step.change);
    if (effect === undefined || step.stage === 'release') return step;
    const connections = affectedBy(effect).filter((id) => decided.has(id));
    const known = counts.get(step.stage) ?? new Map<ResourceId, { readonly round: number; readonly writes: number }>();
    counts.set(step.stage, known);
    const rounds = connections.map((id) => {
      const { round, writes } = known.get(id) ?? { round: 1, writes: 0 };
      // A step with a round comes after all others.
      return writes < mostTogether && step.round === undefined ? round : round + 1;
    });
    const round = largestOf(rounds, step.round ?? 1);
    for (const id of connections) {
      const last = known.get(id);
      known.set(id, { round, writes: last?.round === round ? last.writes + 1 : 1 });
    }
    return round === 1 ? step : { ...step, round };
  });
}

function laterStage(one: Stage, other: Stage): Stage {
  return stagesBetween(one, other) > 0 ? other : one;
}

function isReplaced({ reasons }: Change): boolean {
  return reasons.includes('replaced');
}

/**
 * Returns the connections that are closed before any rule changes, so that no later write exposes them: those that move between rules, and those that
 * the plan deletes, except replaced ones. A replaced connection is closed after its successor is open.
 */
export function closedFirstOf(effects: Iterable<Effect>): ReadonlySet<ResourceId> {
  return new Set(
    [...effects].flatMap(({ change, kind }) => {
      const isFirst = change.action === 'delete' && !isReplaced(change) && !isRule(kind);
      return isFirst || isClosedBetween(change) ? [liveKeyOf(change)] : [];
    }),
  );
}

/** Returns the steps that close the open connections which the plan deletes or opens again at the end, by connection. */
function closingsOf(effects: readonly Effect[], live: LiveState): ReadonlyMap<ResourceId, Step> {
  const closed = effects.filter(({ change }) => change.action === 'delete' || isClosedBetween(change));
  if (closed.length === 0) return new Map();
  const found = liveById(live.resources);
  return new Map(
    closed.flatMap(({ change, kind }) => {
      const id = liveKeyOf(change);
      const spec = found.get(id)?.spec;
      if (spec === undefined || closableFields(kind).every(({ name, value }) => spec[name] === value)) return [];
      const key = { id, phase: 'early' } as const;
      return [[id, { key, change, kind, edges: [], part: 'close', stage: 'close-first', needs: [] }] as const];
    }),
  );
}

/** Closes or deletes a replaced object after the last step of its successor. */
function closeAfterSuccessor(step: Step, last: ReadonlyMap<ResourceId, StepKey>): Step {
  if (!isReplaced(step.change)) return step;
  const needs = step.change.needs.flatMap((id) => last.get(id) ?? []);
  return { ...step, stage: laterStage(step.stage, 'close'), needs: uniqueStepKeys([...step.needs, ...needs]) };
}

/** Drops needs that are not earlier: a rule that is written once may come after a step that would wait for it, and the plan names that window. */
function withoutLaterNeeds(steps: readonly Step[]): readonly Step[] {
  const timeOf = new Map(steps.map((step) => [stepKeyText(step.key), step]));
  return steps.map((step) => ({
    ...step,
    needs: step.needs.filter((need) => compareTimes(timeOf.get(stepKeyText(need)) ?? step, step) < 0),
  }));
}

/** Returns whether a change deletes an attribute, with all its links. */
export function losesLinks({ change }: Effect): boolean {
  return change.action === 'delete' && isAttribute(change.id);
}

/** Deletes removed objects; a rule stays until no connection that it protects is worse off without it. */
function deletions(effects: readonly Effect[], layout: Layout, slots: WriteSlots): readonly Step[] {
  const deleted = effects.filter(({ change }) => change.action === 'delete');
  const keys = new Set(deleted.map(({ change }) => liveKeyOf(change)));
  return deleted.map((effect): Step => {
    const { change, kind, edges } = effect;
    const step = { key: mainKey(liveKeyOf(change)), change, kind, edges, part: 'delete' } as const;
    if (!isRule(kind)) return { ...step, stage: 'delete', needs: closingKeys([liveKeyOf(change)], layout.closings) };
    const release = layout.moves.releases.get(liveKeyOf(change));
    if (release !== undefined)
      return { ...step, stage: 'release', round: release.round, needs: releaseNeeds(effect, release.round, layout) };
    const protectedToo = [...effect.connections].filter((id) => keys.has(id)).map(mainKey);
    // What names it has let go of it before: the gateway would take it from there.
    const others = losesLinks(effect) ? deleted.filter((other) => isRule(other.kind) && !losesLinks(other)) : [];
    const slot = slots.get(change.id);
    const last = losesLinks(effect) ? 'delete-attributes' : 'delete-rules';
    const stage = slot === undefined || slot === 'last' ? last : slotStages[slot];
    return {
      ...step,
      stage,
      needs: [...lateNeeds(effect, layout), ...protectedToo, ...others.map((other) => mainKey(liveKeyOf(other.change)))],
    };
  });
}

/** Returns the write by which a rule lets go of what others take; a deletion is one. */
function releaseSteps({ connections, kind, ...effect }: Effect, layout: Layout): readonly Step[] {
  const id = liveKeyOf(effect.change);
  const release = layout.moves.releases.get(id);
  if (release === undefined) return [];
  const { change, edges, round } = release;
  const needs = releaseNeeds({ connections }, round, layout);
  return [{ key: releaseKey(id), change, kind, edges, part: 'whole', stage: 'release', round, needs }];
}

/** A release comes after the closing of the connections of its rule, and after the releases of earlier rounds. */
function releaseNeeds({ connections }: Pick<Effect, 'connections'>, round: number, layout: Layout): readonly StepKey[] {
  const earlier = [...layout.moves.releases].filter(([, other]) => other.round < round).map(([rule]) => releasingKey(rule, layout));
  return [...closingKeys(connections, layout.closings), ...earlier];
}

function releaseKey(id: ResourceId): StepKey {
  return { id, phase: 'release' };
}

function releasingKey(rule: ResourceId, { moves }: Layout): StepKey {
  return moves.releases.get(rule)?.change.action === 'delete' ? mainKey(rule) : releaseKey(rule);
}

/** Returns the releases that a rule needs: its own, and those of the rules from which it takes. */
function takingNeeds(rule: ResourceId, layout: Layout): readonly StepKey[] {
  const { releases, before, after } = layout.moves;
  const has = after.get(rule);
  return [...releases.keys()]
    .filter((other) => other === rule || sharesSlot(before.get(other), has))
    .map((other) => releasingKey(other, layout));
}

/** Opens a connection after everything that changes its rules. */
function reopenAfterRules(step: Step, steps: readonly Step[], rules: readonly Effect[]): Step {
  if (step.stage !== 'reopen') return step;
  const changing = new Set(rules.flatMap(({ change, connections }) => (connections.has(step.key.id) ? [liveKeyOf(change)] : [])));
  return { ...step, needs: uniqueStepKeys([...step.needs, ...steps.flatMap(({ key }) => (changing.has(key.id) ? [key] : []))]) };
}

/** Changes a name by a write of its own, before all others: whatever refers to it uses the new name. */
function nameStep({ change, kind }: Effect): Step {
  return { key: { id: liveKeyOf(change), phase: 'rename' }, change, kind, edges: [], part: 'name', stage: 'rename', needs: [] };
}

/**
 * When a changed rule is written: early where it strengthens, late where it weakens, twice only where a single write would
 * open a window; `at` names the stage of a rule that the plan writes once.
 */
type Placement = 'early' | 'late' | 'twice' | { readonly at: Stage };

type PlacedRule = Effect & { readonly placement: Placement };

type Objects = ReadonlyMap<ResourceId, Effect>;

type Layout = {
  /** The changed objects that are not rules. */
  readonly objects: Objects;
  /** By connection, the rules whose early write strengthens it. */
  readonly guards: ReadonlyMap<ResourceId, readonly PlacedRule[]>;
  readonly live: Pick<LiveState, 'rowFields'>;
  /** By connection that is closed before any rule changes, the step that closes it. */
  readonly closings: ReadonlyMap<ResourceId, Step>;
  readonly moves: RuleMoves;
};

type PlacingContext = {
  readonly objects: Objects;
  readonly closings: Layout['closings'];
  readonly closedFirst: ReadonlySet<ResourceId>;
};

function placeRules(
  rules: readonly Effect[],
  { slots, ...context }: PlacingContext & { readonly slots: WriteSlots },
): readonly PlacedRule[] {
  const counts = new Map<ResourceId, number>();
  for (const id of rules.flatMap((rule) => [...rule.connections])) counts.set(id, (counts.get(id) ?? 0) + 1);
  const shared = new Set([...counts].filter(([, count]) => count > 1).map(([id]) => id));
  return rules.map((rule) => {
    const slot = slots.get(rule.change.id);
    return { ...rule, placement: slot === undefined ? placementOf(rule, shared, context) : { at: slotStages[slot] } };
  });
}

/**
 * Returns whether a change of an object that decides access only adds connections, which it protects, and drops others: between two writes it
 * names all of them.
 */
export function addsAndDrops(rule: Effect): boolean {
  const { change, joint, attaches, detaches } = rule;
  if (joint === undefined || change.fields.some(({ held }) => held !== true)) return false;
  return [...attaches].every((id) => !effectOn(rule, id).weakens) && [...detaches].every((id) => !effectOn(rule, id).strengthens);
}

function placementOf(rule: Effect, shared: ReadonlySet<ResourceId>, { objects, closings, closedFirst }: PlacingContext): Placement {
  const total = totalDirection(rule);
  if (!total.weakens) return 'early';
  if (!total.strengthens) return 'late';
  // Where other changes meet a rule that has no form as strict as both, it gets a slot.
  if (rule.joint !== undefined) return addsAndDrops(rule) ? 'twice' : 'early';
  const connections = [...rule.connections].filter((id) => !closedFirst.has(id));
  if (connections.some((id) => shared.has(id))) return 'twice';
  const meeting = connections.map((id) => ({ id, on: effectOn(rule, id), own: ownDirection(objects.get(id)) }));
  const early = meeting.some(({ on, own }) => on.strengthens && own.weakens);
  const late = meeting.some(({ id, on, own }) => on.weakens && (own.strengthens || closings.has(id)));
  if (early && late) return 'twice';
  return late ? 'late' : 'early';
}

function guardsOf(rules: readonly PlacedRule[]): Layout['guards'] {
  const guards = new Map<ResourceId, PlacedRule[]>();
  for (const rule of rules) {
    if (rule.placement === 'late') continue;
    for (const id of rule.connections) {
      if (effectOn(rule, id).strengthens) addToGroup(guards, id, rule);
    }
  }
  return sharedLists(guards);
}

/** Makes equal lists one: many connections have the same rules, and what asks for all of them reads each list once. */
function sharedLists(guards: Layout['guards']): Layout['guards'] {
  const numbers = new Map<PlacedRule, number>();
  const lists = new Map<string, readonly PlacedRule[]>();
  for (const rule of [...guards.values()].flat()) if (!numbers.has(rule)) numbers.set(rule, numbers.size);
  return new Map(
    [...guards].map(([id, rules]) => {
      const key = rules.map((rule) => numbers.get(rule)).join(' ');
      const list = lists.get(key) ?? rules;
      lists.set(key, list);
      return [id, list];
    }),
  );
}

function mainKey(id: ResourceId): StepKey {
  return { id, phase: 'main' };
}

function earlyKey(effect: Effect): StepKey {
  return { id: liveKeyOf(effect.change), phase: 'early' };
}

function ruleSteps(rule: PlacedRule, layout: Layout): readonly Step[] {
  if (rule.change.action !== 'rename') return contentSteps(rule, layout);
  const name = nameStep(rule);
  const isMore = rule.edges.length > 0 || rule.change.fields.some(({ held }) => held !== true);
  if (!isMore) return [name];
  return [name, ...contentSteps(rule, layout).map((step) => ({ ...step, needs: [name.key, ...step.needs] }))];
}

function closingKeys(connections: Iterable<ResourceId>, closings: Layout['closings']): readonly StepKey[] {
  return [...connections].flatMap((id) => closings.get(id)?.key ?? []);
}

function contentSteps(rule: PlacedRule, layout: Layout): readonly Step[] {
  const taking = takingNeeds(liveKeyOf(rule.change), layout);
  const steps = placedSteps(rule, layout);
  return taking.length === 0 ? steps : steps.map((step) => ({ ...step, needs: [...taking, ...step.needs] }));
}

function placedSteps(rule: PlacedRule, layout: Layout): readonly Step[] {
  const { change, kind, edges, placement } = rule;
  const createdEnds = [...rule.attaches].filter((id) => layout.objects.get(id)?.change.action === 'create').map(mainKey);
  const early: Step = {
    key: earlyKey(rule),
    change,
    kind,
    edges,
    part: placement === 'twice' ? 'gain' : 'whole',
    stage: createdEnds.length > 0 ? 'strengthen-created' : 'strengthen',
    needs: placement === 'early' ? [...createdEnds, ...closingNeeds(rule, layout)] : createdEnds,
  };
  if (placement === 'early') return [early];
  const needs = lateNeeds(rule, layout);
  if (typeof placement === 'object') return [{ ...early, stage: laterStage(early.stage, placement.at), needs: [...createdEnds, ...needs] }];
  const late: Step = { key: mainKey(liveKeyOf(change)), change, kind, edges, part: 'whole', stage: 'weaken', needs };
  return placement === 'late' ? [late] : [early, { ...late, needs: [early.key, ...needs] }];
}

/** Returns whether an object gains or loses attributes: each may grant it to groups, and attach rules. */
export function changesAttributes(effect: Effect | undefined): boolean {
  return effect?.change.fields.some(({ path, held }) => held !== true && tokensOf(path)[0] === 'attributes') === true;
}

function lossesOf(rule: Effect): readonly ResourceId[] {
  return [...rule.connections].filter((id) => effectOn(rule, id).weakens);
}

/** Returns the steps that close the deleted connections on which a rule weakens. */
function closingNeeds(rule: Effect, { closings }: Layout): readonly StepKey[] {
  return closingKeys(lossesOf(rule), closings);
}

/** Returns what makes up for a loss on the same connection: other rules' gains, and the connection's own or its closing. */
function lateNeeds(rule: Effect, layout: Layout): readonly StepKey[] {
  const { guards, objects } = layout;
  const lost = lossesOf(rule);
  const strengthening = new Set([...new Set(lost.map((id) => guards.get(id)))].flatMap((rules) => rules ?? []));
  return [
    ...closingNeeds(rule, layout),
    ...[...strengthening].filter((other) => other !== rule).map(earlyKey),
    ...lost.filter((id) => ownDirection(objects.get(id)).strengthens || changesAttributes(objects.get(id))).map(mainKey),
  ];
}

/**
 * Returns the steps of an object that is not a rule: created closed where protection can only be attached to it afterwards,
 * and changed in two writes where a single one would open it before the gateway has attached what it gains.
 */
function objectSteps(effect: Effect, layout: Layout): readonly Step[] {
  const { change, kind, edges } = effect;
  const id = liveKeyOf(change);
  const step = { key: mainKey(id), change, kind, edges, part: 'whole' } as const;
  const guards = layout.guards.get(id) ?? [];
  if (isClosedBetween(change)) return closedSteps(effect, layout);
  if (change.action === 'update') {
    const weakens = ownDirection(effect).weakens || changesAttributes(effect);
    const first = guards.filter((rule) => weakens || effect.attaches.has(liveKeyOf(rule.change))).map(earlyKey);
    if (!effect.weakensBeforeGain) return [{ ...step, stage: 'update', needs: first }];
    const gain = { ...step, key: earlyKey(effect), part: 'gain', stage: 'before-objects', round: 2, needs: first } as const;
    return [gain, { ...step, stage: 'update', needs: [gain.key] }];
  }
  const isCarried = (rule: PlacedRule): boolean => effect.attaches.has(liveKeyOf(rule.change));
  const attachedLater = guards.filter((rule) => !isCarried(rule));
  const first = guards.filter(isCarried).map(earlyKey);
  const isComplete = attachedLater.length === 0 && !gainsLate(effect.change, effect.kind) && !hasRow(effect, layout);
  if (isComplete || !opens(effect)) return [{ ...step, stage: 'create', needs: first }];
  return [
    { ...step, part: 'closed', stage: 'create', needs: first },
    { ...step, key: { id, phase: 'open' }, part: 'open', stage: 'update', needs: [step.key, ...attachedLater.map(earlyKey)] },
  ];
}

/** Returns the writes of an object that is closed first: all of its change while it is closed, and its opening at the end. */
function closedSteps({ change, kind, edges }: Effect, { closings }: Layout): readonly Step[] {
  const id = liveKeyOf(change);
  const modes = closableFields(kind).map(({ path }) => path);
  const isMore = edges.length > 0 || change.fields.some(({ path, held }) => held !== true && !isWithinAny(path, modes));
  const closing = closingKeys([id], closings);
  const main = { key: mainKey(id), change, kind, edges, part: 'closed', stage: 'update', needs: closing } as const;
  const open = { key: { id, phase: 'open' }, change, kind, edges, part: 'open', stage: 'reopen' } as const;
  return isMore ? [main, { ...open, needs: [...closing, main.key] }] : [{ ...open, needs: closing }];
}

/** Returns whether the gateway writes groups of the object after it has created it. */
function hasRow({ change, kind }: Effect, { live }: Layout): boolean {
  const rows = rowFieldsOf(live, kind.name).map(({ path }) => path);
  return change.fields.some(({ path, after }) => rows.includes(path) && 'value' in after && !equal(after.value, []));
}

/** Returns whether the change, once whole, opens something that can be closed. */
function opens({ change, kind }: Effect): boolean {
  const spec = specAfter(change, kind, {});
  return kind.fields.some((field) => field.closed !== undefined && spec[field.name] !== field.closed);
}

/** Returns what objects hold between two writes, live and desired joined, by the id of the change. */
export function joinedSpecs(steps: readonly Step[], changes: readonly Change[], live: LiveState): ReadonlyMap<ResourceId, Spec> {
  const twice = steps.filter(({ part }) => part === 'gain');
  if (twice.length === 0) return new Map();
  const found = liveById(withNames(live, renamesOf(changes)).resources);
  return new Map(
    twice.map(({ change, kind }) => {
      const spec = found.get(liveKeyOf(change))?.spec ?? {};
      return [change.id, mergeStrictest(kind.fields, specAfter(change, kind, spec), spec)];
    }),
  );
}
