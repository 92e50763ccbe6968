import { addToGroup, largestOf } from '../../model/collections.ts';
import { asObject, asText, canonical, compareText, definedFields, isObject, type JsonObject } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import type { Permission } from '../../model/protection/permission.ts';
import { nameOf, type ResourceId } from '../../model/resource.ts';
import { accessModes } from '../access/effective-access.ts';
import { readPostures } from '../posture/posture.ts';
import { allConnections, type ProtectionSnapshot } from '../posture/protection-snapshot.ts';
import { groupsIn, permissionsByGroup } from './permission.ts';

/** The states of a gateway in which access tests are checked: without asking it, and as a plan leaves it. */
export type TestedStates = { readonly declared: ProtectionSnapshot; readonly live: ProtectionSnapshot };

/**
 * Returns the entries of access tests that describe what groups can do, and that pass in both states. Connections are named by the tags
 * that they alone have; what the states disagree about is left out.
 */
export function proposeExpectations({ declared, live }: TestedStates): readonly JsonObject[] {
  const groups = [...new Set([declared, live].flatMap(groupsIn))].toSorted(compareText);
  const read = [declared, live].map((snapshot) => ({ snapshot, postures: readPostures(snapshot) }));
  const connections = allConnections(declared, live)
    .toSorted()
    .map((id) => ({ id, ...placeOf(id, declared, live), states: read.flatMap((state) => answersIn(state, id, groups) ?? []) }));
  const totals = countTags(connections);
  const all = groups.map((group) => ({
    group,
    cases: connections.map(({ id, selectors, isDeclared, states }): Case => {
      const answers = agreed(states.map(({ byGroup, others }) => byGroup.get(group) ?? others));
      return { name: nameOf(id), selectors, isDeclared, ...answers };
    }),
  }));
  const open = accessModes.filter((_, index) => all.some(({ cases }) => cases.some(({ outcomes }) => outcomes[index] !== 'denied')));
  return all.flatMap(({ group, cases }) => expectationsOf(group, { cases, totals, open }));
}

type State = { readonly snapshot: ProtectionSnapshot; readonly postures: ReturnType<typeof readPostures> };

/** Returns the answers for groups that decide something, and for all others; undefined where the connection does not exist. */
function answersIn(
  { snapshot, postures }: State,
  id: ResourceId,
  groups: readonly string[],
): { readonly byGroup: ReadonlyMap<string, StateAnswers>; readonly others: StateAnswers } | undefined {
  const posture = postures(id);
  if (posture === undefined) return undefined;
  const { byGroup, others } = permissionsByGroup({ id, posture, snapshot }, groups);
  return { byGroup: new Map([...byGroup].map(([group, permissions]) => [group, answersOf(permissions)])), others: answersOf(others) };
}

function answersOf(permissions: readonly Permission[]): StateAnswers {
  return { outcomes: permissions.map(outcomeOf), longest: permissions.find(({ verb }) => verb === 'connect')?.longest };
}

/** Everything that a group can do on one connection. */
type Case = Answers & {
  readonly name: string;
  /** Its tags, and each two of them. */
  readonly selectors: ReadonlyMap<string, Tags>;
  /** Whether a manifest declares it; a test may not name others. */
  readonly isDeclared: boolean;
};

type Tags = Readonly<Record<string, string>>;

/** Everything that a group can do, how many connections have which tags, and the verbs that some group can use. */
type Known = { readonly cases: readonly Case[]; readonly totals: Counts; readonly open: readonly AccessMode[] };

/** What a test can expect for each verb, and the limit of native access. */
type Answers = { readonly outcomes: readonly Outcome[]; readonly longest: number | undefined };

/** `undefined`: it is not known, or the states disagree. */
type Outcome = 'denied' | 'allowed' | Approved | undefined;

/** What one state says; `granted`: allowed after an approval that is not known. */
type StateAnswers = { readonly outcomes: readonly (Outcome | 'granted')[]; readonly longest: number | undefined };

type Approved = { readonly from: readonly string[]; readonly at_least: number; readonly forced_by?: readonly string[] };

function placeOf(id: ResourceId, declared: ProtectionSnapshot, live: ProtectionSnapshot): Pick<Case, 'selectors' | 'isDeclared'> {
  const [own, other] = [declared, live].map((one) => one.resources.get(id)?.spec['connection_tags']);
  // Tags on which the states disagree name different connections.
  const tags = Object.entries(asObject(own ?? other)).filter(
    ([key, value]) => own === undefined || other === undefined || asObject(other)[key] === value,
  );
  const selectors = new Map<string, Tags>();
  for (const [index, [key, value]] of tags.entries()) {
    const tag: Tags = { [key]: asText(value) };
    for (const [second, text] of [[key, value], ...tags.slice(index + 1)] as const) {
      const both = { ...tag, [asText(second)]: asText(text) };
      selectors.set(canonical(both), both);
    }
  }
  return { isDeclared: declared.resources.has(id), selectors };
}

function outcomeOf({ answer, approval }: Permission): Outcome | 'granted' {
  if (answer !== 'yes') return answer === 'no' ? 'denied' : undefined;
  if (approval === undefined) return 'allowed';
  if (typeof approval === 'string' || approval.atLeast === true) return 'granted';
  const { groups, needed, force } = approval;
  return {
    from: groups.toSorted(compareText),
    at_least: needed,
    ...(force.length === 0 ? {} : { forced_by: force.toSorted(compareText) }),
  };
}

/** Returns what both states say; where one of them does not know, the other decides. */
function agreed(known: readonly StateAnswers[]): Answers {
  const outcomes = accessModes.map((_, index): Outcome => {
    const found = known.flatMap(({ outcomes: all }) => all[index] ?? []);
    const [first, ...others] = found.filter((one) => one !== 'granted');
    if (first === undefined || (first === 'denied' && found.includes('granted'))) return undefined;
    return others.every((one) => canonical(one) === canonical(first)) ? first : undefined;
  });
  const limits = known.map(({ longest }) => longest);
  return {
    outcomes,
    longest: limits.includes(undefined)
      ? undefined
      : largestOf(
          limits.map((one) => one ?? 0),
          0,
        ),
  };
}

/** A group that cannot use so many connections expects it of each name. */
const mostDenied = 10;

function expectationsOf(group: string, known: Known): readonly JsonObject[] {
  const { cases } = known;
  const denied = cases.filter(({ outcomes }) => outcomes.every((one) => one === 'denied'));
  const selectors = withoutLongNames(coverOf(denied, known, { least: Math.max(2, cases.length / 10), most: 2 }));
  return [
    ...selectors.map((on) => entryOf({ group, on, expect: 'denied' })),
    ...grantsOf(group, known),
    ...closedVerbs(group, known, denied),
  ];
}

/** Returns where a group cannot use a verb, although it can use others there, and others can use the verb somewhere. */
function closedVerbs(group: string, known: Known, denied: readonly Case[]): readonly JsonObject[] {
  const { cases, open } = known;
  const shut = new Set(denied);
  const lines = new Map<string, { readonly on: Selector; readonly verbs: AccessMode[] }>();
  for (const verb of open) {
    const closed = cases.filter((one) => !shut.has(one) && one.outcomes[accessModes.indexOf(verb)] === 'denied');
    for (const on of withoutLongNames(coverOf(closed, known, { alsoIn: denied }))) {
      const line = lines.get(canonical(on)) ?? { on, verbs: [] };
      line.verbs.push(verb);
      lines.set(canonical(on), line);
    }
  }
  return [...lines.values()].map(({ on, verbs }) => entryOf({ group, on, verbs, expect: 'denied' }));
}

/** Returns the selectors without those of many names: no person would keep them. */
function withoutLongNames(selectors: readonly Selector[]): readonly Selector[] {
  return selectors.filter((one) => 'tags' in one || one.names[0] === '*' || one.names.length <= mostDenied);
}

type Line = {
  readonly on: Selector;
  readonly verbs: readonly AccessMode[];
  readonly expect: 'allowed' | Approved;
  readonly cases: readonly Case[];
};

/** Returns what a group can do: verbs that need the same for the same connections are one entry. */
function grantsOf(group: string, known: Known): readonly JsonObject[] {
  return linesByVerb(known).map(({ on, verbs, expect, cases: meant }) => {
    const limits = verbs.includes('connect') ? meant.filter(({ outcomes }) => outcomes[0] !== 'denied').map(({ longest }) => longest) : [];
    const isLimited = limits.length > 0 && !limits.includes(undefined);
    const longest = isLimited
      ? durationOf(
          largestOf(
            limits.map((one) => one ?? 0),
            0,
          ),
        )
      : undefined;
    return entryOf({ group, on, verbs, expect, longest });
  });
}

function linesByVerb(known: Known): readonly Line[] {
  const { cases } = known;
  const lines = new Map<string, Line>();
  for (const [index, verb] of accessModes.entries()) {
    for (const { expect, all } of sortsOf(cases, ({ outcomes }) => outcomes[index]))
      for (const on of coverOf(all, known, { alsoIn: alsoAllowed(cases, expect, ({ outcomes }) => outcomes[index]) })) {
        const key = canonical([expect, on]);
        const before = lines.get(key);
        lines.set(key, { on, verbs: [...(before?.verbs ?? []), verb], expect, cases: cases.filter((one) => isIn(on, one)) });
      }
  }
  return [...lines.values()];
}

/** Returns the connections with an approval, which `allowed` may include. */
function alsoAllowed(cases: readonly Case[], expect: Sort['expect'], outcome: (one: Case) => Outcome): readonly Case[] {
  return expect === 'allowed' ? cases.filter((one) => isObject(outcome(one))) : [];
}

type Sort = { readonly expect: 'allowed' | Approved; readonly all: readonly Case[] };

function sortsOf(cases: readonly Case[], outcome: (one: Case) => Outcome): readonly Sort[] {
  const groups = new Map<string, Case[]>();
  const known = new Map<string, Sort['expect']>();
  for (const one of cases) {
    const expect = outcome(one);
    if (expect === undefined || expect === 'denied') continue;
    const key = canonical(expect);
    known.set(key, expect);
    addToGroup(groups, key, one);
  }
  return [...groups].flatMap(([key, all]) => {
    const expect = known.get(key);
    return expect === undefined ? [] : [{ expect, all }];
  });
}

type Selector = { readonly names: readonly string[] } | { readonly tags: Tags };

function namesOf(cases: readonly Case[]): Selector {
  return { names: cases.filter(({ isDeclared }) => isDeclared).map(({ name }) => name) };
}

function isIn(on: Selector, { name, selectors }: Case): boolean {
  return 'names' in on ? on.names.includes('*') || on.names.includes(name) : selectors.has(canonical(on.tags));
}

type CoverOptions = {
  /** How many connections tags name at least, and how many entries have tags. */
  readonly least?: number;
  readonly most?: number;
  /** Connections that the tags may name, too. */
  readonly alsoIn?: readonly Case[];
};

/** Names connections by tags that no other connection has, the most first, and the rest by their names. */
function coverOf(
  wanted: readonly Case[],
  { cases, totals }: Known,
  { least = 2, most = 3, alsoIn = [] }: CoverOptions = {},
): readonly Selector[] {
  const rest = new Set(wanted.filter(({ isDeclared }) => isDeclared));
  if (rest.size === 0) return [];
  if (wanted.length + alsoIn.length === cases.length && cases.length > 1) return [{ names: ['*'] }];
  const own = [...countTags([...wanted, ...alsoIn])].filter(([key, { count }]) => totals.get(key)?.count === count);
  const found: Selector[] = [];
  while (found.length < most) {
    const gains = countTags([...rest]);
    const [best] = own
      .map(([key, { tags }]) => ({ tags, gain: gains.get(key)?.count ?? 0 }))
      .filter(({ gain }) => gain >= least)
      .toSorted((left, right) => right.gain - left.gain || Object.keys(left.tags).length - Object.keys(right.tags).length);
    if (best === undefined) break;
    const on = { tags: best.tags };
    found.push(on);
    for (const one of rest) if (isIn(on, one)) rest.delete(one);
  }
  return rest.size === 0 ? found : [...found, namesOf([...rest])];
}

type Counts = ReadonlyMap<string, { readonly tags: Tags; readonly count: number }>;

/** Counts connections by their tags. */
function countTags(cases: readonly Pick<Case, 'selectors'>[]): Counts {
  const counts = new Map<string, { readonly tags: Tags; count: number }>();
  for (const { selectors } of cases)
    for (const [key, tags] of selectors) {
      const counted = counts.get(key);
      if (counted === undefined) counts.set(key, { tags, count: 1 });
      else counted.count += 1;
    }
  return counts;
}

type Entry = {
  readonly group: string;
  readonly on: Selector;
  readonly verbs?: readonly AccessMode[];
  readonly expect: 'allowed' | 'denied' | Approved;
  readonly longest?: string | undefined;
};

function entryOf({ group, on, verbs = [], expect, longest }: Entry): JsonObject {
  const approval = isObject(expect) ? { approval: simplify(expect) } : expect;
  return definedFields({
    group,
    on: 'tags' in on ? { match_tags: on.tags } : on.names[0] === '*' ? '*' : on.names,
    verb: verbs.length === 0 ? undefined : [...verbs],
    expect: approval,
    max_duration: longest,
  });
}

function simplify({ from, at_least: least, forced_by: forced }: Approved): JsonObject {
  return definedFields({ from, at_least: least, forced_by: forced });
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

/** Returns seconds as a test states them: in the largest unit without a rest. */
function durationOf(seconds: number): string {
  const [unit, size] = units.find(([, one]) => seconds % one === 0) ?? ['s', 1];
  return `${seconds / size}${unit}`;
}
