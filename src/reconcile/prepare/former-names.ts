import { type BaseState, type DesiredResource, desiredByKey, type DesiredState, formerIdOf } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Registry } from '../../model/kind.ts';
import { liveById, type LiveState } from '../../model/live.ts';
import type { Renames } from '../../model/plan/plan.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';

/** The live objects that get new names, and the managed ones that cannot, by their new names. */
type FormerNames = {
  readonly renames: Renames;
  readonly taken: ReadonlyMap<ResourceId, ResourceId>;
  readonly diagnostics: readonly Diagnostic[];
};

/** What decides whether a former name counts: the manifests that were applied last, and whether a live object is ours. */
type NameHistory = {
  readonly live: LiveState;
  readonly base: BaseState | undefined;
  readonly registry: Registry;
  /** Returns whether the base or the record has the object. */
  readonly isOurs: (key: ResourceId) => boolean;
};

/**
 * Returns the manifests with the former names that count. Where the gateway has an object with the new name, a former name says nothing about it
 * if one of the two is not ours. A rename or a replacement that the base states, and that the manifests undo, is one in the other direction.
 */
export function withKnownNames(desired: DesiredState, history: NameHistory): DesiredState {
  const { base, live, isOurs } = history;
  if (base === undefined) return desired;
  const found = liveById(live.resources);
  const undone = findUndone(desired, base, history);
  const resources = desired.resources.map((resource) => {
    const former = formerIdOf(resource);
    const back = undone.get(resource.id);
    if (back !== undefined) return { ...resource, [back.how]: nameOf(back.key) };
    const isOther = (key: ResourceId): boolean => found.has(key) && !isOurs(key);
    if (former === undefined || !found.has(resource.key) || !(isOther(resource.key) || isOther(former))) return resource;
    const { renamedFrom: _, replaces: __, ...rest } = resource;
    return rest;
  });
  return { ...desired, resources };
}

/** The object that has another name since, and the field of its manifest that states the former one. */
type UndoneName = { readonly key: ResourceId; readonly how: 'renamedFrom' | 'replaces' };

/** Returns the objects that get the name back that they, or their predecessors, had before, by that name. */
function findUndone(desired: DesiredState, base: BaseState, { live, registry }: NameHistory): ReadonlyMap<ResourceId, UndoneName> {
  const found = liveById(live.resources);
  const known = new Set([...desired.resources, ...desired.unselected].flatMap(({ id, key }) => [id, key]));
  const named = new Set(desired.resources.map(formerIdOf));
  const applied = desiredByKey(base.desired.resources);
  const free = new Set(desired.resources.flatMap((one) => (formerIdOf(one) === undefined ? [one.id] : [])));
  const isFree = (id: ResourceId): boolean => free.has(id) && !found.has(id) && !applied.has(id);
  const undone = new Map<ResourceId, UndoneName>();
  for (const { id, key, renamedFrom, replaces } of base.desired.resources) {
    if (known.has(key) || named.has(key) || !found.has(key)) continue;
    const isRenamable = registry.get(kindOf(id))?.renamable === true;
    const stated = formerIdOf({
      id,
      ...(isRenamable && renamedFrom !== undefined ? { renamedFrom } : replaces === undefined ? {} : { replaces }),
    });
    const former = namesBefore(key, stated, base).find(isFree);
    if (former === undefined || undone.has(former)) continue;
    undone.set(former, { key, how: isRenamable && (former !== stated || renamedFrom !== undefined) ? 'renamedFrom' : 'replaces' });
  }
  return undone;
}

/** Lists the names that an object had before, the last one first: what its manifest states, and what the record knows of each name. */
function namesBefore(key: ResourceId, stated: ResourceId | undefined, { names = new Map() }: BaseState): readonly ResourceId[] {
  const all = new Set(stated === undefined ? [] : [stated]);
  for (const one of [key, ...all]) for (const former of names.get(one) ?? []) all.add(former);
  return [...all];
}

/** Finds the former names that are still live; a former name that is not live any more has no effect. */
export function resolveFormerNames(desired: DesiredState, live: LiveState): FormerNames {
  const renamed = desired.resources.filter((resource) => formerIdOf(resource) !== undefined);
  if (renamed.length === 0) return { renames: new Map(), taken: new Map(), diagnostics: [] };
  const found = liveById(live.resources);
  const taken = new Map<ResourceId, ResourceId>();
  const declared = new Set([...desired.resources, ...desired.unselected].map(({ id }) => id));
  const renames = new Map<ResourceId, ResourceId>();
  const diagnostics: Diagnostic[] = [];
  for (const resource of renamed) {
    const former = formerIdOf(resource);
    if (former === undefined) continue;
    if (declared.has(former) || renames.has(former)) diagnostics.push(takenName(resource, former, declared.has(former)));
    else if (resource.renamedFrom !== undefined && found.has(former) && !found.has(resource.key)) {
      if (found.get(former)?.managedBy === undefined) renames.set(former, resource.key);
      else taken.set(resource.key, former);
    }
  }
  return { renames, taken, diagnostics };
}

function takenName({ id, locate }: DesiredResource, former: ResourceId, isDeclared: boolean): Diagnostic {
  return {
    code: 'plan/former-name-declared',
    severity: 'error',
    message: `${id} replaces ${former}, ${isDeclared ? 'which still has a manifest' : 'but another manifest also replaces it'}`,
    hint: isDeclared ? 'remove that manifest, or remove the former name from this one' : 'keep the former name in only one of them',
    at: locate(''),
    resource: id,
  };
}
