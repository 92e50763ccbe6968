import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { memoryGateway, type MemoryGateway } from '../../../support/memory-gateway.ts';
import { connectionManifest } from '../../../support/risks.ts';
import { applyPlan, planAgainst } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

const connection = connectionManifest('db');

function masking(name: string, spec: JsonObject): Manifest {
  return { kind: 'DataMaskingRule', metadata: { name }, spec: { connection_ids: ['db'], score_threshold: 0.5, ...spec } };
}

function guardrail(name: string, regex: string): Manifest {
  const rules = [{ name: 'one', type: 'pattern_match', pattern_regex: regex }];
  return { kind: 'GuardrailRule', metadata: { name }, spec: { connection_ids: ['db'], input: { rules } } };
}

function entity(regex: string): JsonObject {
  return { custom_entity_types: [{ name: 'ID', regex, score: 0.9 }] };
}

function group(...types: readonly string[]): JsonObject {
  return { supported_entity_types: [{ name: 'group', entity_types: types }] };
}

/** Starts a gateway to which the manifests were applied. */
async function gatewayWith(manifests: readonly Manifest[]): Promise<MemoryGateway> {
  const gateway = memoryGateway({ registry, agents: ['default'] });
  const desired = desiredState(manifests);
  await applyPlan({ gateway, ...(await planAgainst(gateway, desired)), desired });
  return gateway;
}

function heldIn({ changes }: Plan): readonly string[] {
  return changes.flatMap(({ id, fields }) => fields.flatMap(({ path, held }) => (held === true ? [`${id} ${path}`] : [])));
}

// Two rules whose drift cannot be compared are written twice each: first with both forms, then with the manifest's.
test.each<[string, readonly Manifest[], readonly Manifest[]]>([
  ['patterns of guardrails', [guardrail('a', 'aaa'), guardrail('b', 'bbb')], [guardrail('a', 'ccc'), guardrail('b', 'ddd')]],
  [
    'groups of entity types and patterns',
    [masking('a', entity('abc')), masking('b', group('URL'))],
    [masking('a', entity('xyz')), masking('b', { ...group('PERSON'), score_threshold: 0.7 })],
  ],
])('a revert of %s that was killed between two writes is continued, and no half is held', async (_, applied, drifted) => {
  const desired = desiredState([connection, ...applied]);
  const base = { commit: 'a'.repeat(40), desired, removedIn: new Map() };
  const whole = await gatewayWith([connection, ...drifted]);
  const begun = whole.requests.length;
  const first = await planAgainst(whole, desired, { base });
  expect(heldIn(first.plan)).toEqual([]);
  await applyPlan({ gateway: whole, ...first, desired });
  const requests = whole.requests.slice(begun);
  expect(requests.filter(({ method }) => method === 'PUT')).toHaveLength(4);
  for (let stop = 1; stop < requests.length; stop += 1) {
    const gateway = await gatewayWith([connection, ...drifted]);
    const plan = await planAgainst(gateway, desired, { base });
    const from = gateway.requests.length;
    gateway.setFault(({ index }) => (index <= from + stop ? undefined : 'before'));
    await applyPlan({ gateway, ...plan, desired });
    gateway.setFault(undefined);
    const next = await planAgainst(gateway, desired, { base });
    expect([stop, heldIn(next.plan)]).toEqual([stop, []]);
    await applyPlan({ gateway, ...next, desired });
    expect(gateway.state()).toEqual(whole.state());
  }
});
