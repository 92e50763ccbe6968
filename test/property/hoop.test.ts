import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareText } from '../../src/model/json.ts';
import { kindOf, nameOf, resourceId } from '../../src/model/resource.ts';
import { runCount } from '../support/property-runs.ts';
import { desiredState } from '../support/desired-state.ts';
import type { HoopModel } from '../support/hoop/start.ts';
import { applyHoop, hiddenRule, hoopScenario, onHoopWorld, openHoop, planHoop, scenarioWorld } from '../support/hoop-scenario.ts';

import { exposedConnections, type ResourceStates } from '../support/posture.ts';
import { applyPlan } from '../support/run-pipeline.ts';
import { scenario, type Scenario } from '../support/scenario.ts';

/** A row of the model as one text. */
function text(row: object | undefined): string {
  return JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
const some = scenario.filter((one) => one.manifests.length > 0).map((one) => hoopScenario(one));

async function remaining(model: HoopModel, one: Scenario): Promise<unknown> {
  const gateway = await openHoop(model);
  try {
    const { plan } = await planHoop(gateway, desiredState(one.manifests));
    return {
      changes: plan.changes.filter((change) => change.action !== 'blocked'),
      edges: plan.edges.filter((edge) => edge.action === 'attach' || edge.action === 'detach'),
    };
  } finally {
    await gateway.close();
  }
}

/** Returns the lines that a run must not change: undeclared objects, managed ones, and undeclared fields. */
function untouchable(model: HoopModel, one: Scenario): unknown {
  const { store } = model;
  const before = new Set(one.live.map(({ id }) => id));
  const ours = new Set(one.manifests.map(({ kind, metadata }) => resourceId(kind, metadata.name)));
  const stated = new Set(one.manifests.filter(({ spec }) => spec['resource_name'] !== undefined).map(({ metadata }) => metadata.name));
  const managed = new Set(one.live.filter(({ managedBy }) => managedBy !== undefined).map(({ id }) => id));
  const foreign = one.live.map(({ id }) => id).filter((id) => !ours.has(id) || managed.has(id));
  const named = (kind: string): readonly string[] => foreign.filter((id) => kindOf(id) === kind).map(nameOf);
  const hidden = store.guardrailNamed(hiddenRule);
  return {
    connections: named('Connection').map((name) => text(store.findConnection(name))),
    guardrails: named('GuardrailRule').map((name) => text(store.guardrailNamed(name))),
    maskings: named('DataMaskingRule').map((name) => text(store.maskingNamed(name))),
    hidden: [text(hidden), store.guardrailLinks.rightsOf(hidden?.id ?? '').toSorted()],
    unspoken: [...store.connections.values()]
      .filter((row) => before.has(resourceId('Connection', row.name)))
      .map((row) => [
        row.name,
        row.mandatoryMetadataFields,
        row.minReviewApprovals,
        stated.has(row.name) || row.resourceName,
        store.connectionAttributes.leftsOf(row.name).toSorted(),
      ])
      .toSorted((left, right) => compareText(text(left), text(right))),
    attributes: one.live
      .filter(({ id }) => kindOf(id) !== 'Connection')
      .map(({ id }) => [id, (kindOf(id) === 'GuardrailRule' ? store.guardrailAttributes : store.maskingAttributes).leftsOf(nameOf(id))]),
  };
}

test('a plan after an apply is empty, and unmanaged objects are unchanged byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(some, (one) =>
      onHoopWorld(one, async (model) => {
        const before = untouchable(model, one);
        expect(await applyHoop(model, one)).toEqual([]);
        expect(untouchable(model, one)).toEqual(before);
        expect(await remaining(model, one)).toEqual({ changes: [], edges: [] });
      }),
    ),
    { numRuns: runCount(3) },
  );
});

/** Returns the purpose of each write of the model, by the id of the object. */
function writtenIds({ store, log }: HoopModel): readonly string[] {
  const rooms = [
    ['Connection', store.connections],
    ['GuardrailRule', store.guardrails],
    ['DataMaskingRule', store.maskings],
  ] as const;
  const names = new Map(rooms.flatMap(([kind, rows]) => [...rows.values()].map((row) => [row.id, resourceId(kind, row.name)] as const)));
  const kinds: Readonly<Record<string, string>> = {
    connections: 'Connection',
    guardrails: 'GuardrailRule',
    'datamasking-rules': 'DataMaskingRule',
  };
  return log.writes().flatMap(({ method, path, body }) => {
    const [kind, uid = ''] = path.replace('/api/', '').split('/');
    const name: unknown = method === 'POST' ? JSON.parse(body).name : undefined;
    return typeof name === 'string' ? [resourceId(kinds[kind ?? ''] ?? '', name)] : [names.get(uid) ?? uid];
  });
}

test('every write comes after the writes that it needs, and a plan survives JSON', async () => {
  let needed = 0;
  await fc.assert(
    fc.asyncProperty(some, (one) =>
      onHoopWorld(one, async (model) => {
        const gateway = await openHoop(model);
        try {
          const desired = desiredState(one.manifests);
          const { plan, live } = await planHoop(gateway, desired);
          const copy: typeof plan = JSON.parse(JSON.stringify(plan));
          expect(copy).toEqual(plan);
          model.log.clear();
          const { outcomes } = await applyPlan({ gateway, plan: copy, live, desired, concurrency: 8 });
          expect(outcomes.filter(({ status }) => status !== 'done' && status !== 'blocked')).toEqual([]);
          const order = writtenIds(model);
          for (const { id, needs } of plan.changes) {
            for (const need of needs) expect([need, order.indexOf(need) < order.indexOf(id)]).toEqual([need, true]);
            needed += needs.length;
          }
        } finally {
          await gateway.close();
        }
      }),
    ),
    { numRuns: runCount(3) },
  );
  expect(needed).toBeGreaterThan(1);
});

test('no intermediate state is less protected than both ends', async () => {
  await fc.assert(
    fc.asyncProperty(some, fc.constantFrom(1, 8), (one, concurrency) =>
      onHoopWorld(one, async (model) => {
        const before = scenarioWorld(model);
        const states: ResourceStates[] = [];
        model.setFault(() => void states.push(scenarioWorld(model)));
        await applyHoop(model, one, concurrency);
        const after = scenarioWorld(model);
        for (const state of states) expect(exposedConnections(state, before, after)).toEqual([]);
      }),
    ),
    { numRuns: runCount(3) },
  );
});
