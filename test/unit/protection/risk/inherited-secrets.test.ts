import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import type { InheritedKeys } from '../../../../src/model/live.ts';
import { connectionManifest as connection, planWithRisks, riskTexts } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';

const shared: InheritedKeys = new Map([
  ['shared', ['envvar:HOST', 'envvar:PASS']],
  ['settings', ['envvar:HOST', 'envvar:PORT', 'envvar:USER']],
  ['b', ['envvar:PASS']],
]);

/** A connection with review in a resource; its own secrets are values in the manifest. */
function member(secret: Readonly<Record<string, string>> = {}, spec: JsonObject = {}, name = 'a', metadata: JsonObject = {}): Manifest {
  const values = Object.fromEntries(Object.entries(secret).map(([key, value]) => [key, { value }]));
  return connection(name, { reviewers: ['dba'], command: ['bash'], resource_name: 'shared', secret: values, ...spec }, metadata);
}

type Row = readonly [
  what: string,
  before: readonly Manifest[],
  after: readonly Manifest[],
  risks: readonly string[],
  hidden?: readonly string[],
];

const unknown = ['unknown inheritance-unknown'];
const neutral = ['neutral neutral'];
const created = ['neutral created'];

const rows: readonly Row[] = [
  ...['HOST', 'PORT', 'URL', 'PGHOST', 'CONNECTION_STRING'].map((key): Row => {
    const own = member({ [`envvar:${key}`]: 'evil.example.com' });
    return [`an own ${key}`, [member()], [own], ['reroutes endpoint-rerouted'], unknown];
  }),
  ['another agent', [member()], [member({}, { agent_id: 'other' })], ['reroutes agent-rerouted'], unknown],
  ['another command', [member()], [member({}, { command: ['sh', '-c', 'env'] })], ['reroutes command-rerouted'], unknown],
  ['another subtype', [member()], [member({}, { subtype: 'mysql' })], ['reroutes command-rerouted'], unknown],
  ['another type', [member()], [member({}, { type: 'custom' })], ['reroutes command-rerouted'], unknown],
  [
    'another agent and an own host',
    [member()],
    [member({ 'envvar:HOST': 'two' }, { agent_id: 'other' })],
    ['reroutes agent-rerouted', 'reroutes endpoint-rerouted'],
    unknown,
  ],
  ['an own host that is removed', [member({ 'envvar:HOST': 'two' })], [member()], ['reroutes endpoint-rerouted'], unknown],
  ['an own user', [member()], [member({ 'envvar:USER': 'ada' })], neutral],
  ['another reviewer', [member()], [member({}, { reviewers: ['dba', 'sec'] })], ['strengthens review']],
  [
    'an own password hides the inherited one, with another agent',
    [member()],
    [member({ 'envvar:PASS': 'own' }, { agent_id: 'other' })],
    neutral,
    unknown,
  ],
  [
    'an own password is replaced, with another agent',
    [member({ 'envvar:PASS': 'own' })],
    [member({ 'envvar:PASS': 'new' }, { agent_id: 'other' })],
    neutral,
    unknown,
  ],
  ['an own password is removed', [member({ 'envvar:PASS': 'own' })], [member()], ['reroutes secret-inherited'], unknown],
  ['an own password of another name is removed', [member({ 'envvar:TOKEN': 'own' })], [member()], neutral, unknown],
  [
    'an own password is removed, with another agent',
    [member({ 'envvar:PASS': 'own' })],
    [member({}, { agent_id: 'other' })],
    ['reroutes secret-inherited'],
    unknown,
  ],
  [
    'a resource with settings only, and another agent',
    [member({}, { resource_name: 'settings' })],
    [member({}, { resource_name: 'settings', agent_id: 'other' })],
    neutral,
    unknown,
  ],
  ['another resource', [member()], [member({}, { resource_name: 'settings' })], ['reroutes resource-rerouted']],
  ['a new connection in a resource with a password', [], [member()], ['reroutes resource-rerouted'], unknown],
  [
    'a new connection in a resource with its own name',
    [],
    [member({}, { resource_name: null }, 'b')],
    ['reroutes resource-rerouted'],
    unknown,
  ],
  ['a new connection that hides the password', [], [member({ 'envvar:PASS': 'own' })], created, unknown],
  ['a new connection in a resource with settings only', [], [member({}, { resource_name: 'settings' })], created, unknown],
  ['a new connection in a new resource', [], [member({}, { resource_name: 'new' })], created, unknown],
  [
    'a successor with another agent',
    [member()],
    [member({}, { agent_id: 'other' }, 'successor', { replaces: 'a' })],
    ['reroutes agent-rerouted', 'strengthens access'],
    ['strengthens access', ...unknown],
  ],
  [
    'a successor that leads to the same place',
    [member()],
    [member({}, {}, 'successor', { replaces: 'a' })],
    ['neutral created', 'strengthens access'],
  ],
];

const cases = rows.map(([what, before, after, risks, hidden = risks]) => [what, before, after, risks, hidden] as const);

describe('credentials that a connection inherits', () => {
  test.each(cases)('%s', (_, before, after, risks) => {
    expect(riskTexts(planWithRisks(before, after, { inherited: shared }))).toEqual(risks);
  });

  test.each(cases)('%s, from a resource that the gateway does not show', (_, before, after, __, hidden) => {
    expect(riskTexts(planWithRisks(before, after, { inherited: 'hidden' }))).toEqual(hidden);
  });

  test.each(cases.filter(([, before]) => before.length > 0))('%s, from a resource without secrets', (_, before, after) => {
    const without = riskTexts(planWithRisks(before, after, { inherited: new Map() }));
    expect(without).toEqual(riskTexts(planWithRisks(before, after)));
  });

  test('headlines count the connections', () => {
    const after = [member({}, { agent_id: 'other' })];
    const texts = (inherited: InheritedKeys): readonly string[] =>
      planWithRisks([member()], after, { inherited }).protection.headlines.map(({ direction, text }) => `${direction}: ${text}`);
    expect(texts(shared)).toEqual(['reroutes: 1 connection sends a kept credential to another agent']);
    expect(texts('hidden')).toEqual([
      'unknown: 1 connection may send a credential of the resource to another endpoint; the gateway does not show which it has',
    ]);
  });
});
