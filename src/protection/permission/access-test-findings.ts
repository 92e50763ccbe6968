import { firstOf, groupBy } from '../../model/collections.ts';
import type { DesiredState } from '../../model/desired.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import { type AccessExpectation, type AccessTestResult, namedGroups } from '../../model/protection/access-test.ts';
import type { Decider } from '../../model/protection/permission.ts';
import { accessModes, type RoleNames } from '../../model/protection/access-objects.ts';
import { seeingAll } from '../access/effective-access.ts';
import type { ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { isForUsersAlone } from './check-expectation.ts';
import { deciderPositions } from './decider-positions.ts';

/** Returns what names an object or a field: the line of its manifest, or the object where the gateway alone decides. */
export function deciderTexts(
  desired: Pick<DesiredState, 'resources'>,
  state?: Pick<ProtectionSnapshot, 'resources'>,
): (decider: Decider) => string {
  const positionOf = deciderPositions(desired, state);
  return (decider) => {
    const at = positionOf(decider);
    return at === undefined ? decider.id : `${at.file}:${at.line}`;
  };
}

/** Results of one expectation with the same finding, for several connections. */
export type FoldedResult = Omit<AccessTestResult, 'connection'> & { readonly connections: readonly string[] };

/** Folds the results of an expectation that found the same of the same people for several connections. */
export function foldResults(results: readonly AccessTestResult[]): readonly FoldedResult[] {
  const groups = groupBy(results, ({ at, about, who, found }) => [formatPosition(at), about, who, found].join('\n'));
  return [...groups.values()].map((all) => {
    const because = [...new Set(all.flatMap((one) => one.because))];
    return { ...all[0], because, connections: all.map(({ connection }) => connection) };
  });
}

/** Returns what an expectation found, of whom, and what decides it. */
export function failureTexts({ about, who, connections, found, because }: FoldedResult): {
  readonly message: string;
  readonly hint?: string;
} {
  const message = `${about}, but ${who === undefined ? '' : `${who} `}on ${firstOf(connections, 3)}: ${found}`;
  return because.length === 0 ? { message } : { message, hint: `decided by ${firstOf(because, 5)}` };
}

/**
 * Returns what an expectation asks of a connection and none of the other ones about it asks: nothing, all of it, or the same of the groups that are no
 * longer among the others. One that asks for as much or more replaces another one.
 */
export function missingExpectations(
  lost: AccessExpectation,
  now: readonly AccessExpectation[],
  roles: RoleNames,
): readonly AccessExpectation[] {
  const seeing = seeingAll([{ roles }]);
  if (now.some((one) => one.text === lost.text || (coversPeople(one, lost, seeing) && covers(one, lost)))) return [];
  const { people } = lost;
  if ('groups' in people) return [lost];
  const narrower = now.flatMap((one) => ('outside' in one.people && covers(one, lost) ? [one.people.outside] : []));
  const parts = narrower.map((outside) =>
    outside
      .filter((group) => !people.outside.includes(group))
      .filter((group) => !now.some((one) => namedGroups(one).join() === group && covers(one, lost)))
      .map((group): AccessExpectation => ({ ...lost, people: { groups: [group] }, text: `${group}\n${lost.text}` })),
  );
  return parts.toSorted((left, right) => left.length - right.length)[0] ?? [lost];
}

/** Returns whether an expectation is about all people of another one. An approval that others need does not let each of them in. */
function coversPeople(one: AccessExpectation, other: AccessExpectation, seeing: readonly string[]): boolean {
  const [own, asked] = [one.people, other.people];
  if ('groups' in own) return 'groups' in asked && includesAll(own.groups, asked.groups) && includesAll(asked.groups, own.groups);
  if ('outside' in asked) return includesAll(asked.outside, own.outside);
  return !isForUsersAlone(one) && !asked.groups.some((group) => own.outside.includes(group) || seeing.includes(group));
}

/** Returns whether an expectation asks, of the people that it is about, for everything that another one asks of its own. */
function covers(one: AccessExpectation, other: AccessExpectation): boolean {
  if (!coversVerbs(one, other)) return false;
  if (isForUsersAlone(other) && one.expect === 'denied') return true;
  return (
    coversAnswer(one.expect, other.expect) &&
    (other.longest === undefined || (one.longest !== undefined && one.longest <= other.longest)) &&
    includesAll(one.masked, other.masked) &&
    includesAll(one.blocked, other.blocked) &&
    includesAll(one.tools, other.tools)
  );
}

function includesAll(all: readonly string[], some: readonly string[]): boolean {
  return some.every((one) => all.includes(one));
}

/** Without verbs, `denied` and the least approval of others are about all of them, and everything else about those that are possible. */
function coversVerbs(one: AccessExpectation, other: AccessExpectation): boolean {
  const isAboutAll = isForUsersAlone(other);
  const [own, asked] = [one, other].map(({ verbs, expect }) => verbs ?? (isAboutAll || expect === 'denied' ? accessModes : undefined));
  return own === undefined ? asked === undefined : asked !== undefined && includesAll(own, asked);
}

/** Returns whether an answer asks for everything that another one asks for. */
function coversAnswer(one: AccessExpectation['expect'], other: AccessExpectation['expect']): boolean {
  if (typeof one === 'string') return one === other;
  if (typeof other === 'string') return other === 'allowed';
  const isFrom = other.from.length === 0 || (one.from.length > 0 && includesAll(other.from, one.from));
  const isForced = other.forcedBy === undefined || (one.forcedBy !== undefined && includesAll(other.forcedBy, one.forcedBy));
  return isFrom && isForced && one.atLeast >= other.atLeast;
}
