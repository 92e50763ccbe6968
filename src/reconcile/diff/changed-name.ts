import type { DesiredResource } from '../../model/desired.ts';
import { equal } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import type { Refusal } from '../../model/plan/plan.ts';
import { kindOf, nameOf } from '../../model/resource.ts';
import { closableFields } from '../prepare/replacements.ts';
import type { RemovedObject } from './removed-objects.ts';
import { comparedFields } from './resolve-defaults.ts';

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
