import { canonical, compareText, type Json } from '../model/json.ts';
import type { Impact, TagCount, ProtectionVerdict } from '../model/protection/protection.ts';
import { kindOf } from '../model/resource.ts';
import type { Contribution } from './posture/causes.ts';
import type { AffectedConnection } from './posture/diff-postures.ts';

/** What one cause was found to reach. */
type ImpactGroup = {
  readonly reach: Pick<Impact, 'by' | 'path' | 'edges' | 'way' | 'byHand'>;
  readonly members: AffectedConnection[];
  readonly places: Set<string>;
};

const verdictOrder: readonly ProtectionVerdict[] = ['weakens', 'both', 'unknown', 'neutral', 'strengthens'];

/**
 * Counts for each cause the connections whose protection it changes, and the tags that these have: what weakens stands first,
 * then what reaches farthest. All edges of one rule that come, or go, are one cause, and so is one field of many connections.
 */
export function computeImpacts(all: readonly AffectedConnection[]): readonly Impact[] {
  const causes = new Map<string, ImpactGroup>();
  for (const touched of all) {
    if (touched.change.comes === true) continue;
    for (const bearing of [...touched.contributions.values()].flat()) {
      const reach = causeOf(bearing);
      const key = canonical({ ...reach });
      const found = causes.get(key) ?? { reach, members: [], places: new Set() };
      causes.set(key, found);
      if (found.members.at(-1) !== touched) found.members.push(touched);
      if (bearing.cause.place !== undefined) found.places.add(bearing.cause.place);
    }
  }
  const reaches = [...causes.values()].map(({ reach, members, places }): Impact => ({
    ...reach,
    places: [...places],
    connections: members.map(({ change }) => change.connection),
    tags: tagsOf(members),
  }));
  return reaches
    .filter((one) => !isCoveredByRule(one, reaches))
    .toSorted(
      (left, right) =>
        verdictOrder.indexOf(left.way) - verdictOrder.indexOf(right.way) ||
        right.connections.length - left.connections.length ||
        compareText(nameOf(left), nameOf(right)),
    );
}

/** What connections do by themselves is one cause for all that do it; an edge is its rule's, whichever end declares it. */
function causeOf({ cause, way }: Contribution): ImpactGroup['reach'] {
  const { by, path, edge, byHand } = cause;
  const isOwn = kindOf(by) === 'Connection';
  const rule = !isOwn ? by : path === undefined ? edge : undefined;
  return {
    ...(rule === undefined ? {} : { by: rule }),
    ...(path === undefined ? {} : { path }),
    ...(edge === undefined ? {} : { edges: true }),
    way,
    ...(byHand === undefined ? {} : { byHand }),
  };
}

function nameOf({ by, path }: Pick<Impact, 'by' | 'path'>): string {
  return [by, path].join(' ');
}

/** A rule that comes or goes as a whole takes its edges along. */
function isCoveredByRule({ by, path, edges, way, connections }: Impact, all: readonly Impact[]): boolean {
  if (by === undefined || path !== undefined || edges !== true) return false;
  const whole = all.find((one) => one.by === by && one.path === undefined && one.edges === undefined && one.way === way);
  return whole !== undefined && connections.every((id) => whole.connections.includes(id));
}

/** How many have each tag, the most frequent first. */
function tagsOf(members: readonly AffectedConnection[]): readonly TagCount[] {
  const counts = new Map<string, number>();
  for (const { change } of members) {
    for (const [key, value] of Object.entries(change.tags)) counts.set(tagText(key, value), (counts.get(tagText(key, value)) ?? 0) + 1);
  }
  return [...counts]
    .map(([tag, connections]) => ({ tag, connections }))
    .toSorted((left, right) => right.connections - left.connections || compareText(left.tag, right.tag));
}

function tagText(key: string, value: Json): string {
  return `${key}=${typeof value === 'string' ? value : canonical(value)}`;
}
