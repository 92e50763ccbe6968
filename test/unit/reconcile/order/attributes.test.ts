import { expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { connection } from '../../../support/manifests.ts';
import { memoryGateway, type MemoryGateway, type MemoryResource } from '../../../support/memory-gateway.ts';
import { applyPlan, planAgainst, testTarget } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

function guardrail(words: readonly string[], attributes: readonly string[]): Manifest {
  return { kind: 'GuardrailRule', metadata: { name: 'guard' }, spec: { input: blocking(words), attributes } };
}

function blocking(words: readonly string[]): JsonObject {
  return { rules: [{ name: 'words', type: 'deny_words_list', words }] };
}

function masking(spec: JsonObject): Manifest {
  const supported = [{ name: 'CONTACT', entity_types: ['PERSON'] }];
  return { kind: 'DataMaskingRule', metadata: { name: 'mask' }, spec: { supported_entity_types: supported, ...spec } };
}

function liveOf({ kind, metadata: { name }, spec }: Manifest): MemoryResource {
  return { id: `${kind}/${name}`, spec };
}

/** Applies manifests to a public gateway; returns the writes in their order, and the status of each change. */
async function applied(
  live: readonly Manifest[],
  manifests: readonly Manifest[],
  onWrite?: (state: ReturnType<MemoryGateway['state']>) => void,
): Promise<readonly (readonly string[])[]> {
  const dialect = { dialect: 'hoop' } as const;
  const gateway: MemoryGateway = memoryGateway({
    registry,
    agents: ['default'],
    resources: live.map(liveOf),
    dialect,
    onWrite: () => onWrite?.(gateway.state()),
  });
  const desired = desiredState(manifests);
  const planned = await planAgainst(gateway, desired, { target: { ...testTarget, ...dialect } });
  const { outcomes } = await applyPlan({ gateway, desired, ...planned });
  return [gateway.writes.map(({ method, id }) => `${method} ${id}`), outcomes.map(({ id, status }) => `${status} ${id}`)];
}

test('a rule that a connection has by an attribute loses nothing before the connection has gained what makes up for it', async () => {
  const live = [connection('db', { attributes: ['ops'] }), guardrail(['DROP'], ['ops'])];
  const desired = [
    connection('db', { attributes: ['ops'], redact_types: ['EMAIL_ADDRESS'], access_mode_runbooks: 'enabled' }),
    guardrail(['GRANT'], []),
  ];
  const [writes] = await applied(live, desired);
  expect(writes).toEqual(['PUT Connection/db', 'PUT GuardrailRule/guard']);
});

test('a connection that loses an attribute and opens is closed by the first of two writes, after a rule that is attached to a new connection, too', async () => {
  const live = [connection('db', { attributes: ['ops'] })];
  const desired = [
    connection('db', { attributes: [], access_mode_runbooks: 'enabled' }),
    connection('next'),
    masking({ connection_ids: ['db', 'next'] }),
  ];
  const [writes, statuses] = await applied(live, desired);
  expect(statuses).toEqual(['done Connection/db', 'done Connection/next', 'done DataMaskingRule/mask']);
  expect(writes).toEqual([
    'POST Connection/next',
    'POST DataMaskingRule/mask',
    'PUT Connection/next',
    'PUT Connection/db',
    'PUT Connection/db',
  ]);
});

test('a new connection with the attribute of a new rule is opened after the rule is written', async () => {
  const desired = [
    connection('db', { attributes: ['pii'] }),
    connection('next'),
    masking({ connection_ids: ['next'], attributes: ['pii'] }),
  ];
  const [writes, statuses] = await applied([], desired);
  expect(statuses).toEqual(['done Connection/db', 'done Connection/next', 'done DataMaskingRule/mask']);
  expect(writes?.slice(2)).toEqual(['POST DataMaskingRule/mask', 'PUT Connection/db', 'PUT Connection/next']);
});

test('a connection whose reviewers and their number change is changed in two writes, the first of which needs all of them', async () => {
  const live = [connection('db', { attributes: ['ops'], reviewers: ['dba'], min_review_approvals: 1 })];
  const desired = [
    connection('db', { attributes: ['pii'], reviewers: ['sre', 'security'], min_review_approvals: 2 }),
    masking({ attributes: ['pii'] }),
  ];
  const [writes, statuses] = await applied(live, desired);
  expect(statuses).toEqual(['done Connection/db', 'done DataMaskingRule/mask']);
  expect(writes).toEqual(['POST DataMaskingRule/mask', 'PUT Connection/db', 'PUT Connection/db']);
});

test('a connection that exchanges attributes and opens has only its new ones between its two writes', async () => {
  const live = [connection('db', { attributes: ['robots'], reviewers: ['dba'] })];
  const desired = [connection('db', { attributes: ['pii'], reviewers: [] })];
  const states: unknown[] = [];
  await applied(live, desired, ({ 'Connection/db': db }) => states.push([db?.spec?.['attributes'], db?.spec?.['reviewers']]));
  expect(states).toEqual([
    [['robots'], ['dba']],
    [['pii'], ['dba']],
  ]);
});

test('a connection that only exchanges attributes is written once', async () => {
  const [writes] = await applied([connection('db', { attributes: ['robots'] })], [connection('db', { attributes: ['pii'] })]);
  expect(writes).toEqual(['PUT Connection/db']);
});
