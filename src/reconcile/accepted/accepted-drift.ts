import { addToGroup, EdgeMap } from '../../model/collections.ts';
import { type BaseState, desiredByKey, type DesiredResource, type DesiredState, leftSecrets } from '../../model/desired.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import { compareText, type JsonObject } from '../../model/json.ts';
import { comparedFields, type Kind } from '../../model/kind.ts';
import type { LiveResource, LiveState } from '../../model/live.ts';
import {
  type AcceptedDrift,
  type AcceptedEdge,
  type Change,
  type Diff,
  type EdgeChange,
  type FieldChange,
  isSecretChange,
  liveKeyOf,
  otherEnd,
  remainingOrphans,
  type UnwrittenSecret,
  deletedKeys,
} from '../../model/plan/plan.ts';
import { isWithinAny, type Pointer } from '../../model/pointer.ts';
import { type EdgeEnds, type ResourceId, edgeKey, kindOf } from '../../model/resource.ts';
import type { DesiredSecret } from '../../model/secret.ts';
import { withTools } from '../../model/spec/tool-lists.ts';
import type { PlanSnapshots } from '../../protection/posture/diff-postures.ts';
import { compareSecrets } from '../cells/secret-cells.ts';
import { compareSpecs } from '../cells/compare-specs.ts';
import { edgeField } from '../cells/edge-cells.ts';
import { declaringPlaces } from '../diff/diff-edges.ts';
import { createFields, positionsOf } from '../diff/draft-change.ts';
import { draftDelete } from '../diff/removed-objects.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { type PlannedStates, statesSince } from '../prepare/snapshots.ts';
import { gatewayAtBase, type GatewayAtBase } from './gateway-at-base.ts';

/** Accepted drift whose effect is not assessed yet. */
type UnassessedDrift = Omit<AcceptedDrift, 'risks' | 'by' | 'when'>;

/** What differs between the gateway as the base left it and as the plan leaves it, and which of that the plan does not write. */
export type AcceptedDiff = PlannedStates & {
  /** The gateway as the base left it, under the names after the plan. */
  readonly live: LiveState;
  readonly desired: DesiredState;
  readonly entries: readonly UnassessedDrift[];
  /** Whether something was certainly changed outside Ostiary, so that the audit log may name who did. */
  readonly isAudited: boolean;
};

/** Both ends of the comparison, and the plan between them. */
type Ends = {
  readonly prepared: Prepared;
  readonly base: BaseState;
  readonly plan: Diff;
  readonly atBase: GatewayAtBase;
  readonly after: PlanSnapshots['after'];
  /** The successors of connections that drifted, by their ids. */
  readonly replaced: ReadonlyMap<ResourceId, ResourceId>;
};

/** Finds the drift that the manifests accept: what the gateway has since the base and keeps. Undefined without a base, and without such drift. */
export function findAccepted(prepared: Prepared, planned: PlannedStates, base: BaseState | undefined): AcceptedDiff | undefined {
  const { diff: plan } = planned;
  const atBase = base && gatewayAtBase(prepared, plan, base);
  if (base === undefined || atBase === undefined) return undefined;
  const { after, predecessors } = planned.snapshots();
  // A connection that another one replaces is compared as that one.
  const replaced = new Map([...predecessors].flatMap(([id, predecessor]) => (atBase.edited.has(predecessor) ? [[predecessor, id]] : [])));
  const ends = { prepared, base, plan, atBase, after, replaced };
  const desired = statedState(ends);
  const written = new Map(plan.changes.map((change) => [liveKeyOf(change), change]));
  const edges = changedEdges(ends, desired);
  const writers = new Set(edges.flatMap(({ by }) => by ?? []));
  const changes = changedObjects(ends, written, writers);
  const entries = findEntries(changes, edges, { plan, written });
  const isAudited = entries.some(({ action, fields, edges: own }) => action === 'create' || fields.length + own.length > 0);
  const states = statesSince(atBase.live, planned, {
    diff: { ...plan, changes, edges },
    desired,
    registry: prepared.input.registry,
    gone: [...ends.replaced.keys()],
  });
  return { ...states, live: atBase.live, desired, entries, isAudited };
}

/** Returns the manifests that describe the gateway after the plan: with orphans that stay, and with the secrets that they leave to the gateway. */
function statedState({ prepared: { named }, base, atBase: { edited, orphans } }: Ends): DesiredState {
  const applied = desiredByKey(base.desired.resources);
  const resources = named.desired.resources.map((resource) => {
    const [past, live] = [applied.get(resource.key), named.liveById.get(resource.key)];
    return past === undefined || live === undefined || !edited.has(resource.key) ? resource : stateLeft(resource, past, live);
  });
  return { ...named.desired, resources: [...resources, ...orphans.values()] };
}

/** Returns a manifest with the live values of the secrets that it stated in the base and leaves to the gateway now. */
function stateLeft(resource: DesiredResource, past: DesiredResource, live: LiveResource): DesiredResource {
  const isIgnoredNow = (path: Pointer): boolean => isWithinAny(path, resource.ignore) && !isWithinAny(path, past.ignore);
  const ignored = [...Object.keys(live.secrets), ...Object.keys(resource.secrets)].filter(isIgnoredNow);
  const left = new Set([...leftSecrets(resource, past), ...ignored]);
  if (left.size === 0) return resource;
  const secrets: Record<Pointer, DesiredSecret> = { ...resource.secrets };
  for (const path of left) {
    const found = live.secrets[path];
    if (found?.state === 'value') secrets[path] = found;
    else if (found !== undefined || isWithinAny(path, live.unknown)) secrets[path] = { state: 'keep', source: 'keep' };
    else delete secrets[path];
  }
  const ignore = resource.ignore.filter((path) => isWithinAny(path, past.ignore));
  return { ...resource, spec: withTools(resource.spec, secrets), secrets, ignore };
}

/** Lists the objects that differ between both ends, or write an attachment that differs; deletions last. */
function changedObjects(ends: Ends, written: ReadonlyMap<ResourceId, Change>, writers: ReadonlySet<ResourceId>): readonly Change[] {
  const { prepared, base, atBase } = ends;
  const { registry } = prepared.input;
  const manifests = new Map([...desiredByKey(prepared.named.desired.resources), ...atBase.orphans]);
  const applied = desiredByKey(base.desired.resources);
  const keys = new Set([...written.keys(), ...atBase.edited.keys(), ...atBase.restored.keys(), ...atBase.imported, ...writers]);
  const changes = [...keys].flatMap((key): readonly Change[] => {
    const [kind, plans, manifest] = [registry.get(kindOf(key)), written.get(key), manifests.get(key)];
    const past = applied.get(key);
    const restored = atBase.restored.get(key);
    if (kind === undefined) return [];
    const isLeft = restored === undefined && plans !== undefined && !atBase.edited.has(key) && !atBase.imported.has(key);
    if (isLeft) return [plans];
    const replacedBy = ends.replaced.get(key);
    const gone = manifest !== undefined ? undefined : (restored ?? (replacedBy === undefined ? undefined : atBase.edited.get(key)));
    if (gone !== undefined && past !== undefined)
      return [{ ...draftDelete(kind, { base: past, live: gone }), ...(replacedBy === undefined ? {} : { replacedBy }), needs: [] }];
    if (manifest === undefined) return plans === undefined ? [] : [plans];
    const fields = atBase.imported.has(key)
      ? createFields(kind, { ...manifest, spec: ends.after.resources.get(key)?.spec ?? {} }, compareSecrets(manifest, undefined).fields)
      : changedFields(kind, key, ends, plans);
    const action = atBase.imported.has(key)
      ? 'create'
      : plans?.action === 'rename' || plans?.action === 'blocked'
        ? plans.action
        : 'update';
    if (fields.length === 0 && !writers.has(key) && plans === undefined) return [];
    const { id } = manifest;
    const own = plans?.key ?? (key === id ? undefined : key);
    const name = own === undefined ? {} : { key: own };
    const at = { at: manifest.locate(''), positions: positionsOf(fields, manifest) };
    return [
      {
        id,
        ...name,
        action,
        ...at,
        fields,
        needs: [],
        carried: plans?.carried ?? [],
      },
    ];
  });
  const [others, deletions] = [changes.filter(({ action }) => action !== 'delete'), changes.filter(({ action }) => action === 'delete')];
  return [others, deletions].flatMap((all) => all.toSorted((one, other) => compareText(one.id, other.id)));
}

/** Compares an object as the base left it with what the plan leaves of it; of secrets, what manifests and plan say of them. */
function changedFields(
  kind: Kind,
  key: ResourceId,
  { prepared, plan, atBase, after }: Ends,
  plans: Change | undefined,
): readonly FieldChange[] {
  const live = prepared.named.liveById.get(key);
  const was = atBase.edited.get(key) ?? atBase.restored.get(key) ?? live;
  const spec = after.resources.get(key)?.spec ?? {};
  const fields = comparedFields(kind);
  const whole: JsonObject = Object.fromEntries(fields.map(({ name, empty }) => [name, spec[name] ?? empty]));
  const held = new Set(plans?.fields.flatMap((field) => (field.held === true ? [field.path] : [])));
  const plain = compareSpecs(fields, whole, was?.spec ?? {}, live?.unknown ?? []).filter(({ path }) => !held.has(path));
  const moved = (path: Pointer): boolean => was !== undefined && live !== undefined && was.secrets[path] !== live.secrets[path];
  const id = plans?.id ?? key;
  const secrets = plan.unwrittenSecrets.filter((one) => one.id === id && moved(one.path)).map(secretField);
  const isMoved = ({ path, origin }: FieldChange): boolean => origin !== 'drift' && !secrets.some((one) => one.path === path);
  const stated = plans?.fields.filter((field) => isSecretChange(field) && isMoved(field)) ?? [];
  return [...plain, ...[...stated, ...secrets].toSorted((one, other) => compareText(one.path, other.path))];
}

/** Returns a secret that the manifests changed as a field: both sides are those of manifests. */
function secretField({ path, before, after }: UnwrittenSecret): FieldChange {
  const isSameSource = 'secret' in before && 'secret' in after && before.secret === after.secret;
  if (!isSameSource) return { path, before, after };
  return { path, before, after, cause: after.secret === 'inline' ? 'inline' : 'file' };
}

/** Lists the attachments that differ between both ends, with the objects that have them in their manifests. */
function changedEdges({ prepared, plan, atBase }: Ends, desired: DesiredState): readonly EdgeChange[] {
  const { named, input } = prepared;
  const [declared, manifests] = [new EdgeMap(desired.edges), desiredByKey(desired.resources)];
  const [made, removed] = [new EdgeMap(atBase.edges.made), new EdgeMap(atBase.edges.removed)];
  const planned = new EdgeMap(plan.edges.filter(({ action }) => action !== 'foreign'));
  const deletes = deletedKeys(plan.changes);
  const changed = (ends: EdgeEnds, action: AcceptedEdge['action']): readonly EdgeChange[] => {
    const { rule, connection } = ends;
    const deleted = [rule, connection].find((id) => !manifests.has(id) && (atBase.restored.has(id) || deletes.has(id)));
    const wasLive = named.liveById.has(connection) && !atBase.imported.has(connection);
    const writers = action === 'detach' || wasLive ? [rule, connection] : [connection, rule];
    const by = deleted ?? writers.find((id) => manifests.has(id) && edgeField(id, otherEnd(ends, id), input.registry) !== undefined);
    if (by === undefined) return [];
    const edge = declared.get(ends);
    const places = edge === undefined ? [] : declaringPlaces(edge, manifests).map(({ at }) => formatPosition(at));
    return [{ rule, connection, action, by, declared: places }];
  };
  return [
    ...made.without(planned).flatMap((ends) => changed(ends, 'attach')),
    ...removed.without(planned).flatMap((ends) => (declared.has(ends) ? [] : changed(ends, 'detach'))),
    ...plan.edges.filter((edge) => (edge.action === 'attach' ? !removed.has(edge) : edge.action === 'detach' && !made.has(edge))),
  ];
}

/** Returns the changes and attachments that the plan does not write. */
function findEntries(
  changes: readonly Change[],
  edges: readonly EdgeChange[],
  { plan, written }: { readonly plan: Diff; readonly written: ReadonlyMap<ResourceId, Change> },
): readonly UnassessedDrift[] {
  const writtenEdges = new Set(plan.edges.map((edge) => `${edge.action} ${edgeKey(edge)}`));
  const remaining = new Set(remainingOrphans(plan).map(({ id }) => id));
  const edgesBy = new Map<ResourceId, AcceptedEdge[]>();
  for (const { rule, connection, action, declared, by } of edges) {
    if (by === undefined || (action !== 'attach' && action !== 'detach') || writtenEdges.has(`${action} ${edgeKey({ rule, connection })}`))
      continue;
    addToGroup(edgesBy, by, { rule, connection, action, declared });
  }
  return changes.flatMap((change): readonly UnassessedDrift[] => {
    const { id, key, at, positions } = change;
    const plans = written.get(liveKeyOf(change));
    // An object that apply creates replaces one that was changed, and one that apply deletes was not deleted before.
    const isWrittenToo = plans !== undefined && (change.action === 'create' || (change.action === 'delete' && plans.action === 'delete'));
    const action = isWrittenToo ? 'update' : change.action;
    if (action === 'blocked' || action === 'held' || (action === 'delete' && remaining.has(id))) return [];
    const fields = isWrittenToo ? [] : unwrittenFields(change, plans);
    const own = edgesBy.get(liveKeyOf(change)) ?? [];
    const name = key === undefined ? {} : { key };
    return [
      { id, ...name, action, ...(at === undefined ? {} : { at }), fields, ...(positions === undefined ? {} : { positions }), edges: own },
    ];
  });
}

/** Returns the fields that the plan does not write. The fields of an import are those of the gateway. */
function unwrittenFields({ action, fields }: Change, written: Change | undefined): readonly FieldChange[] {
  if (action === 'create') return [];
  const known = new Set(written?.fields.map(({ path }) => path));
  return fields
    .filter(({ path }) => !known.has(path))
    .map(({ path, before, after, cause }) => ({ path, before, after, ...(cause === undefined ? {} : { cause }) }));
}
