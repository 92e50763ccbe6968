import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { canonical, type JsonObject } from '../../src/model/json.ts';
import type { AccessReference } from '../../src/model/protection/access-reference.ts';
import { nameOf } from '../../src/model/resource.ts';
import { checkAccessReferences, type ExceededReference } from '../../src/protection/permission/check-access-references.ts';
import { liveSnapshot, type ProtectionSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import { mayAsk, mayRunFile, reaches, termsOf, type AccessState, type Terms } from '../model/access-model.ts';
import { accessPairs, type AccessPair } from '../model/access-pairs.ts';
import { accessPools } from '../model/access-pools.ts';
import { readAccessState } from '../model/access-state.ts';
import { readerOf, readLive, startAccessGateway } from '../model/run-access-pair.ts';
import { subsetsOf } from '../model/universe.ts';
import { openHoop } from '../support/hoop-scenario.ts';
import { runCount } from '../support/property-runs.ts';
import { referenceOf } from '../support/access-reference.ts';

const verbs = ['connect', 'exec', 'runbooks'] as const;
type Verb = (typeof verbs)[number];

const approvers = subsetsOf<string>(accessPools.groups);
/** `interns` is in no list of any gateway. */
const people = subsetsOf<string>([...accessPools.groups, 'interns']).flatMap((groups) => [
  groups,
  [...groups, 'admin'],
  [...groups, 'auditor'],
]);

type Gateway = { readonly snapshot: ProtectionSnapshot; readonly state: AccessState };

async function readBoth(pair: AccessPair): Promise<Gateway> {
  const model = await startAccessGateway(pair);
  const gateway = await openHoop(model);
  try {
    return { snapshot: liveSnapshot(await readLive(gateway), registry, 'hoop'), state: await readAccessState(readerOf(model)) };
  } finally {
    await gateway.close();
    await model.close();
  }
}

/** Returns what people need for a verb; undefined if they cannot use it. */
function usable(state: AccessState, groups: readonly string[], name: string, verb: Verb): Terms | undefined {
  const subject = { groups };
  if (!reaches(state, subject, name) || !mayAsk(state, subject, name, verb)) return undefined;
  const others = state.runbookRules.flatMap(({ files }) => files.map((file) => ({ repository: file.repository, name: `${file.name}zz` })));
  const files = [...accessPools.files, ...others, { repository: 'git.example.com/none', name: 'zz' }];
  if (verb === 'runbooks' && !files.some((file) => mayRunFile(state, subject, name, file))) return undefined;
  const terms = termsOf(state, subject, name, verb);
  return terms.refused ? undefined : terms;
}

type Most = 'denied' | 'allowed' | { readonly from: readonly string[]; readonly at_least: number; readonly forced_by: readonly string[] };

type Entry = {
  readonly group: string;
  readonly on: readonly string[];
  readonly verbs: readonly Verb[];
  readonly most: Most;
  readonly seconds: number | undefined;
};

type Drawn = { readonly others: 'denied' | 'unrestricted'; readonly entries: readonly Entry[] };

const mosts: fc.Arbitrary<Most> = fc.oneof(
  fc.constantFrom('denied' as const, 'allowed' as const),
  fc.record({
    from: fc.subarray([...accessPools.groups]),
    at_least: fc.integer({ min: 1, max: 3 }),
    forced_by: fc.subarray([...accessPools.groups]),
  }),
);

const drawnReferences: fc.Arbitrary<Drawn> = fc.record({
  others: fc.constantFrom('denied', 'unrestricted'),
  entries: fc.array(
    fc.record({
      group: fc.constantFrom(...accessPools.groups, 'interns', 'admin', 'auditor', '*'),
      on: fc.oneof(fc.constant(['*']), fc.subarray([...accessPools.connections], { minLength: 1 })),
      verbs: fc.subarray([...verbs]),
      most: mosts,
      seconds: fc.option(fc.constantFrom(...accessPools.durations), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

/** Returns the document of a reference. */
function documentOf({ others, entries }: Drawn): AccessReference {
  return referenceOf({ others, entries: entries.map(entryObject) });
}

function entryObject({ group, on, verbs: own, most, seconds }: Entry): JsonObject {
  const limited = seconds !== undefined && most !== 'denied' && (own.length === 0 || own.includes('connect'));
  const approval = typeof most === 'string' ? most : { approval: most.from.length === 0 ? { ...most, from: undefined } : most };
  const text: JsonObject = JSON.parse(JSON.stringify({ group, on, most: approval, verb: own.length === 0 ? undefined : own }));
  return { ...text, ...(limited ? { max_duration: `${seconds}s` } : {}) };
}

type Asked = { readonly name: string; readonly verb: Verb };

/** Returns the entries that bind a group, `denied` where none grants it, and `free` where nothing binds it. */
function boundsOf({ others, entries }: Drawn, group: string, { name, verb }: Asked): readonly Entry[] | 'denied' | 'free' {
  const here = entries.filter(({ on }) => on[0] === '*' || on.includes(name));
  for (const named of group === 'admin' || group === 'auditor' ? [group] : [group, '*']) {
    const own = here.filter((one) => one.group === named);
    const forVerb = own.filter((one) => one.verbs.length === 0 || one.verbs.includes(verb));
    if (forVerb.some(({ most }) => most === 'denied')) return 'denied';
    if (forVerb.length > 0) return forVerb;
    if (own.some(({ most }) => most !== 'denied')) return 'denied';
  }
  return group === 'admin' || group === 'auditor' || others === 'unrestricted' ? 'free' : 'denied';
}

function admits({ most, seconds, verbs: own }: Entry, { approval, longest }: Terms, verb: Verb): boolean {
  if (most === 'denied') return false;
  const isLimited = seconds !== undefined && verb === 'connect' && (own.length === 0 || own.includes('connect'));
  if (isLimited && longest > seconds) return false;
  if (most === 'allowed') return true;
  if (approval === undefined) return false;
  // Every set of groups that is enough without force is large enough, and has one of those that have to approve.
  const enough = approvers.filter((set) => set.filter((one) => approval.reviewers.includes(one)).length >= approval.needed);
  const isStrict = enough.every(
    (set) => set.length >= most.at_least && (most.from.length === 0 || set.some((one) => most.from.includes(one))),
  );
  return isStrict && approval.forcing.every((one) => most.forced_by.includes(one));
}

function isEnough({ approval }: Terms, set: readonly string[]): boolean {
  if (approval === undefined || set.some((group) => approval.forcing.includes(group))) return true;
  return set.filter((group) => approval.reviewers.includes(group)).length >= approval.needed;
}

/** Whether some approvers are enough for one, and not for the other. */
function isEasier(one: Terms, other: Terms, verb: Verb): boolean {
  return approvers.some((set) => isEnough(one, set) && !isEnough(other, set)) || (verb === 'connect' && one.longest > other.longest);
}

/** Whether people have more than each of their groups may have, and more than those without a bound have by themselves. */
function exceeds(drawn: Drawn, state: AccessState, groups: readonly string[], asked: Asked): boolean {
  const { name, verb } = asked;
  const has = usable(state, groups, name, verb);
  if (has === undefined) return false;
  const bounds = (groups.length === 0 ? [''] : groups).map((group) => [group, boundsOf(drawn, group, asked)] as const);
  const free = bounds.flatMap(([group, bound]) => (bound === 'free' ? [group] : []));
  if (free.length === bounds.length) return false;
  if (bounds.some(([, bound]) => Array.isArray(bound) && bound.every((entry) => admits(entry, has, verb)))) return false;
  if (free.length === 0) return true;
  const own = usable(state, free, name, verb);
  return own === undefined || isEasier(has, own, verb);
}

const pairText = ({ name, verb }: Asked): string => `${name} ${verb}`;
const foundText = ({ connection, verb }: ExceededReference): string => `${nameOf(connection)} ${verb}`;

test(
  'a reference refuses exactly the connections and verbs of which some people have too much, tried over all people',
  async () => {
    const count = { refused: 0, clean: 0 };
    await fc.assert(
      fc.asyncProperty(accessPairs, fc.array(drawnReferences, { minLength: 5, maxLength: 5 }), async (pair, drawn) => {
        const { snapshot, state } = await readBoth(pair);
        for (const one of drawn) {
          const found = checkAccessReferences([documentOf(one)], snapshot);
          const asked = Object.keys(state.connections).flatMap((name) => verbs.map((verb) => ({ name, verb })));
          const due = asked.filter((each) => people.some((groups) => exceeds(one, state, groups, each)));
          expect([...new Set(found.map(foundText))].toSorted()).toEqual(due.map(pairText).toSorted());
          for (const { connection, groups, verb, outcome } of found) {
            expect(outcome).toBe('exceeds');
            const at = { name: nameOf(connection), verb };
            expect({ ...at, groups, exceeds: exceeds(one, state, groups, at) }).toEqual({ ...at, groups, exceeds: true });
          }
          // Each group that an entry there names is named; the others are in one finding.
          const unnamed = due.flatMap((each) => {
            const named = one.entries.filter(({ on }) => on[0] === '*' || on.includes(each.name)).map(({ group }) => group);
            return [...accessPools.groups, 'interns'].filter(
              (group) =>
                named.includes(group) &&
                exceeds(one, state, [group], each) &&
                !found.some((own) => foundText(own) === pairText(each) && own.groups.join() === group),
            );
          });
          expect(unnamed).toEqual([]);
          if (found.length > 0) count.refused += 1;
          else count.clean += 1;
        }
      }),
      { numRuns: runCount(8) },
    );
    expect(Math.min(count.refused, count.clean)).toBeGreaterThan(0);
  },
  runCount(60_000) + 60_000,
);

/** States what each group has, and denies the rest. */
function derivedFrom(state: AccessState): Drawn {
  const groups = [...accessPools.groups, '*'];
  const entries = Object.keys(state.connections).flatMap((name) =>
    groups.flatMap((group) =>
      verbs.flatMap((verb): readonly Entry[] => {
        const terms = usable(state, group === '*' ? [] : [group], name, verb);
        const { approval, longest } = terms ?? {};
        const has: Most =
          terms === undefined
            ? 'denied'
            : approval === undefined || approval.needed === 0
              ? 'allowed'
              : { from: [], at_least: approval.needed, forced_by: approval.forcing };
        const seconds = longest === undefined || !Number.isFinite(longest) ? undefined : longest;
        return [{ group, on: [name], verbs: [verb], most: has, seconds: verb === 'connect' ? seconds : undefined }];
      }),
    ),
  );
  return { others: 'denied', entries };
}

test(
  'a reference of what groups have refuses no group, and without one entry that group alone',
  async () => {
    const count = { tried: 0 };
    await fc.assert(
      fc.asyncProperty(accessPairs, fc.nat(), async (pair, seed) => {
        const { snapshot, state } = await readBoth(pair);
        const derived = derivedFrom(state);
        const single = (drawn: Drawn): readonly string[] =>
          checkAccessReferences([documentOf(drawn)], snapshot)
            .filter(({ groups }) => groups.length < 2)
            .map(({ connection, groups, verb }) => canonical([nameOf(connection), groups.join(), verb]));
        if (derived.entries.length === 0) return;
        expect(single(derived)).toEqual([]);
        const granted = derived.entries.filter(({ most }) => most !== 'denied');
        const removed = granted[seed % Math.max(1, granted.length)];
        if (removed === undefined) return;
        count.tried += 1;
        const left = derived.entries.map((one): Entry => (one === removed ? { ...one, most: 'denied', seconds: undefined } : one));
        const { group, on, verbs: own } = removed;
        expect(single({ ...derived, entries: left })).toEqual([canonical([on[0] ?? '', group === '*' ? '' : group, own[0] ?? ''])]);
      }),
      { numRuns: runCount(8) },
    );
    expect(count.tried).toBeGreaterThan(0);
  },
  runCount(60_000) + 60_000,
);
