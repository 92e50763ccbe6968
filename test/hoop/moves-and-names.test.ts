import { expect, test } from 'vitest';
import { disturbableHoop } from '../support/disturbable-gateways.ts';
import { interruptedHistory } from '../support/interrupted-apply.ts';
import type { Manifest } from '../support/scenario.ts';

const open = {
  type: 'database',
  subtype: 'postgres',
  agent_id: 'default',
  access_schema: 'disabled',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'enabled',
};

const connection = (name: string, replaces?: string): Manifest => ({
  kind: 'Connection',
  metadata: { name, ...(replaces === undefined ? {} : { replaces }) },
  spec: open,
});

const connections = ['keep-db', 'spare-db', 'two-db'].map((name) => connection(name));

const rule = (name: string, on: string | readonly string[], renamedFrom?: string): Manifest => ({
  kind: 'AccessRequestRule',
  metadata: { name, ...(renamedFrom === undefined ? {} : { renamedFrom }) },
  spec: { access_type: 'jit', reviewers_groups: ['dba'], min_approvals: 1, connection_names: [on].flat() },
});

const before = [rule('asks', 'keep-db'), rule('asks-too', 'two-db')];

test.each([
  ['takes what another rule leaves', [rule('new-asks', 'two-db', 'asks'), rule('asks-too', 'spare-db')]],
  ['exchanges its only connection', [rule('new-asks', 'two-db', 'asks'), rule('asks-too', 'keep-db')]],
  ['exchanges it with a renamed one', [rule('new-asks', 'two-db', 'asks'), rule('new-too', 'keep-db', 'asks-too')]],
])('a renamed access-request rule that %s is written under its new name', async (_, after) => {
  const world = await disturbableHoop();
  try {
    const history = interruptedHistory(world, { before: [...connections, ...before], after: [...connections, ...after] });
    for (const side of ['before', 'after', 'before'] as const)
      expect([await history.apply(side), await history.rest(side)]).toEqual([[], []]);
  } finally {
    await world.close();
  }
});

test.each([
  ['takes both', [rule('asks', 'keep-db'), rule('asks-too', ['new-db', 'two-db'])]],
  ['takes both beside its own', [rule('asks', 'keep-db'), rule('asks-too', ['new-db', 'two-db', 'spare-db'])]],
  ['takes the successor', [rule('asks', 'two-db'), rule('asks-too', ['new-db', 'spare-db'])]],
  ['leaves the successor', [rule('asks', 'new-db'), rule('asks-too', ['two-db', 'spare-db'])]],
])('a connection that is replaced does not keep its rule from letting go of another: a rule %s', async (_, after) => {
  const world = await disturbableHoop();
  try {
    const governed = [rule('asks', ['old-db', 'two-db']), rule('asks-too', 'spare-db')];
    const history = interruptedHistory(world, {
      before: [...connections, connection('old-db'), ...governed],
      after: [...connections, connection('new-db', 'old-db'), ...after],
    });
    for (const side of ['before', 'after'] as const) expect([await history.apply(side), await history.rest(side)]).toEqual([[], []]);
  } finally {
    await world.close();
  }
});
