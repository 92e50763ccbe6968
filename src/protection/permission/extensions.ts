import { desiredById, type DesiredResource, type DesiredState } from '../../model/desired.ts';
import { textsIn } from '../../model/json.ts';
import { isAttribute } from '../../model/protection/access-objects.ts';
import { isExtended, movedEnds, type MovedEnd } from '../../model/protection/moved-ends.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import type { ProtectionSnapshot } from '../posture/protection-snapshot.ts';

/** A group whose access ends at another time, and the connections that the manifest grants to it. */
export type Extension = { readonly resource: DesiredResource; readonly end: MovedEnd; readonly reached: readonly ResourceId[] };

/** The manifests now, and as they were applied. */
export type AppliedManifests = { readonly desired: DesiredState; readonly base: DesiredState | undefined };

/** Returns what manifests grant for longer than the applied ones: until a later day, or without an end. */
export function findExtensions(manifests: AppliedManifests, snapshot: ProtectionSnapshot): readonly Extension[] {
  return findMovedEnds(manifests, snapshot).filter(({ end }) => isExtended(end));
}

/** Returns what manifests grant for longer or shorter than the applied ones. */
export function findMovedEnds({ desired, base }: AppliedManifests, { resources }: ProtectionSnapshot): readonly Extension[] {
  const applied = base === undefined || base === desired ? new Map<ResourceId, DesiredResource>() : desiredById(base.resources);
  const reachedBy = ({ key }: DesiredResource): readonly ResourceId[] =>
    isAttribute(key) ? [...resources].flatMap(([id, { spec }]) => (textsIn(spec['attributes']).includes(nameOf(key)) ? [id] : [])) : [key];
  return desired.resources.flatMap((resource) =>
    movedEnds(resource, applied.get(resource.id)).map((end) => ({ resource, end, reached: reachedBy(resource) })),
  );
}

/** Returns `without an end, was until 2026-12-01`, or `until 2027-01-01, was 2026-12-01`. */
export function extensionText({ until, was }: MovedEnd): string {
  return until === undefined ? `without an end, was until ${was}` : `until ${until}, was ${was}`;
}
