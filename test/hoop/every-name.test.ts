import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { nameOf } from '../../src/model/resource.ts';
import { loadState } from '../support/desired-state.ts';
import { disturbableHoop } from '../support/disturbable-gateways.ts';
import { interruptedHistory } from '../support/interrupted-apply.ts';
import type { Manifest } from '../support/scenario.ts';

const names = [
  ...[
    'plain-name UPPER-name under_score a.b.c 123 ab -abc a--b double..dot . .. ... .hidden a/b /a a/ a//b ../up a/../b a%2Fb a%b %',
    '%2e%2e a\\b a+b a?b=c a#b a&b a;b a:b a=b a@b a\'b a"b a<b> a|b a*b a,b {a} [a] ~a $a !a ^a `a` ä-name e\u0301-name 日本語',
    '😀-name 7d0c4a0e-5a3c-4f0e-9d0a-1c0f4ad5a3c4 null new rules attributes',
  ].flatMap((row) => row.split(' ')),
  'a b',
  'x'.repeat(100),
];

const needed = { type: 'database', subtype: 'postgres', agent_id: 'default', access_schema: 'disabled' };
const open = { ...needed, access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled' };
const runbooks = [{ repository: 'git.example.com/ops/runbooks', name: 'ops/' }];
const connectionOf = (index: number): string => `for-${index}`;

type Form = 0 | 1;

/** The fields of an object of each kind whose names the gateway stores, in two forms. */
const kinds: Readonly<Record<string, (form: Form, index: number) => JsonObject>> = {
  Connection: (form) => ({ ...open, reviewers: form === 0 ? [] : ['dba'] }),
  GuardrailRule: (form) => ({ description: `form ${form}` }),
  DataMaskingRule: (form) => ({ description: `form ${form}` }),
  Attribute: (form) => ({ description: `form ${form}` }),
  AccessRequestRule: (form, index) => ({
    access_type: 'jit',
    reviewers_groups: [form === 0 ? 'dba' : 'sre'],
    min_approvals: 1,
    connection_names: [connectionOf(index)],
  }),
  RunbookRule: (form) => ({ runbooks, connections: ['for-0'], user_groups: [form === 0 ? 'dba' : 'sre'] }),
};

/** Objects that the others need, and a runbook rule that stays. */
const others: readonly Manifest[] = [
  ...names.map((_, index): Manifest => ({ kind: 'Connection', metadata: { name: connectionOf(index) }, spec: open })),
  { kind: 'RunbookRule', metadata: { name: 'stays' }, spec: { runbooks, connections: ['for-0'], user_groups: ['dba'] } },
];

const sides = ['before', 'after'] as const;

test.each(Object.entries(kinds))('every %s that can be created can be read, changed and deleted', async (kind, specOf) => {
  const named = (name: string, form: Form = 0): Manifest => ({ kind, metadata: { name }, spec: specOf(form, names.indexOf(name)) });
  const manifestsOf = (all: readonly string[], form?: Form): readonly Manifest[] => [...others, ...all.map((name) => named(name, form))];
  const world = await disturbableHoop();
  try {
    const valid = names.filter((name) => loadState([named(name)]).value !== undefined);
    const refused = await interruptedHistory(world, { before: manifestsOf(valid), after: others }).apply('before');
    expect(refused.filter((one) => !one.startsWith('hoop/name'))).toEqual([]);
    const left = valid.filter((name) => !refused.some((one) => one.includes(` name "${name}"`)));
    expect([left.includes('plain-name'), left.length]).toEqual([true, valid.length - refused.length]);
    const changed = interruptedHistory(world, { before: manifestsOf(left), after: manifestsOf(left, 1) });
    for (const side of sides) expect([await changed.apply(side), await changed.rest(side)]).toEqual([[], []]);
    const deleted = interruptedHistory(world, { before: manifestsOf(left, 1), after: others });
    for (const side of sides) expect([await deleted.apply(side), await deleted.rest(side)]).toEqual([[], []]);
    const { value } = await world.gateway.readAll([kind]);
    expect(value?.resources.map(({ id }) => nameOf(id)).filter((name) => names.includes(name))).toEqual([]);
  } finally {
    await world.close();
  }
});
