import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/kinds/index.ts';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { Allowance, Plan } from '../../../../src/model/plan/plan.ts';
import { desiredState } from '../../../support/desired-state.ts';
import { memoryGateway } from '../../../support/memory-gateway.ts';
import { applyPlan, noLimits, planAgainst, runReconcile } from '../../../support/run-pipeline.ts';
import type { Manifest } from '../../../support/scenario.ts';

type Choice = (typeof noLimits)['incomparableDrift'];
type Flags = {
  readonly choice?: Choice;
  readonly revert?: readonly string[];
  readonly allow?: boolean;
  /** The manifests now, if they changed since the last apply. */
  readonly wanted?: readonly Manifest[];
};

const open = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };

function connection(spec: JsonObject): Manifest {
  return {
    kind: 'Connection',
    metadata: { name: 'db' },
    spec: { type: 'database', subtype: 'postgres', agent_id: 'default', ...open, ...spec },
  };
}

function guardrail(name: string, spec: JsonObject): Manifest {
  const { words: list, pattern: regex, ...rest } = spec;
  const entries: readonly JsonObject[] = [
    ...(list === undefined ? [] : [{ name: 'one', type: 'deny_words_list', words: list }]),
    ...(regex === undefined ? [] : [{ name: 'one', type: 'pattern_match', pattern_regex: regex }]),
  ];
  return { kind: 'GuardrailRule', metadata: { name }, spec: { input: { rules: entries }, ...rest } };
}

function masking(name: string, spec: JsonObject): Manifest {
  return { kind: 'DataMaskingRule', metadata: { name }, spec };
}

/** Plans manifests that were applied, over a gateway that changed since. */
async function planOver(applied: readonly Manifest[], live: readonly Manifest[], flags: Flags = {}): Promise<Plan> {
  const { choice = 'revert', revert = [], allow = false, wanted = applied } = flags;
  const gateway = memoryGateway({ registry, agents: ['default'] });
  const changed = desiredState(live);
  await applyPlan({ gateway, ...(await planAgainst(gateway, changed)), desired: changed });
  const { value: state } = await gateway.readAll([...registry.keys()]);
  if (state === undefined) throw new Error('the list is not complete');
  const desired = desiredState(applied);
  const allowed: readonly Allowance[] = allow ? [{ code: 'plan/incomparable-drift', reason: 'seen' }] : [];
  const { value } = runReconcile({
    desired: wanted === applied ? desired : desiredState(wanted),
    live: state,
    base: { commit: 'a'.repeat(40), desired, removedIn: new Map() },
    limits: { ...noLimits, incomparableDrift: choice },
    consent: { imports: [], revert, prune: false },
    allowed,
  });
  if (value === undefined) throw new Error('there is no plan');
  return value;
}

function note(held: boolean, incomparable: true | undefined): string {
  return `${held ? 'held' : 'reverted'}${incomparable === true ? ', incomparable' : ''}`;
}

function summaryOf({ changes, edges, refusals }: Plan): readonly string[] {
  return [
    ...changes.flatMap(({ fields }) => fields.map(({ path, held, incomparable }) => `${path} ${note(held === true, incomparable)}`)),
    ...edges.map(({ rule, action, incomparable }) => `${rule} ${note(action === 'held', incomparable)}`),
    ...refusals.map(({ code, resource }) => `${code} ${resource}`),
  ];
}

const words = (...list: readonly string[]): JsonObject => ({ words: list, connection_ids: ['db'] });
const drop = guardrail('drop', { pattern: '(?i)drop', connection_ids: ['db'] });
const other = guardrail('drop', { pattern: 'zzzz', connection_ids: ['db'] });
const pattern = '/input/rules/one/pattern_regex';

describe('limits.incomparable_drift', () => {
  test.each<[string, Flags, readonly string[]]>([
    ['reverts by default', {}, [`${pattern} reverted`]],
    ['holds', { choice: 'hold' }, [`${pattern} held, incomparable`]],
    ['refuses', { choice: 'refuse' }, [`${pattern} reverted, incomparable`, 'plan/incomparable-drift GuardrailRule/drop']],
    ['refuses, unless the user overrides it', { choice: 'refuse', allow: true }, [`${pattern} reverted, incomparable`]],
    ['reverts what the user asks to revert, despite hold', { choice: 'hold', revert: ['GuardrailRule/drop'] }, [`${pattern} reverted`]],
    ['reverts what the user asks to revert, despite refuse', { choice: 'refuse', revert: ['GuardrailRule/drop'] }, [`${pattern} reverted`]],
  ])('%s', async (_, flags, expected) => {
    expect(summaryOf(await planOver([connection({}), drop], [connection({}), other], flags))).toEqual(expected);
  });

  test.each<[string, JsonObject, JsonObject, string]>([
    ['weaker', { reviewers: ['a', 'b'] }, { reviewers: ['b'] }, '/reviewers/a reverted'],
    ['stricter', { reviewers: ['b'] }, { reviewers: ['a', 'b'] }, '/reviewers/a held'],
    ['a limit that comes', {}, { access_max_duration: 600 }, '/access_max_duration held, incomparable'],
    ['a limit that goes', { access_max_duration: 600 }, {}, '/access_max_duration held, incomparable'],
  ])('hold leaves a drift that is %s', async (_, applied, live, expected) => {
    expect(summaryOf(await planOver([connection(applied)], [connection(live)], { choice: 'hold' }))).toEqual([expected]);
  });
});

function successor(spec: JsonObject): Manifest {
  const { metadata, ...rest } = connection(spec);
  return { ...rest, metadata: { ...metadata, name: 'db2', replaces: 'db' } };
}

function durationOf({ changes }: Plan): unknown {
  const created = changes.find(({ action }) => action === 'create');
  return created?.fields.find(({ path }) => path === '/access_max_duration')?.after ?? 'none';
}

describe('limits.incomparable_drift and metadata.replaces', () => {
  const limited = connection({ access_max_duration: 600 });

  test.each<[string, Flags, unknown, readonly string[]]>([
    ['reverts the drift of the predecessor by default', {}, 'none', []],
    ['holds it on the successor', { choice: 'hold' }, { value: 600 }, []],
    ['refuses', { choice: 'refuse' }, 'none', ['plan/incomparable-drift Connection/db2']],
    ['refuses, unless the user overrides it', { choice: 'refuse', allow: true }, 'none', []],
    ['reverts what the user asks to revert, despite hold', { choice: 'hold', revert: ['Connection/db2'] }, 'none', []],
    ['reverts what the user asks to revert, despite refuse', { choice: 'refuse', revert: ['Connection/db'] }, 'none', []],
  ])('%s', async (_, flags, duration, refusals) => {
    const plan = await planOver([connection({})], [limited], { ...flags, wanted: [successor({})] });
    expect([durationOf(plan), plan.refusals.map(({ code, resource }) => `${code} ${resource}`)]).toEqual([duration, refusals]);
  });
});

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

  test.each<[string, readonly Manifest[], (ends: readonly string[]) => Manifest, Flags, readonly string[]]>([
    [
      'is held if it protects',
      [connection({})],
      (ends) => guardrail('rule', { words: ['DROP'], connection_ids: ends }),
      {},
      ['GuardrailRule/rule held'],
    ],
    [
      'is detached if it has no entries',
      [connection({})],
      (ends) => guardrail('rule', { connection_ids: ends }),
      {},
      ['GuardrailRule/rule reverted'],
    ],
    [
      'is detached if another rule blocks the same',
      [connection({}), guardrail('all', words('DROP'))],
      (ends) => guardrail('rule', { words: ['DROP TABLE'], connection_ids: ends }),
      {},
      ['GuardrailRule/rule reverted'],
    ],
    [
      'is held if it blocks more than another rule',
      [connection({}), guardrail('all', words('DROP TABLE'))],
      (ends) => guardrail('rule', { words: ['DROP'], connection_ids: ends }),
      {},
      ['GuardrailRule/rule held'],
    ],
    ['is held if it masks', [connection({})], (ends) => mask(ends, person), {}, ['DataMaskingRule/mask held']],
    ['is detached if it may mask nothing', [connection({})], (ends) => mask(ends, unsure), {}, ['DataMaskingRule/mask reverted']],
    [
      'is held if it may mask nothing, with hold',
      [connection({})],
      (ends) => mask(ends, unsure),
      { choice: 'hold' },
      ['DataMaskingRule/mask held, incomparable'],
    ],
    [
      'is detached if the user asks for it',
      [connection({})],
      (ends) => mask(ends, person),
      { revert: ['Connection/db'] },
      ['DataMaskingRule/mask reverted'],
    ],
    [
      'is detached if everything passes through a proxy that masks nothing',
      [connection({ ...tcp, access_mode_exec: 'disabled' })],
      (ends) => mask(ends, person),
      {},
      ['DataMaskingRule/mask reverted'],
    ],
    ['is held beside such a proxy if commands run', [connection(tcp)], (ends) => mask(ends, person), {}, ['DataMaskingRule/mask held']],
    [
      'is held on a port that is closed to connect',
      [connection({ ...tcp, access_mode_connect: 'disabled' })],
      (ends) => mask(ends, person),
      {},
      ['DataMaskingRule/mask held'],
    ],
  ])('%s', async (_, rest, rule, flags, expected) => {
    const plan = await planOver([...rest, rule([])], [...rest, rule(['db'])], flags);
    expect(summaryOf(plan)).toEqual(expected);
  });

  test('counts beside another one that was attached, too: the first of two equal rules is held', async () => {
    const plan = await planOver([connection({}), ...twoEqual([])], [connection({}), ...twoEqual(['db'])]);
    expect(summaryOf(plan)).toEqual(['GuardrailRule/a held', 'GuardrailRule/b reverted']);
  });

  test('comes back if it was detached', async () => {
    const plan = await planOver(
      [connection({}), guardrail('rule', words('DROP'))],
      [connection({}), guardrail('rule', { words: ['DROP'] })],
    );
    expect(plan.edges).toMatchObject([{ action: 'attach', origin: 'drift' }]);
  });
});
