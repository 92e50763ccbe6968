import { expect, test } from 'vitest';
import type { Change, EdgeAction } from '../../../../src/model/plan/plan.ts';
import type { ResourceId } from '../../../../src/model/resource.ts';
import { reachOf } from '../../../../src/reconcile/diff/rule-reach.ts';
import { liveOf } from '../../../support/resources.ts';

const [rule, connection] = ['RunbookRule/nightly', 'Connection/orders-db'] as const;
const change: Change = { id: rule, action: 'update', fields: [], needs: [], carried: [] };

test.each<readonly [string, readonly ResourceId[], EdgeAction, ResourceId, Change['reach']]>([
  ['loses its last connection includes every one', [connection], 'detach', rule, 'every'],
  ['keeps the name of a connection that is deleted', [connection], 'detach', connection, undefined],
  ['gets its first connection includes only that', [], 'attach', rule, 'named'],
])('a runbook rule that %s', (_, named, action, by, reach) => {
  const live = new Map([[rule, liveOf(rule, { edges: { connections: named } })]]);
  expect(reachOf([{ rule, connection, action, by, declared: [] }], live)(change).reach).toBe(reach);
});
