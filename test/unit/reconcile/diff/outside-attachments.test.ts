import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { Plan } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { memoryGateway } from '../../../support/memory-gateway.ts';
import { applyPlan, planAgainst, runReconcile } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };

function connection(spec: JsonObject): Manifest {
  return {
    kind: 'Connection',
    metadata: { name: 'db' },
    spec: { type: 'database', subtype: 'postgres', agent_id: 'default', ...open, ...spec },
  };
}

function guardrail(name: string, spec: JsonObject): Manifest {
  const { words: list, ...rest } = spec;
  const entries: readonly JsonObject[] = list === undefined ? [] : [{ name: 'one', type: 'deny_words_list', words: list }];
  return { kind: 'GuardrailRule', metadata: { name }, spec: { input: { rules: entries }, ...rest } };
}

function masking(name: string, spec: JsonObject): Manifest {
  return { kind: 'DataMaskingRule', metadata: { name }, spec };
}

/** Plans manifests over a gateway that changed since the applied ones; they are the applied ones unless the manifests changed, too. */
async function planOver(
  applied: readonly Manifest[],
  live: readonly Manifest[],
  { wanted = applied, revert = [] }: { readonly wanted?: readonly Manifest[]; readonly revert?: readonly string[] } = {},
): Promise<Plan> {
  const gateway = memoryGateway({ registry, agents: ['default'] });
  const changed = desiredState(live);
  await applyPlan({ gateway, ...(await planAgainst(gateway, changed)), desired: changed });
  const { value: state } = await gateway.readAll([...registry.keys()]);
  if (state === undefined) throw new Error('the list is not complete');
  const desired = desiredState(applied);
  const { value } = runReconcile({
    desired: wanted === applied ? desired : desiredState(wanted),
    live: state,
    base: { commit: 'a'.repeat(40), desired, removedIn: new Map() },
    consent: { imports: [], revert, prune: false },
  });
  if (value === undefined) throw new Error('there is no plan');
  return value;
}

const words = (...list: readonly string[]): JsonObject => ({ words: list, connection_ids: ['db'] });

describe('a drift of a predecessor', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['stays on the successor if it is stricter', { reviewers: ['a', 'b'] }, { reviewers: ['a', 'b'] }],
    ['is reverted if it cannot be compared', { reviewers: ['a'], access_max_duration: 600 }, { reviewers: ['a'] }],
  ])('%s', async (_, live, expected) => {
    const { metadata, ...rest } = connection({ reviewers: ['a'] });
    const wanted = [{ ...rest, metadata: { ...metadata, name: 'db2', replaces: 'db' } }];
    const { changes } = await planOver([connection({ reviewers: ['a'] })], [connection(live)], { wanted });
    const fields = changes.find(({ action }) => action === 'create')?.fields ?? [];
    const limits = fields.filter(({ path }) => ['/reviewers', '/access_max_duration'].includes(path));
    expect(limits.map(({ path, after }) => [path, after])).toEqual(
      Object.entries(expected).map(([name, value]) => [`/${name}`, { value }]),
    );
  });
});

function verdictsOf({ edges }: Plan): readonly string[] {
  return edges.map(({ rule, action }) => `${rule} ${action === 'held' ? 'held' : 'reverted'}`);
}

function mask(ends: readonly string[], spec: JsonObject): Manifest {
  return masking('mask', { connection_ids: ends, ...spec });
}

function twoEqual(ends: readonly string[]): readonly Manifest[] {
  return ['a', 'b'].map((name) => guardrail(name, { words: ['DROP'], connection_ids: ends }));
}

describe('a rule that was attached outside Ostiary', () => {
  const person = { supported_entity_types: [{ name: 'people', entity_types: ['PERSON'] }] };
  const unsure = { custom_entity_types: [{ name: 'ID', regex: 'E[0-9]+', score: 0.5 }] };
  const tcp = { type: 'application', subtype: 'tcp' };

  test.each<[string, readonly Manifest[], (ends: readonly string[]) => Manifest, readonly string[]]>([
    [
      'is held if it protects',
      [connection({})],
      (ends) => guardrail('rule', { words: ['DROP'], connection_ids: ends }),
      ['GuardrailRule/rule held'],
    ],
    [
      'is detached if it has no entries',
      [connection({})],
      (ends) => guardrail('rule', { connection_ids: ends }),
      ['GuardrailRule/rule reverted'],
    ],
    [
      'is detached if another rule blocks the same',
      [connection({}), guardrail('all', words('DROP'))],
      (ends) => guardrail('rule', { words: ['DROP TABLE'], connection_ids: ends }),
      ['GuardrailRule/rule reverted'],
    ],
    [
      'is held if it blocks more than another rule',
      [connection({}), guardrail('all', words('DROP TABLE'))],
      (ends) => guardrail('rule', { words: ['DROP'], connection_ids: ends }),
      ['GuardrailRule/rule held'],
    ],
    ['is held if it masks', [connection({})], (ends) => mask(ends, person), ['DataMaskingRule/mask held']],
    ['is detached if it may mask nothing', [connection({})], (ends) => mask(ends, unsure), ['DataMaskingRule/mask reverted']],
    [
      'is detached if everything passes through a proxy that masks nothing',
      [connection({ ...tcp, access_mode_exec: 'disabled' })],
      (ends) => mask(ends, person),
      ['DataMaskingRule/mask reverted'],
    ],
    ['is held beside such a proxy if commands run', [connection(tcp)], (ends) => mask(ends, person), ['DataMaskingRule/mask held']],
    [
      'is held on a port that is closed to connect',
      [connection({ ...tcp, access_mode_connect: 'disabled' })],
      (ends) => mask(ends, person),
      ['DataMaskingRule/mask held'],
    ],
  ])('%s', async (_, rest, rule, expected) => {
    expect(verdictsOf(await planOver([...rest, rule([])], [...rest, rule(['db'])]))).toEqual(expected);
  });

  test('is detached if the user asks for it', async () => {
    const plan = await planOver([connection({}), mask([], person)], [connection({}), mask(['db'], person)], { revert: ['Connection/db'] });
    expect(verdictsOf(plan)).toEqual(['DataMaskingRule/mask reverted']);
  });

  test('counts beside another one that was attached, too: the first of two equal rules is held', async () => {
    const plan = await planOver([connection({}), ...twoEqual([])], [connection({}), ...twoEqual(['db'])]);
    expect(verdictsOf(plan)).toEqual(['GuardrailRule/a held', 'GuardrailRule/b reverted']);
  });

  test('comes back if it was detached', async () => {
    const plan = await planOver(
      [connection({}), guardrail('rule', words('DROP'))],
      [connection({}), guardrail('rule', { words: ['DROP'] })],
    );
    expect(plan.edges).toMatchObject([{ action: 'attach', origin: 'drift' }]);
  });
});
