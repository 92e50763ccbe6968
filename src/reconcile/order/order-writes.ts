import { addToGroup, onFirstUse } from '../../model/collections.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { liveById, type LiveState } from '../../model/live.ts';
import { liveKeyOf, otherEnd, renamesOf, withNames } from '../../model/plan/plan.ts';
import { type Schedule, type Step, stepKeyText, uniqueStepKeys } from '../../model/plan/schedule.ts';
import { specAfterStep, writesOnlyPart } from '../../model/plan/step-spec.ts';
import type { ResourceId, Spec } from '../../model/resource.ts';
import { type PlannedWrites, type PlanSnapshots, snapshotPlan } from '../../protection/posture/diff-postures.ts';
import { type Effect, effectsOf, isRule } from './effects.ts';
import { directionOn, firstOfTwo, type Form, restoredFields, split, tiers, unitsOf } from './forms.ts';
import { type Moments, momentsOf } from './moments.ts';
import { createClaims, findMoves, type RuleMoves, type Claims } from './rule-moves.ts';
import { createSafety, type Safety } from './safety.ts';
import { type Exposure, singleWritesOf } from './windows.ts';

/** A plan, and what its changes do to protection: read once for everything that orders its writes. */
export type OrderInput = {
  /** The gateway with the names after the plan. */
  readonly live: LiveState;
  readonly registry: Registry;
  readonly moves: RuleMoves;
  readonly effects: readonly Effect[];
  readonly snapshots: () => PlanSnapshots;
};

/** Why the gateway does not accept a change in two writes, by the id of the change. */
export type Indivisible = ReadonlyMap<ResourceId, string>;

/** How far the order is decided: whether changes can still state more fields, and what the gateway does not accept. */
export type OrderOptions = { readonly isDraft?: boolean; readonly indivisible?: Indivisible };

/** Reads what the order of writes depends on. */
export function orderInput(
  plan: PlannedWrites,
  live: LiveState,
  registry: Registry,
  snapshots: () => PlanSnapshots = onFirstUse(() => snapshotPlan(plan, live, registry)),
): OrderInput {
  const named = withNames(live, renamesOf(plan.changes));
  const effects = effectsOf(plan, named, registry, snapshots);
  return { live: named, registry, moves: findMoves(effects, snapshots), effects, snapshots };
}

/**
 * Orders all writes of a plan so that no connection is at any moment less protected than both before and after, whichever writes the gateway rejects.
 * Each round has as many writes as are safe together. A change is written in two forms only where no write is safe otherwise; where none is
 * then, the write that exposes the fewest connections comes next, and the schedule names what is exposed until when.
 */
export function orderWrites(input: OrderInput, { isDraft = false, indivisible = new Map() }: OrderOptions = {}): Schedule {
  const units = unitsOf(input);
  const moments = momentsOf(units, input.snapshots, input.registry);
  const safety = createSafety(moments);
  const specs = new Map([...liveById(input.live.resources)].map(([id, { spec }]) => [id, spec]));
  const claims = createClaims(input.moves);
  const search: Search = { safety, claims, moments, specs, isDraft, indivisible, wanted: new Set(), exposures: [], open: [] };
  const steps: Step[] = [];
  const done = new Set<string>();
  let left = units.filter(({ forms }) => forms.length > 0);
  for (let round = 1; left.length > 0; round += 1) {
    const keys = new Set(left.flatMap(({ forms }) => forms.map(({ key }) => stepKeyText(key))));
    const firsts = left.flatMap(({ forms }) => forms.slice(0, 1));
    const isReady = (form: Form): boolean => form.needs.every((need) => !keys.has(stepKeyText(need))) && claims.isFree(form);
    // A predecessor is closed before its successor opens only where nothing else is safe.
    const isClosable = ({ part, change, needs }: Form): boolean =>
      part === 'close' && needs.every((need) => !keys.has(stepKeyText(need)) || change.needs.includes(need.id));
    const next = { firsts, ready: firsts.filter(isReady), closable: firsts.filter(isClosable) };
    const batch = withoutClashes(nextForms(next, search));
    const needsOf = safety.needsOf(batch);
    for (const form of batch) {
      const { key, change, kind, edges, part, needs } = form;
      const all = [...needs.filter((need) => done.has(stepKeyText(need))), ...claims.needsOf(form), ...needsOf(form)];
      steps.push({ key, change, kind, edges, part, round, needs: uniqueStepKeys(all) });
    }
    for (const form of batch) {
      const rest = form.key.phase === 'release' ? claims.releaseOf(form.unit)?.rest : undefined;
      if (rest === undefined) form.unit.forms.shift();
      else form.unit.forms[0] = rest;
    }
    for (const form of batch) claims.write(form);
    safety.write(batch);
    for (const { key } of batch) done.add(stepKeyText(key));
    closeWindows(batch, search);
    left = left.filter(({ forms }) => forms.length > 0);
  }
  return { steps, singleWrites: singleWritesOf(search.exposures, { ...search, alike: moments.alike }) };
}

/** Leaves out the second write of an object, and of an attachment whose other end, which lists it too, is written: each of both replaces a list. */
function withoutClashes(batch: readonly Form[]): readonly Form[] {
  const written = new Map<ResourceId, Kind>();
  const attached = new Map<ResourceId, string[]>();
  return batch.filter(({ key: { id }, kind, part, edges }) => {
    const ends = writesOnlyPart(part) ? [] : edges.map((edge) => otherEnd(edge, id));
    const isListed =
      written.has(id) ||
      ends.some((end) => lists(written.get(end), kind.name)) ||
      (attached.get(id) ?? []).some((name) => lists(kind, name));
    if (isListed) return false;
    written.set(id, kind);
    for (const end of ends) addToGroup(attached, end, kind.name);
    return true;
  });
}

function lists(kind: Kind | undefined, name: string): boolean {
  return kind?.fields.some(({ edge, refers }) => edge !== undefined && refers === name) === true;
}

type Search = {
  readonly safety: Safety;
  readonly claims: Claims;
  readonly moments: Moments;
  readonly specs: ReadonlyMap<ResourceId, Spec>;
  readonly isDraft: boolean;
  readonly indivisible: Indivisible;
  /** The changes that would be written in two forms. */
  readonly wanted: Set<ResourceId>;
  readonly exposures: Exposure[];
  /** The connections that are exposed now, with the forms that began it. */
  readonly open: { readonly connection: ResourceId; readonly from: readonly Form[] }[];
};

/** The next forms of all changes, those of them that the gateway accepts now, and those that close what has a successor. */
type Next = { readonly firsts: readonly Form[]; readonly ready: readonly Form[]; readonly closable: readonly Form[] };

/** Returns the forms that are written next, all of them together. */
function nextForms({ firsts, ready, closable }: Next, search: Search): readonly Form[] {
  const ignored = new Set(search.open.map(({ connection }) => connection));
  const byTier = tiers.map((tier) => ready.filter((form) => form.tier === tier));
  const reopening = ready.filter(({ tier }) => tier === 'reopen');
  for (const forms of byTier) {
    // A form in two writes comes before anything is deleted; many rules that share connections are written so at once, not a few in each round.
    const ways = [() => search.safety.most(forms, ignored), () => splitSome(forms, ignored, search)];
    for (const find of search.safety.isCrowded(forms) ? ways.toReversed() : ways) {
      const batch = find();
      if (batch.length > 0) return batch;
    }
  }
  const releases = firsts.flatMap(({ unit }) => search.claims.releaseOf(unit) ?? []);
  const partial = releases.flatMap((one) => (one.isWhole ? [] : [one.form]));
  // Of rules that exchange all that they govern, one lets go of all of it, which makes room for the others.
  const whole = releases.flatMap((one) => (one.isWhole ? [[one.form]] : []));
  for (const forms of [partial, ...whole]) {
    const batch = search.safety.most(forms, ignored);
    if (batch.length > 0) return batch;
  }
  const possible = [...byTier, partial, ...whole.slice(0, 1)].flat();
  const exposed = search.safety.exposedBy(possible.length > 0 ? possible : firsts, ignored);
  const closing = closable.filter(({ key }) => exposed.has(key.id));
  if (closing.length > 0) return closing;
  // What is open again may be exposed by what is left to write.
  const opening = search.safety.most(reopening, ignored);
  if (opening.length > 0) return opening;
  const left = [...possible, ...reopening];
  return forcedForms(left.length > 0 ? left : firsts, ignored, search);
}

/** What is written in two forms first: rules whose protection adds up, then what is created, then other connections, then what governs together. */
const splitOrder: readonly ((effect: Effect) => boolean)[] = [
  ({ kind, isJoint }) => isRule(kind) && !isJoint,
  ({ kind, change }) => !isRule(kind) && change.action === 'create',
  ({ kind, change }) => !isRule(kind) && change.action !== 'create',
  ({ isJoint }) => isJoint,
];

/** Writes changes of the first sort in two forms where the first one is safe, and returns those. */
function splitSome(forms: readonly Form[], ignored: ReadonlySet<ResourceId>, search: Search): readonly Form[] {
  const { safety, claims, specs, isDraft, indivisible, wanted } = search;
  const specOf = ({ key }: Form): Spec => specs.get(key.id) ?? {};
  const isStated = (first: Form): boolean => isDraft || restoredFields(first, specOf(first)).length === 0;
  const firsts = forms.flatMap((form) => firstOfTwo(form, specOf(form)) ?? []).filter((first) => isStated(first) && claims.isFree(first));
  for (const isOfSort of splitOrder) {
    const own = firsts.filter(({ unit }) => isOfSort(unit.effect));
    for (const { change, part } of own) if (part === 'gain') wanted.add(change.id);
    const batch = safety.most(
      own.filter(({ change, part }) => part !== 'gain' || !indivisible.has(change.id)),
      ignored,
    );
    for (const first of batch) split(first);
    if (batch.length > 0) return batch;
  }
  return [];
}

/** Returns the form that exposes the fewest connections, with those that may end the exposure at once. */
function forcedForms(ready: readonly Form[], ignored: ReadonlySet<ResourceId>, { safety, open }: Search): readonly Form[] {
  const tried = ready.map((form) => ({ form, exposed: safety.exposedBy([form], ignored) }));
  const [forced] = tried.toSorted((one, other) => one.exposed.size - other.exposed.size);
  if (forced === undefined) throw new Error('no write is left');
  const { form, exposed } = forced;
  const isEnding = (other: Form): boolean =>
    other.unit !== form.unit && [...exposed].some((id) => affects(other, id) && directionOn(other, id).strengthens);
  const all = new Set([...ignored, ...exposed]);
  const ending = safety.most(ready.filter(({ tier }) => tier === form.tier).filter(isEnding), all, [form]);
  const batch = [form, ...ending];
  for (const connection of exposed) {
    const from = batch.filter((one) => affects(one, connection) && directionOn(one, connection).weakens);
    open.push({ connection, from });
  }
  return batch;
}

function affects({ unit }: Form, connection: ResourceId): boolean {
  return unit.effect.connections.has(connection);
}

/** Ends the exposures that the writes of a round end. */
function closeWindows(batch: readonly Form[], { safety, open, exposures }: Search): void {
  for (const { connection, from } of open.splice(0)) {
    if (safety.isExposed(connection)) {
      open.push({ connection, from });
      continue;
    }
    const own = batch.filter((form) => affects(form, connection));
    const ending = own.filter((form) => directionOn(form, connection).strengthens);
    for (const one of from) {
      const others = (ending.length > 0 ? ending : own).filter((until) => until.unit !== one.unit);
      for (const until of others.length > 0 ? others : [one])
        exposures.push({ connection, from: one.unit.effect, until: until.unit.effect });
    }
  }
}

/** Returns what changes would hold between two writes, live and desired joined, by the id of the change: the gateway is asked whether it accepts them. */
export function joinedSpecs(input: OrderInput): ReadonlyMap<ResourceId, Spec> {
  const found = liveById(input.live.resources);
  return new Map(
    unitsOf(input).flatMap(({ effect: { change }, forms }) => {
      const spec = found.get(liveKeyOf(change))?.spec;
      const first = forms.flatMap((form) => firstOfTwo(form, spec ?? {}) ?? []).find(({ part }) => part === 'gain');
      return first === undefined ? [] : [[change.id, specAfterStep(first, spec ?? {})] as const];
    }),
  );
}
