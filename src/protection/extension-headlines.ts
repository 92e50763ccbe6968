import { addToGroup } from '../model/collections.ts';
import { formatPosition } from '../model/diagnostic.ts';
import type { Headline } from '../model/protection/protection.ts';
import { nameOf } from '../model/resource.ts';
import { controlRow } from './controls/control-table.ts';
import { type AppliedManifests, type Extension, extensionText, findExtensions } from './permission/extensions.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';
import { sharedTags } from './shared-tags.ts';

/** Builds one headline for each group that keeps its access for longer, and each of its old and new ends. */
export function extensionHeadlines(manifests: AppliedManifests, { after, postureAfter }: PlanSnapshots): readonly Headline[] {
  const groups = new Map<string, Extension[]>();
  for (const one of findExtensions(manifests, after)) addToGroup(groups, [one.end.group, one.end.until ?? '', one.end.was].join('\0'), one);
  return [...groups.values()].flatMap((members): readonly Headline[] => {
    const end = members[0]?.end;
    const reached = [...new Set(members.flatMap((one) => one.reached))];
    const ids = reached.filter((id) => postureAfter(id) !== undefined);
    const [first] = ids;
    if (end === undefined || first === undefined) return [];
    const what = ids.length === 1 ? nameOf(first) : `${ids.length} connections`;
    const causes = members.map(({ resource, end: { path } }) => ({ by: resource.id, path, place: formatPosition(resource.locate(path)) }));
    const tags = sharedTags(ids.map((id) => postureAfter(id)?.tags ?? {}));
    return [
      {
        direction: 'weakens',
        text: `${end.group} can reach ${what} ${extensionText(end)}`,
        connections: ids,
        tags,
        causes,
        weight: controlRow('who').weight,
      },
    ];
  });
}
