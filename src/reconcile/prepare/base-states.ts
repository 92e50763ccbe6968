import type { Remembered, RememberedObject } from '../../model/applied-record.ts';
import {
  type BaseState,
  type DeclaredEdge,
  type DesiredResource,
  type DesiredState,
  desiredById,
  desiredByKey,
  isSameManifest,
} from '../../model/desired.ts';
import { compareText } from '../../model/json.ts';
import { type LiveState, liveById } from '../../model/live.ts';
import { type ResourceId, edgeKey } from '../../model/resource.ts';

/** The objects that are ours although no complete apply declares them, by key; only live ones. */
export type OwnObjects = ReadonlyMap<ResourceId, RememberedObject>;

/** Returns the remembered objects that are still live: an object with another id of the gateway is another object. */
export function ownObjects(remembered: Remembered | undefined, live: LiveState): OwnObjects {
  if (remembered === undefined) return new Map();
  const found = liveById(live.resources);
  const isOurs = ({ key, uid }: RememberedObject): boolean => {
    const object = found.get(key);
    return object !== undefined && (uid === undefined || uid === object.uid);
  };
  return new Map(remembered.objects.filter(isOurs).map((one) => [one.key, one]));
}

/** Returns the base with the last manifests of objects that are ours beyond it. An object whose creation may be incomplete is left out: it has no earlier form. */
export function withRemembered(base: BaseState | undefined, remembered: Remembered | undefined, own: OwnObjects): BaseState | undefined {
  if (base === undefined || remembered === undefined || own.size === 0) return base;
  const declared = desiredByKey(base.desired.resources);
  const more = [...own.values()].flatMap(({ key, resource, unfinished }) =>
    resource === undefined || unfinished === true || declared.has(key) ? [] : [resource],
  );
  if (more.length === 0) return base;
  const { desired, removedIn } = base;
  const removals = [...own.values()].flatMap(({ id, removedIn: commit, subject = '' }) =>
    commit === undefined ? [] : [[id, { id: commit, subject }] as const],
  );
  return {
    ...base,
    desired: { ...desired, resources: [...desired.resources, ...more], edges: [...desired.edges, ...remembered.edges] },
    removedIn: new Map([...removals, ...removedIn]),
  };
}

/** Returns the last manifests of objects that are ours and not part of the base, for finding those that were removed. */
export function manifestsBeyond(base: BaseState | undefined, own: OwnObjects): readonly DesiredResource[] {
  const declared = desiredByKey(base?.desired.resources ?? []);
  return [...own.values()].flatMap(({ id, key, resource }) => (declared.has(key) ? [] : [resource ?? unreadManifest(id, key)]));
}

/** Returns a manifest that declares nothing but the object: its last manifest cannot be read. */
function unreadManifest(id: ResourceId, key: ResourceId): DesiredResource {
  return {
    id,
    key,
    spec: {},
    stated: new Set(),
    secrets: {},
    wholeSecrets: [],
    ignore: [],
    protect: false,
    adopt: false,
    locate: () => ({ file: '', line: 1, column: 1 }),
    locateIgnore: () => ({ file: '', line: 1, column: 1 }),
  };
}

/** The manifests of a branch with what was applied since it started, and the objects that are missing from the branch. */
type MergedBranch = { readonly desired: DesiredState; readonly behind: readonly ResourceId[] };

/**
 * Merges applied changes into a branch as a merge of the commits would: an object that the branch left as it was at the fork is as it
 * was applied. What the branch changed stays as it is.
 */
export function mergeBehind(branch: DesiredState, fork: DesiredState, applied: DesiredState): MergedBranch {
  const [before, after] = [desiredById(fork.resources), desiredById(applied.resources)];
  const hidden = new Set(branch.unselected.map(({ id }) => id));
  const behind = new Set<ResourceId>();
  const kept = branch.resources.flatMap((resource): readonly DesiredResource[] => {
    const [then, now] = [before.get(resource.id), after.get(resource.id)];
    if (then === undefined || !isSameManifest(then, resource) || (now !== undefined && isSameManifest(now, resource))) return [resource];
    behind.add(resource.id);
    return now === undefined ? [] : [now];
  });
  const declared = new Set(branch.resources.map(({ id }) => id));
  const added = applied.resources.filter(({ id }) => !before.has(id) && !declared.has(id) && !hidden.has(id));
  for (const { id } of added) behind.add(id);
  const edges = mergeEdges(branch, fork, applied, (id) => behind.add(id));
  const desired = { ...branch, resources: [...kept, ...added], edges };
  return behind.size === 0 ? { desired: branch, behind: [] } : { desired, behind: [...behind].toSorted(compareText) };
}

/** Merges the declared edges; reports the objects whose edges are missing from the branch. */
function mergeEdges(
  branch: DesiredState,
  fork: DesiredState,
  applied: DesiredState,
  report: (id: ResourceId) => void,
): readonly DeclaredEdge[] {
  const [own, before, after] = [branch, fork, applied].map(({ edges }) => new Map(edges.map((edge) => [edgeKey(edge), edge])));
  const lost = [...(own ?? [])].filter(([text]) => before?.has(text) === true && after?.has(text) !== true);
  const gained = [...(after ?? [])].filter(([text]) => before?.has(text) !== true && own?.has(text) !== true);
  for (const [, { declarations }] of [...lost, ...gained]) for (const { by } of declarations) report(by);
  const dropped = new Set(lost.map(([text]) => text));
  return [...branch.edges.filter((edge) => !dropped.has(edgeKey(edge))), ...gained.map(([, edge]) => edge)];
}
