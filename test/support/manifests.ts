import type { JsonObject } from '../../src/model/json.ts';
import type { Manifest } from './scenario.ts';

/** What every connection needs: it is open to connect. */
export const neededFields: JsonObject = {
  type: 'database',
  agent_id: 'default',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'disabled',
  access_schema: 'enabled',
};

/** A key for digests. Without one, each plan with secrets would make a slow key of its manifests. */
export const digestKey: string = 'k'.repeat(32);

/** A connection's manifest with what every connection needs. */
export function connection(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Manifest {
  return { kind: 'Connection', metadata: { name, ...metadata }, spec: { ...neededFields, ...spec } };
}

/** A connection with comments, quotes of both sorts, and lists in both layouts. */
export const commentedConnection = `# Orders.
apiVersion: ostiary/v1
kind: Connection
metadata: { name: orders }

spec:
  type: database        # what it is
  subtype: "postgres"
  agent_id: default
  access_mode_connect: enabled
  access_mode_exec: enabled
  access_mode_runbooks: disabled
  access_schema: enabled
  access_max_duration: 3600 # an hour
  # Who looks at it.
  reviewers:
  - 'dba'   # always
  - 'sre'

  connection_tags: {env: prod, team: orders}
  secret:
    envvar:HOST: { value: 10.0.0.5 }
    envvar:PASS: { valueFrom: { env: OSTIARY_SECRET_ORDERS } }
`;
