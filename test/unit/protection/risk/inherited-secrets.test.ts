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

type Row = readonly [what: string, before: readonly Manifest[], after: readonly Manifest[], risks: string, hidden?: string];

const unknown = 'unknown inheritance-unknown';
const neutral = 'neutral neutral';
const created = 'neutral created';
const former = [member()];
const later = (...given: Parameters<typeof member>): readonly Manifest[] => [member(...given)];

const rows: readonly Row[] = [
  ...['HOST', 'PORT', 'URL', 'PGHOST', 'CONNECTION_STRING'].map((key): Row => {
    const own = member({ [`envvar:${key}`]: 'evil.example.com' });
    return [`an own ${key}`, former, [own], 'reroutes endpoint-rerouted', unknown];
  }),
  ['another agent', former, later({}, { agent_id: 'other' }), 'reroutes agent-rerouted', unknown],
  ['another command', former, later({}, { command: ['sh', '-c', 'env'] }), 'reroutes command-rerouted', unknown],
  ['another subtype', former, later({}, { subtype: 'mysql' }), 'reroutes command-rerouted', unknown],
  ['another type', former, later({}, { type: 'custom' }), 'reroutes command-rerouted', unknown],
  [
    'another agent and an own host',
    former,
    later({ 'envvar:HOST': 'two' }, { agent_id: 'other' }),
    'reroutes agent-rerouted, reroutes endpoint-rerouted',
    unknown,
  ],
  ['an own host that is removed', later({ 'envvar:HOST': 'two' }), former, 'reroutes endpoint-rerouted', unknown],
  ['an own user', former, later({ 'envvar:USER': 'ada' }), neutral],
  ['another reviewer', former, later({}, { reviewers: ['dba', 'sec'] }), 'strengthens review'],
  [
    'an own password hides the inherited one, with another agent',
    former,
    later({ 'envvar:PASS': 'own' }, { agent_id: 'other' }),
    neutral,
    unknown,
  ],
  [
    'an own password is replaced, with another agent',
    later({ 'envvar:PASS': 'own' }),
    later({ 'envvar:PASS': 'new' }, { agent_id: 'other' }),
    neutral,
    unknown,
  ],
  ['an own password is removed', later({ 'envvar:PASS': 'own' }), former, 'reroutes secret-inherited', unknown],
  ['an own password of another name is removed', later({ 'envvar:TOKEN': 'own' }), former, neutral, unknown],
  [
    'an own password is removed, with another agent',
    later({ 'envvar:PASS': 'own' }),
    later({}, { agent_id: 'other' }),
    'reroutes secret-inherited',
    unknown,
  ],
  [
    'a resource with settings only, and another agent',
    later({}, { resource_name: 'settings' }),
    later({}, { resource_name: 'settings', agent_id: 'other' }),
    neutral,
    unknown,
  ],
  ['another resource', former, later({}, { resource_name: 'settings' }), 'reroutes resource-rerouted'],
  ['a new connection in a resource with a password', [], former, 'reroutes resource-rerouted', unknown],
  ['a new connection in a resource with its own name', [], later({}, { resource_name: null }, 'b'), 'reroutes resource-rerouted', unknown],
  ['a new connection that hides the password', [], later({ 'envvar:PASS': 'own' }), created, unknown],
  ['a new connection in a resource with settings only', [], later({}, { resource_name: 'settings' }), created, unknown],
  ['a new connection in a new resource', [], later({}, { resource_name: 'new' }), created, unknown],
  [
    'a successor with another agent',
    former,
    later({}, { agent_id: 'other' }, 'successor', { replaces: 'a' }),
    'reroutes agent-rerouted, strengthens access',
    `strengthens access, ${unknown}`,
  ],
  [
    'a successor that leads to the same place',
    former,
    later({}, {}, 'successor', { replaces: 'a' }),
    'neutral created, strengthens access',
  ],
];

const cases = rows.map(([what, before, after, risks, hidden = risks]) => [what, before, after, risks, hidden] as const);

describe('credentials that a connection inherits', () => {
  test.each(cases)('%s', (_, before, after, risks) => {
    expect(riskTexts(planWithRisks(before, after, { inherited: shared })).join(', ')).toBe(risks);
  });

  test.each(cases)('%s, from a resource that the gateway does not show', (_, before, after, __, hidden) => {
    expect(riskTexts(planWithRisks(before, after, { inherited: 'hidden' })).join(', ')).toBe(hidden);
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
