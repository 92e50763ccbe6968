import { groupBy } from '../../model/collections.ts';
import type { DesiredResource, DesiredState } from '../../model/desired.ts';
import { formatPosition, type Position } from '../../model/diagnostic.ts';
import { equal, textsIn } from '../../model/json.ts';
import { overlaps, tokensOf } from '../../model/pointer.ts';
import type { Decider } from '../../model/protection/permission.ts';
import type { Cause } from '../../model/protection/protection.ts';
import type { ProtectionSnapshot } from '../posture/protection-snapshot.ts';

/** Returns where the manifests state what decides a fact; undefined where the gateway alone does. */
export type DeciderPosition = (decider: Decider) => Position | undefined;

/**
 * Returns a lookup of positions by the current and by the new id of each object; the index is built on first use. What is otherwise in a
 * state of the gateway than in its manifest, and what the manifest ignores, is decided by the gateway.
 */
export function deciderPositions(
  { resources }: Pick<DesiredState, 'resources'>,
  state?: Pick<ProtectionSnapshot, 'resources'>,
): DeciderPosition {
  let known: ReadonlyMap<string, DesiredResource> | undefined;
  return ({ id, path }) => {
    known ??= new Map(resources.flatMap((one) => [one.key, one.id].map((own) => [own, one])));
    const resource = known.get(id);
    return resource === undefined || isLiveAlone(resource, path, state) ? undefined : resource.locate(path);
  };
}

/** Returns deciders as causes, each field once. */
export function causesAt(deciders: readonly Decider[], positionOf: DeciderPosition): readonly Cause[] {
  return [...groupBy(deciders, ({ id, path }) => `${id}${path}`).values()].map(([decider]) => {
    const { id: by, path } = decider;
    const at = positionOf(decider);
    return { by, path: path === '' ? undefined : path, place: at && formatPosition(at) };
  });
}

function isLiveAlone(
  { key, spec, ignore }: DesiredResource,
  path: Decider['path'],
  state: Pick<ProtectionSnapshot, 'resources'> | undefined,
): boolean {
  const [field, element] = tokensOf(path);
  const live = state?.resources.get(key)?.spec;
  if (field === undefined || live === undefined) return false;
  if (ignore.some((ignored) => overlaps(ignored, path))) return true;
  if (element === undefined) return !equal(live[field] ?? null, spec[field] ?? null);
  return textsIn(live[field]).includes(element) !== textsIn(spec[field]).includes(element);
}
