import { addToGroup } from '../model/collections.ts';
import { formatPosition } from '../model/diagnostic.ts';
import { type Change, liveKeyOf } from '../model/plan/plan.ts';
import type { Headline } from '../model/protection/protection.ts';
import { kindOf, type ResourceId } from '../model/resource.ts';
import type { PlanSnapshots } from './posture/diff-postures.ts';
import type { GivenUp } from './risk/given-up.ts';
import { sharedTags } from './shared-tags.ts';

/** Builds one headline for each control that new objects give up and each file that gives it. */
export function givenUpHeadlines(
  changes: readonly Change[],
  givenUp: ReadonlyMap<ResourceId, readonly GivenUp[]>,
  { postureAfter }: PlanSnapshots,
): readonly Headline[] {
  const groups = new Map<string, { readonly change: Change; readonly one: GivenUp }[]>();
  for (const change of changes)
    for (const one of givenUp.get(liveKeyOf(change)) ?? [])
      addToGroup(groups, [nounOf(change), one.class, one.what, one.file].join('\0'), { change, one });
  return [...groups.values()].flatMap((members): readonly Headline[] => {
    const [first] = members;
    if (first === undefined) return [];
    const { change, one } = first;
    const unique = [...new Map(members.map((member) => [liveKeyOf(member.change), member.change])).values()];
    const ids = unique.map(liveKeyOf).filter((id) => kindOf(id) === 'Connection');
    const isSingle = unique.length === 1;
    const verb = one.class === 'unknown' ? ['may give up', 'may give up'] : ['gives up', 'give up'];
    const text = `${unique.length} new ${nounOf(change)}${isSingle ? '' : 's'} ${verb[isSingle ? 0 : 1] ?? ''} ${one.what} that ${one.file} gives`;
    const causes = unique.map(({ id, at }) => ({ by: id, ...(at === undefined ? {} : { place: formatPosition(at) }) }));
    return [{ direction: one.class, text, connections: ids, tags: sharedTags(ids.map((id) => postureAfter(id)?.tags ?? {})), causes }];
  });
}

function nounOf(change: Change): string {
  return kindOf(liveKeyOf(change)) === 'Connection' ? 'connection' : 'rule';
}
