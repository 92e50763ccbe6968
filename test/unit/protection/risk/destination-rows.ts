import type { JsonObject } from '../../../../src/model/json.ts';
import { connectionManifest as connection } from '../../../support/risks.ts';
import type { Manifest } from '../../../support/scenario.ts';
import type { Row } from './credential-rows.ts';

function at(host: string): JsonObject {
  return { secret: { 'envvar:HOST': { value: host }, 'envvar:USER': { value: 'app' } } };
}

function besideGuarded(host: string): readonly Manifest[] {
  return [connection('sandbox', at(host)), connection('ledger', { ...at('ledger.internal'), reviewers: ['dba'] })];
}

/** What connections run, and where they lead. */
export const destinationRows: readonly Row[] = [
  [
    'another command that people run without review',
    [connection('db', { command: ['psql', '-h', '$HOST'] })],
    [connection('db', { command: ['sh', '-c', 'psql -h $HOST'] })],
    'reroutes program-changed',
  ],
  [
    'another command that people run on the agent itself',
    [connection('deploy', { type: 'custom', command: ['deploy.sh'] })],
    [connection('deploy', { type: 'custom', command: ['bash'] })],
    'weakens agent-opened',
    'weakens agent-opened',
  ],
  [
    'a command that people run on the agent itself, which also names a server',
    [connection('deploy', { type: 'custom', command: ['deploy.sh'] })],
    [connection('deploy', { type: 'custom', command: ['sh', '-c', 'curl https://motd.internal; exec bash'] })],
    'weakens agent-opened',
    'weakens agent-opened',
  ],
  [
    'another command after a review',
    [connection('deploy', { type: 'custom', command: ['deploy.sh'], reviewers: ['dba'] })],
    [connection('deploy', { type: 'custom', command: ['bash'], reviewers: ['dba'] })],
    'neutral neutral',
  ],
  [
    'an open connection that leads where a reviewed one leads',
    besideGuarded('sandbox.internal'),
    besideGuarded('LEDGER.internal.'),
    'weakens destination-opened',
    'neutral neutral',
  ],
];
