import { addToGroup } from '../../model/collections.ts';
import type { Position } from '../../model/diagnostic.ts';
import { compareText, type JsonObject } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { type AccessReference, everyGroup, type ReferenceEntry } from '../../model/protection/access-reference.ts';
import type { ResourceId } from '../../model/resource.ts';
import { accessModes, seeingAll } from '../access/effective-access.ts';
import { allConnections, connectionId, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { coversAnswer } from './access-test-findings.ts';
import { type Bound, boundsOf, entriesAbout, type EarlierConnection, formerEntries } from './check-access-references.ts';
import { expectedText, tagsText } from './expectation-texts.ts';

/** What a reference grants more than an earlier one. */
export type WeakenedReference = {
  readonly name: string;
  readonly text: string;
  readonly connections: readonly ResourceId[];
  /** Where the reference is now. */
  readonly at: Position | undefined;
};

type ReferenceSides = {
  readonly now: readonly AccessReference[];
  readonly earlier: readonly AccessReference[];
  readonly snapshot: ProtectionSnapshot;
  /** Returns a connection as it was; undefined for a new one. */
  readonly formerOf: (id: ResourceId) => EarlierConnection | undefined;
};

/**
 * Finds what references grant more than those before: for each connection, group and verb, whatever was edited, also the tags of a connection;
 * and for connections to come, by each name and each tags that an entry has, and by none of them.
 */
export function weakenedReferences({ now, earlier, snapshot, formerOf }: ReferenceSides): readonly WeakenedReference[] {
  const ids = allConnections(snapshot).toSorted(compareText);
  const unique = [...new Map(earlier.map((one) => [`${one.name}\n${contentOf(one)}`, one])).values()];
  const found = unique.flatMap((before): readonly WeakenedReference[] => {
    const after = now.find(({ name }) => name === before.name) ?? now.find((one) => contentOf(one) === contentOf(before));
    const head = { name: before.name, at: after?.at };
    if (after === undefined) return [{ ...head, text: 'is removed', connections: [] }];
    const live = ids.flatMap((id) => {
      const [spec, former] = [snapshot.resources.get(id)?.spec, formerOf(id)];
      const were = former === undefined ? entriesAbout(before, id, spec) : formerEntries(before, id, former);
      return gainsOn(id, [before, after], [were, entriesAbout(after, id, spec)]);
    });
    const known = new Set(live.map(gainKey));
    const future = futureConnections([before, after], ids).flatMap(({ id, spec, where }) => {
      const gains = gainsOn(id, [before, after], [entriesAbout(before, id, spec), entriesAbout(after, id, spec)]);
      const more = gains.filter((gain) => !known.has(gainKey(gain)));
      for (const gain of more) known.add(gainKey(gain));
      return foldGains(more).map(({ who, turn }) => ({ text: `lets ${who} on ${where}: ${turn}`, connections: [] }));
    });
    const changes = foldGains(live).map(({ who, turn, connections }) => ({ text: `lets ${who}: ${turn}`, connections }));
    return [...changes, ...future].map((one) => ({ ...head, ...one }));
  });
  return [...new Map(found.map((one) => [`${one.name}\n${one.text}`, one])).values()];
}

/** A connection that could be created. */
type FutureConnection = { readonly id: ResourceId; readonly spec: JsonObject; readonly where: string };

/** A name that no pattern but `*` is likely to match. */
const otherName = '~'.repeat(60);

/** Returns connections that could be created: with no name or tags of an entry, with a name alone, and with tags alone. */
function futureConnections(references: readonly AccessReference[], known: readonly ResourceId[]): readonly FutureConnection[] {
  const places = references.flatMap(({ entries }) => entries.map(({ on }) => on));
  const names = [...new Set(places.flatMap((on) => ('names' in on ? on.names : [])))];
  const tags = new Map(places.flatMap((on) => ('tags' in on ? [[tagsText(on.tags), on.tags] as const] : [])));
  return [
    { id: connectionId(otherName), spec: {}, where: 'other connections' },
    ...[...tags].map(([where, own]) => ({
      id: connectionId(otherName),
      spec: { connection_tags: own },
      where: `connections with ${where}`,
    })),
    ...names
      .map((pattern) => ({ id: connectionId(pattern.replaceAll(/[*?]/g, '~')), spec: {}, where: pattern }))
      .filter(({ id }) => !known.includes(id)),
  ];
}

function contentOf({ others, entries }: AccessReference): string {
  return [others, ...entries.map(({ text }) => text).toSorted(compareText)].join('\n');
}

type Gain = { readonly group: string; readonly verb: AccessMode; readonly id: ResourceId; readonly was: string; readonly will: string };

function gainKey({ group, verb, was, will }: Gain): string {
  return [group, verb, was, will].join('\n');
}

function gainsOn(
  id: ResourceId,
  [before, after]: readonly [AccessReference, AccessReference],
  [were, are]: readonly [readonly ReferenceEntry[], readonly ReferenceEntry[]],
): readonly Gain[] {
  const named = [...were, ...are].flatMap(({ groups }) => groups);
  const groups = [everyGroup, ...new Set([...named, ...seeingAll].filter((group) => group !== everyGroup))];
  return accessModes.flatMap((verb) => {
    const [had, has] = [boundsOf(before, were, verb), boundsOf(after, are, verb)];
    return groups.flatMap((group): readonly Gain[] => {
      const [was, will] = [had, has].map((bounds) => (group === everyGroup ? bounds.others : bounds.boundOf(group)));
      return isAtMost(will, was) ? [] : [{ group, verb, id, was: boundText(was), will: boundText(will) }];
    });
  });
}

/** Returns whether a bound lets people have nothing that another one does not. */
function isAtMost(one: Bound, other: Bound): boolean {
  if (other === undefined) return true;
  return other.entries.every((asked) => one?.entries.some((own) => own.expect === 'denied' || asksAsMuch(own, asked)) === true);
}

type Answer = NonNullable<Bound>['entries'][number];

function asksAsMuch(one: Answer, other: Answer): boolean {
  const isShort = other.longest === undefined || (one.longest !== undefined && one.longest <= other.longest);
  return isShort && coversAnswer(one.expect, other.expect);
}

function boundText(bound: Bound): string {
  if (bound === undefined) return 'unrestricted';
  return bound.entries.map((entry) => expectedText({ masked: [], blocked: [], ...entry })).join(', and ');
}

type FoldedGain = { readonly who: string; readonly turn: string; readonly connections: readonly ResourceId[] };

function foldGains(gains: readonly Gain[]): readonly FoldedGain[] {
  const alike = new Map<string, Gain[]>();
  for (const one of gains) addToGroup(alike, [one.group, one.was, one.will].join('\n'), one);
  return [...alike.values()].map((all): FoldedGain => {
    const [first] = all;
    const connections = [...new Set(all.map(({ id }) => id))];
    const verbs = accessModes.filter((verb) => all.some((one) => one.verb === verb));
    const group = first?.group === everyGroup ? 'groups that it does not name' : first?.group;
    return { who: `${group} have more by ${verbs.join(', ')}`, turn: `was ${first?.was}, will be ${first?.will}`, connections };
  });
}
