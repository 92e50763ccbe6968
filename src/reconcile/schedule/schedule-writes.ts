import { addToGroup } from '../../model/collections.ts';
import { compareText } from '../../model/json.ts';
import { type ExposureWindow, liveKeyOf, otherEnd, type Plan, type SingleWrite, type WriteSlot } from '../../model/plan/plan.ts';
import { compareTimes, type Schedule, type Stage, stagesBetween, type Step } from '../../model/plan/schedule.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import { kindOf, type ResourceId, type Spec } from '../../model/resource.ts';
import { specAfter } from '../../model/spec/edit.ts';
import {
  affectedBy,
  type Direction,
  type Effect,
  effectOn,
  isRule,
  noEffect,
  ownDirection,
  specDirection,
  totalDirection,
} from '../compare/effects.ts';
import type { JointStates } from '../compare/joint-states.ts';
import { completes, withJointNeeds } from './joint-needs.ts';
import {
  addsAndDrops,
  closedFirstOf,
  losesLinks,
  mostTogether,
  type ScheduleInput,
  scheduleSteps,
  type WriteSlots,
} from './schedule-steps.ts';

/** Orders all writes of a plan; rules that the gateway accepts only as one write get the slots that open the fewest windows. `indivisible` has its reasons. */
export function withExposureWindows(input: ScheduleInput, steps: readonly Step[], indivisible: Indivisible): Schedule {
  const deletions = lastDeletions(input);
  const all = singleWritesOf(input, new Map([...meetingChanges(input), ...deletions, ...indivisible]));
  const singleWrites = all.filter(({ id, windows }) => windows.length > 0 || !deletions.has(id));
  return singleWrites.length === 0 ? { steps, singleWrites } : { steps: stepsInSlots(input, singleWrites), singleWrites };
}

/** Why the gateway does not accept the joined form of a rule, by the id of its change. */
type Indivisible = ReadonlyMap<ResourceId, string>;

/** Returns the changes of objects that decide access together, on connections that other changes affect, too. */
function meetingChanges({ effects }: ScheduleInput): Indivisible {
  if (!effects.some(({ joint }) => joint !== undefined)) return new Map();
  const counts = new Map<ResourceId, number>();
  for (const id of effects.flatMap(affectedBy)) counts.set(id, (counts.get(id) ?? 0) + 1);
  const meets = (id: ResourceId): boolean => (counts.get(id) ?? 0) > 1;
  const meeting = effects.filter(
    (effect) => effect.joint !== undefined && !addsAndDrops(effect) && !losesLinks(effect) && [...effect.connections].some(meets),
  );
  return new Map(meeting.map(({ change }) => [change.id, 'no form of it is as strict as before and after']));
}

/** Returns the deletions of attributes that end access to connections which other changes weaken before. */
function lastDeletions({ effects }: ScheduleInput): Indivisible {
  const deletions = effects.filter(losesLinks);
  if (deletions.length === 0) return new Map();
  const others = effects.filter((effect) => !losesLinks(effect));
  const weakened = new Set(others.flatMap((effect) => affectedBy(effect).filter((id) => wholeDirection(effect, id).weakens)));
  const ending = deletions.filter((effect) => affectedBy(effect).some((id) => weakened.has(id) && effectOn(effect, id).strengthens));
  return new Map(ending.map(({ change }) => [change.id, 'attributes are deleted last']));
}

/** Orders all writes of a plan; single writes keep the slots that were chosen for them. */
export function stepsInSlots(input: ScheduleInput, singleWrites: Plan['singleWrites']): readonly Step[] {
  const { effects, states } = input;
  const steps = scheduleSteps(input, new Map(singleWrites.map(({ id, slot }) => [id, slot])));
  if (singleWrites.length === 0) return steps;
  const groups = groupConnections(effects, states);
  return withJointNeeds(steps, { effects: effects.map((effect) => withFirstConnections(effect, groups)), states });
}

const slots: readonly [WriteSlot, ...WriteSlot[]] = ['before-objects', 'after-objects', 'first', 'last'];

/**
 * Returns the rules that the gateway accepts only as one write, each in the slot that opens the fewest exposure windows, and those
 * windows. `indivisible` states the gateway's reason by the id of the change.
 */
export function singleWritesOf(input: ScheduleInput, indivisible: Indivisible): readonly SingleWrite[] {
  if (indivisible.size === 0) return [];
  const groups = groupConnections(input.effects, input.states);
  const few = { ...input, effects: input.effects.map((effect) => withFirstConnections(effect, groups)) };
  const effects = new Map(few.effects.map((effect) => [effect.change.id, effect]));
  const ids = [...indivisible.keys()].toSorted(compareText);
  const last = new Set(few.effects.filter(losesLinks).map(({ change }) => change.id));
  const slotIn = (chosen: WriteSlots, id: ResourceId): WriteSlot => (last.has(id) ? 'last' : (chosen.get(id) ?? 'before-objects'));
  const windowsIn = (chosen: WriteSlots): readonly Exposure[] => {
    const all = new Map(ids.map((id) => [id, slotIn(chosen, id)] as const));
    return findExposures(effects, scheduleSteps(few, all), { once: new Set(ids), states: input.states });
  };
  const moved = ids.filter((id) => !last.has(id));
  const lists = listsToMove(moved, effects);
  // Writes of one list, beside which the plan changes nothing, have no better order.
  const isAlone = lists.length < 2 && moved.length === effects.size;
  const chosen = isAlone ? new Map<ResourceId, WriteSlot>() : chooseSlots(lists, (some) => costOf(windowsIn(some), groups));
  const exposures = windowsIn(chosen);
  const specs = new Map(input.live.resources.map((resource) => [resource.id, resource.spec]));
  return ids.map((id): SingleWrite => {
    const own = exposures.filter(
      (one) => one.from.change.id === id || (one.until.change.id === id && !indivisible.has(one.from.change.id)),
    );
    const windows = groupWindows(own, { specs, groups });
    return { id, why: indivisible.get(id) ?? '', slot: slotIn(chosen, id), windows };
  });
}

/** Connections on which the same changes have the same effects, by the first of them. */
type ConnectionGroups = ReadonlyMap<ResourceId, readonly ResourceId[]>;

/** Groups the connections that rules affect: whatever the order of writes, those of one group are exposed together. */
function groupConnections(effects: readonly Effect[], states: JointStates): ConnectionGroups {
  const changed = new Set(effects.map(({ change }) => liveKeyOf(change)));
  const keys = new Map<ResourceId, string[]>();
  effects.forEach((effect, index) => {
    for (const id of affectedBy(effect)) {
      const ends = `${effect.attaches.has(id) ? '+' : ''}${effect.detaches.has(id) ? '-' : ''}`;
      addToGroup(keys, id, `${index}${ends}`);
    }
  });
  const isJoint = effects.some(({ joint }) => joint !== undefined);
  const groups = new Map<string, ResourceId[]>();
  for (const [id, own] of keys) {
    const alike = changed.has(id) ? id : isJoint ? states.firstAlike(id) : '';
    addToGroup(groups, [alike, ...own].join(' '), id);
  }
  return new Map([...groups.values()].flatMap((members) => members.slice(0, 1).map((first) => [first, members])));
}

/** Returns an effect on the first connection of each group alone. */
function withFirstConnections(effect: Effect, groups: ConnectionGroups): Effect {
  if (!isRule(effect.kind)) return effect;
  const firsts = (ids: ReadonlySet<ResourceId>): ReadonlySet<ResourceId> => new Set([...ids].filter((id) => groups.has(id)));
  const { connections, attaches, detaches, joint } = effect;
  return {
    ...effect,
    connections: firsts(connections),
    attaches: firsts(attaches),
    detaches: firsts(detaches),
    ...(joint === undefined ? {} : { joint: new Map([...joint].filter(([id]) => groups.has(id))) }),
  };
}

/** One connection that is exposed between two writes. */
type Exposure = {
  readonly connection: ResourceId;
  readonly from: Effect;
  readonly until: Effect;
  /** Everything is open, and stays so if the next write is rejected. */
  readonly isOpen?: boolean;
};

/** More single writes are not moved one by one: those of a kind that do the same to protection share a slot. */
const mostAlone = 12;

/** Returns the lists of single writes that share a slot. */
function listsToMove(ids: readonly ResourceId[], effects: ReadonlyMap<ResourceId, Effect>): readonly (readonly ResourceId[])[] {
  if (ids.length <= mostAlone) return ids.map((id) => [id]);
  const alike = new Map<string, ResourceId[]>();
  for (const id of ids) {
    const effect = effects.get(id);
    const { strengthens, weakens } = effect === undefined ? noEffect : totalDirection(effect);
    addToGroup(alike, `${kindOf(id)} ${strengthens} ${weakens}`, id);
  }
  return [...alike.values()];
}

/** Chooses the best slot of one list of writes after the other. */
function chooseSlots(lists: readonly (readonly ResourceId[])[], costIn: (chosen: WriteSlots) => number): WriteSlots {
  let chosen: WriteSlots = new Map();
  let cost = costIn(chosen);
  // A plan without a window needs no other order.
  for (const together of cost === 0 ? [] : lists) {
    const current = chosen.get(together[0] ?? '/') ?? slots[0];
    const tried = slots.map((slot) => {
      const moved: WriteSlots = new Map([...chosen, ...together.map((id) => [id, slot] as const)]);
      return { moved, cost: slot === current ? cost : costIn(moved) };
    });
    const [best] = tried.toSorted((left, right) => left.cost - right.cost);
    if (best !== undefined) [chosen, cost] = [best.moved, best.cost];
  }
  return chosen;
}

/** More than any number of windows in which some rule is left. */
const openCost = 1e6;

/** Counts the windows of exposures, those in which everything is open before all others; two writes of one stage open one, in either order. */
function costOf(open: readonly Exposure[], groups: ConnectionGroups): number {
  const windows = new Map(
    open.map((one) => [[one.connection, one.isOpen, ...[one.from.change.id, one.until.change.id].toSorted()].join(' '), one]),
  );
  return [...windows.values()].reduce(
    (sum, { connection, isOpen }) => sum + (isOpen === true ? openCost : 1) * (groups.get(connection)?.length ?? 1),
    0,
  );
}

type ProtectionEvent = Direction & {
  readonly effect: Effect;
  readonly stage: Stage;
  readonly round: number;
  /** Afterwards the change is written. */
  readonly isComplete: boolean;
};

/** Finds the connections where a loss comes before, or in the same stage as, a gain of another change, and a single write is one of the two. */
function findExposures(
  effects: ReadonlyMap<ResourceId, Effect>,
  steps: readonly Step[],
  { once, states }: { readonly once: ReadonlySet<ResourceId>; readonly states: JointStates },
): readonly Exposure[] {
  const events = new Map<ResourceId, ProtectionEvent[]>();
  const closed = closedFirstOf(effects.values());
  const halved = new Set(steps.filter(({ part }) => part === 'gain').map(({ change }) => change.id));
  for (const step of steps) {
    const effect = effects.get(step.change.id);
    // A release leaves no connection that is not closed less protected than before and after.
    if (effect === undefined || step.key.phase === 'release') continue;
    for (const connection of affectedBy(effect)) {
      if (closed.has(connection)) continue;
      const isComplete = completes(step, effect, connection);
      const event = {
        effect,
        stage: step.stage,
        round: step.round ?? 1,
        isComplete,
        ...directionOf(step, effect, { connection, halved: halved.has(step.change.id) }),
      };
      addToGroup(events, connection, event);
    }
  }
  return [...events].flatMap(([connection, all]) => {
    if (all.some(({ effect }) => effect.joint !== undefined)) return jointExposures(connection, all, states);
    return all.flatMap((from) =>
      all.flatMap((until): readonly Exposure[] => {
        const isExposed = from.effect !== until.effect && from.weakens && until.strengthens && stagesBetween(from.stage, until.stage) >= 0;
        const isSingle = once.has(from.effect.change.id) || once.has(until.effect.change.id);
        return isExposed && isSingle ? [{ connection, from: from.effect, until: until.effect }] : [];
      }),
    );
  });
}

/** Finds the states between the writes on a connection in which it is less protected than before and after; access is decided by all of them together. */
function jointExposures(connection: ResourceId, all: readonly ProtectionEvent[], states: JointStates): readonly Exposure[] {
  // A write that only joins, or closes, leaves the connection as strict as both.
  const deciding = all.filter(({ isComplete }) => isComplete).toSorted(compareTimes);
  const byTime = new Map<string, ProtectionEvent[]>();
  for (const event of deciding) addToGroup(byTime, `${event.stage} ${event.round}`, event);
  const written = new Set<ResourceId>();
  const found: Exposure[] = [];
  for (const events of byTime.values()) {
    const keys = events.map(({ effect }) => liveKeyOf(effect.change));
    for (const some of subsetsWithoutNone(keys)) {
      const state = new Set([...written, ...some]);
      const next = deciding.find(({ effect }) => !state.has(liveKeyOf(effect.change)));
      const last = deciding.findLast(({ effect }) => state.has(liveKeyOf(effect.change)));
      if (next === undefined || last === undefined || !(keys.length > mostTogether || states.isExposed(connection, state))) continue;
      const isOpen = states.leavesNone(state);
      found.push({ connection, from: last.effect, until: next.effect, isOpen });
    }
    for (const key of keys) written.add(key);
  }
  return found;
}

function subsetsWithoutNone(keys: readonly ResourceId[]): readonly (readonly ResourceId[])[] {
  if (keys.length > mostTogether) return [keys];
  return keys.reduce<readonly (readonly ResourceId[])[]>((all, key) => [...all, ...all.map((some) => [...some, key])], [[]]).slice(1);
}

/** Returns the effect of a whole change on a connection. */
function wholeDirection(effect: Effect, connection: ResourceId): Direction {
  return isRule(effect.kind) ? effectOn(effect, connection) : ownDirection(effect);
}

type WriteTarget = { readonly connection: ResourceId; readonly halved: boolean };

/** Returns the effect of one write of a change on a connection. */
function directionOf({ part }: Step, effect: Effect, { connection, halved }: WriteTarget): Direction {
  const whole = wholeDirection(effect, connection);
  switch (part) {
    case 'closed':
    case 'name':
      return noEffect;
    case 'close':
      return { strengthens: true, weakens: false };
    case 'delete':
      return { strengthens: false, weakens: isRule(effect.kind) };
    case 'open':
      return { strengthens: false, weakens: true };
    case 'gain':
      return { strengthens: whole.strengthens, weakens: false };
    case 'whole':
      return halved ? { strengthens: false, weakens: whole.weakens } : whole;
  }
}

type WindowOptions = Pick<PathOptions, 'specs'> & { readonly groups: ConnectionGroups };

/** Groups connections with the same exposure into one window. */
function groupWindows(open: readonly Exposure[], { specs, groups }: WindowOptions): readonly ExposureWindow[] {
  const windows = new Map<string, { readonly window: Omit<ExposureWindow, 'connections'>; readonly connections: Set<ResourceId> }>();
  for (const { connection, from, until } of open) {
    const window = {
      from: from.change.id,
      lost: pathsOf(from, connection, { side: 'weakens', specs }),
      until: until.change.id,
      missing: pathsOf(until, connection, { side: 'strengthens', specs }),
    };
    const key = JSON.stringify(window);
    const known = windows.get(key) ?? { window, connections: new Set() };
    for (const member of groups.get(connection) ?? [connection]) known.connections.add(member);
    windows.set(key, known);
  }
  return [...windows]
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([, { window, connections }]) => ({ ...window, connections: [...connections].toSorted(compareText) }));
}

type PathOptions = { readonly side: 'strengthens' | 'weakens'; readonly specs: ReadonlyMap<ResourceId, Spec> };

/** Returns the fields by which a change strengthens or weakens, and the field of its edges if it attaches or detaches the connection. */
function pathsOf({ change, kind, edges }: Effect, connection: ResourceId, { side, specs }: PathOptions): readonly Pointer[] {
  const before = specs.get(liveKeyOf(change)) ?? {};
  const fields = change.fields.filter((field) => {
    const after = specAfter({ ...change, fields: [field] }, kind, before);
    return specDirection(liveKeyOf(change), before, after)[side];
  });
  const action = side === 'strengthens' ? 'attach' : 'detach';
  const isAttachment = edges.some(
    (edge) => edge.action === action && (liveKeyOf(change) === connection || otherEnd(edge, liveKeyOf(change)) === connection),
  );
  const ends = kind.fields.filter((field) => field.edge !== undefined && isAttachment).map((field) => pointer(field.name));
  return [...fields.map(({ path }) => path), ...ends];
}
