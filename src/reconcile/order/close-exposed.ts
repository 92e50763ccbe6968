import type { BlockedMove } from '../../model/gateway.ts';
import { compareText, equal } from '../../model/json.ts';
import { type DesiredResource, desiredByKey } from '../../model/desired.ts';
import { closableFields, type Kind } from '../../model/kind.ts';
import { liveById, type LiveResource } from '../../model/live.ts';
import { type Change, type Diff, liveKeyOf } from '../../model/plan/plan.ts';
import type { Schedule } from '../../model/plan/schedule.ts';
import { overlaps } from '../../model/pointer.ts';
import { kindOf, type ResourceId } from '../../model/resource.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { sealsOf } from '../saved-plan/plan-digest.ts';
import { restoredFields, withRestored } from './forms.ts';
import { type OrderInput, orderWrites } from './order-writes.ts';
import { moveOf } from './rule-moves.ts';

/** A plan with the order of its writes, and the moves between access-request rules for which there is none. */
export type OrderedPlan = {
  readonly diff: Diff;
  readonly writes: OrderInput;
  readonly schedule: Schedule;
  readonly blocked: readonly BlockedMove[];
};

/**
 * Orders the writes of a plan. A connection that every order leaves less protected than before and after is closed first, or created closed, and opened at
 * the end as its manifest says, if the plan may do that.
 */
export function closeExposed(prepared: Prepared, first: Diff, inputOf: (diff: Diff) => OrderInput): OrderedPlan {
  let diff = first;
  for (;;) {
    const writes = inputOf(diff);
    const schedule = orderWrites(writes, { isDraft: true });
    const exposed = new Set(schedule.singleWrites.flatMap(({ windows }) => windows.flatMap(({ connections }) => connections)));
    const { closed, obstacles } = closingsOf(prepared, { diff, writes }, [...exposed].toSorted(compareText));
    const changed = closed.size > 0 ? closed : restatedChanges(schedule, diff, writes);
    if (changed.size > 0) diff = withChanges(diff, changed, prepared);
    else {
      const blocked = [...obstacles].flatMap(([connection, why]) => {
        const move = moveOf(writes.moves, connection);
        return move === undefined ? [] : [{ ...move, connection, why }];
      });
      return { diff, writes, schedule, blocked };
    }
  }
}

type Closings = {
  readonly closed: ReadonlyMap<ResourceId, Change>;
  /** Why the plan must not close other connections. */
  readonly obstacles: ReadonlyMap<ResourceId, string>;
};

function closingsOf(
  { desired, input: { registry } }: Prepared,
  { diff, writes }: { readonly diff: Diff; readonly writes: OrderInput },
  exposed: readonly ResourceId[],
): Closings {
  const closed = new Map<ResourceId, Change>();
  const obstacles = new Map<ResourceId, string>();
  if (exposed.length === 0) return { closed, obstacles };
  const resources = desiredByKey(desired.resources);
  const changes = new Map(diff.changes.map((change) => [liveKeyOf(change), change]));
  const found = liveById(writes.live.resources);
  for (const id of exposed) {
    const [kind, at, resource, change] = [registry.get(kindOf(id)), found.get(id), resources.get(id), changes.get(id)];
    if (kind === undefined || (change !== undefined && change.closed === 'between')) continue;
    if (change?.action === 'create') closed.set(id, { ...change, closed: 'between' });
    if (change?.action === 'create' || at === undefined) continue;
    const why = obstacleOf(kind, at, { resource, change, isUnselected: desired.unselected.some(({ key }) => key === id) });
    if (why === undefined && resource !== undefined) closed.set(id, closingOf(kind, at, { resource, change }));
    else obstacles.set(id, why ?? '');
  }
  return { closed, obstacles };
}

/** Returns the changes in two writes of which the first one changes more fields than they state, with those fields. */
function restatedChanges({ steps }: Schedule, { changes }: Diff, { live }: OrderInput): ReadonlyMap<ResourceId, Change> {
  const found = liveById(live.resources);
  const stated = new Map(changes.map((change) => [liveKeyOf(change), change.fields.length]));
  return new Map(
    steps.flatMap((step) => {
      const id = liveKeyOf(step.change);
      const change = withRestored(step.change, restoredFields(step, found.get(id)?.spec ?? {}));
      return step.key.phase !== 'release' && change.fields.length > (stated.get(id) ?? 0) ? [[id, change] as const] : [];
    }),
  );
}

function withChanges(diff: Diff, closed: ReadonlyMap<ResourceId, Change>, prepared: Prepared): Diff {
  const known = new Set(diff.changes.map(liveKeyOf));
  const added = [...closed].filter(([id]) => !known.has(id)).map(([, change]) => change);
  const kept = diff.changes.map((change) => closed.get(liveKeyOf(change)) ?? change);
  const firstDeletion = kept.findIndex(({ action }) => action === 'delete');
  const end = firstDeletion === -1 ? kept.length : firstDeletion;
  const changes = [...kept.slice(0, end), ...added.toSorted((left, right) => compareText(left.id, right.id)), ...kept.slice(end)];
  return { ...diff, changes, unchanged: diff.unchanged - added.length, seals: sealsOf({ ...diff, changes }, prepared) };
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
      carried: [],
    } as const);
  const stated = new Set(own.fields.map(({ path }) => path));
  const more = closableFields(kind)
    .filter(({ name, path, value }) => !stated.has(path) && !equal(live.spec[name], value))
    .map(({ name, path, empty }) => {
      const value = live.spec[name] ?? empty;
      return { path, before: { value }, after: { value } };
    });
  return { ...own, action: own.action === 'held' ? 'update' : own.action, closed: 'between', fields: [...own.fields, ...more] };
}
