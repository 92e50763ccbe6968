import type { DesiredState } from '../../model/desired.ts';
import type { Registry } from '../../model/kind.ts';
import type { LiveState } from '../../model/live.ts';
import { isWritten, liveKeyOf, type Change, type Diff, renamesOf, withNames } from '../../model/plan/plan.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { Cause, ControlType, ControlChange, PostureChange, ConnectionRule } from '../../model/protection/protection.ts';
import type { ExplainedRule } from '../../model/result/drift.ts';
import { kindOf, resourceId, type ResourceId } from '../../model/resource.ts';
import {
  affectsEveryConnection,
  allConnections,
  connectionsAsking,
  liveSnapshot,
  plannedSnapshot,
  readAccessIn,
  rulesOn,
  samplesOf,
  type ProtectionSnapshot,
} from './protection-snapshot.ts';
import {
  combineEffects,
  compareProtection,
  createComparisonCache,
  differenceVerdict,
  effectsOfDifferences,
  type ComparisonCache,
  type ControlDifference,
  type ProtectionEffect,
} from '../controls/compare-protection.ts';
import type { AccessDirection } from '../access/effective-access.ts';
import { aspectTypes, controlRow } from '../controls/control-table.ts';
import { emptyPosture, type Posture } from '../controls/control-row.ts';
import { firstsOfAlike } from './alike-connections.ts';
import { grantEnds } from './grant-ends.ts';
import { placeAttachments, readDeclaredAttachments } from './declared-attachments.ts';
import { createPostureBuilder, readPostures, type PostureBuilder, type PostureReader } from './posture.ts';

/** The part of a plan that affects protection. */
export type PlannedWrites = Pick<Diff, 'target' | 'changes' | 'edges'>;

/** One connection whose protection a plan changes, with the differences. */
export type AffectedConnection = {
  readonly change: PostureChange;
  readonly differences: readonly ControlDifference[];
  readonly before: Posture;
  readonly after: Posture;
  /** The causes by control type and effect; of a connection that is created, its creation, and of one that is deleted, none. */
  readonly causes: ReadonlyMap<ControlType, CausesByEffect>;
  /** Another connection replaces the deleted one. */
  readonly isReplaced: boolean;
};

/** The protection before and after a plan, with readers of the postures. */
export type PlanSnapshots = {
  readonly before: ProtectionSnapshot;
  readonly after: ProtectionSnapshot;
  readonly postureBefore: PostureReader;
  readonly postureAfter: PostureReader;
  /** Builds other states of connections; it shares what the readers have read. */
  readonly build: PostureBuilder;
  readonly compared: ComparisonCache;
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
  const samples = base === undefined ? undefined : samplesOf(base);
  const since = base ?? desired;
  const ends = since && grantEnds(since);
  const snapshot = { ...liveSnapshot(named, registry, plan.target.dialect), samples, ends };
  const before = base === undefined ? snapshot : { ...snapshot, declaredAttachments: readDeclaredAttachments(base) };
  const planned = plan.changes.some(isWritten) ? plannedSnapshot(plan, live, registry) : snapshot;
  const stated = desired && { declaredAttachments: readDeclaredAttachments(desired), ends: desired === since ? ends : grantEnds(desired) };
  const after = { ...planned, ...stated };
  const build = createPostureBuilder({ access: readAccessIn(before), samples });
  const predecessors = predecessorsIn(desired, before);
  return {
    before,
    after,
    postureBefore: readOnce(readPostures(before, build)),
    postureAfter: readOnce(readPostures(after, build)),
    build,
    compared: createComparisonCache(),
    predecessors,
  };
}

/** Takes the snapshots of an earlier state of the gateway, under the names after a plan, and after that plan. */
export function snapshotsSince(
  earlier: LiveState,
  planned: PlanSnapshots,
  { registry, target, desired }: Pick<PlannedWrites, 'target'> & { readonly registry: Registry; readonly desired: DesiredState },
): PlanSnapshots {
  const { samples, ends, declaredAttachments } = planned.before;
  const state = { ...liveSnapshot(earlier, registry, target.dialect), samples, ends };
  const before = declaredAttachments === undefined ? state : { ...state, declaredAttachments };
  const build = createPostureBuilder({ access: readAccessIn(before), samples });
  const postureBefore = readOnce(readPostures(before, build));
  return { ...planned, before, build, postureBefore, predecessors: predecessorsIn(desired, before) };
}

/** Returns whether a plan leaves the access control of the gateway on or off. */
function isSameControl({ listed: before }: ProtectionSnapshot, { listed: after }: ProtectionSnapshot): boolean {
  return before.isControlled === after.isControlled;
}

/** Returns a reader that keeps what it has read: several stages ask for the same connections, and a snapshot of a plan does not change. */
function readOnce(read: PostureReader): PostureReader {
  const known = new Map<ResourceId, Posture>();
  return (connection) => {
    const posture = known.get(connection) ?? read(connection);
    if (posture !== undefined) known.set(connection, posture);
    return posture;
  };
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
export function reverseSnapshots(snapshots: PlanSnapshots): PlanSnapshots {
  const { before, after, postureBefore, postureAfter } = snapshots;
  return { ...snapshots, before: after, after: before, postureBefore: postureAfter, postureAfter: postureBefore, predecessors: new Map() };
}

/** Lists the connections whose protection a plan changes, directly or through a rule; sorted by id. */
export function diffPostures(plan: PlannedWrites, snapshots: PlanSnapshots, lookup: CauseLookup): readonly AffectedConnection[] {
  const { before, after, postureBefore, postureAfter, predecessors, compared } = snapshots;
  if (!plan.changes.some(isWritten)) return [];
  const changes = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  const attached = new Set(plan.edges.map(({ connection }) => connection));
  const known = new Map<ResourceId, AffectedConnection | undefined>();
  const ids = affectedIds(plan, before, after);
  const firstOf = firstsOfAlike(
    ids.filter((id) => !changes.has(id) && !attached.has(id) && postureBefore(id) !== undefined && postureAfter(id) !== undefined),
    snapshots,
  );
  return ids.flatMap((id) => {
    const [had, has] = [postureBefore(id), postureAfter(id)];
    const first = firstOf.get(id);
    if (first !== undefined && first !== id && had !== undefined && has !== undefined) {
      const one = known.get(first);
      return one === undefined ? [] : [alikeConnection(one, { id, before: had, after: has })];
    }
    const predecessor = predecessors.get(id);
    const replaced =
      predecessor === undefined ? {} : { replaced: { id: predecessor, posture: postureBefore(predecessor) ?? emptyPosture } };
    const found = affectedConnection({ id, own: changes.get(id), before: had, after: has, ...replaced, lookup }, compared);
    known.set(id, found);
    return found ?? [];
  });
}

/** Returns for a connection what was found for one that the plan treats alike. */
function alikeConnection(
  one: AffectedConnection,
  { id, before, after }: { readonly id: ResourceId; readonly before: Posture; readonly after: Posture },
): AffectedConnection {
  const { rules: _, ...change } = one.change;
  const isSame = before.rules === one.before.rules && after.rules === one.after.rules;
  const rules = isSame ? (one.change.rules ?? []) : rulesOnEither(before, after);
  return {
    ...one,
    before,
    after,
    change: { ...change, connection: id, tags: after.tags, ...(rules.length === 0 ? {} : { rules }) },
  };
}

/** Lists the connections that a written change, an attachment, a changed rule or the access control of the gateway may affect; sorted by id. */
export function affectedIds(plan: PlannedWrites, before: ProtectionSnapshot, after: ProtectionSnapshot): readonly ResourceId[] {
  if (!isSameControl(before, after) || affectingEvery(plan, before, after).length > 0) {
    return allConnections(before, after).toSorted();
  }
  const written = new Set(plan.changes.filter(isWritten).map(liveKeyOf));
  const ids = new Set<ResourceId>([...written].filter((id) => kindOf(id) === 'Connection'));
  for (const { action, connection } of plan.edges) if (action === 'attach' || action === 'detach') ids.add(connection);
  for (const rule of written) for (const id of connectionsAsking(rule, before)) ids.add(id);
  const isRuleWritten = [...written].some((id) => kindOf(id) !== 'Connection');
  for (const snapshot of isRuleWritten ? [before, after] : []) {
    for (const id of snapshot.resources.keys()) {
      if (kindOf(id) === 'Connection' && !ids.has(id) && [...rulesOn(snapshot, id)].some((rule) => written.has(rule))) ids.add(id);
    }
  }
  return [...ids].toSorted();
}

/** Lists the objects with a written change that may affect every connection. */
export function affectingEvery({ changes }: PlannedWrites, before: ProtectionSnapshot, after: ProtectionSnapshot): readonly ResourceId[] {
  return changes
    .filter(isWritten)
    .map(liveKeyOf)
    .filter((key) => affectsEveryConnection(key, before, after) !== undefined);
}

/** Lists the connections that two states of a gateway protect differently, without causes; sorted by id. */
export function diffSnapshots(
  before: ProtectionSnapshot,
  after: ProtectionSnapshot,
  decidersOn: DeciderLookup,
): readonly AffectedConnection[] {
  const [had, has] = [readPostures(before), readPostures(after)];
  const compared = createComparisonCache();
  const ids = [...after.resources.keys()].filter((id) => kindOf(id) === 'Connection').toSorted();
  return ids.flatMap((id) => {
    const sides = { id, own: undefined, before: had(id), after: has(id), lookup: { decidersOn, causesOf: () => [] } };
    return sides.before === undefined ? [] : (affectedConnection(sides, compared) ?? []);
  });
}

type Sides = {
  readonly id: ResourceId;
  readonly own: Change | undefined;
  readonly before: Posture | undefined;
  readonly after: Posture | undefined;
  readonly replaced?: { readonly id: ResourceId; readonly posture: Posture };
  readonly lookup: CauseLookup;
};

/** Returns what decides the differences of a control on a connection, by direction: those of what people may do that it is about, or its own. */
export type DeciderLookup = (connection: ResourceId, control: ControlType) => ReadonlyMap<AccessDirection, readonly Decider[]>;

/** Texts of which a written entry has to contain one; with a side, in its value there. */
export type NamedTexts = { readonly texts: ReadonlySet<string>; readonly side?: 'before' | 'after' };

/** Finds what decides differences, and what a plan writes of it: fields that name one of some texts, edges and objects. */
export type CauseLookup = {
  readonly decidersOn: DeciderLookup;
  readonly causesOf: (deciders: readonly Decider[], named?: NamedTexts) => readonly Cause[];
};

/** The causes of each effect of a difference. */
export type CausesByEffect = ReadonlyMap<ProtectionEffect, readonly Cause[]>;

/** Leaves out what makes no difference to anybody: the reviewers of a closed connection, or those whom a rule replaces. */
function withEffect(difference: ControlDifference, directions: ReadonlyMap<AccessDirection, unknown>): readonly ControlDifference[] {
  if (aspectTypes.has(difference.control)) return [difference];
  const only = <Value>(values: readonly Value[], direction: AccessDirection): readonly Value[] => (directions.has(direction) ? values : []);
  const { lost, gained, coexisting, incomparable } = difference;
  const found = {
    lost: only(lost, 'more'),
    gained: only(gained, 'less'),
    coexisting: only(coexisting, 'less'),
    incomparable: only(incomparable, 'unclear'),
  };
  return Object.values(found).every(({ length }) => length === 0) ? [] : [{ ...difference, ...found }];
}

/** Returns whether a change opens a connection for the first time: it is created, or its interrupted creation is completed. */
export function isFirstOpening(change: Pick<Change, 'unfinished'> | undefined, before: Posture | undefined): boolean {
  return before === undefined || change?.unfinished === true;
}

function affectedConnection(sides: Sides, compared: ComparisonCache): AffectedConnection | undefined {
  const { id, own, before, after, lookup } = sides;
  // Opening a connection that an interrupted apply created closed removes no protection from anyone.
  const isCreated = isFirstOpening(own, before);
  const replaced = isCreated ? sides.replaced : undefined;
  const isDeleted = after === undefined;
  const [first, last] = [(isCreated ? replaced?.posture : before) ?? emptyPosture, after ?? emptyPosture];
  const isOrdered = !isDeleted && (!isCreated || replaced !== undefined);
  const all = compareProtection(first, last, compared);
  const differences = isOrdered ? all.flatMap((one) => withEffect(one, lookup.decidersOn(id, one.control))) : all;
  if (differences.length === 0 && !isCreated && !isDeleted) return undefined;
  const controls = differences.map(({ control }) => control);
  const whole = lookup.causesOf([{ id, path: '' }]);
  const causes = isCreated
    ? new Map((['access', ...controls] as const).map((control) => [control, new Map([['weakens', whole] as const])] as const))
    : new Map(isDeleted ? [] : differences.map((one) => [one.control, causesOfDifference(id, one, lookup)] as const));
  const controlChanges = differences.map((difference): ControlChange => {
    const { control, before: lostTexts, after: gainedTexts } = difference;
    return {
      control,
      direction: isOrdered ? differenceVerdict(difference) : 'neutral',
      before: lostTexts,
      after: gainedTexts,
      ...(first.incomplete.has(control) || last.incomplete.has(control) ? { atLeast: true } : {}),
      causes: isCreated && replaced === undefined ? [] : [...new Set([...(causes.get(control)?.values() ?? [])].flat())],
    };
  });
  const rulesOnIt = rulesOnEither(isCreated ? emptyPosture : first, last);
  const change: PostureChange = {
    connection: id,
    direction: isOrdered ? combineEffects(effectsOfDifferences(differences)) : 'neutral',
    ...(isCreated ? { created: true } : {}),
    ...(isDeleted ? { deleted: true } : {}),
    ...(replaced === undefined ? {} : { replaces: replaced.id }),
    tags: isDeleted ? first.tags : last.tags,
    controls: controlChanges,
    ...(rulesOnIt.length === 0 ? {} : { rules: rulesOnIt }),
  };
  return {
    change,
    differences: isOrdered ? differences : [],
    before: first,
    after: last,
    causes,
    isReplaced: own?.replacedBy !== undefined,
  };
}

/** Returns what causes each effect of a difference; what nothing that decides it explains is caused by all that does. */
function causesOfDifference(id: ResourceId, difference: ControlDifference, { decidersOn, causesOf }: CauseLookup): CausesByEffect {
  const deciders = decidersOn(id, difference.control);
  const { lost, gained, coexisting, incomparable } = difference;
  const effects = [
    ['weakens', 'more', lost],
    ['strengthens', 'less', [...gained, ...coexisting]],
    ['unknown', 'unclear', incomparable],
  ] as const;
  return new Map(
    effects.flatMap(([effect, direction, controls]) => {
      const texts = new Set(controls.flatMap(({ name, content = name }) => [name, content]));
      const by = deciders.get(direction) ?? [...deciders.values()].flat();
      // What only rules bring is lost with an entry that had it, and gained with one that has it.
      const side = aspectTypes.has(difference.control) ? sides[effect] : {};
      return controls.length === 0 ? [] : [[effect, causesOf(by, { texts, ...side })] as const];
    }),
  );
}

const sides = { weakens: { side: 'before' }, strengthens: { side: 'after' }, unknown: {} } as const;

/** Lists the rules on one connection before and after, what each does, and where the manifests attach it. */
export function connectionRules(
  id: ResourceId,
  { postureBefore, postureAfter }: PlanSnapshots,
  desired: Pick<DesiredState, 'edges' | 'resources'>,
): readonly ExplainedRule[] {
  const placed = placeAttachments(desired, id);
  return rulesOnEither(postureBefore(id) ?? emptyPosture, postureAfter(id) ?? emptyPosture).map((one) => {
    const controls = (one.after ?? one.before)?.controls ?? [];
    const verbs = controls.map((control) => {
      const { ofRules, ofAccess } = controlRow(control);
      return ofAccess?.[kindOf(one.rule)]?.verb ?? ofRules?.verb ?? control;
    });
    const { rule, after } = one;
    const { by = [] } = after ?? {};
    const others = by.filter(({ how }) => how !== 'direct' && how !== 'selector');
    const places = others.length === by.length ? by : [...(placed.get(rule) ?? []), ...others];
    return { ...one, ...(after === undefined ? {} : { after: { ...after, by: places } }), verbs: [...new Set(verbs)] };
  });
}

function rulesOnEither({ rules: rulesBefore }: Posture, { rules: rulesAfter }: Posture): readonly ConnectionRule[] {
  return [...new Set([...rulesBefore.keys(), ...rulesAfter.keys()])].toSorted().map((rule) => {
    const [before, after] = [rulesBefore.get(rule), rulesAfter.get(rule)];
    return { rule, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  });
}
