import { addToGroup } from '../../model/collections.ts';
import { liveKeyOf } from '../../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { compareTimes, type Step, type StepKey, uniqueStepKeys } from '../../model/plan/schedule.ts';
import { decidesEverywhere } from '../../protection/access/deciding-kinds.ts';
import { affectsEveryConnection } from '../../protection/posture/protection-snapshot.ts';
import { affectedBy, type Effect, effectOn, isRule, ownDirection, type PlanEffects } from '../compare/effects.ts';
import type { JointStates } from '../compare/joint-states.ts';
import { changesAttributes, closedFirstOf } from './schedule-steps.ts';

/**
 * Lets a write that may weaken a connection, whose access several changes decide, wait for all writes on it of earlier times: the states between
 * them were checked, and one without an earlier write was not.
 */
export function withJointNeeds(steps: readonly Step[], { effects, states }: PlanEffects): readonly Step[] {
  const byChange = new Map(effects.map((effect) => [effect.change.id, effect]));
  const closed = closedFirstOf(effects);
  const decided = new Set(effects.flatMap((effect) => (effect.joint === undefined ? [] : affectedBy(effect))));
  const writes = new Map<ResourceId, JointWrite[]>();
  for (const step of steps) {
    const effect = byChange.get(step.change.id);
    if (effect === undefined) continue;
    for (const id of affectedBy(effect)) {
      if (!decided.has(id) || closed.has(id)) continue;
      // What a connection gains may be an attribute that grants it to groups.
      if (!completes(step, effect, id) && (isRule(effect.kind) || step.part !== 'gain')) continue;
      addToGroup(writes, id, { step, weakens: mayWeaken(step, effect, id) });
    }
  }
  const needs = new Map<Step, StepKey[]>();
  for (const own of writes.values()) addNeeds(own, needs);
  addListNeeds(steps, states, needs);
  return steps.map((step) => {
    const more = needs.get(step);
    return more === undefined ? step : { ...step, needs: uniqueStepKeys([...step.needs, ...more]) };
  });
}

/** A write on one connection. */
type JointWrite = { readonly step: Step; readonly weakens: boolean };

/** Adds what the writes on one connection, in their order, wait for; what an earlier one waits for is left out. */
function addNeeds(writes: readonly JointWrite[], needs: Map<Step, StepKey[]>): void {
  const byTime = new Map<string, JointWrite[]>();
  for (const write of writes) addToGroup(byTime, `${write.step.stage} ${write.step.round ?? 1}`, write);
  let earlier: readonly StepKey[] = [];
  for (const together of byTime.values()) {
    const weakening = together.filter(({ weakens }) => weakens);
    for (const { step } of weakening) for (const key of earlier) addToGroup(needs, step, key);
    earlier = [...(weakening.length > 0 ? [] : earlier), ...together.map(({ step }) => step.key)];
  }
}

/** Lets deletions that together leave no rule, where none means that everything is open, wait for the rules that replace them: each is safe alone. */
function addListNeeds(steps: readonly Step[], states: JointStates, needs: Map<Step, StepKey[]>): void {
  const creating = steps.filter(({ change }) => change.action === 'create' && decidesEverywhere(kindOf(change.id)));
  if (creating.length === 0) return;
  const { before, after } = states.snapshots();
  for (const step of steps) {
    if (step.change.action !== 'delete' || !affectsEveryConnection(liveKeyOf(step.change), before, after)) continue;
    for (const one of creating) if (compareTimes(one, step) < 0) addToGroup(needs, step, one.key);
  }
}

function mayWeaken({ part, change }: Step, effect: Effect, connection: ResourceId): boolean {
  if (isRule(effect.kind)) return effectOn(effect, connection).weakens;
  if (change.action === 'delete' || part === 'close') return false;
  return ownDirection(effect).weakens || changesAttributes(effect);
}

const completing: ReadonlySet<Step['part']> = new Set(['whole', 'open', 'delete', 'close']);

/** Returns whether a write is all that its change does to a connection; a closed connection is deleted later, and no moment between exposes it. */
export function completes({ part }: Step, effect: Effect, connection: ResourceId): boolean {
  const isAdded = effect.joint !== undefined && effect.attaches.has(connection);
  return part === 'gain' ? isAdded : completing.has(part);
}
