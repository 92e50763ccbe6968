import type { DesiredResource } from '../../model/desired.ts';
import type { Registry, Kind } from '../../model/kind.ts';
import type { Change, Refusal } from '../../model/plan/plan.ts';
import { kindOf, type ResourceId, nameOf } from '../../model/resource.ts';
import { declaredKeys, type StateDiff } from '../diff/diff-states.ts';
import type { RemovedObject } from '../diff/removed-objects.ts';
import { formerIdOf } from '../prepare/former-names.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { findLosses, limitRefusals, type SortedRefusals } from './refusals.ts';
import { equal } from '../../model/json.ts';
import { closableFields } from '../prepare/replacements.ts';
import { comparedFields } from '../diff/resolve-defaults.ts';

/** Refuses mass changes, imports that nobody confirmed, and changed names; measured over all differences, whatever a command applies of them. */
export function checkLimits({ input, base, named, desired }: Prepared, { diff, removed }: StateDiff): SortedRefusals {
  const { registry, limits, allowed, consent } = input;
  let ours = removed.length;
  for (const id of declaredKeys(named.desired)) if (named.liveById.has(id)) ours += 1;
  const applied = new Set(base?.desired.resources.map(({ id }) => id));
  const created = diff.changes.filter(({ id, action }) => action === 'create' && !applied.has(id));
  return limitRefusals(diff.changes, changedNames(created, named.desired.resources, removed, registry), {
    ours,
    losses: findLosses(diff.changes, diff.edges, named.live, registry),
    limits,
    allowed,
    adopts: new Set([...(consent?.adopt ?? []), ...desired.resources.flatMap(({ id, adopt }) => (adopt ? [id] : []))]),
  });
}

/** Refuses new names for removed objects that are still live and the same otherwise. */
function changedNames(
  created: readonly Change[],
  resources: readonly DesiredResource[],
  removed: readonly RemovedObject[],
  registry: Registry,
): readonly Refusal[] {
  if (removed.length === 0 || created.length === 0) return [];
  const ids = new Set<ResourceId>(created.map(({ id }) => id));
  const taken = new Set(resources.map(formerIdOf));
  const free = removed.filter(({ live }) => !taken.has(live.id));
  return resources
    .filter(({ id }) => ids.has(id))
    .flatMap((resource) => {
      const kind = registry.get(kindOf(resource.id));
      return kind === undefined ? [] : (findChangedName(kind, resource, free) ?? []);
    });
}

/**
 * A new name for what is the same thing otherwise, while the one that vanished is still live: a name cannot change on the
 * gateway, so there would be two.
 */
export function findChangedName(kind: Kind, desired: DesiredResource, left: readonly RemovedObject[]): Refusal | undefined {
  if (!kind.named || desired.replaces !== undefined || desired.renamedFrom !== undefined) return undefined;
  const former = left.find(({ base }) => kindOf(base.id) === kind.name && isSameThing(kind, base, desired));
  if (former === undefined) return undefined;
  const field = kind.renamable ? 'renamedFrom' : 'replaces';
  return {
    code: 'plan/immutable-name',
    message: `it is what ${former.base.id} was, under another name; the gateway would have both: ${costOf(kind, former)}`,
    hint: `write metadata.${field}: ${nameOf(former.base.id)}, so that it takes its place; or leave the name as it was`,
    allowable: true,
    resource: desired.id,
    at: desired.locate(''),
  };
}

/** What becomes of the one that vanished: nobody closes it, and its secrets are its own. */
function costOf(kind: Kind, { base: { id }, live }: RemovedObject): string {
  const isOpen = closableFields(kind).some(({ name, value }) => !equal(live.spec[name], value));
  const hasSecrets = Object.keys(live.secrets).length > 0 || live.unknown.length > 0;
  return `${id} stays ${isOpen ? 'open' : 'as it is'}${hasSecrets ? ', and its secrets do not come along' : ''}`;
}

/** Everything that they state is the same, but for what follows from the name. */
function isSameThing(kind: Kind, base: DesiredResource, desired: DesiredResource): boolean {
  const named = Object.keys(kind.createDefaults(nameOf(desired.id)));
  const same = comparedFields(kind).every(({ name }) => named.includes(name) || equal(base.spec[name], desired.spec[name]));
  const ours = new Set(sourcesOf(base));
  const theirs = sourcesOf(desired);
  return same && theirs.length === ours.size && theirs.every((source) => ours.has(source));
}

function sourcesOf({ secrets }: DesiredResource): readonly string[] {
  return Object.entries(secrets).map(([path, { source }]) => `${path} ${source}`);
}
