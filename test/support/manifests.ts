import type { JsonObject } from '../../src/model/json.ts';
import type { Manifest } from './scenario.ts';

const needed = {
  type: 'database',
  agent_id: 'default',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'disabled',
  access_schema: 'enabled',
};

/** A connection's manifest with what every connection needs. */
export function connection(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Manifest {
  return { kind: 'Connection', metadata: { name, ...metadata }, spec: { ...needed, ...spec } };
}
