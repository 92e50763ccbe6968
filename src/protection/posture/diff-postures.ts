import type { DesiredState } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Change, type Diff, renamesOf, withNames } from '../../model/plan/plan.ts';
import type { ControlType, ControlChange, PostureChange, ConnectionRule, ProtectionVerdict } from '../../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { readDeclaredAttachments } from './edge-declarations.ts';
import { resourceCause, type Contribution, type CauseFinder } from './causes.ts';
import { comparePostures, differenceVerdict, type ComparisonCache, type ControlDifference } from './compare-postures.ts';
import { emptyPosture, readPostures, type Posture, type PostureReader } from './posture.ts';
import { liveSnapshot, plannedSnapshot, rulesOn, type ProtectionSnapshot } from './protection-snapshot.ts';

/** The part of a plan that affects protection. */
export type PlannedWrites = Pick<Diff, 'target' | 'changes' | 'edges'>;

/** One connection whose protection a plan changes, with the differences. */
export type AffectedConnection = {
  readonly change: PostureChange;
  readonly differences: readonly ControlDifference[];
  readonly before: Posture;
  readonly after: Posture;
  /** The causes by control type; for a created connection the cause of its creation. */
  readonly contributions: ReadonlyMap<ControlType, readonly Contribution[]>;
};

/** The protection before and after a plan, with readers of the postures. */
export type PlanSnapshots = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  readonly postureBefore: PostureReader;
  readonly postureAfter: PostureReader;
};

/** The manifests that declare attachments: those of the plan, and those that were applied last. */
export type AttachmentSources = { readonly desired?: DesiredState | undefined; readonly base?: DesiredState | undefined };

/** Takes the snapshots before and after a plan. */
export function snapshotPlan(
  plan: PlannedWrites,
  live: LiveState,
  registry: Registry,
  { desired, base }: AttachmentSources = {},
): PlanSnapshots {
  const renames = renamesOf(plan.changes);
  const named = withNames(live, renames);
  const snapshot = liveSnapshot(named, registry, plan.target.dialect);
  const before =
    base === undefined
      ? snapshot
      : { ...snapshot, declaredAttachments: readDeclaredAttachments(base, { live: named, renames, placed: false }) };
  const planned = plan.changes.some(isWritten) ? plannedSnapshot(plan, live, registry) : snapshot;
  const after =
    desired === undefined ? planned : { ...planned, declaredAttachments: readDeclaredAttachments(desired, { live: named, placed: true }) };
  return { before, after, postureBefore: readPostures(before), postureAfter: readPostures(after) };
}

/** Swaps both sides: from the planned state to the live state. */
export function reverseSnapshots({ before, after, postureBefore, postureAfter }: PlanSnapshots): PlanSnapshots {
  return { before: after, after: before, postureBefore: postureAfter, postureAfter: postureBefore };
}

/** Lists the connections whose protection a plan changes, directly or through a rule; sorted by id. */
export function diffPostures(
  plan: PlannedWrites,
  { before, after, postureBefore, postureAfter }: PlanSnapshots,
  causes: CauseFinder,
): readonly AffectedConnection[] {
  if (!plan.changes.some(isWritten)) return [];
  const compared: ComparisonCache = new Map();
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  return affectedIds(plan, before, after).flatMap((id) => {
    const rules = (): readonly ResourceId[] => [...new Set([...rulesOn(before, id), ...rulesOn(after, id)])].toSorted();
    return (
      affectedConnection({ id, own: changes.get(id), before: postureBefore(id), after: postureAfter(id), causes, rules }, compared) ?? []
    );
  });
}

/** Lists the connections that a written change, an attachment or a changed rule may affect; sorted by id. */
function affectedIds(plan: PlannedWrites, before: ProtectionSnapshot, after: ProtectionSnapshot): readonly ResourceId[] {
  const written = new Set(plan.changes.filter(isWritten).map(liveKeyOf));
  const ids = new Set<ResourceId>([...written].filter((id) => kindOf(id) === 'Connection'));
  for (const { action, connection } of plan.edges) if (action === 'attach' || action === 'detach') ids.add(connection);
  const isRuleWritten = [...written].some((id) => kindOf(id) !== 'Connection');
  for (const snapshot of isRuleWritten ? [before, after] : []) {
    for (const id of snapshot.resources.keys()) {
      if (kindOf(id) === 'Connection' && !ids.has(id) && [...rulesOn(snapshot, id)].some((rule) => written.has(rule))) ids.add(id);
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
  /** The rules that are attached before or after. */
  readonly rules: () => readonly ResourceId[];
};

function affectedConnection({ id, own, before, after, causes, rules }: Sides, compared: ComparisonCache): AffectedConnection | undefined {
  // Opening a connection that an interrupted apply created closed removes no protection from anyone.
  const isCreated = before === undefined || own?.reasons.includes('unfinished') === true;
  const isDeleted = after === undefined;
  const [first, last] = [before ?? emptyPosture, after ?? emptyPosture];
  const differences = comparePostures(isCreated ? emptyPosture : first, last, compared);
  if (differences.length === 0 && !isCreated && !isDeleted) return undefined;
  const contributions = isCreated
    ? creationContribution(own)
    : new Map(isDeleted ? [] : differences.map(({ aspect }) => [aspect, causes(id, rules(), aspect)] as const));
  const controlChanges = differences.map((difference): ControlChange => {
    const { aspect, before: lostTexts, after: gainedTexts } = difference;
    return {
      aspect,
      way: isCreated || isDeleted ? 'neutral' : differenceVerdict(difference),
      before: lostTexts,
      after: gainedTexts,
      ...(first.incomplete.has(aspect) || last.incomplete.has(aspect) ? { atLeast: true } : {}),
      causes: isCreated ? [] : (contributions.get(aspect) ?? []).map(({ cause }) => cause),
    };
  });
  const rulesOnIt = rulesOnEither(isCreated ? emptyPosture : first, last);
  const change: PostureChange = {
    connection: id,
    way: combineVerdicts(controlChanges),
    ...(isCreated ? { comes: true } : {}),
    ...(isDeleted ? { goes: true } : {}),
    tags: isDeleted ? first.tags : last.tags,
    aspects: controlChanges,
    ...(rulesOnIt.length === 0 ? {} : { rules: rulesOnIt }),
  };
  return { change, differences: isCreated || isDeleted ? [] : differences, before: first, after: last, contributions };
}

/** Lists the rules on one connection before and after. */
export function connectionRules(id: ResourceId, { postureBefore, postureAfter }: PlanSnapshots): readonly ConnectionRule[] {
  return rulesOnEither(postureBefore(id) ?? emptyPosture, postureAfter(id) ?? emptyPosture);
}

function rulesOnEither({ rules: rulesBefore }: Posture, { rules: rulesAfter }: Posture): readonly ConnectionRule[] {
  return [...new Set([...rulesBefore.keys(), ...rulesAfter.keys()])].toSorted().map((rule) => {
    const [before, after] = [rulesBefore.get(rule), rulesAfter.get(rule)];
    return { rule, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  });
}

/** Returns the cause of a connection's creation, which also opens its access. */
function creationContribution(change: Change | undefined): AffectedConnection['contributions'] {
  return new Map(change === undefined ? [] : [['access', [{ aspects: ['access'], way: 'neutral', cause: resourceCause(change) }]]]);
}

const verdictOrder: readonly ProtectionVerdict[] = ['weakens', 'unknown', 'strengthens', 'neutral'];

/** Combines verdicts: one control that weakens and another that strengthens give `both`. */
function combineVerdicts(changes: readonly ControlChange[]): ProtectionVerdict {
  const ways = new Set(changes.map(({ way }) => way));
  if (ways.has('both') || (ways.has('weakens') && ways.has('strengthens'))) return 'both';
  return verdictOrder.find((way) => ways.has(way)) ?? 'neutral';
}
