import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { AccessTestResult } from '../../src/model/protection/access-test.ts';
import { checkAccessTests } from '../../src/protection/permission/check-access-tests.ts';
import { liveSnapshot, type ProtectionSnapshot } from '../../src/protection/posture/protection-snapshot.ts';
import type { AccessState, Terms } from '../model/access-model.ts';
import { accessPairs, type AccessPair } from '../model/access-pairs.ts';
import { accessPools } from '../model/access-pools.ts';
import { readAccessState } from '../model/access-state.ts';
import { termsAt, verbs, type Verb } from '../model/new-access.ts';
import { readerOf, readLive, startAccessGateway } from '../model/run-access-pair.ts';
import { subsetsOf } from '../model/universe.ts';
import { accessTestOf } from '../support/access-test.ts';
import { openHoop } from '../support/hoop-scenario.ts';
import { runCount } from '../support/property-runs.ts';

const approvers = subsetsOf<string>(accessPools.groups);
/** `interns` is in no list of any gateway. */
const people = subsetsOf<string>([...accessPools.groups, 'interns']);

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

type Approved = { readonly from: readonly string[]; readonly at_least: number; readonly forced_by: readonly string[] };

/** A test that names some groups, and what it expects of the others. */
type Drawn = {
  readonly named: readonly string[];
  readonly verbs: readonly Verb[];
  readonly expect: 'denied' | 'allowed' | Approved;
  readonly seconds: number | undefined;
};

const drawnTests: fc.Arbitrary<Drawn> = fc.record({
  named: fc.subarray([...accessPools.groups, 'interns', 'admin']),
  verbs: fc.subarray([...verbs]),
  expect: fc.oneof(
    fc.constantFrom('denied' as const, 'allowed' as const),
    fc.record({
      from: fc.subarray([...accessPools.groups]),
      at_least: fc.integer({ min: 1, max: 3 }),
      forced_by: fc.subarray([...accessPools.groups]),
    }),
  ),
  seconds: fc.option(fc.constantFrom(...accessPools.durations), { nil: undefined }),
});

/** Returns the entries of a test; those of the named groups ask for nothing that this test looks at. */
function entriesOf({ named, verbs: own, expect: expected, seconds }: Drawn): readonly JsonObject[] {
  const limited = seconds !== undefined && expected !== 'denied' && (own.length === 0 || own.includes('connect'));
  const approval =
    typeof expected === 'string' ? expected : { approval: expected.from.length === 0 ? { ...expected, from: undefined } : expected };
  const others: JsonObject = JSON.parse(
    JSON.stringify({
      group: 'others',
      on: '*',
      expect: approval,
      verb: own.length === 0 ? undefined : own,
      max_duration: limited ? `${seconds}s` : undefined,
    }),
  );
  return [others, ...named.map((group) => ({ group, on: '*', expect: 'denied' }))];
}

function isStrict({ expect: expected, seconds }: Drawn, { approval, longest }: Terms, verb: Verb): boolean {
  if (expected === 'denied') return false;
  if (seconds !== undefined && verb === 'connect' && longest > seconds) return false;
  if (expected === 'allowed') return true;
  if (approval === undefined) return false;
  // Every set of groups that is enough without force is large enough, and has one of those that have to approve.
  const enough = approvers.filter((set) => set.filter((one) => approval.reviewers.includes(one)).length >= approval.needed);
  const isEnough = enough.every(
    (set) => set.length >= expected.at_least && (expected.from.length === 0 || set.some((one) => expected.from.includes(one))),
  );
  return isEnough && approval.forcing.every((one) => expected.forced_by.includes(one));
}

/** Returns whether people in exactly some groups are not as the test expects of others. */
function fails(drawn: Drawn, state: AccessState, groups: readonly string[], name: string): boolean {
  if (groups.some((group) => drawn.named.includes(group))) return false;
  const asked = drawn.verbs.length === 0 ? verbs : drawn.verbs;
  const has = asked.map((verb) => [verb, termsAt(state, { groups }, name, verb)] as const);
  const possible = has.flatMap(([verb, terms]) => (terms === undefined ? [] : [[verb, terms] as const]));
  const isLeftOut = drawn.verbs.length === 0 ? possible.length === 0 : possible.length < asked.length;
  return (drawn.expect === 'allowed' && isLeftOut) || possible.some(([verb, terms]) => !isStrict(drawn, terms, verb));
}

/** Returns the groups that a result names each on its own; `''` for people in no group. */
function namedAlone({ who = '' }: AccessTestResult): readonly string[] {
  return who === 'people in no other group' ? [''] : who.startsWith('people in ') ? [] : who.split(', ');
}

test(
  'others fail exactly the connections of which some people are not as expected, tried over all people',
  async () => {
    const count = { failed: 0, passed: 0, together: 0 };
    await fc.assert(
      fc.asyncProperty(accessPairs, fc.array(drawnTests, { minLength: 8, maxLength: 8 }), async (pair, drawn) => {
        const { snapshot, state } = await readBoth(pair);
        for (const one of drawn) {
          const document = accessTestOf(...entriesOf(one));
          const tested = { ...document, expectations: document.expectations.slice(0, 1) };
          const names = Object.keys(state.connections);
          if (names.length === 0) continue;
          const results = checkAccessTests([tested], snapshot, { textOf: ({ id }) => id, newPatterns: undefined });
          const due = names.filter((name) => people.some((groups) => fails(one, state, groups, name)));
          const failed = results.filter(({ outcome }) => outcome !== 'passed');
          expect([...new Set(failed.map(({ connection }) => connection))].toSorted()).toEqual(due.toSorted());
          for (const name of names) {
            const own = failed.filter(({ connection }) => connection === name);
            expect(own.every(({ outcome }) => outcome === 'failed')).toBe(true);
            const alone = own.flatMap(namedAlone);
            for (const group of alone)
              expect([name, group, fails(one, state, group === '' ? [] : [group], name)]).toEqual([name, group, true]);
            // Each group that fails is named, unless people in no group fail.
            const unnamed = accessPools.groups.filter((group) => fails(one, state, [group], name) && !alone.includes(group));
            expect(alone.includes('') ? [] : unnamed).toEqual([]);
            if (own.length > 0 && alone.length === 0) count.together += 1;
          }
          if (failed.length > 0) count.failed += 1;
          else count.passed += 1;
        }
      }),
      { numRuns: runCount(12) },
    );
    expect(Math.min(...Object.values(count))).toBeGreaterThan(0);
  },
  runCount(60_000) + 60_000,
);
