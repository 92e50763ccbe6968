import type { DesiredState } from '../model/desired.ts';
import type { Registry } from '../model/kind.ts';
import type { LiveState } from '../model/live.ts';
import { isWritten, liveKeyOf, type Change, type Plan } from '../model/plan/plan.ts';
import type { ControlType, ControlChange, PostureChange, ConnectionRule, ProtectionVerdict } from '../model/protection/protection.ts';
import { renamesOf, withNames } from '../model/plan/renames.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import { declaring } from './declaring.ts';
import { wholeCause, type Bearing, type Causes } from './causes.ts';
import { comparePostures, wayOfDifference, type Compared, type Difference } from './compare.ts';
import { postureOfNothing, posturesOf, type Posture, type Postures } from './posture.ts';
import { liveScene, plannedScene, rulesOn, type Scene } from './scene.ts';

/** What a plan does, as far as protection follows from it. */
export type PlannedWrites = Pick<Plan, 'target' | 'changes' | 'edges'>;

/** One connection whose protection a plan changes, with what differs. */
export type Touched = {
  readonly change: PostureChange;
  readonly differences: readonly Difference[];
  readonly before: Posture;
  readonly after: Posture;
  /** What bears on an aspect, or brings the connection itself. */
  readonly bearings: ReadonlyMap<ControlType, readonly Bearing[]>;
};

/** What is live before and after, and how to read postures of it. */
export type Views = { readonly before: Scene; readonly after: Scene; readonly had: Postures; readonly has: Postures };

/** Manifests that tell how edges are attached: those that a plan carries out, and those that were applied last. */
export type Manifests = { readonly desired?: DesiredState | undefined; readonly base?: DesiredState | undefined };

/** Both sides of a plan. */
export function viewsOf(plan: PlannedWrites, live: LiveState, registry: Registry, { desired, base }: Manifests = {}): Views {
  const renames = renamesOf(plan.changes);
  const named = withNames(live, renames);
  const scene = liveScene(named, registry, plan.target.dialect);
  const before = base === undefined ? scene : { ...scene, declaring: declaring(base, { live: named, renames, placed: false }) };
  const planned = plan.changes.some(isWritten) ? plannedScene(plan, live, registry) : scene;
  const after = desired === undefined ? planned : { ...planned, declaring: declaring(desired, { live: named, placed: true }) };
  return { before, after, had: posturesOf(before), has: posturesOf(after) };
}

/** The same the other way round: from what is planned to what is live. */
export function reversed({ before, after, had, has }: Views): Views {
  return { before: after, after: before, had: has, has: had };
}

/** The connections whose protection a plan changes, also where only a rule on them does; sorted by name. */
export function postureDiff(plan: PlannedWrites, { before, after, had, has }: Views, causes: Causes): readonly Touched[] {
  if (!plan.changes.some(isWritten)) return [];
  const compared: Compared = new Map();
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  return touchedBy(plan, before, after).flatMap((id) => {
    const rules = (): readonly ResourceId[] => [...new Set([...rulesOn(before, id), ...rulesOn(after, id)])].toSorted();
    return touched({ id, own: changes.get(id), before: had(id), after: has(id), causes, rules }, compared) ?? [];
  });
}

/** Connections that a written change, an edge, or a changed rule on them may bear on. */
function touchedBy(plan: PlannedWrites, before: Scene, after: Scene): readonly ResourceId[] {
  const written = new Set(plan.changes.filter(isWritten).map(liveKeyOf));
  const ids = new Set<ResourceId>([...written].filter((id) => kindOf(id) === 'Connection'));
  for (const { action, connection } of plan.edges) if (action === 'attach' || action === 'detach') ids.add(connection);
  const isRuleWritten = [...written].some((id) => kindOf(id) !== 'Connection');
  for (const scene of isRuleWritten ? [before, after] : []) {
    for (const id of scene.facts.keys()) {
      if (kindOf(id) === 'Connection' && !ids.has(id) && [...rulesOn(scene, id)].some((rule) => written.has(rule))) ids.add(id);
    }
  }
  return [...ids].toSorted();
}

type Sides = {
  readonly id: ResourceId;
  readonly own: Change | undefined;
  readonly before: Posture | undefined;
  readonly after: Posture | undefined;
  readonly causes: Causes;
  /** Those that are on it before or after. */
  readonly rules: () => readonly ResourceId[];
};

function touched({ id, own, before, after, causes, rules }: Sides, compared: Compared): Touched | undefined {
  // Opening what was created closed takes nothing away that anybody had.
  const comes = before === undefined || own?.reasons.includes('unfinished') === true;
  const goes = after === undefined;
  const [had, has] = [before ?? postureOfNothing, after ?? postureOfNothing];
  const differences = comparePostures(comes ? postureOfNothing : had, has, compared);
  if (differences.length === 0 && !comes && !goes) return undefined;
  const bearings = comes
    ? coming(own)
    : new Map(goes ? [] : differences.map(({ aspect }) => [aspect, causes(id, rules(), aspect)] as const));
  const told = differences.map((difference): ControlChange => {
    const { aspect, before: first, after: last } = difference;
    return {
      aspect,
      way: comes || goes ? 'neutral' : wayOfDifference(difference),
      before: first,
      after: last,
      ...(had.unseen.has(aspect) || has.unseen.has(aspect) ? { atLeast: true } : {}),
      causes: comes ? [] : (bearings.get(aspect) ?? []).map(({ cause }) => cause),
    };
  });
  const on = rulesOnEither(comes ? postureOfNothing : had, has);
  const change: PostureChange = {
    connection: id,
    way: worst(told),
    ...(comes ? { comes: true } : {}),
    ...(goes ? { goes: true } : {}),
    tags: goes ? had.tags : has.tags,
    aspects: told,
    ...(on.length === 0 ? {} : { rules: on }),
  };
  return { change, differences: comes || goes ? [] : differences, before: had, after: has, bearings };
}

/** The rules on one connection, before and after. */
export function rulesOnOne(id: ResourceId, { had, has }: Views): readonly ConnectionRule[] {
  return rulesOnEither(had(id) ?? postureOfNothing, has(id) ?? postureOfNothing);
}

function rulesOnEither({ rules: had }: Posture, { rules: has }: Posture): readonly ConnectionRule[] {
  return [...new Set([...had.keys(), ...has.keys()])].toSorted().map((rule) => {
    const [before, after] = [had.get(rule), has.get(rule)];
    return { rule, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  });
}

/** What brings a connection opens it. */
function coming(change: Change | undefined): Touched['bearings'] {
  return new Map(change === undefined ? [] : [['access', [{ aspects: ['access'], way: 'neutral', cause: wholeCause(change) }]]]);
}

const order: readonly ProtectionVerdict[] = ['weakens', 'unknown', 'strengthens', 'neutral'];

/** Adding up is honest: what weakens here and strengthens there does both. */
function worst(told: readonly ControlChange[]): ProtectionVerdict {
  const ways = new Set(told.map(({ way }) => way));
  if (ways.has('both') || (ways.has('weakens') && ways.has('strengthens'))) return 'both';
  return order.find((way) => ways.has(way)) ?? 'neutral';
}
