import { groupBy } from '../../model/collections.ts';
import { compareText } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { type Decider, membersText } from '../../model/protection/permission.ts';
import type { ResourceId } from '../../model/resource.ts';
import { type MemberSort, sortPlaces } from '../access/effective-access.ts';
import { machineName } from '../controls/access-rows.ts';
import { uncoveredFiles } from '../access/compare-terms.ts';
import type { AccessPart, Difference, People } from '../access/terms.ts';

/** Who gains: people in all of some groups (`[]`: people in no group that decides anything), or in one of each list; or a machine identity. */
export type Gainer = { readonly groups: readonly string[]; readonly oneOfEach?: MemberSort['places'] } | { readonly machine: string };

/** One way in which people can do more on a connection than before, or the same after less or other approval. */
export type AccessGain = {
  readonly connection: ResourceId;
  readonly who: Gainer;
  readonly verb: AccessMode;
  readonly of: AccessPart;
  /** The runbook, as `REPOSITORY:NAME`; absent for other verbs, and for every runbook. */
  readonly runbook?: string;
  /** What gives it. */
  readonly causes: readonly Decider[];
};

/** What people gain, and the connections on which it cannot be known. */
type AccessGains = { readonly gains: readonly AccessGain[]; readonly unknown: readonly ResourceId[] };

/** Finds what people gain among differences: each group, and people in several groups only where none of these groups gains alone. */
export function gainsIn(differences: readonly Difference[]): AccessGains {
  const byQuestion = groupBy(differences, ({ connection, verb }) => `${connection} ${verb}`);
  const unknown = differences.filter(({ causes }) => causes.unclear !== undefined).map(({ connection }) => connection);
  return { gains: [...byQuestion.values()].flatMap(gainsOfQuestion), unknown: [...new Set(unknown)] };
}

function gainsOfQuestion(differences: readonly Difference[]): readonly AccessGain[] {
  const more = differences.filter(({ causes }) => causes.more !== undefined);
  const alone = new Set<string>();
  return [...groupBy(more, ({ people }) => people)].flatMap(([people, own]) => {
    const gains = groupBy(own.flatMap(fileGains), ({ runbook }) => runbook);
    return [...gains.values()].flatMap(([gain]): readonly AccessGain[] => {
      const { runbook } = gain;
      const keyOf = (group: string): string => `${runbook ?? ''} ${group}`;
      if ('machine' in people) return [gain];
      const { member, groups } = people;
      if (member.length > 1) return member.some((group) => alone.has(keyOf(group))) ? [] : [gain];
      for (const group of member) alone.add(keyOf(group));
      return (member.length === 0 ? [[]] : groups.map((group) => [group])).map((one) => ({ ...gain, who: { groups: one } }));
    });
  });
}

/** Names the runbooks that people gain by a difference; those that they had already, if they need less for them. */
function fileGains({ connection, people, verb, part, terms: [had, has], causes: { more = [] } }: Difference): readonly AccessGain[] {
  const gain = { connection, who: gainerOf(people), verb, causes: more };
  if (verb !== 'runbooks') return [{ ...gain, of: part }];
  const all = has?.files ?? [];
  const isNew = part === 'use' || part === 'files';
  const added = part === 'use' ? all : uncoveredFiles(all, had?.files ?? []);
  return (isNew ? added : all.filter((file) => !added.includes(file))).map((file) => {
    const { repository, name } = file;
    return { ...gain, of: isNew ? 'use' : part, ...(repository === undefined ? {} : { runbook: `${repository}:${name}` }) };
  });
}

/** Returns people as gainers: all of their groups, and those of which each could be in the place of one. */
export function gainerOf(people: People): Gainer {
  if ('machine' in people) return people;
  const { member, places } = people;
  return { groups: member, ...(places.some((list) => list.length > 1) && member.length > 1 ? { oneOfEach: sortPlaces(places) } : {}) };
}

/** Names people: `contractors`, `people in both a and b`, `people in no other group`, `machine identity ci`. */
export function gainerText(who: Gainer): string {
  if ('machine' in who) return machineName(who.machine);
  const { groups, oneOfEach = groups.toSorted(compareText).map((group) => [group]) } = who;
  return groups.length > 1 ? membersText(oneOfEach) : (groups[0] ?? 'people in no other group');
}
