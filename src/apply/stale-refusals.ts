import type { Kind } from '../model/kind.ts';
import { type LiveResource, liveById } from '../model/live.ts';
import { isWritten, liveKeyOf, type Change, type Plan, type Refusal, renamesOf, withNames } from '../model/plan/plan.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import type { Step } from '../model/plan/schedule.ts';
import { changesSincePlan, changedFieldText } from './fingerprint.ts';
import { type ApplyInput, matchesCreation } from './execute-step.ts';

type StaleInput = Pick<ApplyInput, 'plan' | 'steps' | 'live' | 'registry' | 'secretOf' | 'seen'>;

/**
 * Refuses a saved plan for objects that were changed, deleted or created since by something else. Changes by an earlier run of
 * the same plan do not count, complete or not. Writes nothing.
 */
export function staleRefusals(input: StaleInput): readonly Refusal[] {
  const { plan, registry } = input;
  const live = withNames(input.live, renamesOf(plan.changes));
  const index: StaleIndex = {
    byId: liveById(live.resources),
    byUid: new Map(live.resources.map((resource) => [uidKey(resource.id, resource.uid), resource])),
    creationSteps: creationStepsOf(input),
  };
  const changed = plan.changes.filter(isWritten).flatMap((change): readonly Refusal[] => {
    const kind = registry.get(kindOf(change.id));
    const why = kind === undefined ? undefined : staleReason(change, kind, index, input);
    return why === undefined ? [] : [refusalOf(change, why)];
  });
  const refused = new Set(changed.map(({ resource }) => resource));
  return [...changed, ...managedEnds(plan, index).filter(({ resource }) => !refused.has(resource))];
}

/** Refuses attachments of connections that are managed by now; a rule that is managed is attached from its connection. */
function managedEnds({ edges }: Plan, { byId }: StaleIndex): readonly Refusal[] {
  const ends = edges.flatMap(({ action, connection }) => (action === 'attach' || action === 'detach' ? [connection] : []));
  return [...new Set(ends)].flatMap((id): readonly Refusal[] => {
    const manager = byId.get(id)?.managedBy;
    return manager === undefined ? [] : [refusalOf({ id }, managedSinceText(manager))];
  });
}

function managedSinceText(manager: string): string {
  return `it became managed by ${manager} since the plan`;
}

type StaleIndex = {
  readonly byId: ReadonlyMap<ResourceId, LiveResource>;
  readonly byUid: ReadonlyMap<string, LiveResource>;
  /** The first step of each creation, by the id of its change. */
  readonly creationSteps: ReadonlyMap<ResourceId, Step>;
};

function creationStepsOf({ steps }: StaleInput): StaleIndex['creationSteps'] {
  const making = steps.filter(({ change, part }) => change.action === 'create' && part !== 'open');
  return new Map(making.toReversed().map((step) => [step.change.id, step]));
}

function uidKey(id: ResourceId, uid: string): string {
  return `${kindOf(id)} ${uid}`;
}

function staleReason(change: Change, kind: Kind, index: StaleIndex, { seen, secretOf, live }: StaleInput): string | undefined {
  const found = index.byId.get(liveKeyOf(change));
  if (change.action === 'create') {
    const step = index.creationSteps.get(change.id);
    if (found === undefined || step === undefined) return undefined;
    if (found.managedBy !== undefined) return `it was created since the plan and is managed by ${found.managedBy}`;
    return matchesCreation(step, found, { secretOf, live })
      ? undefined
      : 'it was created outside Ostiary since the plan and differs from it';
  }
  // A gateway may derive the id of an object without a name from its address, which the plan itself changes.
  const same = index.byUid.get(uidKey(change.id, change.uid ?? '')) ?? (kind.named ? undefined : found);
  if (same === undefined) {
    if (found !== undefined) return 'it was deleted and created again since the plan';
    return change.action === 'delete' ? undefined : 'it no longer exists on the gateway';
  }
  if (same.id !== liveKeyOf(change)) return `it was renamed to ${same.id}`;
  if (same.managedBy !== undefined) return managedSinceText(same.managedBy);
  const changes = changesSincePlan(change, kind, same, { seen: seen?.get(liveKeyOf(change)) });
  return changes.length === 0 ? undefined : `it changed since the plan: ${changes.map(changedFieldText).join('; ')}`;
}

function refusalOf({ id, at }: Pick<Change, 'id' | 'at'>, why: string): Refusal {
  return {
    code: 'plan/moved',
    message: why,
    hint: 'plan again and review what changed',
    allowable: false,
    resource: id,
    at,
  };
}
