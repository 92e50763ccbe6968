import schema from '../../schemas/connection.schema.json' with { type: 'json' };
import type { JsonObject } from '../model/json.ts';
import type { Finding, Kind } from '../model/kind.ts';
import type { Spec } from '../model/resource.ts';
import { specFields } from './fields.ts';

/** The command that a gateway fills in for a database of the subtype; the public gateway's own (version 1.148). */
const commands: Readonly<Record<string, readonly string[]>> = {
  postgres: ['psql', '-v', 'ON_ERROR_STOP=1', '-A', '-F\t', '-P', 'pager=off', '-h', '$HOST', '-U', '$USER', '--port=$PORT', '$DB'],
  mysql: ['mysql', '-h$HOST', '-u$USER', '--port=$PORT', '-D$DB'],
  mssql: ['sqlcmd', '--exit-on-error', '--trim-spaces', '-s\t', '-r', '-S$HOST:$PORT', '-U$USER', '-d$DB', '-i/dev/stdin'],
  oracledb: ['sqlplus', '-s', '$USER/$PASS@$HOST:$PORT/$SID'],
  mongodb: ['mongo', '--quiet', '$CONNECTION_STRING'],
};

/** How a resource is reached, and what protects it. */
export const connection: Kind = {
  name: 'Connection',
  schema,
  fields: specFields(schema),
  identity: (name) => name,
  named: true,
  renamable: false,
  derived(spec: Spec) {
    const subtype = spec['subtype'];
    const command =
      spec['type'] === 'database' && typeof subtype === 'string' && Object.hasOwn(commands, subtype) ? commands[subtype] : undefined;
    const types = spec['redact_types'];
    const redacts = Array.isArray(types) && types.length > 0;
    return command === undefined ? { redact_enabled: redacts } : { command, redact_enabled: redacts };
  },
  // Base64 of "false"; the public gateway adds it, so a map without it would differ for ever.
  derivedSecrets: (spec) => (spec['type'] === 'database' && spec['subtype'] === 'mssql' ? { '/secret/envvar:INSECURE': 'ZmFsc2U=' } : {}),
  createDefaults: (name) => ({ resource_name: name }),
  check(spec: JsonObject): readonly Finding[] {
    const types = spec['redact_types'];
    const given = Array.isArray(types) && types.length > 0;
    if (spec['redact_enabled'] === false && given) {
      return [
        {
          code: 'manifest/redact-contradiction',
          severity: 'error',
          at: '/redact_enabled',
          message: 'redact_enabled is false, yet redact_types is not empty',
          hint: 'leave redact_enabled out (it follows redact_types), or empty redact_types',
        },
      ];
    }
    if (spec['redact_enabled'] === true && !given) {
      return [
        {
          code: 'manifest/redact-contradiction',
          severity: 'error',
          at: '/redact_enabled',
          message: 'redact_enabled is true, yet redact_types is empty',
          hint: 'name the info types to redact in redact_types',
        },
      ];
    }
    return [];
  },
};
