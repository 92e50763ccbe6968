import {
  connectionManifest as connection,
  guardrailManifest as guardrail,
  maskingManifest as masking,
  registered,
  words,
} from '../../../support/risks.ts';
import type { Row, Side } from './credential-rows.ts';

const port = { type: 'application', subtype: 'tcp', access_mode_connect: 'enabled', access_mode_exec: 'enabled' };

/** A connection with a custom entity type that is masked only if the gateway's own threshold is not above its score. */
function scored(subtype: string): Side {
  const custom_entity_types = [{ name: 'EMP', score: 0.4, regex: 'E[0-9]+' }];
  return [connection('orders', { subtype }), masking('m', { custom_entity_types, connection_ids: ['orders'] })];
}

/** Rules on connections whose proxy forwards, on a gateway of the interface: its document says only that. */
export const proxyRows: readonly Row[] = [
  [
    'masking where everything passes through a proxy that masks nothing',
    [connection('orders', { ...port, access_mode_exec: 'disabled' }), masking('m', registered('PERSON'))],
    [
      connection('orders', { ...port, access_mode_exec: 'disabled' }),
      masking('m', { ...registered('PERSON'), connection_ids: ['orders'] }),
    ],
    'neutral neutral',
  ],
  [
    'masking where commands run beside the proxy',
    [connection('orders', port), masking('m', registered('PERSON'))],
    [connection('orders', port), masking('m', { ...registered('PERSON'), connection_ids: ['orders'] })],
    'strengthens masking',
  ],
  [
    'a guardrail where no document says whether the proxy enforces it',
    [connection('orders', { type: 'application', subtype: 'tcp' }), guardrail('g', [words('DROP')])],
    [connection('orders', { type: 'application', subtype: 'tcp' }), guardrail('g', [words('DROP')], { connection_ids: ['orders'] })],
    'unknown input',
  ],
  [
    'a guardrail where the type forwards, whatever the subtype',
    [connection('orders', { type: 'httpproxy', subtype: 'wiki' }), guardrail('g', [words('DROP')])],
    [connection('orders', { type: 'httpproxy', subtype: 'wiki' }), guardrail('g', [words('DROP')], { connection_ids: ['orders'] })],
    'unknown input',
  ],
  [
    'a type that forwards what it cannot read, with an entity type that the gateway may never mask',
    scored('postgres'),
    scored('tcp'),
    'unknown masking',
    'reroutes program-changed, strengthens masking',
  ],
];
