import { canonical, compareText, type Json } from '../model/json.ts';
import type { Impact, TagCount, ProtectionVerdict } from '../model/protection/protection.ts';
import { kindOf } from '../model/resource.ts';
import type { Contribution } from './posture/causes.ts';
import type { AffectedConnection } from './posture/diff-postures.ts';

/** One cause with the connections that it affects. */
type ImpactGroup = {
  readonly cause: Pick<Impact, 'by' | 'path' | 'edges' | 'way' | 'byHand'>;
  readonly members: AffectedConnection[];
  readonly places: Set<string>;
};

const verdictOrder: readonly ProtectionVerdict[] = ['weakens', 'both', 'unknown', 'neutral', 'strengthens'];

/**
 * Lists for each cause the connections whose protection it changes, with their tags. Weakening causes come first, then those
 * with the most connections. All attachments (or detachments) of one rule are one cause; so is one field of many connections.
 */
export function computeImpacts(all: readonly AffectedConnection[]): readonly Impact[] {
  const causes = new Map<string, ImpactGroup>();
  for (const affected of all) {
    if (affected.change.comes === true) continue;
    for (const contribution of [...affected.contributions.values()].flat()) {
      const cause = causeOf(contribution);
      const key = canonical({ ...cause });
      const group = causes.get(key) ?? { cause, members: [], places: new Set() };
      causes.set(key, group);
      if (group.members.at(-1) !== affected) group.members.push(affected);
      if (contribution.cause.place !== undefined) group.places.add(contribution.cause.place);
    }
  }
  const impacts = [...causes.values()].map(({ cause, members, places }): Impact => ({
    ...cause,
    places: [...places],
    connections: members.map(({ change }) => change.connection),
    tags: tagsOf(members),
  }));
  return impacts
    .filter((one) => !isCoveredByRule(one, impacts))
    .toSorted(
      (left, right) =>
        verdictOrder.indexOf(left.way) - verdictOrder.indexOf(right.way) ||
        right.connections.length - left.connections.length ||
        compareText(nameOf(left), nameOf(right)),
    );
}

/** Returns the key of a cause. The same field of several connections is one cause; an edge belongs to its rule. */
function causeOf({ cause, way }: Contribution): ImpactGroup['cause'] {
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

/** Returns whether the creation or deletion of the rule already covers the impact of its edges. */
function isCoveredByRule({ by, path, edges, way, connections }: Impact, all: readonly Impact[]): boolean {
  if (by === undefined || path !== undefined || edges !== true) return false;
  const whole = all.find((one) => one.by === by && one.path === undefined && one.edges === undefined && one.way === way);
  return whole !== undefined && connections.every((id) => whole.connections.includes(id));
}

/** Counts the connections for each tag, the most frequent tag first. */
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
