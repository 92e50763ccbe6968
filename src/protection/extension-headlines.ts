import { addToGroup } from '../model/collections.ts';
import { desiredById, type DesiredResource, type DesiredState } from '../model/desired.ts';
import { formatPosition } from '../model/diagnostic.ts';
import { textsIn } from '../model/json.ts';
import { isExtended, movedEnds, type MovedEnd } from '../model/protection/moved-ends.ts';
import { isAttribute } from '../model/protection/access-objects.ts';
import type { Headline } from '../model/protection/protection.ts';
import { nameOf, type ResourceId } from '../model/resource.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';
import { sharedTags } from './shared-tags.ts';

type Manifests = { readonly desired: DesiredState; readonly base: DesiredState | undefined };

/** Builds one headline for each group that keeps its access for longer, and each of its old and new ends. */
export function extensionHeadlines({ desired, base }: Manifests, { after, postureAfter }: PlanSnapshots): readonly Headline[] {
  const applied = base === undefined || base === desired ? new Map<ResourceId, DesiredResource>() : desiredById(base.resources);
  const groups = new Map<string, { readonly resource: DesiredResource; readonly end: MovedEnd }[]>();
  for (const resource of desired.resources)
    for (const end of movedEnds(resource, applied.get(resource.id)).filter(isExtended))
      addToGroup(groups, [end.group, end.until ?? '', end.was].join('\0'), { resource, end });
  const reachedBy = ({ key }: DesiredResource): readonly ResourceId[] =>
    isAttribute(key)
      ? [...after.resources].flatMap(([id, { spec }]) => (textsIn(spec['attributes']).includes(nameOf(key)) ? [id] : []))
      : [key];
  return [...groups.values()].flatMap((members): readonly Headline[] => {
    const end = members[0]?.end;
    const reached = [...new Set(members.flatMap(({ resource }) => reachedBy(resource)))];
    const ids = reached.filter((id) => postureAfter(id) !== undefined);
    const [first] = ids;
    if (end === undefined || first === undefined) return [];
    const what = ids.length === 1 ? nameOf(first) : `${ids.length} connections`;
    const now = end.until === undefined ? 'without an end, was until' : `until ${end.until}, was`;
    const causes = members.map(({ resource, end: { path } }) => ({ by: resource.id, path, place: formatPosition(resource.locate(path)) }));
    const tags = sharedTags(ids.map((id) => postureAfter(id)?.tags ?? {}));
    return [{ direction: 'weakens', text: `${end.group} can reach ${what} ${now} ${end.was}`, connections: ids, tags, causes }];
  });
}
