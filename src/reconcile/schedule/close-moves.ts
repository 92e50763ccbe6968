import { closableFields, type Kind } from '../../model/kind.ts';
import { compareText, equal } from '../../model/json.ts';
import { liveById, type LiveResource } from '../../model/live.ts';
import type { BlockedMove } from '../../model/gateway.ts';
import { type DesiredResource, desiredByKey } from '../../model/desired.ts';
import { type Change, type Diff, liveKeyOf, renamesOf, withClosing, withNames } from '../../model/plan/plan.ts';
import { overlaps } from '../../model/pointer.ts';
import { isRequestRule } from '../../model/protection/access-objects.ts';
import { specAfter } from '../../model/spec/edit.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import { sharesSlot } from '../../protection/access/rule-moves.ts';
import type { Posture } from '../../protection/controls/control-row.ts';
import { readPostures } from '../../protection/posture/posture.ts';
import { mixSnapshots, plannedSnapshot } from '../../protection/posture/protection-snapshot.ts';
import { affectedBy, type Effect, effectsOf, isRule } from '../compare/effects.ts';
import { losesAny } from '../compare/joint-states.ts';
import type { Prepared } from '../prepare/prepare.ts';
import type { PlannedStates } from '../prepare/snapshots.ts';
import { isClosed, predecessorsOf, unopenedSuccessors } from '../prepare/replacements.ts';
import { sealsOf } from '../saved-plan/plan-digest.ts';
import { findMoves, type RuleMoves } from './rule-moves.ts';

/** A plan that closes what would have no approval between two writes, and the moves for which that is not possible. */
export type ClosedMoves = { readonly diff: Diff; readonly blocked: readonly BlockedMove[] };

/**
 * Closes each connection that is less protected than before and after the plan while it moves from one access-request rule to another: the gateway
 * lets the second rule take it only after the first one has let go. It is opened at the end, as its manifest says.
 */
export function closeForMoves(prepared: Prepared, planned: PlannedStates): ClosedMoves {
  const { diff } = planned;
  const { input, desired } = prepared;
  const { registry } = input;
  const live = withNames(prepared.live, renamesOf(diff.changes));
  const moves = findMoves(diff, live, registry);
  if (moves.before === moves.after) return { diff, blocked: [] };
  const resources = desiredByKey(desired.resources);
  const changes = new Map(diff.changes.map((change) => [liveKeyOf(change), change]));
  const found = liveById(live.resources);
  const keepsType = (rule: ResourceId): boolean => moves.before.get(rule)?.type === moves.after.get(rule)?.type;
  const blocked = moves.stuck.map((from) => ({
    ...endsOf(from, undefined, moves),
    why: keepsType(from) ? 'nothing would be left that it governs' : 'it would no longer govern what it keeps',
  }));
  const closed = new Map<ResourceId, Change>();
  for (const id of connectionsToClose(prepared, planned, moves)) {
    const [kind, at, resource, change] = [registry.get(kindOf(id)), found.get(id), resources.get(id), changes.get(id)];
    if (kind === undefined || at === undefined) continue;
    if (isClosedThroughout(kind, at, change)) continue;
    const why = obstacleOf(kind, at, { resource, change, isUnselected: desired.unselected.some(({ key }) => key === id) });
    if (why === undefined && resource !== undefined) closed.set(id, closingOf(kind, at, { resource, change }));
    else
      blocked.push({
        ...endsOf(
          [...moves.releases.keys()].find((rule) => governs(rule, id, moves)),
          id,
          moves,
        ),
        connection: id,
        why: why ?? '',
      });
  }
  if (closed.size === 0) return { diff, blocked };
  const added = [...closed].filter(([id]) => !changes.has(id)).map(([, change]) => change);
  const kept = diff.changes.map((change) => closed.get(liveKeyOf(change)) ?? change);
  const firstDeletion = kept.findIndex(({ action }) => action === 'delete');
  const end = firstDeletion === -1 ? kept.length : firstDeletion;
  const all = [...kept.slice(0, end), ...added.toSorted((left, right) => compareText(left.id, right.id)), ...kept.slice(end)];
  const seals = sealsOf({ ...diff, changes: all }, prepared);
  return { diff: { ...diff, changes: all, unchanged: diff.unchanged - added.length, seals }, blocked };
}

/**
 * Lists the connections that are closed while rules change: those that are less protected, after some rules have let go, than both before and after the
 * plan, all of them where other changes meet them; and those that are closed already, as after an interrupted move, and that the plan opens. Where it
 * continues such a move, rules may have let go before: then all that they affect counts.
 */
function connectionsToClose(
  { live: current, desired, input: { registry, remembered } }: Prepared,
  { diff, snapshots }: PlannedStates,
  moves: RuleMoves,
): readonly ResourceId[] {
  const live = withNames(current, renamesOf(diff.changes));
  const { before, after, postureBefore, postureAfter } = snapshots();
  const between = roundsOf(moves).map((part) => plannedSnapshot({ target: diff.target, ...part }, live, registry));
  const betweenOf = between.map((snapshot) => readPostures(snapshot));
  const takenOf = readPostures(plannedSnapshot({ target: diff.target, ...ruleChanges(diff) }, live, registry));
  const { effects } = effectsOf(diff, live, registry, snapshots);
  const changes = new Map(diff.changes.map((change) => [liveKeyOf(change), change]));
  const found = liveById(live.resources);
  const isExposed = (id: ResourceId): boolean => {
    const [had, has] = [postureBefore(id), postureAfter(id)];
    if (had === undefined || has === undefined) return false;
    const moments = betweenOf.map((postureOf) => postureOf(id));
    const taken = [takenOf(id)];
    // A rule may take a connection before that has the attribute of another one.
    if (loses(had, taken) && loses(has, taken)) return true;
    if (!changes.has(id)) return loses(had, moments) && (!isMoveAlone(id, effects, moves) || loses(has, moments));
    // A connection that opens loses nothing while it is closed.
    const [opened, ...later] = [before, ...between].map((state) => readPostures(mixSnapshots(state, after, new Set([id])))(id));
    return loses(had, moments) || (opened !== undefined && loses(opened, later));
  };
  const opens = (id: ResourceId): boolean => {
    const [kind, change] = [registry.get(kindOf(id)), changes.get(id)];
    const spec = found.get(id)?.spec;
    if (kind === undefined || change === undefined || spec === undefined || !isClosed(kind, { spec })) return false;
    return change.action === 'update' && !isClosed(kind, { spec: specAfter(change, kind, spec) });
  };
  // A successor opens before its predecessor closes.
  const waiting = unopenedSuccessors(predecessorsOf(desired, live), live, registry);
  const changed = effects.filter(({ change }) => isRequestRule(change.id));
  const released = new Set(changed.flatMap(({ change, connections }) => (moves.releases.has(liveKeyOf(change)) ? [...connections] : [])));
  const affected = [...new Set(changed.flatMap(({ connections }) => [...connections]))].toSorted(compareText);
  const closed = new Set(affected.filter((id) => opens(id) && !waiting.has(id)));
  const isContinued = [...closed].some((id) => remembered?.written.has(id) === true);
  return affected.filter((id) => closed.has(id) || ((isContinued || released.has(id)) && isExposed(id)));
}

/** Returns whether one of some states has less of any control than another one. */
function loses(had: Posture, moments: readonly (Posture | undefined)[]): boolean {
  return moments.some((moment) => moment !== undefined && losesAny(had, moment));
}

/** Returns the changes and edges that are written after each round of releases. */
function roundsOf({ releases }: RuleMoves): readonly Pick<Diff, 'changes' | 'edges'>[] {
  const all = [...releases.values()];
  return [...new Set(all.map(({ round }) => round))].map((last) => {
    const done = all.filter(({ round }) => round <= last);
    return { changes: done.map(({ change }) => change), edges: done.flatMap(({ edges }) => edges) };
  });
}

/** Returns the changes of access-request rules: all of them can be written before any other change. */
function ruleChanges({ changes, edges }: Diff): Pick<Diff, 'changes' | 'edges'> {
  const rules = changes.filter(({ id }) => isRequestRule(id));
  const keys = new Set(rules.map(liveKeyOf));
  return { changes: rules, edges: edges.filter(({ by }) => by !== undefined && keys.has(by)) };
}

/** Returns whether all that changes about a connection is that one rule lets go of it and others take it. */
function isMoveAlone(id: ResourceId, effects: readonly Effect[], { releases }: RuleMoves): boolean {
  const meeting = effects.filter((effect) => affectedBy(effect).includes(id));
  const onlyMoves = meeting.every(({ change, kind }) => isRule(kind) && (change.action !== 'update' || change.fields.length === 0));
  return onlyMoves && meeting.filter(({ change }) => releases.has(liveKeyOf(change))).length === 1;
}

function governs(rule: ResourceId, connection: ResourceId, { before }: RuleMoves): boolean {
  return before.get(rule)?.connections.has(connection) === true;
}

/** Returns the rule that lets go, and the one that takes. */
function endsOf(
  from: ResourceId | undefined,
  connection: ResourceId | undefined,
  { before, after, releases }: RuleMoves,
): Omit<BlockedMove, 'why'> {
  const first = from ?? [...releases.keys()][0];
  const had = first === undefined ? undefined : before.get(first);
  const takers = [...after].filter(([id, has]) => id !== first && sharesSlot(had, has));
  const naming = takers.find(([, { connections }]) => connection !== undefined && connections.has(connection));
  return { from: first, to: (naming ?? takers[0])?.[0] };
}

function isClosedThroughout(kind: Kind, live: LiveResource, change: Change | undefined): boolean {
  const after = change === undefined ? live.spec : specAfter(change, kind, live.spec);
  return closableFields(kind).every(({ name, value }) => equal(live.spec[name], value) && equal(after[name], value));
}

type Manifest = { readonly resource: DesiredResource | undefined; readonly change: Change | undefined };

/** Returns why the plan must not close a connection; undefined if it may. */
function obstacleOf(
  kind: Kind,
  { managedBy }: LiveResource,
  { resource, change, isUnselected }: Manifest & { readonly isUnselected: boolean },
): string | undefined {
  if (managedBy !== undefined) return `it is managed by ${managedBy}`;
  if (isUnselected) return 'it is not selected';
  if (resource === undefined) return 'no manifest declares it';
  if (change?.action === 'blocked') return 'it is not written';
  if (resource.protect) return 'its manifest protects it';
  const ignored = closableFields(kind).find(({ path }) => resource.ignore.some((one) => overlaps(one, path)));
  return ignored === undefined ? undefined : `its manifest ignores ${ignored.name}`;
}

/** Returns the change of a connection that closes it and opens it as before, or as its own change says. */
function closingOf(
  kind: Kind,
  live: LiveResource,
  { resource, change }: { readonly resource: DesiredResource; readonly change: Change | undefined },
): Change {
  const own =
    change ??
    ({
      id: resource.id,
      ...(resource.key === resource.id ? {} : { key: resource.key }),
      action: 'update',
      uid: live.uid,
      at: resource.locate(''),
      fields: [],
      needs: [],
      reasons: [],
      carried: [],
    } as const);
  const stated = new Set(own.fields.map(({ path }) => path));
  const more = closableFields(kind)
    .filter(({ name, path, value }) => !stated.has(path) && !equal(live.spec[name], value))
    .map(({ name, path, empty }) => {
      const value = live.spec[name] ?? empty;
      return { path, before: { value }, after: { value } };
    });
  return withClosing({ ...own, action: own.action === 'held' ? 'update' : own.action, fields: [...own.fields, ...more] });
}
