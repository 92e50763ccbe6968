import { addToGroup } from '../../model/collections.ts';
import type { Position } from '../../model/diagnostic.ts';
import { canonical, compareText, type JsonObject } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import { type AccessReference, everyGroup, type ReferenceEntry } from '../../model/protection/access-reference.ts';
import type { Decider, PermissionTerms } from '../../model/protection/permission.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { accessModes, seeingAll } from '../access/effective-access.ts';
import { isEasierApproval } from '../controls/compare-approvals.ts';
import { readPostures } from '../posture/posture.ts';
import { allConnections, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { isAbout } from './check-access-tests.ts';
import { entryParts, termsProblem } from './check-expectation.ts';
import { expectedText } from './expectation-texts.ts';
import { decidingFacts, listsDeciding, neededText, permissionTerms, type PermissionSubject } from './permission.ts';

/** People who could do more than a reference allows, or of whom that cannot be known. */
export type ExceededReference = {
  readonly reference: string;
  /** The entry that says so; that of the reference where none is about the group. */
  readonly at: Position;
  readonly connection: ResourceId;
  /** All groups of the people; empty: people in no group that an entry names. */
  readonly groups: readonly string[];
  readonly verb: AccessMode;
  readonly outcome: 'exceeds' | 'unknown';
  /** What they may have, and what they have. */
  readonly most: string;
  readonly found: string;
  /** What decides it. */
  readonly by: readonly Decider[];
};

/** A connection as it was before a plan. */
export type EarlierConnection = { readonly id: ResourceId; readonly spec: JsonObject };

/**
 * Finds everything that people can do and a reference does not grant them: exactly, over all combinations of groups. People in several groups
 * may have what one of them may have. `formerOf` returns the connection as it was: a changed tag or name does not lift a bound with it.
 */
export function checkAccessReferences(
  references: readonly AccessReference[],
  snapshot: ProtectionSnapshot,
  formerOf: (id: ResourceId) => EarlierConnection | undefined = () => undefined,
): readonly ExceededReference[] {
  if (references.length === 0) return [];
  const postures = readPostures(snapshot);
  return allConnections(snapshot)
    .toSorted(compareText)
    .flatMap((id): readonly ExceededReference[] => {
      const posture = postures(id);
      if (posture === undefined) return [];
      const sorts = accessModes.map((verb) => [verb, sortPeople({ id, posture, snapshot }, verb)] as const);
      const former = formerOf(id);
      return references.flatMap((reference) => {
        const own = entriesAbout(reference, id, snapshot.resources.get(id)?.spec);
        const earlier = former === undefined ? own : formerEntries(reference, id, former);
        const [text, other] = [own, earlier].map((entries) => entries.map((one) => one.text).join('\n'));
        const distinct = text === other ? [own] : [own, earlier];
        const found = distinct.flatMap((entries) =>
          sorts.flatMap(([verb, people]) => exceeding(people, boundsOf(reference, entries, verb))),
        );
        return [...new Map(found.map((one) => [canonical([one.verb, [...one.groups], one.at.line]), one])).values()];
      });
    });
}

/** Returns the entries about a connection. */
export function entriesAbout({ entries }: AccessReference, id: ResourceId, spec: JsonObject | undefined): readonly ReferenceEntry[] {
  return entries.filter(({ on }) => isAbout(on, nameOf(id), spec));
}

/** Returns the entries about a connection as it was; by its name now where none names the former one, such as a reference that follows a rename. */
export function formerEntries(reference: AccessReference, id: ResourceId, former: EarlierConnection): readonly ReferenceEntry[] {
  const isNamed = entriesAbout(reference, former.id, undefined).length > 0;
  return entriesAbout(reference, isNamed ? former.id : id, former.spec);
}

/** What may be granted at most: entries that all bind, or none where everything may be. */
export type Bound = { readonly at: Position; readonly entries: readonly BoundEntry[] } | undefined;

type BoundEntry = Pick<ReferenceEntry, 'expect' | 'longest'>;

type Bounds = {
  readonly reference: AccessReference;
  readonly named: readonly string[];
  readonly boundOf: (group: string) => Bound;
  /** What people may have in groups that no entry names. */
  readonly others: Bound;
};

const denied = { expect: 'denied', longest: undefined } as const;

/** Returns the most that each group may have of a verb on a connection that the entries are about. */
export function boundsOf(reference: AccessReference, entries: readonly ReferenceEntry[], verb: AccessMode): Bounds {
  const byGroup = new Map<string, ReferenceEntry[]>();
  for (const entry of entries) addToGroup(byGroup, entry.groups[0] ?? '', entry);
  const isForVerb = ({ verbs }: ReferenceEntry): boolean => verbs === undefined || verbs.includes(verb);
  const statedFor = (group: string): Bound => {
    const own = byGroup.get(group) ?? [];
    const forVerb = own.filter(isForVerb);
    const [first] = [...forVerb.filter(({ expect }) => expect === 'denied'), ...forVerb];
    if (first !== undefined) return { at: first.at, entries: first.expect === 'denied' ? [denied] : forVerb };
    const granting = own.find(({ expect }) => expect !== 'denied');
    return granting && { at: granting.at, entries: [denied] };
  };
  const fallback: Bound = reference.others === 'denied' ? { at: reference.at, entries: [denied] } : undefined;
  const others = statedFor(everyGroup) ?? fallback;
  const boundOf = (group: string): Bound => statedFor(group) ?? (seeingAll.includes(group) ? undefined : others);
  return { reference, named: [...byGroup.keys()].filter((group) => group !== everyGroup), boundOf, others };
}

/** One sort of people: those in the same of the lists that decide about a verb, which the bits of `is` number. */
type Sort = { readonly is: number; readonly members: readonly string[]; readonly terms: PermissionTerms };

type People = {
  readonly subject: PermissionSubject;
  readonly verb: AccessMode;
  /** The lists that each deciding group is in; other groups are in none. */
  readonly listsOf: ReadonlyMap<string, number>;
  /** Every sort that some groups make, those in the fewest lists first. */
  readonly sorts: readonly Sort[];
};

function sortPeople(subject: PermissionSubject, verb: AccessMode): People {
  const listsOf = new Map<string, number>();
  for (const [index, list] of listsDeciding(subject, verb).entries())
    for (const group of list) listsOf.set(group, (listsOf.get(group) ?? 0) | (1 << index));
  const members = new Map<number, readonly string[]>([[0, []]]);
  for (const [is, those] of members)
    for (const [group, lists] of listsOf) if (!members.has(is | lists)) members.set(is | lists, [...those, group]);
  const sorts = [...members].map(([is, those]): Sort => ({
    is,
    members: those,
    terms: permissionTerms(subject, { groups: those, verb }),
  }));
  return { subject, verb, listsOf, sorts: sorts.toSorted((left, right) => bitCount(left.is) - bitCount(right.is)) };
}

function bitCount(bits: number): number {
  return bits.toString(2).replaceAll('0', '').length;
}

/** The bound of a group, which a sort of people exceeds. */
type Exceeded = { readonly group: string | undefined; readonly lists: number; readonly problem: Problem; readonly at: Position };

type Problem = Pick<ExceededReference, 'outcome'> & { readonly entry: BoundEntry; readonly parts: ReadonlySet<string> };

/** Finds the people of a connection whose every group may have less than they have; those in several only where no fewer of them suffice. */
function exceeding({ subject, verb, listsOf, sorts }: People, bounds: Bounds): readonly ExceededReference[] {
  const { named, others, reference } = bounds;
  const groups = [...new Set([...named, ...listsOf.keys()])].map((group) => ({
    group,
    lists: listsOf.get(group) ?? 0,
    bound: bounds.boundOf(group),
  }));
  const bounded = [...groups.filter(({ bound }) => bound !== undefined), { group: undefined, lists: 0, bound: others }];
  const free = sorts.filter(({ is }) =>
    isUnionOf(
      is,
      groups.flatMap(({ bound, lists }) => (bound === undefined ? [lists] : [])),
    ),
  );
  const alone = new Set<string>();
  const found: (readonly [Sort, readonly Exceeded[]])[] = [];
  for (const sort of sorts.filter(({ terms }) => terms.answer !== 'no')) {
    const within = bounded.flatMap(({ group, lists, bound }): readonly Exceeded[] => {
      const problem = bound === undefined || (lists & ~sort.is) !== 0 ? undefined : boundProblem(sort.terms, bound, verb);
      return problem === undefined || bound === undefined ? [] : [{ group, lists, problem, at: bound.at }];
    });
    const single = within.filter(({ lists }) => lists === sort.is);
    for (const one of single) {
      found.push([sort, [one]]);
      if (one.group !== undefined && one.problem.outcome === 'exceeds') alone.add(one.group);
    }
    const several = togetherIn(sort, { within: within.filter(({ group }) => group !== undefined && !alone.has(group)), free });
    const isKnown = found.some(([, those]) => several.length > 0 && those.every(({ group }) => several.some((one) => one.group === group)));
    if (several.length > 0 && !isKnown) found.push([sort, several]);
  }
  return found.map(([sort, those]) => exceededReference({ subject, verb, reference }, sort, those));
}

function isUnionOf(is: number, lists: readonly number[]): boolean {
  const within = lists.filter((one) => (one & ~is) === 0);
  return within.length > 0 && within.reduce((all, one) => all | one, 0) === is;
}

type Together = { readonly within: readonly Exceeded[]; readonly free: readonly Sort[] };

/**
 * Returns groups that together make people of a sort: those with a bound alone, or with groups without one, which may have what they can do
 * without the others. Nothing if each such person may have it.
 */
function togetherIn(sort: Sort, { within, free }: Together): readonly Exceeded[] {
  const [first] = within;
  if (first === undefined) return [];
  const cover = (start: number): readonly Exceeded[] | undefined => {
    const chosen: Exceeded[] = [];
    let is = start;
    for (const one of within.toSorted((left, right) => bitCount(right.lists) - bitCount(left.lists))) {
      if ((one.lists & ~is) === 0) continue;
      chosen.push(one);
      is |= one.lists;
    }
    return is === sort.is ? (chosen.length === 0 ? [first] : chosen) : undefined;
  };
  const bounded = cover(0);
  if (bounded !== undefined && bounded.length > 1) return bounded;
  for (const other of free) {
    if ((other.is & ~sort.is) !== 0) continue;
    const easier = easierThan(sort.terms, other.terms);
    const chosen = easier === undefined ? undefined : cover(other.is);
    if (easier === undefined || chosen === undefined) continue;
    const names = other.members.map((group): Exceeded => ({ ...first, group, problem: { ...first.problem, outcome: easier } }));
    return [...chosen, ...names];
  }
  return [];
}

/** Returns whether people have more than others, or whether that cannot be known; undefined if they do not. */
function easierThan(one: PermissionTerms, other: PermissionTerms): ExceededReference['outcome'] | undefined {
  if (other.answer === 'no') return one.answer === 'yes' ? 'exceeds' : 'unknown';
  const [longest, limit] = [one.longest ?? Number.POSITIVE_INFINITY, other.longest ?? Number.POSITIVE_INFINITY];
  if (one.approval === 'unknown' || other.approval === 'unknown') {
    if (longest <= limit && one.answer === other.answer && one.approval === other.approval) return undefined;
    return 'unknown';
  }
  if (isEasierApproval(one.approval, other.approval) || longest > limit) return one.answer === 'yes' ? 'exceeds' : 'unknown';
  return other.answer === 'unknown' && one.answer === 'yes' ? 'unknown' : undefined;
}

/** Returns what people have beyond a bound, or cannot be known to have; undefined if they are within it. */
function boundProblem(terms: PermissionTerms, { entries }: NonNullable<Bound>, verb: AccessMode): Problem | undefined {
  const problems = entries.flatMap((entry): readonly Problem[] => {
    if (entry.expect === 'denied') return [{ entry, parts: entryParts, outcome: excessOf(terms, 'failed') }];
    const problem = termsProblem(terms, entry, verb);
    return problem === undefined ? [] : [{ entry, parts: new Set(problem.parts), outcome: excessOf(terms, problem.outcome) }];
  });
  return problems.find(({ outcome }) => outcome === 'exceeds') ?? problems[0];
}

function excessOf({ answer }: PermissionTerms, outcome: 'failed' | 'unknown' = 'failed'): Problem['outcome'] {
  return answer === 'yes' && outcome === 'failed' ? 'exceeds' : 'unknown';
}

function exceededReference(
  { subject, verb, reference }: Pick<People, 'subject' | 'verb'> & Pick<Bounds, 'reference'>,
  { terms }: Sort,
  those: readonly Exceeded[],
): ExceededReference {
  const groups = [...new Set(those.flatMap(({ group }) => group ?? []))].toSorted(compareText);
  const { problem, at } = those.find((one) => one.problem.outcome === 'unknown') ?? those[0] ?? noProblem();
  const facts = decidingFacts(subject, { groups, verb });
  const by = facts.filter(({ part }) => problem.parts.has(part)).flatMap((fact) => fact.by);
  const unsure = facts.find(({ answer }) => answer === 'unknown')?.text ?? 'what decides it';
  return {
    reference: reference.name,
    at,
    connection: subject.id,
    groups,
    verb,
    outcome: problem.outcome,
    most: expectedText({ masked: [], blocked: [], ...problem.entry }),
    found: problem.outcome === 'exceeds' ? neededText(terms) : `cannot be known: ${terms.approval === 'unknown' ? 'the approval' : unsure}`,
    by,
  };
}

function noProblem(): never {
  throw new Error('people without groups exceed nothing');
}
