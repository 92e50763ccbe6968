import { canonical, equal, type JsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { liveById, liveEdges, type LiveResource, type LiveState } from '../model/live.ts';
import { type Change, isSecretChange, isWritten, liveKeyOf, type Plan, type Refusal, renamesOf, withNames } from '../model/plan/plan.ts';
import { pointer, type Pointer } from '../model/pointer.ts';
import { type EdgeEnds, edgeKey, kindOf, type ResourceId } from '../model/resource.ts';
import { specAfter } from '../model/spec/edit.ts';
import { isCompared } from './fingerprint.ts';
import { staleRefusals } from './stale-refusals.ts';

type PlannedWrites = Pick<Plan, 'changes' | 'edges'>;

type RestInput = {
  /** The plan that was approved, and interrupted. */
  readonly approved: Plan;
  /** The plan of the same manifests on what is live now. */
  readonly rest: PlannedWrites;
  readonly live: LiveState;
  readonly registry: Registry;
};

/**
 * Returns why a plan is not the rest of an approved one that was interrupted. It is the rest if every object and attachment is live as
 * the approved plan found it, leaves it, or leaves it between two writes, and if both plans lead to the same end and hold the same. Secrets are not compared.
 */
export function restRefusals({ approved, rest, live: read, registry }: RestInput): readonly Refusal[] {
  const live = withNames(read, renamesOf(approved.changes));
  const stale = staleRefusals({ plan: approved, steps: [], live: read, registry, secretOf: () => undefined });
  const found = new Set(stale.map(({ resource }) => resource));
  const [wanted, got] = [endsOf(approved, live, registry), endsOf(rest, live, registry)];
  const index = liveById(live.resources);
  const stateOf = (id: ResourceId): End => compared(index.get(id)?.spec, id, registry);
  const differing = [...new Set([...wanted.keys(), ...got.keys()])].flatMap((id): readonly Refusal[] => {
    const fields = differingFields(wanted.get(id) ?? stateOf(id), got.get(id) ?? stateOf(id));
    return fields.length === 0 || found.has(id) ? [] : [movedSince(id, fields.join(', '))];
  });
  return [
    ...stale,
    ...createdByOthers(approved, rest, { index, registry }),
    ...differing,
    ...differingEdges([approved, rest], live, registry),
    ...newDrift(approved, rest),
  ];
}

function movedSince(id: ResourceId, what: string): Refusal {
  return {
    code: 'plan/moved',
    message: `it changed since the approved plan began: ${what}`,
    hint: 'review this plan and pass its digest to approve it',
    allowable: false,
    resource: id,
  };
}

/** The compared fields of an object after a plan; undefined if it does not exist then. */
type End = JsonObject | undefined;

/** Returns the state of every written object after the plan. */
function endsOf({ changes }: PlannedWrites, live: LiveState, registry: Registry): ReadonlyMap<ResourceId, End> {
  const byUid = new Map(live.resources.map((resource) => [`${kindOf(resource.id)} ${resource.uid}`, resource]));
  const index = liveById(live.resources);
  return new Map(
    changes.filter(isWritten).map((change): readonly [ResourceId, End] => {
      const kind = registry.get(kindOf(change.id));
      // A gateway may derive the id of an object from what the plan changes.
      const found = byUid.get(`${kindOf(change.id)} ${change.uid ?? ''}`) ?? index.get(liveKeyOf(change));
      const id = found?.id ?? liveKeyOf(change);
      if (kind === undefined || change.action === 'delete') return [id, undefined];
      return [id, compared(specAfter(change, kind, found?.spec ?? {}), id, registry)];
    }),
  );
}

function compared(spec: JsonObject | undefined, id: ResourceId, registry: Registry): End {
  const fields = (registry.get(kindOf(id))?.fields ?? []).filter(isCompared);
  return spec === undefined ? undefined : Object.fromEntries(fields.map(({ name, empty }) => [name, spec[name] ?? empty]));
}

function differingFields(wanted: End, got: End): readonly string[] {
  if (wanted === undefined || got === undefined) return wanted === got ? [] : ['the whole object'];
  return Object.keys(wanted).flatMap((name) => (equal(wanted[name] ?? null, got[name] ?? null) ? [] : [pointer(name)]));
}

type LiveObjects = { readonly index: ReadonlyMap<ResourceId, LiveResource>; readonly registry: Registry };

/** Refuses objects that exist where the approved plan creates one, unless all that is missing is what its second write opens. */
function createdByOthers(approved: PlannedWrites, rest: PlannedWrites, { index, registry }: LiveObjects): readonly Refusal[] {
  const changes = new Map(rest.changes.filter(isWritten).map((change) => [liveKeyOf(change), change]));
  return approved.changes.flatMap((change): readonly Refusal[] => {
    const id = liveKeyOf(change);
    const found = change.action === 'create' ? index.get(id) : undefined;
    if (found === undefined) return [];
    if (found.managedBy !== undefined) return [movedSince(id, `it is managed by ${found.managedBy}`)];
    const closed = closedPaths(found, registry);
    const others = plainPaths(changes.get(id)).filter((path) => !closed.has(path));
    return others.length === 0 ? [] : [movedSince(id, `it was created outside Ostiary, with other values of ${others.join(', ')}`)];
  });
}

/** Returns the fields whose live value closes the object. */
function closedPaths({ id, spec }: LiveResource, registry: Registry): ReadonlySet<Pointer> {
  const fields = registry.get(kindOf(id))?.fields ?? [];
  return new Set(fields.flatMap(({ name, closed }) => (closed !== undefined && equal(closed, spec[name] ?? null) ? [pointer(name)] : [])));
}

function plainPaths(change: Change | undefined): readonly Pointer[] {
  return (change?.fields ?? []).flatMap((field) => (field.held === true || isSecretChange(field) ? [] : [field.path]));
}

/** Refuses differences that the rest does not write, because they are held or blocked, unless the approved plan had them. */
function newDrift(approved: PlannedWrites, rest: PlannedWrites): readonly Refusal[] {
  const known = new Set(unwrittenParts(approved).map((one) => one.join(' ')));
  return unwrittenParts(rest).flatMap(([id, part]) =>
    known.has(`${id} ${part}`) ? [] : [movedSince(id, `it differs from the manifests: ${part}`)],
  );
}

/** Lists the held and blocked parts of a plan as texts, each with its object. */
function unwrittenParts({ changes, edges }: PlannedWrites): readonly (readonly [ResourceId, string])[] {
  const fields = changes.flatMap((change) =>
    change.fields.flatMap(({ path, before, after, held }) =>
      (held === true || !isWritten(change)) && !isSecretChange({ before, after })
        ? [[change.id, `${path}, ${canonical({ ...before })} instead of ${canonical({ ...after })}`] as const]
        : [],
    ),
  );
  const ends = edges.flatMap(({ action, rule, connection }) =>
    action === 'held' || action === 'blocked' ? [[connection, `its attachment to ${rule} is ${action}`] as const] : [],
  );
  return [...fields, ...ends];
}

/** Refuses attachments that only one of the plans leaves. */
function differingEdges(plans: readonly PlannedWrites[], live: LiveState, registry: Registry): readonly Refusal[] {
  const before = new Set(liveEdges(live, registry).map(edgeKey));
  const written = plans.map(({ edges }) => edges.filter(({ action }) => action === 'attach' || action === 'detach'));
  const after = written.map((edges) => new Map(edges.map((edge) => [edgeKey(edge), edge.action === 'attach'])));
  const all = new Map<string, EdgeEnds>(written.flat().map((edge) => [edgeKey(edge), edge]));
  return [...all].flatMap(([key, { rule, connection }]) => {
    const [one, other] = after.map((ends) => ends.get(key) ?? before.has(key));
    return one === other ? [] : [movedSince(connection, `its attachment to ${rule}`)];
  });
}
