import { addToGroup } from '../../model/collections.ts';
import type { Position } from '../../model/diagnostic.ts';
import { compareText, type JsonObject } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { type AccessReference, everyGroup, type ReferenceEntry } from '../../model/protection/access-reference.ts';
import type { ResourceId } from '../../model/resource.ts';
import { accessModes, seeingAll } from '../access/effective-access.ts';
import { allConnections, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { covers, coversAnswer } from './access-test-findings.ts';
import { type Bound, boundsOf, entriesAbout } from './check-access-references.ts';
import { expectedText, statedText } from './check-access-tests.ts';

/** What a reference grants more than an earlier one, or no longer states. */
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
  /** Returns the spec of a connection as it was; undefined for a new one. */
  readonly formerSpec: (id: ResourceId) => JsonObject | undefined;
};

/**
 * Finds what references grant more than those before: for each connection, group and verb, whatever was edited, also the tags of a connection.
 * An entry about no connection is named if no other one states as much.
 */
export function weakenedReferences({ now, earlier, snapshot, formerSpec }: ReferenceSides): readonly WeakenedReference[] {
  const ids = allConnections(snapshot).toSorted(compareText);
  const unique = [...new Map(earlier.map((one) => [`${one.name}\n${contentOf(one)}`, one])).values()];
  const found = unique.flatMap((before): readonly WeakenedReference[] => {
    const after = now.find(({ name }) => name === before.name) ?? now.find((one) => contentOf(one) === contentOf(before));
    const head = { name: before.name, at: after?.at };
    if (after === undefined) return [{ ...head, text: 'is removed', connections: [] }];
    const changes = ids.flatMap((id) => gainsOn(id, [before, after], [formerSpec(id), snapshot.resources.get(id)?.spec]));
    const unseen = before.entries.filter(
      (entry) => !after.entries.some((one) => one.text === entry.text || covers(one, entry)) && isAboutNone(entry, before, ids, snapshot),
    );
    return [
      ...foldGains(changes).map(({ text, connections }) => ({ ...head, text, connections })),
      ...unseen.map((entry) => ({ ...head, text: `no longer states ${statedText(entry)}`, connections: [] })),
    ];
  });
  return [...new Map(found.map((one) => [`${one.name}\n${one.text}`, one])).values()];
}

function contentOf({ others, entries }: AccessReference): string {
  return [others, ...entries.map(({ text }) => text).toSorted(compareText)].join('\n');
}

function isAboutNone(
  entry: ReferenceEntry,
  before: AccessReference,
  ids: readonly ResourceId[],
  { resources }: ProtectionSnapshot,
): boolean {
  const alone = { ...before, entries: [entry] };
  return ids.every((id) => entriesAbout(alone, id, resources.get(id)?.spec).length === 0);
}

type Gain = { readonly group: string; readonly verb: AccessMode; readonly id: ResourceId; readonly was: string; readonly will: string };

function gainsOn(
  id: ResourceId,
  references: readonly [AccessReference, AccessReference],
  [former, spec]: readonly [JsonObject | undefined, JsonObject | undefined],
): readonly Gain[] {
  const [before, after] = references;
  const [were, are] = [entriesAbout(before, id, former ?? spec), entriesAbout(after, id, spec)];
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

function foldGains(gains: readonly Gain[]): readonly Pick<WeakenedReference, 'text' | 'connections'>[] {
  const alike = new Map<string, Gain[]>();
  for (const one of gains) addToGroup(alike, [one.group, one.was, one.will].join('\n'), one);
  return [...alike.values()].map((all) => {
    const [first] = all;
    const connections = [...new Set(all.map(({ id }) => id))];
    const verbs = accessModes.filter((verb) => all.some((one) => one.verb === verb));
    const who = first?.group === everyGroup ? 'groups that it does not name' : first?.group;
    return { text: `lets ${who} have more by ${verbs.join(', ')}: was ${first?.was}, will be ${first?.will}`, connections };
  });
}
