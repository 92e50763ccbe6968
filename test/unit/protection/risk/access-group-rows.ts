import type { Row } from './credential-rows.ts';
import { own } from './risk-rows.ts';

/** The groups that can reach a connection, in both directions; null is everybody. */
export const accessGroupRows: readonly Row[] = [
  ['a first group that can reach it', own({ access_groups: null }), own({ access_groups: ['dba'] }), 'strengthens who'],
  ['one more group', own({ access_groups: ['dba'] }), own({ access_groups: ['dba', 'sre'] }), 'weakens who'],
  ['a group called everybody', own({ access_groups: ['everybody'] }), own({ access_groups: null }), 'weakens who'],
  ['admins only', own({ access_groups: null }), own({ access_groups: [] }), 'availability hidden, strengthens who', 'weakens who'],
  [
    'one group that can reach it for another',
    own({ access_groups: ['dba'] }),
    own({ access_groups: ['sre'] }),
    'strengthens who, weakens who',
  ],
];
