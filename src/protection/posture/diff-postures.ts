import type { DesiredState } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Change, type Diff, renamesOf, withNames } from '../../model/plan/plan.ts';
import type { ConnectionRule } from '../../model/protection/protection.ts';
import type { ExplainedRule } from '../../model/result/drift.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import {
  affectsEveryConnection,
  afterWrites,
  allConnections,
  liveSnapshot,
  plannedSnapshot,
  rulesBetween,
  samplesOf,
  type ProtectionSnapshot,
} from './protection-snapshot.ts';
import { controlRow } from '../controls/control-table.ts';
import { emptyPosture, type Posture } from '../controls/control-row.ts';
import { grantEnds } from './grant-ends.ts';
import { placeAttachments, readDeclaredAttachments } from './declared-attachments.ts';
import { postureIn } from './posture.ts';

/** The part of a plan that affects protection. */
export type PlannedWrites = Pick<Diff, 'target' | 'changes' | 'edges'>;

/** The states of a gateway before and after a plan. */
export type PlanSnapshots = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  /** The live predecessors by the connections that replace them. */
  readonly predecessors: ReadonlyMap<ResourceId, ResourceId>;
};

/** The manifests that declare attachments, with resolved edges: those of the plan, and those that were applied last. */
export type AttachmentSources = { readonly desired?: DesiredState | undefined; readonly base?: DesiredState | undefined };

/** Takes the snapshots before and after a plan. */
export function snapshotPlan(
  plan: PlannedWrites,
  live: LiveState,
  registry: Registry,
  { desired, base }: AttachmentSources = {},
): PlanSnapshots {
  const named = withNames(live, renamesOf(plan.changes));
  const samples = base && samplesOf(base);
  const since = base ?? desired;
  const declaredAttachments = base && readDeclaredAttachments(base);
  const before = { ...liveSnapshot(named, registry, plan.target.dialect), samples, ends: since && grantEnds(since), declaredAttachments };
  const planned = plan.changes.some(isWritten) ? plannedSnapshot(plan, live, registry) : before;
  const stated = desired && { declaredAttachments: readDeclaredAttachments(desired), ends: grantEnds(desired) };
  return { before, after: { ...planned, samples, ...stated }, predecessors: predecessorsIn(desired, before) };
}

type EarlierState = Pick<PlannedWrites, 'target'> & {
  readonly registry: Registry;
  readonly desired: DesiredState;
  /** Connections that stay beside their successors, and that are not compared. */
  readonly gone: readonly ResourceId[];
};

/** Takes the snapshots of an earlier state of the gateway, under the names after a plan, and after that plan. */
export function snapshotsSince(
  earlier: LiveState,
  planned: PlanSnapshots,
  { registry, target, desired, gone }: EarlierState,
): PlanSnapshots {
  const { samples, ends, declaredAttachments } = planned.before;
  const before = { ...liveSnapshot(earlier, registry, target.dialect), samples, ends, declaredAttachments };
  const since = { ...planned, before, predecessors: predecessorsIn(desired, before) };
  if (gone.length === 0) return since;
  const left = afterWrites(
    planned.after,
    gone.map((id) => ({ id, spec: undefined, stated: new Set(), edges: [] })),
  );
  const { after } = planned;
  return { ...since, after: { ...left, samples, ends: after.ends, declaredAttachments: after.declaredAttachments } };
}

/** Returns whether a plan leaves the access control of the gateway on or off. */
function isSameControl({ listed: before }: ProtectionSnapshot, { listed: after }: ProtectionSnapshot): boolean {
  return before.isControlled === after.isControlled;
}

function predecessorsIn(desired: DesiredState | undefined, before: ProtectionSnapshot): PlanSnapshots['predecessors'] {
  return new Map(
    (desired?.resources ?? []).flatMap(({ key, replaces }) => {
      const predecessor = replaces === undefined ? undefined : resourceId(kindOf(key), replaces);
      return predecessor !== undefined && before.resources.has(predecessor) ? [[key, predecessor] as const] : [];
    }),
  );
}

/** Swaps both sides: from the planned state to the live state. */
export function reverseSnapshots({ before, after }: PlanSnapshots): PlanSnapshots {
  return { before: after, after: before, predecessors: new Map() };
}

/** Lists the connections that a written change, an attachment, a changed rule or the access control of the gateway may affect; sorted by id. */
export function affectedIds(plan: PlannedWrites, before: ProtectionSnapshot, after: ProtectionSnapshot): readonly ResourceId[] {
  if (!isSameControl(before, after) || affectingEvery(plan, before, after).length > 0) {
    return allConnections(before, after).toSorted();
  }
  const written = new Set(plan.changes.filter(isWritten).map(liveKeyOf));
  const ids = new Set<ResourceId>([...written].filter((id) => kindOf(id) === 'Connection'));
  for (const { action, connection } of plan.edges) if (action === 'attach' || action === 'detach') ids.add(connection);
  const isRuleWritten = [...written].some((id) => kindOf(id) !== 'Connection');
  for (const id of isRuleWritten ? allConnections(before, after) : [])
    if (!ids.has(id) && [...rulesBetween([before, after], id)].some((rule) => written.has(rule))) ids.add(id);
  return [...ids].toSorted();
}

/** Lists the objects with a written change that may affect every connection. */
export function affectingEvery({ changes }: PlannedWrites, before: ProtectionSnapshot, after: ProtectionSnapshot): readonly ResourceId[] {
  return changes
    .filter(isWritten)
    .map(liveKeyOf)
    .filter((key) => affectsEveryConnection(key, before, after) !== undefined);
}

/** Returns whether a change opens a connection for the first time: it is created, or its interrupted creation is completed. */
export function isFirstOpening(change: Pick<Change, 'unfinished'> | undefined, isLive: boolean): boolean {
  return !isLive || change?.unfinished === true;
}

/** Lists the rules on one connection before and after, what each does, and where the manifests attach it. */
export function connectionRules(
  id: ResourceId,
  { before, after: planned }: PlanSnapshots,
  desired: Pick<DesiredState, 'edges' | 'resources'>,
): readonly ExplainedRule[] {
  const placed = placeAttachments(desired, id);
  return rulesOnEither(postureIn(before, id) ?? emptyPosture, postureIn(planned, id) ?? emptyPosture).map((one) => {
    const controls = (one.after ?? one.before)?.controls ?? [];
    const verbs = controls.map((control) => {
      const { ofRules, ofAccess } = controlRow(control);
      return ofAccess?.[kindOf(one.rule)]?.verb ?? ofRules?.verb ?? control;
    });
    const { rule, after } = one;
    const { by = [] } = after ?? {};
    const others = by.filter(({ how }) => how !== 'direct' && how !== 'selector');
    const places = others.length === by.length ? by : [...(placed.get(rule) ?? []), ...others];
    return { ...one, after: after && { ...after, by: places }, verbs: [...new Set(verbs)] };
  });
}

/** Lists the rules on a connection in two states, and what each does there. */
export function rulesOnEither({ rules: rulesBefore }: Posture, { rules: rulesAfter }: Posture): readonly ConnectionRule[] {
  return [...new Set([...rulesBefore.keys(), ...rulesAfter.keys()])].toSorted().map((rule) => {
    return { rule, before: rulesBefore.get(rule), after: rulesAfter.get(rule) };
  });
}
