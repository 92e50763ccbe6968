import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import type { BaseState, DesiredState } from '../../src/model/desired.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { desiredState } from '../support/desired-state.ts';
import { memoryGateway, type MemoryGateway, type MemoryResource } from '../support/memory-gateway.ts';
import { runCount } from '../support/property-runs.ts';
import { applyPlan, planAgainst } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';

/** The manifest of one connection, and the content of the committed file that its secrets may come from. */
type Version = { readonly metadata: Manifest['metadata']; readonly spec: JsonObject; readonly file: string };

const plain = {
  type: 'custom',
  agent_id: 'default',
  access_mode_connect: 'disabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'disabled',
  access_schema: 'disabled',
};

// Few values, so that many versions have the same digest. The first two send the same value.
const notation = fc.constantFrom<JsonObject | string | undefined>(
  { value: 'x' },
  'eA==',
  { value: 'y' },
  '_envjson:DB:KEY',
  { valueFrom: { env: 'OSTIARY_SECRET_X' } },
  { valueFrom: { env: 'OSTIARY_SECRET_Y' } },
  { valueFrom: { file: 'pw' } },
  undefined,
);

const version: fc.Arbitrary<Version> = fc
  .record({
    host: notation,
    pass: fc.oneof(notation, fc.constant({ keep: true })),
    stated: fc.boolean(),
    ignore: fc.constantFrom<readonly string[]>([], ['/secret'], ['/secret/envvar:HOST'], ['/reviewers']),
    reviewers: fc.constantFrom<readonly string[]>(['dba'], ['dba', 'sre']),
    file: fc.constantFrom('one', 'two'),
  })
  .map(({ host, pass, stated, ignore, reviewers, file }) => {
    const secret = { ...(host === undefined ? {} : { 'envvar:HOST': host }), ...(pass === undefined ? {} : { 'envvar:PASS': pass }) };
    const spec = { ...plain, reviewers: [...reviewers], ...(stated ? { secret } : {}) };
    return { metadata: { name: 'db', ...(ignore.length === 0 ? {} : { ignore: [...ignore] }) }, spec, file };
  });

/** Loads a version as a plan of a clean working tree does. */
function loaded({ metadata, spec, file }: Version, sources: 'resolve' | 'leave'): DesiredState {
  return desiredState([{ kind: 'Connection', metadata, spec }], {
    isUnresolved: sources === 'leave',
    sourceValue: (source) => ('env' in source ? source.env : file),
    content: file,
  });
}

const live: MemoryResource = {
  id: 'Connection/db',
  spec: { ...plain, reviewers: ['dba'] },
  secrets: { '/secret/envvar:HOST': 'eA==', '/secret/envvar:PASS': 'b2xk', '/secret/envvar:OLD': 'b2xk' },
};

function gatewayWith(secrets: 'shown' | 'hidden-kept', isThere: boolean): MemoryGateway {
  return memoryGateway({ registry, agents: ['default'], secrets, resources: isThere ? [live] : [] });
}

function baseOf(past: Version | undefined): BaseState | undefined {
  return past === undefined ? undefined : { commit: 'a'.repeat(40), desired: loaded(past, 'leave'), removedIn: new Map() };
}

type Run = { readonly now: Version; readonly past: Version | undefined };

/** The world in which runs are compared: they differ in their manifests and bases only. */
type World = { readonly secrets: 'shown' | 'hidden-kept'; readonly isThere: boolean };

/** Plans and applies one run; undefined if it cannot be planned. */
async function effectOf({ now, past }: Run, { secrets, isThere }: World): Promise<readonly [digest: string, effect: unknown] | undefined> {
  const gateway = gatewayWith(secrets, isThere);
  const desired = loaded(now, 'resolve');
  const base = baseOf(past);
  try {
    const { plan, live: before } = await planAgainst(gateway, desired, base === undefined ? {} : { base });
    await applyPlan({ gateway, plan, live: before, desired });
    return [plan.seals.digest, { state: gateway.state(), writes: gateway.writes }];
  } catch (error) {
    if (error instanceof Error && error.message.includes('plan/keep-missing')) return undefined;
    throw error;
  }
}

const world = fc.record({ secrets: fc.constantFrom<World['secrets']>('shown', 'hidden-kept'), isThere: fc.boolean() });
const run = fc.record({ now: version, past: fc.option(version, { nil: undefined }) });

test('two plans with one digest have the same effect in the same environment', async () => {
  let pairs = 0;
  await fc.assert(
    fc.asyncProperty(world, fc.array(run, { minLength: 12, maxLength: 24 }), async (here, runs) => {
      const effects = new Map<string, unknown>();
      for (const one of [...runs, ...runs.map(({ now }) => ({ now, past: now }))]) {
        const found = await effectOf(one, here);
        if (found === undefined) continue;
        const [digest, effect] = found;
        const known = effects.get(digest);
        pairs += known === undefined ? 0 : 1;
        expect(effect).toEqual(known ?? effect);
        effects.set(digest, effect);
      }
    }),
    { numRuns: runCount(4) },
  );
  expect(pairs).toBeGreaterThan(15);
});

test('a plan has the same digest whether the token may read secrets and sources are resolved or not', async () => {
  await fc.assert(
    fc.asyncProperty(run, async ({ now, past }) => {
      fc.pre(!JSON.stringify(now).includes('keep'));
      const base = baseOf(past);
      const digests = await Promise.all(
        (['shown', 'hidden-kept'] as const).flatMap((secrets) =>
          (['resolve', 'leave'] as const).map(async (sources) => {
            const planned = await planAgainst(gatewayWith(secrets, true), loaded(now, sources), base === undefined ? {} : { base });
            return planned.plan.seals.digest;
          }),
        ),
      );
      expect(new Set(digests).size).toBe(1);
    }),
    { numRuns: runCount(20) },
  );
});
