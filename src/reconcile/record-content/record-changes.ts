import type { PendingObject, PendingWrites, RecordedNames, RecordedOrphan } from '../../model/applied-record.ts';
import { desiredByKey, type BaseState, type DesiredState, formerIdOf } from '../../model/desired.ts';
import type { Remembered } from '../../model/applied-record.ts';
import { defined } from '../../model/json.ts';
import { liveById, type LiveState } from '../../model/live.ts';
import {
  type Change,
  type EdgeChange,
  isRestored,
  isSecretChange,
  isWritten,
  liveKeyOf,
  otherEnd,
  renamesOf,
  withNames,
  type Plan,
  deletedKeys,
} from '../../model/plan/plan.ts';
import type { ApplyResult, Outcome } from '../../model/result/outcome.ts';
import type { Step } from '../../model/plan/schedule.ts';
import type { Pointer } from '../../model/pointer.ts';
import { edgeKey, type ResourceId } from '../../model/resource.ts';
import { findRemoved } from '../diff/removed-objects.ts';
import { manifestsBeyond, ownObjects, withRemembered } from '../prepare/base-states.ts';

/** A plan and its writes; some of them attach again what an earlier one lets go of. */
type PlannedWrites = {
  readonly plan: Pick<Plan, 'changes' | 'edges'>;
  readonly steps: readonly Step[];
  /** The plan reverts drift, and leaves out what manifests change. */
  readonly onlyReverts?: boolean;
};

/** Returns what an apply of the plan is about to write, for the record. A deletion may close its object first. */
export function pendingWritesOf(planned: PlannedWrites): PendingWrites {
  const { changes } = planned.plan;
  const carriedBy = new Map(changes.map(({ id, carried }) => [id, carried]));
  const objects = changes.flatMap((change): readonly PendingObject[] => {
    if (!isWritten(change)) return [];
    const { id, action, uid, replacedBy } = change;
    // A rename gives the object a name that no base declares.
    const ours = action === 'create' || action === 'rename';
    const known = { ...identityOf(id, liveKeyOf(change)), ...(action === 'rename' ? defined({ uid }) : {}), ours };
    // A successor carries the drift of its predecessor that is held.
    const successor = action === 'create' ? id : replacedBy;
    if (successor !== undefined) return [{ ...known, ...listed('holds', carriedBy.get(successor) ?? []) }];
    return [ours ? known : { ...known, ...driftOf(change) }];
  });
  return { objects, edges: attachedBy(planned).map(({ rule, connection }) => ({ rule, connection })) };
}

function attachedBy({ plan, steps }: PlannedWrites): readonly EdgeChange[] {
  const all = [plan, ...steps].flatMap(({ edges }) => edges.filter(({ action }) => action === 'attach'));
  return [...new Map(all.map((edge) => [edgeKey(edge), edge])).values()];
}

/**
 * Returns what the plan decided about drift: the next one may find it beside other values, and decide otherwise. A field that has another value
 * in between is drift if the apply stops then.
 */
function driftOf({ fields }: Change): Pick<PendingObject, 'reverts' | 'holds'> {
  const drift = fields.filter((field) => (field.origin === 'drift' || isRestored(field)) && !isSecretChange(field));
  const pathsOf = (isHeld: boolean): readonly Pointer[] => drift.filter(({ held = false }) => held === isHeld).map(({ path }) => path);
  return { ...listed('reverts', pathsOf(false)), ...listed('holds', pathsOf(true)) };
}

function listed(name: 'reverts' | 'holds', paths: readonly Pointer[]): Pick<PendingObject, 'reverts' | 'holds'> {
  return paths.length === 0 ? {} : { [name]: paths };
}

function identityOf(id: ResourceId, key: ResourceId): Pick<PendingObject, 'id' | 'key'> {
  return key === id ? { id } : { id, key };
}

/** Returns the writes that an apply which is not complete did, or may have done. */
export function writesAfter(planned: PlannedWrites, { outcomes, uids }: ApplyResult, base: BaseState | undefined): PendingWrites {
  const byId = new Map(outcomes.map((outcome) => [outcome.id, outcome]));
  const declared = desiredByKey(base?.desired.resources ?? []);
  const deleted = new Map(planned.plan.changes.map((change) => [liveKeyOf(change), change.uid]));
  const objects = pendingWritesOf(planned).objects.flatMap((object): readonly PendingObject[] => {
    const outcome = byId.get(object.id);
    const { id, key = id, ours } = object;
    if (outcome === undefined || !mayHaveWritten(outcome)) return [];
    // What the base declares was deleted by this apply.
    if (isDeleted(outcome)) return declared.has(key) ? [{ ...object, ...defined({ uid: deleted.get(key) }) }] : [];
    if (!isComplete(outcome)) return [object];
    const detached = detachedBy(planned.plan, key);
    const known = {
      ...identityOf(id, key),
      ...defined({ uid: uids?.get(key) }),
      ...(detached.length === 0 ? {} : { detached }),
      ours: ours || !declared.has(key),
    };
    return [planned.onlyReverts === true && !known.ours ? { ...known, onlyReverted: true } : known];
  });
  const writers = new Set(planned.plan.changes.flatMap((change) => (hasWritten(byId.get(change.id)) ? [liveKeyOf(change)] : [])));
  const attached = attachedBy(planned).filter(({ by }) => by !== undefined && writers.has(by));
  return { objects, edges: attached.map(({ rule, connection }) => ({ rule, connection })) };
}

/** Returns the other ends of the attachments that an object removes. */
function detachedBy({ edges }: PlannedWrites['plan'], key: ResourceId): readonly ResourceId[] {
  return edges.flatMap((edge) => (edge.action === 'detach' && edge.by === key ? [otherEnd(edge, key)] : []));
}

function hasWritten(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && mayHaveWritten(outcome);
}

/** Returns whether a change may have reached the gateway. Something else created an object that was found instead of created. */
function mayHaveWritten(outcome: Outcome): boolean {
  const { status, begun, code } = outcome;
  return begun === true || isComplete(outcome) || (status === 'failed' && code !== 'apply/moved');
}

function isDeleted(outcome: Outcome): boolean {
  return outcome.action === 'delete' && isComplete(outcome);
}

function isComplete({ status, begun }: Outcome): boolean {
  return begun !== true && (status === 'done' || status === 'already');
}

/** So many former names of an object are remembered. */
const mostNames = 20;

/** Returns the objects of a complete apply that had other names before it or do now, with all of them. */
export function formerNamesAfter(
  { changes }: Pick<Plan, 'changes'>,
  { resources }: DesiredState,
  base: BaseState | undefined,
): readonly RecordedNames[] {
  const renamed = new Map([...renamesOf(changes)].map(([from, to]) => [to, from]));
  const applied = desiredByKey(base?.desired.resources ?? []);
  const keys = new Set(resources.map(({ key }) => key));
  return resources.flatMap((resource): readonly RecordedNames[] => {
    const { key } = resource;
    const former = formerIdOf(resource);
    const last = renamed.get(key) ?? (former !== undefined && applied.has(former) && !applied.has(key) ? former : undefined);
    const all = [...(last === undefined ? [] : [last]), ...(base?.names?.get(last ?? key) ?? [])];
    const others = [...new Set(all)].filter((one) => !keys.has(one)).slice(0, mostNames);
    return others.length === 0 ? [] : [{ id: key, former: others }];
  });
}

/** Both sides of a complete apply, and what was ours before it. */
type CompleteApply = {
  readonly plan: Pick<Plan, 'changes' | 'orphans'>;
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly remembered: Remembered | undefined;
  readonly released: readonly string[];
};

/** Returns the objects that a complete apply leaves live although no manifest declares them any more. */
export function orphansAfter({ plan, desired, live, base, remembered, released }: CompleteApply): readonly RecordedOrphan[] {
  const own = ownObjects(remembered, live);
  const known = withRemembered(base, remembered, { own, live });
  const deleted = deletedKeys(plan.changes);
  const described = new Map(plan.orphans.map((orphan) => [orphan.id, orphan]));
  const named = liveById(withNames(live, renamesOf(plan.changes)).resources);
  return findRemoved(known, desired, { live: named, beyond: manifestsBeyond(known, own), released })
    .filter(({ base: { key } }) => !deleted.has(key))
    .map(({ base: resource, live: { uid } }): RecordedOrphan => {
      const { id, key } = resource;
      const before = own.get(key);
      const commit = before === undefined ? base?.commit : before.commit;
      const place = resource.locate('');
      const at = before?.at ?? `${place.file.slice(place.file.indexOf(':') + 1)}:${place.line}`;
      const { removedIn, subject } = described.get(id) ?? before ?? {};
      return {
        ...identityOf(id, key),
        // Without an id of the gateway, the next plan compares it with its manifest again.
        ...defined({ uid: before?.unfinished === true ? undefined : uid, commit }),
        at: at.slice(0, 4096),
        ...defined({ removedIn, subject: subject?.slice(0, 300) }),
      };
    });
}
