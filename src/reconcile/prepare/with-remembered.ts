import { desiredByKey, type BaseState, type DesiredResource } from '../../model/desired.ts';
import type { Remembered, RememberedObject } from '../../model/applied-record.ts';
import { liveById, type LiveState } from '../../model/live.ts';
import type { ResourceId } from '../../model/resource.ts';

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
  };
}
