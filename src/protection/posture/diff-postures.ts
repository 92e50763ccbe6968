import type { DesiredState } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Change, type Plan } from '../../model/plan/plan.ts';
import type { ControlType, ControlChange, PostureChange, ConnectionRule, ProtectionVerdict } from '../../model/protection/protection.ts';
import { renamesOf, withNames } from '../../model/plan/renames.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { readDeclaredAttachments } from './edge-declarations.ts';
import { resourceCause, type Contribution, type CauseFinder } from './causes.ts';
import { comparePostures, differenceVerdict, type ComparisonCache, type ControlDifference } from './compare-postures.ts';
import { emptyPosture, readPostures, type Posture, type PostureReader } from './posture.ts';
import { liveSnapshot, plannedSnapshot, rulesOn, type ProtectionSnapshot } from './protection-snapshot.ts';

/** What a plan does, as far as protection follows from it. */
export type PlannedWrites = Pick<Plan, 'target' | 'changes' | 'edges'>;

/** One connection whose protection a plan changes, with what differs. */
export type AffectedConnection = {
  readonly change: PostureChange;
  readonly differences: readonly ControlDifference[];
  readonly before: Posture;
  readonly after: Posture;
  /** What bears on an aspect, or brings the connection itself. */
  readonly contributions: ReadonlyMap<ControlType, readonly Contribution[]>;
};

/** What is live before and after, and how to read postures of it. */
export type PlanSnapshots = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  readonly postureBefore: PostureReader;
  readonly postureAfter: PostureReader;
};

/** Manifests that tell how edges are attached: those that a plan carries out, and those that were applied last. */
export type AttachmentSources = { readonly desired?: DesiredState | undefined; readonly base?: DesiredState | undefined };

/** Both sides of a plan. */
export function snapshotPlan(
  plan: PlannedWrites,
  live: LiveState,
  registry: Registry,
  { desired, base }: AttachmentSources = {},
): PlanSnapshots {
  const renames = renamesOf(plan.changes);
  const named = withNames(live, renames);
  const scene = liveSnapshot(named, registry, plan.target.dialect);
  const before =
    base === undefined ? scene : { ...scene, declaredAttachments: readDeclaredAttachments(base, { live: named, renames, placed: false }) };
  const planned = plan.changes.some(isWritten) ? plannedSnapshot(plan, live, registry) : scene;
  const after =
    desired === undefined ? planned : { ...planned, declaredAttachments: readDeclaredAttachments(desired, { live: named, placed: true }) };
  return { before, after, postureBefore: readPostures(before), postureAfter: readPostures(after) };
}

/** The same the other way round: from what is planned to what is live. */
export function reverseSnapshots({ before, after, postureBefore: had, postureAfter: has }: PlanSnapshots): PlanSnapshots {
  return { before: after, after: before, postureBefore: has, postureAfter: had };
}

/** The connections whose protection a plan changes, also where only a rule on them does; sorted by name. */
export function diffPostures(
  plan: PlannedWrites,
  { before, after, postureBefore: had, postureAfter: has }: PlanSnapshots,
  causes: CauseFinder,
): readonly AffectedConnection[] {
  if (!plan.changes.some(isWritten)) return [];
  const compared: ComparisonCache = new Map();
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  return affectedIds(plan, before, after).flatMap((id) => {
    const rules = (): readonly ResourceId[] => [...new Set([...rulesOn(before, id), ...rulesOn(after, id)])].toSorted();
    return affectedConnection({ id, own: changes.get(id), before: had(id), after: has(id), causes, rules }, compared) ?? [];
  });
}

/** Connections that a written change, an edge, or a changed rule on them may bear on. */
function affectedIds(plan: PlannedWrites, before: ProtectionSnapshot, after: ProtectionSnapshot): readonly ResourceId[] {
  const written = new Set(plan.changes.filter(isWritten).map(liveKeyOf));
  const ids = new Set<ResourceId>([...written].filter((id) => kindOf(id) === 'Connection'));
  for (const { action, connection } of plan.edges) if (action === 'attach' || action === 'detach') ids.add(connection);
  const isRuleWritten = [...written].some((id) => kindOf(id) !== 'Connection');
  for (const scene of isRuleWritten ? [before, after] : []) {
    for (const id of scene.resources.keys()) {
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
  readonly causes: CauseFinder;
  /** Those that are on it before or after. */
  readonly rules: () => readonly ResourceId[];
};

function affectedConnection({ id, own, before, after, causes, rules }: Sides, compared: ComparisonCache): AffectedConnection | undefined {
  // Opening what was created closed takes nothing away that anybody had.
  const comes = before === undefined || own?.reasons.includes('unfinished') === true;
  const goes = after === undefined;
  const [had, has] = [before ?? emptyPosture, after ?? emptyPosture];
  const differences = comparePostures(comes ? emptyPosture : had, has, compared);
  if (differences.length === 0 && !comes && !goes) return undefined;
  const bearings = comes
    ? creationContribution(own)
    : new Map(goes ? [] : differences.map(({ aspect }) => [aspect, causes(id, rules(), aspect)] as const));
  const told = differences.map((difference): ControlChange => {
    const { aspect, before: first, after: last } = difference;
    return {
      aspect,
      way: comes || goes ? 'neutral' : differenceVerdict(difference),
      before: first,
      after: last,
      ...(had.incomplete.has(aspect) || has.incomplete.has(aspect) ? { atLeast: true } : {}),
      causes: comes ? [] : (bearings.get(aspect) ?? []).map(({ cause }) => cause),
    };
  });
  const on = rulesOnEither(comes ? emptyPosture : had, has);
  const change: PostureChange = {
    connection: id,
    way: combineVerdicts(told),
    ...(comes ? { comes: true } : {}),
    ...(goes ? { goes: true } : {}),
    tags: goes ? had.tags : has.tags,
    aspects: told,
    ...(on.length === 0 ? {} : { rules: on }),
  };
  return { change, differences: comes || goes ? [] : differences, before: had, after: has, contributions: bearings };
}

/** The rules on one connection, before and after. */
export function connectionRules(id: ResourceId, { postureBefore: had, postureAfter: has }: PlanSnapshots): readonly ConnectionRule[] {
  return rulesOnEither(had(id) ?? emptyPosture, has(id) ?? emptyPosture);
}

function rulesOnEither({ rules: had }: Posture, { rules: has }: Posture): readonly ConnectionRule[] {
  return [...new Set([...had.keys(), ...has.keys()])].toSorted().map((rule) => {
    const [before, after] = [had.get(rule), has.get(rule)];
    return { rule, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  });
}

/** What brings a connection opens it. */
function creationContribution(change: Change | undefined): AffectedConnection['contributions'] {
  return new Map(change === undefined ? [] : [['access', [{ aspects: ['access'], way: 'neutral', cause: resourceCause(change) }]]]);
}

const verdictOrder: readonly ProtectionVerdict[] = ['weakens', 'unknown', 'strengthens', 'neutral'];

/** Adding up is honest: what weakens here and strengthens there does both. */
function combineVerdicts(told: readonly ControlChange[]): ProtectionVerdict {
  const ways = new Set(told.map(({ way }) => way));
  if (ways.has('both') || (ways.has('weakens') && ways.has('strengthens'))) return 'both';
  return verdictOrder.find((way) => ways.has(way)) ?? 'neutral';
}
