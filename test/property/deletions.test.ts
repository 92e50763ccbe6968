import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import type { Gateway } from '../../src/model/gateway.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ResourceId } from '../../src/model/resource.ts';
import type { ReconcileInput } from '../../src/reconcile/prepare/prepare.ts';
import { desiredState } from '../support/desired-state.ts';
import { pruning, succession, weakenedDeletions, type Succession } from '../support/history.ts';
import { hoopScenario, onHoopWorld, openHoop, planHoop, scenarioWorld } from '../support/hoop-scenario.ts';
import { memoryGateway, type MemoryGateway } from '../support/memory-gateway.ts';
import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { runCount } from '../support/property-runs.ts';
import { connectionManifest } from '../support/risks.ts';
import { applyPlan, planAgainst } from '../support/run-pipeline.ts';
import type { Manifest } from '../support/scenario.ts';

type ApplyOptions = {
  readonly plan?: typeof planAgainst;
  readonly more?: Partial<ReconcileInput>;
  readonly concurrency?: number;
};

/** Plans and applies manifests; expects success, and returns the number of deletions whose rules the plan weakens. */
async function applyTo(
  gateway: Gateway,
  manifests: readonly Manifest[],
  { plan: planWith = planAgainst, more = {}, concurrency = 1 }: ApplyOptions = {},
): Promise<number> {
  const desired = desiredState(manifests);
  const { plan, live } = await planWith(gateway, desired, more);
  const { outcomes } = await applyPlan({ gateway, plan, live, desired, concurrency });
  expect(outcomes.filter(({ status }) => status !== 'done')).toEqual([]);
  return weakenedDeletions(plan, live);
}

/** Creates a gateway to which the first half was applied. */
async function memoryWith({ before }: Succession): Promise<MemoryGateway> {
  const gateway = memoryGateway({ registry, agents: ['default', 'other'] });
  await applyTo(gateway, before);
  return gateway;
}

function guarded(words: readonly string[], ids: readonly string[]): Manifest {
  const rules = [{ name: 'one', type: 'deny_words_list', words: [...words] }];
  return { kind: 'GuardrailRule', metadata: { name: 'g' }, spec: { connection_ids: [...ids], input: { rules } } };
}

// The properties below find exposed states; these rows fail at once if the closing is left out.
test.each<[string, readonly Manifest[]]>([
  ['loses a word', [guarded(['DROP'], [])]],
  ['stays on another connection and loses a word', [guarded(['DROP'], ['other']), connectionManifest('other')]],
  ['is deleted', []],
])('an open connection is closed, then its rule %s, then it is deleted', async (_, after) => {
  const kept = connectionManifest('kept');
  const before = [kept, connectionManifest('db'), guarded(['DROP', 'TRUNCATE'], ['db'])];
  const gateway = memoryGateway({ registry, agents: ['default', 'other'] });
  await applyTo(gateway, before);
  const begun = gateway.requests.length;
  const states: ResourceStates[] = [gateway.state()];
  gateway.setFault(() => void states.push(gateway.state()));
  await applyTo(gateway, [kept, ...after], { more: pruning({ before, after: [] }) });
  const writes = gateway.requests
    .slice(begun)
    .flatMap(({ method, id }) => (method === 'PUT' || method === 'DELETE' ? [`${method} ${id}`] : []));
  const [closed, deleted] = [writes.indexOf('PUT Connection/db'), writes.indexOf('DELETE Connection/db')];
  const weakened = writes.findIndex((write) => write.endsWith('GuardrailRule/g'));
  expect([closed, closed < weakened, closed < deleted]).toEqual([0, true, true]);
  for (const state of states) expect(exposedConnections(state, states[0] ?? {}, gateway.state())).toEqual([]);
});

test('what sessions redact is not exposed without its mask, nor a connection without a limit that its gateway does not enforce', () => {
  const id: ResourceId = 'Connection/db';
  const on = { access_mode_connect: 'enabled', access_schema: 'enabled' };
  const state = (spec: JsonObject, ...masks: readonly string[]): ResourceStates => ({
    [id]: { id, spec: { ...on, ...spec } },
    'DataMaskingRule/m': {
      id: 'DataMaskingRule/m',
      spec: { supported_entity_types: [{ name: 'TYPES', entity_types: [...masks] }] },
      edges: { connection_ids: [id] },
    },
  });
  const redacted = { redact_types: ['PERSON'] };
  expect(exposedConnections(state(redacted), state({}, 'URL'), state(redacted, 'PERSON'))).toEqual([]);
  expect(exposedConnections(state(redacted), state({}, 'URL'), state(redacted, 'PERSON', 'URL'))).toHaveLength(1);
  const [limited, unlimited] = [{ access_max_duration: 60 }, { access_max_duration: null }];
  const reads = { limited_with: 'reviewers' };
  expect(exposedConnections(state(unlimited), state(limited), state(unlimited, 'URL'))).toHaveLength(1);
  expect(exposedConnections(state({ ...unlimited, ...reads }), state({ ...limited, ...reads }), state(unlimited, 'URL'))).toEqual([]);
});

test('a deleted connection is closed before its rules lose anything', async () => {
  let met = 0;
  await fc.assert(
    fc.asyncProperty(succession, fc.constantFrom(1, 8), async (one, concurrency) => {
      const states: ResourceStates[] = [];
      const gateway = await memoryWith(one);
      const before = gateway.state();
      gateway.setFault(() => void states.push(gateway.state()));
      met += await applyTo(gateway, one.after, { more: pruning(one), concurrency });
      const after = gateway.state();
      for (const state of [...states, after]) expect(exposedConnections(state, before, after)).toEqual([]);
    }),
    { numRuns: runCount(12) },
  );
  expect(met).toBeGreaterThan(10);
});

test('on the public gateway a deleted connection is closed before its rules lose anything', async () => {
  let met = 0;
  await fc.assert(
    fc.asyncProperty(succession, fc.constantFrom(1, 8), async (one, concurrency) => {
      const [before, after] = [one.before, one.after].map((manifests) => hoopScenario({ manifests, live: [] }).manifests);
      if (before === undefined || after === undefined) return;
      await onHoopWorld({ manifests: [], live: [] }, async (model) => {
        const gateway = await openHoop(model);
        try {
          await applyTo(gateway, before, { plan: planHoop });
          const first = scenarioWorld(model);
          const states: ResourceStates[] = [];
          model.setFault(() => void states.push(scenarioWorld(model)));
          met += await applyTo(gateway, after, { plan: planHoop, more: pruning({ before, after }), concurrency });
          const last = scenarioWorld(model);
          for (const state of states) expect(exposedConnections(state, first, last)).toEqual([]);
        } finally {
          await gateway.close();
        }
      });
    }),
    { numRuns: runCount(2) },
  );
  expect(met).toBeGreaterThan(1);
});
