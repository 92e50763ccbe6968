import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { compareText, type JsonObject } from '../../src/model/json.ts';
import type { LiveState } from '../../src/model/live.ts';
import type { Plan } from '../../src/model/plan/plan.ts';
import { kindOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { compareAspects } from '../../src/protection/compare/compare-aspects.ts';
import { compare } from '../../src/protection/compare/compare.ts';
import { createPlanCauses } from '../../src/protection/compare/plan-causes.ts';
import { differencesOfPlan } from '../../src/protection/compare/plan-differences.ts';
import { snapshotPlan } from '../../src/protection/posture/diff-postures.ts';
import { effectsOfChanges } from '../../src/protection/risk/change-effects.ts';
import type { AccessPair } from '../model/access-pairs.ts';
import { rulePairs } from '../model/rule-pairs.ts';
import { planPair, readLive, startAccessGateway } from '../model/run-access-pair.ts';
import { desiredState } from '../support/desired-state.ts';
import { openHoop } from '../support/hoop-scenario.ts';
import { memoryGateway } from '../support/memory-gateway.ts';
import { runCount } from '../support/property-runs.ts';
import { planAgainst } from '../support/run-pipeline.ts';
import type { Manifest, Scenario } from '../support/scenario.ts';

const names = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'] as const;
const rules = ['g0', 'g1', 'g2', 'g3'] as const;
const seldom = fc.integer({ min: 0, max: 9 }).map((number) => number === 0);

/** One side of a connection: few values, so that many connections are alike. */
const connection = fc.record({
  type: fc.constantFrom({ type: 'database', subtype: 'postgres' }, { type: 'application', subtype: 'ssh' }),
  reviewers: fc.constantFrom<readonly string[]>([], [], ['dba']),
  isClosed: seldom,
});
type Drawn = typeof connection extends fc.Arbitrary<infer T> ? T : never;
const fixed = { agent_id: 'default', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled', access_schema: 'enabled' } as const;

function specOf({ type, reviewers, isClosed }: Drawn): JsonObject {
  return { ...fixed, ...type, reviewers, access_mode_connect: isClosed ? 'disabled' : 'enabled' };
}

/** One side of a rule: what it blocks, and the connections that it does not protect. */
const rule = fc.record({
  words: fc.subarray(['DROP', 'GRANT'], { minLength: 1 }),
  except: fc.oneof(fc.constant<readonly string[]>([]), fc.subarray([...names], { maxLength: 2 })),
});

function contentOf({ words }: { readonly words: readonly string[] }): JsonObject {
  return { input: { rules: [{ type: 'deny_words_list', name: 'words', words }] } };
}

function others(except: readonly string[]): readonly string[] {
  return names.filter((name) => !except.includes(name));
}

/** Connections that share rules, of which a plan changes some. */
const world: fc.Arbitrary<Scenario> = fc
  .record({
    connections: fc.tuple(...names.map(() => fc.record({ before: connection, after: connection, isKept: fc.boolean() }))),
    rules: fc.tuple(...rules.map(() => fc.record({ before: rule, after: rule, isKept: fc.boolean(), isMoved: seldom, isNew: seldom }))),
  })
  .map(({ connections, rules: drawn }) => ({
    manifests: [
      ...connections.map(({ before, after, isKept }, index) => {
        return { kind: 'Connection', metadata: { name: names[index] ?? '' }, spec: specOf(isKept ? before : after) };
      }),
      ...drawn.map(({ before, after, isKept, isMoved }, index) => {
        const { except } = isMoved ? after : before;
        const spec = { ...contentOf(isKept ? before : after), connection_ids: others(except) };
        return { kind: 'GuardrailRule', metadata: { name: rules[index] ?? '' }, spec };
      }),
    ],
    live: [
      ...connections.map(({ before }, index) => ({ id: resourceId('Connection', names[index] ?? ''), spec: specOf(before) })),
      ...drawn.flatMap(({ before, isNew }, index) => {
        const ends = others(before.except).map((name): ResourceId => resourceId('Connection', name));
        const live = {
          id: resourceId('GuardrailRule', rules[index] ?? ''),
          spec: contentOf(before),
          edges: { connection_ids: ends },
        };
        return isNew ? [] : [live];
      }),
    ],
  }));

/** Lists what each change does to one connection. */
function effectsOn(connectionId: ResourceId, found: ReturnType<typeof effectsOfChanges>): readonly string[] {
  const texts = [...found].flatMap(([key, all]) =>
    all.flatMap(({ control, effect, connections }) => (connections.includes(connectionId) ? [`${key} ${control} ${effect}`] : [])),
  );
  return [...new Set(texts)].toSorted(compareText);
}

const formerOf = (id: ResourceId): ResourceId => id;

/** Returns what each change does to one connection where no other one is compared. */
function effectsAlone(plan: Plan, live: LiveState, only: ResourceId): readonly string[] {
  const snapshots = snapshotPlan(plan, live, registry);
  const access = compare({ ...snapshots, formerOf }, [only]);
  const aspects = compareAspects({ ...snapshots, formerOf }, [only]);
  return effectsOn(only, effectsOfChanges(plan, { access, aspects }, createPlanCauses(plan, { registry, snapshots })));
}

/** Compares what each change of a plan does to every connection with what it does where no other one is compared; returns the count of effects. */
function compareWithEachAlone(plan: Plan, live: LiveState): number {
  const snapshots = snapshotPlan(plan, live, registry);
  const all = effectsOfChanges(plan, differencesOfPlan(plan, snapshots), createPlanCauses(plan, { registry, snapshots }));
  const ids = live.resources.map(({ id }) => id).filter((id) => kindOf(id) === 'Connection');
  const found = ids.map((id) => [id, effectsOn(id, all)] as const);
  expect(found).toEqual(ids.map((id) => [id, effectsAlone(plan, live, id)]));
  return found.reduce((sum, [, effects]) => sum + effects.length, 0);
}

test('each change does to a connection what it does where no other connection is compared', async () => {
  let shared = 0;
  await fc.assert(
    fc.asyncProperty(world, async ({ manifests, live: resources }) => {
      const gateway = memoryGateway({ registry, agents: ['default'], resources });
      const { plan, live } = await planAgainst(gateway, desiredState(manifests));
      shared += compareWithEachAlone(plan, live);
    }),
    { numRuns: runCount(60) },
  );
  expect(shared).toBeGreaterThan(100);
});

/** Gives a connection the spec of all others. */
function asEqual(one: Manifest): Manifest {
  const spec = { ...fixed, type: 'database', subtype: 'postgres', access_mode_connect: 'enabled' };
  return one.kind === 'Connection' ? { ...one, spec } : one;
}

/** Makes all connections equal: only what decides access together distinguishes them. */
function withEqualConnections(pair: AccessPair): AccessPair {
  return { ...pair, base: pair.base?.map(asEqual), manifests: pair.manifests.map(asEqual), live: pair.live.map(asEqual) };
}

test('so does each change that decides access together with others', async () => {
  let shared = 0;
  for (const pair of fc.sample(rulePairs, runCount(15)).map(withEqualConnections)) {
    if (pair.manifests.length === 0) continue;
    const model = await startAccessGateway(pair);
    const gateway = await openHoop(model);
    const live = await readLive(gateway);
    const planned = await planPair(pair, live, gateway);
    if (planned !== undefined) shared += compareWithEachAlone(planned.plan, live);
    await gateway.close();
    await model.close();
  }
  expect(shared).toBeGreaterThan(30);
});
