import { addToGroup } from '../../model/collections.ts';
import { liveKeyOf } from '../../model/plan/plan.ts';
import type { ResourceId } from '../../model/resource.ts';
import { type Step, type StepKey, uniqueStepKeys } from '../../model/plan/schedule.ts';
import { affectedBy, type Effect, effectOn, isRule, ownDirection, type PlanEffects } from '../compare/effects.ts';
import { changesAttributes, closedFirstOf } from './schedule-steps.ts';

/**
 * Lets a write that may expose a connection, whose access several changes decide, wait for all writes on it of earlier times: the states between
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
      const isComplete = completes(step, effect, id);
      if (!isComplete && (isRule(effect.kind) || step.part !== 'gain')) continue;
      addToGroup(writes, id, { step, weakens: mayWeaken(step, effect, id), isComplete });
    }
  }
  const needs = new Map<Step, StepKey[]>();
  for (const [id, own] of writes) addNeeds(own, (written) => states.isExposed(id, written), needs);
  return steps.map((step) => {
    const more = needs.get(step);
    return more === undefined ? step : { ...step, needs: uniqueStepKeys([...step.needs, ...more]) };
  });
}

/** A write on one connection; one of a part leaves its change not complete. */
type JointWrite = { readonly step: Step; readonly weakens: boolean; readonly isComplete: boolean };

/** The changes that are written. */
type Written = ReadonlySet<ResourceId>;

/** If rejections can leave more states than these, later writes wait for earlier ones: the states double with each write. */
const mostStates = 32;

/**
 * Adds what the writes on one connection, in their order, wait for: those that weaken it, and those that would expose it in a state that a rejection
 * of earlier ones leaves. What an earlier one waits for is left out.
 */
function addNeeds(writes: readonly JointWrite[], isExposed: (written: Written) => boolean, needs: Map<Step, StepKey[]>): void {
  const byTime = new Map<string, JointWrite[]>();
  for (const write of writes) addToGroup(byTime, `${write.step.stage} ${write.step.round ?? 1}`, write);
  let earlier: readonly StepKey[] = [];
  let whole: Written = new Set();
  let partial: readonly Written[] = [];
  for (const together of byTime.values()) {
    let started: readonly Written[] = [whole];
    const waiting: Step[] = [];
    for (const { step, weakens, isComplete } of together) {
      const key = liveKeyOf(step.change);
      const waits = weakens || partial.length > mostStates || partial.some((state) => isExposed(new Set([...state, key])));
      if (waits) waiting.push(step);
      if (!isComplete) continue;
      whole = new Set([...whole, key]);
      started = withMore(started, key);
      if (!waits) partial = withMore(partial, key);
    }
    for (const step of waiting) for (const key of earlier) addToGroup(needs, step, key);
    earlier = [...(waiting.length > 0 ? [] : earlier), ...together.map(({ step }) => step.key)];
    partial = [...partial, ...started.filter((state) => state.size < whole.size)];
  }
}

/** Returns states, and each of them with one more change. */
function withMore(states: readonly Written[], key: ResourceId): readonly Written[] {
  return states.length > mostStates ? states : [...states, ...states.map((state) => new Set([...state, key]))];
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
