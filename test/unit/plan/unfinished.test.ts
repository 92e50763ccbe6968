import { expect, test } from 'vitest';
import { registry } from '../../../src/kinds/index.ts';
import { defaultLimits } from '../../../src/model/config.ts';
import type { LiveResource, LiveState } from '../../../src/model/live.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { plan } from '../../../src/plan/plan.ts';
import { desiredState } from '../../support/desired.ts';
import { memoryGateway } from '../../support/memory-gateway.ts';
import { carryOut, planAgainst, testTarget } from '../../support/run.ts';
import type { Manifest } from '../../support/scenario.ts';

const names = Array.from({ length: 12 }, (_, index) => `c${index}`);
const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };
const manifests: readonly Manifest[] = [
  ...names.map((name) => ({ kind: 'Connection', metadata: { name }, spec: { type: 'custom', agent_id: 'default', ...open } })),
  { kind: 'DataMaskingRule', metadata: { name: 'mask' }, spec: { connection_ids: names } },
];
const desired = desiredState(manifests);

/** What an apply leaves behind that died before it opened anything. */
async function diedBeforeOpening(): Promise<LiveState> {
  const gateway = memoryGateway({ registry, agents: ['default'] });
  const { plan: first, live } = await planAgainst(gateway, desired);
  gateway.setFault(({ method }) => (method === 'PUT' ? 'before' : undefined));
  await carryOut({ gateway, plan: first, live, desired });
  const { value } = await gateway.readAll([...registry.keys()]);
  if (value === undefined) throw new Error('the list is not whole');
  return value;
}

function planOver(live: LiveState, change: (resource: LiveResource) => LiveResource): Plan {
  const resources = live.resources.map(change);
  const checked = plan(
    { target: testTarget, desired, live: { ...live, resources }, base: undefined, limits: defaultLimits, allowed: [] },
    registry,
  );
  if (checked.value === undefined) throw new Error('there is no plan');
  return checked.value;
}

test('connections that an apply created closed and never opened are unfinished, and no breaker stops their opening', async () => {
  const live = await diedBeforeOpening();
  const result = planOver(live, (resource) => ({ ...resource, untouched: true }));
  expect(result.changes.filter((change) => change.reasons.includes('unfinished'))).toHaveLength(12);
  expect(result.refusals).toEqual([]);
});

test('connections that somebody closed are not', async () => {
  const live = await diedBeforeOpening();
  const result = planOver(live, (resource) => resource);
  expect(result.changes.filter((change) => change.reasons.includes('differs'))).toHaveLength(12);
  expect(result.refusals.map((refusal) => refusal.code)).toEqual(['plan/too-many-updates', 'plan/too-many-lose-protection']);
});

test('nor is one that differs in more than being closed', async () => {
  const live = await diedBeforeOpening();
  const result = planOver(live, (resource) => ({ ...resource, untouched: true, spec: { ...resource.spec, type: 'database' } }));
  expect(result.changes.filter((change) => change.reasons.includes('unfinished'))).toEqual([]);
});
