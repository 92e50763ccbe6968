import { specAfter } from '../../model/spec/edit.ts';
import { noEffect, specDirection, type Direction } from '../../model/spec/direction.ts';
import { compareText } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import {
  liveKeyOf,
  otherEnd,
  type ExposureWindow,
  type Diff,
  type SingleWrite,
  type WriteSlot,
  renamesOf,
  withNames,
} from '../../model/plan/plan.ts';
import { pointer, type Pointer } from '../../model/pointer.ts';
import type { ResourceId, Spec } from '../../model/resource.ts';
import { stages, stagesBetween, type Stage, type Step } from '../../model/plan/schedule.ts';
import { effectOn, effectsOf, isRule, type Effect } from './effects.ts';
import { ownDirection, scheduleSteps, type WriteSlots } from './schedule-steps.ts';

const slots: readonly WriteSlot[] = ['before-objects', 'after-objects', 'first', 'last'];

/**
 * Returns the rules that the gateway accepts only as one write, each in the slot that opens the fewest and shortest exposure
 * windows, and those windows. `indivisible` states the gateway's reason by the id of the change.
 */
export function singleWritesOf(
  plan: Pick<Diff, 'changes' | 'edges'>,
  indivisible: ReadonlyMap<ResourceId, string>,
  live: LiveState,
  registry: Registry,
): readonly SingleWrite[] {
  if (indivisible.size === 0) return [];
  const named = withNames(live, renamesOf(plan.changes));
  const effects = new Map(effectsOf(plan, named, registry).map((effect) => [effect.change.id, effect]));
  const ids = [...indivisible.keys()].toSorted(compareText);
  const windowsIn = (chosen: WriteSlots): readonly Opening[] => {
    const all = new Map(ids.map((id) => [id, chosen.get(id) ?? 'before-objects'] as const));
    return openings(effects, scheduleSteps(plan, live, registry, all), new Set(ids));
  };
  const chosen = chooseSlots(ids, windowsIn);
  const open = windowsIn(chosen);
  const specs = new Map(named.resources.map((resource) => [resource.id, resource.spec]));
  return ids.map((id): SingleWrite => {
    const own = open.filter((one) => one.from.change.id === id || (one.until.change.id === id && !indivisible.has(one.from.change.id)));
    return { id, why: indivisible.get(id) ?? '', slot: chosen.get(id) ?? 'before-objects', windows: grouped(own, specs) };
  });
}

/** One connection between two writes that should have been one. */
type Opening = { readonly connection: ResourceId; readonly from: Effect; readonly until: Effect; readonly length: number };

/** Tries the slots of one rule after the other, twice: the second time with all others in place. */
function chooseSlots(ids: readonly ResourceId[], windowsIn: (chosen: WriteSlots) => readonly Opening[]): WriteSlots {
  let chosen: WriteSlots = new Map();
  for (const id of [...ids, ...ids]) {
    const [best] = slots
      .map((slot) => ({ slot, cost: costOf(windowsIn(new Map([...chosen, [id, slot]]))) }))
      .toSorted((left, right) => left.cost - right.cost);
    if (best !== undefined) chosen = new Map([...chosen, [id, best.slot]]);
  }
  return chosen;
}

/**
 * The relative length of each stage, from its start to that of the next one: the stages that write all objects are long, the
 * slots around them are short.
 */
const stageLengths: Readonly<Record<Stage, number>> = {
  rename: 4,
  strengthen: 4,
  create: 4,
  'strengthen-created': 2,
  'before-objects': 2,
  update: 2,
  close: 1,
  'after-objects': 1,
  weaken: 4,
  delete: 4,
  'delete-rules': 4,
};

/** More than any window is long, so fewer windows are always better than shorter ones. */
const longest = 400;

function lengthBetween(from: Stage, until: Stage): number {
  const passed = stages.slice(stages.indexOf(from), stages.indexOf(until));
  return passed.reduce((sum, stage) => sum + stageLengths[stage], 0);
}

/** A window counts more than the length of any; two writes side by side open one, whichever comes first. */
function costOf(open: readonly Opening[]): number {
  const lengths = new Map(
    open.map((one) => [[one.connection, ...[one.from.change.id, one.until.change.id].toSorted()].join(' '), one.length]),
  );
  return [...lengths.values()].reduce((sum, length) => sum + longest + length, 0);
}

type ProtectionEvent = Direction & { readonly effect: Effect; readonly stage: Stage };

/** On which connections a loss comes before, or beside, a gain of another change; only as far as a rule written once has part in it. */
function openings(effects: ReadonlyMap<ResourceId, Effect>, steps: readonly Step[], once: ReadonlySet<ResourceId>): readonly Opening[] {
  const events = new Map<ResourceId, ProtectionEvent[]>();
  const halved = new Set(steps.filter(({ part }) => part === 'gain').map(({ change }) => change.id));
  for (const step of steps) {
    const effect = effects.get(step.change.id);
    if (effect === undefined) continue;
    for (const connection of isRule(effect.kind) ? effect.connections : [liveKeyOf(effect.change)]) {
      const event = { effect, stage: step.stage, ...directionOf(step, effect, { connection, halved: halved.has(step.change.id) }) };
      const list = events.get(connection);
      if (list === undefined) events.set(connection, [event]);
      else list.push(event);
    }
  }
  return [...events].flatMap(([connection, all]) =>
    all.flatMap((from) =>
      all.flatMap((until): readonly Opening[] => {
        const apart = from.effect !== until.effect && from.weakens && until.strengthens && stagesBetween(from.stage, until.stage) >= 0;
        const ours = once.has(from.effect.change.id) || once.has(until.effect.change.id);
        return apart && ours
          ? [{ connection, from: from.effect, until: until.effect, length: lengthBetween(from.stage, until.stage) }]
          : [];
      }),
    ),
  );
}

type Where = { readonly connection: ResourceId; readonly halved: boolean };

/** What one write of a change does to a connection. */
function directionOf({ part }: Step, effect: Effect, { connection, halved }: Where): Direction {
  const whole = isRule(effect.kind) ? effectOn(effect, connection) : ownDirection(effect);
  switch (part) {
    case 'closed':
    case 'name':
      return noEffect;
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

/** Connections that are open in the same way, as one window. */
function grouped(open: readonly Opening[], specs: ReadonlyMap<ResourceId, Spec>): readonly ExposureWindow[] {
  const windows = new Map<string, ExposureWindow>();
  for (const { connection, from, until } of open) {
    const window = {
      from: from.change.id,
      lost: pathsOf(from, connection, { side: 'weakens', specs }),
      until: until.change.id,
      missing: pathsOf(until, connection, { side: 'strengthens', specs }),
    };
    const key = JSON.stringify(window);
    windows.set(key, { ...window, connections: [...(windows.get(key)?.connections ?? []), connection].toSorted(compareText) });
  }
  return [...windows].toSorted(([left], [right]) => compareText(left, right)).map(([, window]) => window);
}

type Looking = { readonly side: 'strengthens' | 'weakens'; readonly specs: ReadonlyMap<ResourceId, Spec> };

/** The fields by which a change gains or loses, one by one; the field of its edges where it gains or loses the connection itself. */
function pathsOf({ change, kind, edges }: Effect, connection: ResourceId, { side, specs }: Looking): readonly Pointer[] {
  const before = specs.get(liveKeyOf(change)) ?? {};
  const fields = change.fields.filter((field) => {
    const after = specAfter({ ...change, fields: [field] }, kind, before);
    return specDirection(kind.fields, before, after)[side];
  });
  const action = side === 'strengthens' ? 'attach' : 'detach';
  const tied = edges.some(
    (edge) => edge.action === action && (liveKeyOf(change) === connection || otherEnd(edge, liveKeyOf(change)) === connection),
  );
  const ends = kind.fields.filter((field) => field.edge !== undefined && tied).map((field) => pointer(field.name));
  return [...fields.map(({ path }) => path), ...ends];
}
