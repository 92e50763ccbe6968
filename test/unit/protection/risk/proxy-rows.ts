import {
  connectionManifest as connection,
  guardrailManifest as guardrail,
  maskingManifest as masking,
  registered,
  words,
} from '../../../support/risks.ts';
import type { Row } from './credential-rows.ts';

const port = { type: 'application', subtype: 'tcp', access_mode_connect: 'enabled', access_mode_exec: 'enabled' };

/** Rules on connections whose proxy forwards what it cannot read. */
export const proxyRows: readonly Row[] = [
  [
    'masking where everything passes through a proxy that masks nothing',
    [connection('orders', { ...port, access_mode_exec: 'disabled' }), masking('m', registered('PERSON'))],
    [
      connection('orders', { ...port, access_mode_exec: 'disabled' }),
      masking('m', { ...registered('PERSON'), connection_ids: ['orders'] }),
    ],
    ['neutral masking-attached'],
    ['neutral masking-detached'],
  ],
  [
    'masking where commands run beside the proxy',
    [connection('orders', port), masking('m', registered('PERSON'))],
    [connection('orders', port), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    ['strengthens masking-attached'],
    ['weakens masking-detached'],
  ],
  [
    'a guardrail where the proxy cannot enforce it',
    [connection('orders', { type: 'application', subtype: 'tcp' }), guardrail('g', [words('DROP')])],
    [connection('orders', { type: 'application', subtype: 'tcp' }), guardrail('g', [words('DROP')], { connection_ids: ['orders'] })],
    ['availability unenforceable', 'strengthens guardrail-attached'],
    ['weakens guardrail-detached'],
  ],
  [
    'a guardrail where the type forwards, whatever the subtype',
    [connection('orders', { type: 'httpproxy', subtype: 'wiki' }), guardrail('g', [words('DROP')])],
    [connection('orders', { type: 'httpproxy', subtype: 'wiki' }), guardrail('g', [words('DROP')], { connection_ids: ['orders'] })],
    ['availability unenforceable', 'strengthens guardrail-attached'],
    ['weakens guardrail-detached'],
  ],
];
