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

const connections = ['keep-db', 'spare-db', 'two-db'].map((name): Manifest => ({ kind: 'Connection', metadata: { name }, spec: open }));

const rule = (name: string, connection: string, renamedFrom?: string): Manifest => ({
  kind: 'AccessRequestRule',
  metadata: { name, ...(renamedFrom === undefined ? {} : { renamedFrom }) },
  spec: { access_type: 'jit', reviewers_groups: ['dba'], min_approvals: 1, connection_names: [connection] },
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
