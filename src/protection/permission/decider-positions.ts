import { type DesiredState } from '../../model/desired.ts';
import type { Position } from '../../model/diagnostic.ts';
import type { Decider } from '../../model/protection/permission.ts';

/** Returns where the manifests state what decides a fact; undefined for an object without a manifest. */
export type DeciderPosition = (decider: Decider) => Position | undefined;

/** Returns a lookup of positions by the current and by the new id of each object; the index is built on first use. */
export function deciderPositions({ resources }: Pick<DesiredState, 'resources'>): DeciderPosition {
  let known: ReadonlyMap<string, DesiredState['resources'][number]> | undefined;
  return ({ id, path }) => {
    known ??= new Map(resources.flatMap((one) => [one.key, one.id].map((own) => [own, one])));
    return known.get(id)?.locate(path);
  };
}
