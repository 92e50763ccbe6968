import { onFirstUse } from '../../model/collections.ts';
import { asObject, type JsonObject } from '../../model/json.ts';
import type { AccessExpectation, AccessTest, AccessTestResult } from '../../model/protection/access-test.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { accessModes } from '../../model/protection/access-objects.ts';
import { matchesGlob } from '../pattern/glob.ts';
import { allConnections, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { checkExpectation, type ExpectationResult, type TestTools } from './check-expectation.ts';
import { expectedText, statedText, tagsText } from './expectation-texts.ts';
import { isInMore, listExpectedPeople, type PeopleOfExpectation } from './expected-people.ts';
import { type PermissionSubject, permissionTerms } from './permission.ts';

/** Returns whether tests simulate rules, so that they need the pattern compiler. */
export function needsPatterns(tests: readonly AccessTest[]): boolean {
  return tests.some(({ expectations }) => expectations.some(({ blocked }) => blocked.length > 0));
}

/**
 * Checks access tests in one state of a gateway. Each expectation has a result for each connection that it is about, and one for each sort of people
 * where several do not meet it. With an earlier state, what is not met says what it was there for the same people.
 */
export function checkAccessTests(
  tests: readonly AccessTest[],
  snapshot: ProtectionSnapshot,
  tools: TestTools,
  earlier?: ProtectionSnapshot,
): readonly AccessTestResult[] {
  if (tests.length === 0) return [];
  const subjects = subjectsIn(snapshot);
  const formerSubjects = onFirstUse(() => new Map((earlier === undefined ? [] : subjectsIn(earlier)).map((one) => [one.id, one])));
  return tests.flatMap(({ name, expectations }) =>
    expectations.flatMap((expectation): readonly AccessTestResult[] => {
      const head = { test: name, at: expectation.at, about: statedText(expectation), expected: expectedText(expectation) };
      const missing = missingNames(expectation, subjects);
      const missed = earlier === undefined || missing.length === 0 ? [] : missingNames(expectation, [...formerSubjects().values()]);
      const formerOf = (id: ResourceId): PermissionSubject | undefined => {
        const former = formerSubjects().get(id);
        return former !== undefined && isMeant(expectation, former) ? former : undefined;
      };
      return [
        ...missing.map((connection): AccessTestResult => ({
          ...head,
          connection,
          outcome: 'failed',
          found: 'no such connection',
          because: [],
          ...(missed.includes(connection) ? { before: 'failed' } : {}),
        })),
        ...subjects
          .filter((subject) => isMeant(expectation, subject))
          .flatMap((subject) => resultsOn(expectation, { subject, formerOf }, tools))
          .map(({ connection, ...result }): AccessTestResult => ({ ...head, connection: nameOf(connection), ...result })),
      ];
    }),
  );
}

function subjectsIn(snapshot: ProtectionSnapshot): readonly PermissionSubject[] {
  return allConnections(snapshot)
    .toSorted()
    .map((id) => ({ id, snapshot }));
}

type TestedConnection = {
  readonly subject: PermissionSubject;
  /** Returns a connection in an earlier state; undefined where the expectation was not about it. */
  readonly formerOf?: (id: ResourceId) => PermissionSubject | undefined;
  /** Leaves people out. */
  readonly counts?: (groups: readonly string[]) => boolean;
};

type ConnectionResult = ExpectationResult & Pick<AccessTestResult, 'who' | 'before'> & { readonly connection: ResourceId };

/** Returns one result where everybody meets an expectation, and otherwise one for each sort of people who do not, and have what no other sort has. */
function resultsOn(
  expectation: AccessExpectation,
  { subject, formerOf, counts = () => true }: TestedConnection,
  tools: TestTools,
): readonly ConnectionResult[] {
  const resultsIn = (...states: readonly PermissionSubject[]): readonly PeopleResult[] =>
    listExpectedPeople(expectation, states)
      .filter(({ groups }) => counts(groups))
      .map((people) => ({ people, result: checkExpectation(expectation, { subject, groups: people.groups }, tools) }));
  const all = resultsIn(subject);
  if (all.every(isPassed)) return all.slice(0, 1).map(({ result }) => ({ connection: subject.id, ...result }));
  const former = formerOf?.(subject.id);
  // Who is alike now may have differed earlier.
  const found =
    former === undefined
      ? all
      : resultsIn(subject, former).map((one) => ({
          ...one,
          before: checkExpectation(expectation, { subject: former, ...one.people }, tools).outcome,
        }));
  return distinctFailures(found).map(({ people: { who }, result, before }) => ({ connection: subject.id, who, before, ...result }));
}

type PeopleResult = {
  readonly people: PeopleOfExpectation;
  readonly result: ExpectationResult;
  readonly before?: AccessTestResult['outcome'];
};

function isPassed({ result }: PeopleResult): boolean {
  return result.outcome === 'passed';
}

/** Returns failures without those of people of whom the same is found as of people in fewer groups, who are in no other list. */
function distinctFailures(all: readonly PeopleResult[]): readonly PeopleResult[] {
  const failures = all.filter((one) => !isPassed(one));
  const isSame = (one: PeopleResult, other: PeopleResult): boolean =>
    one.result.outcome === other.result.outcome && one.result.found === other.result.found && one.before === other.before;
  return failures.filter((one) => !failures.some((other) => isSame(one, other) && isInMore(one.people, other.people)));
}

/** A connection that leads where another one led before. */
export type OtherWay = { readonly guarded: ResourceId; readonly through: ResourceId };

/** Checks access tests of connections on other ways to the same place, for people who get there by them; lists only what fails. */
export function checkOtherWays(
  tests: readonly AccessTest[],
  ways: readonly OtherWay[],
  snapshot: ProtectionSnapshot,
  tools: TestTools,
): readonly AccessTestResult[] {
  return ways.flatMap(({ guarded, through }): readonly AccessTestResult[] => {
    if (!snapshot.resources.has(through)) return [];
    const subject: PermissionSubject = { id: through, snapshot };
    const about = tests.flatMap(({ name, expectations }) => expectations.map((expectation) => ({ name, expectation })));
    return about.flatMap(({ name, expectation }): readonly AccessTestResult[] => {
      const { on, verbs = accessModes, at } = expectation;
      if (!isAbout(on, nameOf(guarded), snapshot.resources.get(guarded)?.spec)) return [];
      const counts = (groups: readonly string[]): boolean =>
        verbs.some((verb) => permissionTerms(subject, { groups, verb }).answer !== 'no');
      const head = { test: name, at, about: statedText(expectation), expected: expectedText(expectation) };
      return resultsOn(expectation, { subject, counts }, tools)
        .filter(({ outcome }) => outcome === 'failed')
        .map((result) => ({ ...head, ...result, connection: `${nameOf(guarded)} through ${nameOf(through)}` }));
    });
  });
}

/** Returns the names that match no connection: a test of nothing would always pass. */
function missingNames({ on }: AccessExpectation, subjects: readonly PermissionSubject[]): readonly string[] {
  if ('tags' in on) return subjects.some((subject) => isMeant({ on }, subject)) ? [] : [tagsText(on.tags)];
  return on.names.filter((pattern) => !subjects.some(({ id }) => matchesGlob(pattern, nameOf(id))));
}

function isMeant({ on }: Pick<AccessExpectation, 'on'>, { id, snapshot }: PermissionSubject): boolean {
  return isAbout(on, nameOf(id), snapshot.resources.get(id)?.spec);
}

/** Returns whether an entry is about a connection, by its name or the tags in its spec. */
export function isAbout(on: AccessExpectation['on'], name: string, spec: JsonObject | undefined): boolean {
  return 'tags' in on ? hasTags(on.tags, spec) : on.names.some((pattern) => matchesGlob(pattern, name));
}

/** Returns whether the spec of a connection has all of some tags. */
export function hasTags(tags: Readonly<Record<string, string>>, spec: JsonObject | undefined): boolean {
  const own = asObject(spec?.['connection_tags']);
  return Object.entries(tags).every(([key, value]) => Object.hasOwn(own, key) && own[key] === value);
}
