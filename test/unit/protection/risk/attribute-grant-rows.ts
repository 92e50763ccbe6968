import type { JsonObject } from '../../../../src/model/json.ts';
import type { Manifest } from '../../../support/scenario.ts';
import type { Row } from './credential-rows.ts';
import { own } from './risk-rows.ts';

const restricted = own({ access_groups: ['dba'], attributes: ['pci'] });

function granting(spec: JsonObject): Manifest {
  return { kind: 'Attribute', metadata: { name: 'pci' }, spec };
}

/** What an attribute grants to the connections that have it, in both directions. */
export const attributeGrantRows: readonly Row[] = [
  ['an attribute that grants a group', restricted, [...restricted, granting({ access_groups: ['sre'] })], 'weakens who', ''],
  [
    'one more group of an attribute',
    [...restricted, granting({ access_groups: [] })],
    [...restricted, granting({ access_groups: ['sre'] })],
    'weakens who',
  ],
  [
    'a group that the connection has anyway',
    [...restricted, granting({})],
    [...restricted, granting({ access_groups: ['dba'] })],
    'neutral neutral',
  ],
  [
    'one group of an attribute for another',
    [...restricted, granting({ access_groups: ['sre'] })],
    [...restricted, granting({ access_groups: ['dev'] })],
    'strengthens who, weakens who',
  ],
  [
    'a group of an attribute while access control is off',
    [...own({ attributes: ['pci'] }), granting({})],
    [...own({ attributes: ['pci'] }), granting({ access_groups: ['dba'] })],
    'neutral neutral',
  ],
  [
    'a group of an attribute that no connection has',
    [...own({ access_groups: ['dba'] }), granting({})],
    [...own({ access_groups: ['dba'] }), granting({ access_groups: ['sre'] })],
    'neutral neutral',
  ],
];
