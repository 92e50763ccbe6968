import { addToGroup } from '../../model/collections.ts';
import { isOpen, type Kind, type Registry } from '../../model/kind.ts';
import { liveKeyOf } from '../../model/plan/plan.ts';
import { specAfterStep } from '../../model/plan/step-spec.ts';
import type { Pointer } from '../../model/pointer.ts';
import { kindOf, nameOf, type ResourceId, type Spec } from '../../model/resource.ts';
import { normalizeObject } from '../../model/spec/normalize.ts';
import { runbookRulesOf } from '../../protection/access/deciding-kinds.ts';
import { isLessProtected } from '../../protection/compare/plan-differences.ts';
import { firstsOfAlike } from '../../protection/posture/alike-connections.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import {
  afterWrites,
  beforeSteps,
  everywhereIn,
  type ObjectWrite,
  type ProtectionSnapshot,
  lookupIn,
  restrictedTo,
  rulesBetween,
} from '../../protection/posture/protection-snapshot.ts';
import { type Effect, effectOn, isRule } from './effects.ts';
import { type Form, hasHalf, type Unit } from './forms.ts';
import { sharesStep } from './rule-moves.ts';

/** How far a form is written: up to what the gateway saves in a second transaction, or all of it. */
export type Extent = 'half' | 'whole';

/** A form that is written, on the way to a moment. */
export type Written = { readonly form: Form; readonly extent: Extent };

/** The moments between the writes of a plan, as each connection sees them. */
export type Moments = {
  /** The connections that writes may expose, one of each that the plan treats alike, with the changes that affect it. */
  readonly contested: ReadonlyMap<ResourceId, readonly Unit[]>;
  /** Returns whether a connection is less protected than both before and after the plan, when some forms that affect it are written. */
  readonly isExposed: (connection: ResourceId, written: readonly Written[]) => boolean;
  /** Returns the connections that the plan treats as it does one of them. */
  readonly alike: (first: ResourceId) => readonly ResourceId[];
};

/** Returns the moments between writes. A connection that only one write affects is at any moment as before or as after; one that all strengthen, between both. */
export function momentsOf(units: readonly Unit[], snapshots: () => PlanSnapshots, registry: Registry): Moments {
  const affecting = new Map<ResourceId, Unit[]>();
  for (const unit of units) for (const id of unit.effect.connections) addToGroup(affecting, id, unit);
  const all = new Map([...affecting].filter(([id, own]) => isContested(id, own)));
  if (all.size === 0) return { contested: all, isExposed: () => false, alike: (id) => [id] };
  const { before, after, predecessors } = snapshots();
  const sides = { before: beforeSteps(before, after), after, predecessors };
  const firsts = firstsIn(all, sides);
  const members = new Map<ResourceId, ResourceId[]>();
  for (const [id, { first, isOwn }] of firsts) addToGroup(members, isOwn ? id : first, id);
  return {
    contested: new Map([...all].filter(([id]) => members.has(id))),
    isExposed: exposureIn(sides, { affecting: all, firsts, registry }),
    alike: (id) => members.get(id) ?? [id],
  };
}

/** Returns whether some changes may expose a connection: one strengthens what another one weakens, or is saved in two transactions. */
function isContested(id: ResourceId, units: readonly Unit[]): boolean {
  if (units.length === 1) {
    const isLate = ({ kind, detaches }: Effect): boolean => !isRule(kind) || detaches.has(id);
    return units.some(({ effect, forms }) => isLate(effect) && forms.some(hasHalf));
  }
  const directions = units.map(({ effect }) => effectOn(effect, id));
  return directions.some(({ strengthens }) => strengthens) && directions.some(({ weakens }) => weakens);
}

/** The first connection that is as one, and whether a change of its own is among those that affect it. */
type Alike = { readonly first: ResourceId; readonly isOwn: boolean };

/** Finds for each connection the first one that the plan treats alike; its own change may be another one that does the same. */
function firstsIn(all: ReadonlyMap<ResourceId, readonly Unit[]>, sides: PlanSnapshots): ReadonlyMap<ResourceId, Alike> {
  const firsts = firstsOfAlike([...all.keys()], sides);
  const known = new Map<string, ResourceId>();
  return new Map(
    [...all].map(([id, units]) => {
      const ends = units.map(({ number, effect: { change, attaches, detaches } }) => {
        if (liveKeyOf(change) === id) return change.action;
        return `${number}${attaches.has(id) ? '+' : ''}${detaches.has(id) ? '-' : ''}`;
      });
      const key = [firsts.get(id) ?? id, ...ends].join(' ');
      const first = known.get(key) ?? id;
      known.set(key, first);
      return [id, { first, isOwn: units.some(({ effect }) => liveKeyOf(effect.change) === id) }];
    }),
  );
}

type ExposureInput = {
  readonly affecting: ReadonlyMap<ResourceId, readonly Unit[]>;
  readonly firsts: ReadonlyMap<ResourceId, Alike>;
  readonly registry: Registry;
};

/** More answers are not remembered: those of one order of writes follow each other. */
const mostAnswers = 100_000;

/** Returns a check that compares each moment once for all connections that are alike. */
function exposureIn(sides: PlanSnapshots, { affecting, firsts, registry }: ExposureInput): Moments['isExposed'] {
  const worlds = new Map<ResourceId, World>();
  const answers = new Map<string, boolean>();
  const kept = keptRunbookRule(sides);
  const worldOf = (id: ResourceId): World => {
    const found = worlds.get(id) ?? { ...worldFor(id, sides, affecting.get(id) ?? [], kept), kind: registry.get(kindOf(id)) };
    worlds.set(id, found);
    return found;
  };
  const isExposed: Moments['isExposed'] = (connection, written) => {
    const first = firsts.get(connection)?.first ?? connection;
    const parts = written.map(({ form: { key, part, unit }, extent }) =>
      [key.id === connection ? 'own' : unit.number, key.phase, part, extent === 'half' ? extent : ''].join(':'),
    );
    const key = `${first} ${parts.join(' ')}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = isExposedIn(worldOf(connection), written);
    if (answers.size >= mostAnswers) answers.clear();
    answers.set(key, answer);
    return answer;
  };
  return isExposed;
}

/** One connection before and after a plan, with everything that decides about it at any moment. */
type World = Pick<PlanSnapshots, 'before' | 'after'> & {
  readonly kind: Kind | undefined;
  readonly id: ResourceId;
  /** The rules that include every connection after the plan. */
  readonly everywhere: ReadonlySet<ResourceId>;
};

function worldFor(
  id: ResourceId,
  { before, after }: PlanSnapshots,
  units: readonly Unit[],
  kept: readonly ResourceId[],
): Omit<World, 'kind'> {
  const ids = new Set([...units.map(({ effect }) => liveKeyOf(effect.change)), ...kept, ...rulesBetween([before, after], id)]);
  ids.delete(id);
  const sides = [before, after].map((state) => restrictedTo(state, id, ids));
  const [had = before, has = after] = sides.some(({ resources }) => resources.has(id)) ? sides : sides.map((side) => withUnseen(side, id));
  return { id, before: had, after: has, everywhere: everywhereIn(after) };
}

/** Adds a connection that rules name and that no list shows. */
function withUnseen(state: ProtectionSnapshot, id: ResourceId): ProtectionSnapshot {
  return { ...state, resources: new Map([...state.resources, [id, { spec: {}, unknown: [''] }]]) };
}

/** Returns a runbook rule that stays throughout, if there is one: the first of them closes all other runbooks. */
function keptRunbookRule({ before, after }: PlanSnapshots): readonly ResourceId[] {
  const kept = runbookRulesOf({ resources: before.resources, fixed: [] }).find((id) => after.resources.has(id));
  return kept === undefined ? [] : [kept];
}

function isExposedIn(world: World, written: readonly Written[]): boolean {
  const { id, kind, before, after } = world;
  const moment = momentIn(world, written);
  const spec = moment.resources.get(id)?.spec;
  // What is closed exposes nothing, whatever its rules.
  if (spec === undefined || (kind !== undefined && !isOpen(kind, spec))) return false;
  const ends = [before, after].filter(({ resources }) => resources.has(id));
  if (ends.every((end) => isLessProtected(end, moment, id))) return true;
  const undecided = rivalsIn(after, id, written);
  return rivalsIn(moment, id, written).some((rule) => {
    const others = written.filter(({ form }) => form.key.id !== rule);
    // Where both rules stay, the other one governs at the end, too.
    const without = { id: rule, spec: undefined, stated: new Set<Pointer>(), edges: [] };
    return isExposedIn(undecided.includes(rule) ? { ...world, after: afterWrites(after, [without]) } : world, others);
  });
}

/** Returns the state of a connection after some forms: the only place that knows what a form leaves. */
function momentIn({ before, everywhere }: World, written: readonly Written[]): ProtectionSnapshot {
  const specs = new Map<ResourceId, Spec | undefined>();
  const writes = written.flatMap(({ form, extent }): readonly ObjectWrite[] => {
    const { key, kind, part, change, edges } = form;
    const { id } = key;
    if (part === 'name') return [];
    const now = specs.has(id) ? specs.get(id) : before.resources.get(id)?.spec;
    const made = part === 'delete' ? undefined : normalizeObject(kind.fields, specAfterStep(form, now ?? {}));
    const spec = made === undefined || extent === 'whole' ? made : { ...made, ...lateOf(form, now ?? {}) };
    specs.set(id, spec);
    const isPart = part === 'open' || part === 'close';
    return [
      {
        id,
        spec,
        stated: new Set(isPart ? [] : change.fields.map(({ path }) => path)),
        edges: isPart ? [] : edges.filter(({ action }) => part !== 'gain' || action === 'attach'),
        includesEvery: everywhere.has(id),
      },
    ];
  });
  return afterWrites(before, writes);
}

/** Returns what an object still has of the fields that are saved in a second transaction. */
function lateOf({ kind }: Form, now: Spec): Spec {
  return Object.fromEntries(kind.fields.flatMap(({ name, late, empty }) => (late === undefined ? [] : [[name, now[name] ?? empty]])));
}

/**
 * Returns the new access-request rules that share a step of a connection with another rule, each by an attribute: the one with the lower id governs,
 * and a plan does not know the id of a new rule.
 */
function rivalsIn(moment: ProtectionSnapshot, connection: ResourceId, written: readonly Written[]): readonly ResourceId[] {
  const spec = moment.resources.get(connection)?.spec;
  if (spec === undefined) return [];
  const { byAttribute } = lookupIn(moment)(nameOf(connection), spec);
  const rivals = byAttribute.filter(
    (rule) => rule.id === '' && byAttribute.some((other) => other !== rule && sharesStep(rule.access_type, other.access_type)),
  );
  const keys = new Set(rivals.map(({ key }) => key));
  const ids = new Set(written.map(({ form }) => form.key.id));
  return [...ids].filter((id) => keys.has(id));
}
