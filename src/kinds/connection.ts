import schema from '../../schemas/connection.schema.json' with { type: 'json' };
import { asText, type JsonObject, asArray } from '../model/json.ts';
import { type DocumentDiagnostic, documentError } from '../model/diagnostic.ts';
import type { DesiredSecrets, Kind } from '../model/kind.ts';
import type { Spec } from '../model/resource.ts';
import { specFields } from './fields.ts';

/** By subtype: the command that a gateway fills in for a database; the values are those of the public gateway 1.148. */
const commands: Readonly<Record<string, readonly string[]>> = {
  postgres: ['psql', '-v', 'ON_ERROR_STOP=1', '-A', '-F\t', '-P', 'pager=off', '-h', '$HOST', '-U', '$USER', '--port=$PORT', '$DB'],
  mysql: ['mysql', '-h$HOST', '-u$USER', '--port=$PORT', '-D$DB'],
  mssql: ['sqlcmd', '--exit-on-error', '--trim-spaces', '-s\t', '-r', '-S$HOST:$PORT', '-U$USER', '-d$DB', '-i/dev/stdin'],
  oracledb: ['sqlplus', '-s', '$USER/$PASS@$HOST:$PORT/$SID'],
  mongodb: ['mongo', '--quiet', '$CONNECTION_STRING'],
};

const legacyTypes: readonly string[] = ['postgres', 'mysql', 'mssql'];
const connectionString = '/secret/envvar:CONNECTION_STRING';
const mongoByParts = ['mongo', '--quiet', 'mongodb://$USER:$PASS@$HOST:$PORT/?$OPTIONS'];
// Base64 of "tls=true" and "27017".
const mongoSecrets = { '/secret/envvar:OPTIONS': 'dGxzPXRydWU=', '/secret/envvar:PORT': 'MjcwMTc=' };

/** Returns the type of database that decides the defaults of a gateway; legacy types are database types themselves. */
function databaseOf({ type, subtype }: Spec): string {
  if (typeof type === 'string' && legacyTypes.includes(type)) return type;
  return type === 'database' ? asText(subtype) : '';
}

/** Returns whether the public gateway connects to mongodb by host, port and user: the connection string is stated, and empty. */
function connectsByParts(spec: Spec, { secrets }: DesiredSecrets): boolean {
  const stated = secrets[connectionString];
  return databaseOf(spec) === 'mongodb' && stated?.state === 'value' && stated.reveal() === '';
}

/** The kind Connection: how people reach a resource, and what protects it. */
export const connection: Kind = {
  name: 'Connection',
  schema,
  fields: specFields(schema),
  identity: (name) => name,
  named: true,
  renamable: false,
  derived(spec, secrets = { secrets: {}, wholeSecrets: [] }) {
    const database = databaseOf(spec);
    const byDefault = Object.hasOwn(commands, database) ? commands[database] : undefined;
    const command = connectsByParts(spec, secrets) ? mongoByParts : byDefault;
    const types = spec['redact_types'];
    const redacts = Array.isArray(types) && types.length > 0;
    return command === undefined ? { redact_enabled: redacts } : { command, redact_enabled: redacts };
  },
  derivedOtherwise(spec, { secrets, wholeSecrets }) {
    const stated = secrets[connectionString];
    const decided = stated === undefined ? wholeSecrets.length > 0 : stated.state === 'value';
    return databaseOf(spec) === 'mongodb' && !decided ? { command: mongoByParts } : {};
  },
  derivedSecrets(spec, secrets) {
    if (connectsByParts(spec, secrets)) return mongoSecrets;
    // Base64 of "false". The public gateway adds it, so a map without it would always differ.
    return databaseOf(spec) === 'mssql' ? { '/secret/envvar:INSECURE': 'ZmFsc2U=' } : {};
  },
  createDefaults: (name) => ({ resource_name: name }),
  check(spec: JsonObject): readonly DocumentDiagnostic[] {
    const isEnabled = spec['redact_enabled'];
    const hasTypes = asArray(spec['redact_types']).length > 0;
    if (typeof isEnabled !== 'boolean' || isEnabled === hasTypes) return [];
    const [message, hint] = isEnabled
      ? ['redact_enabled is true, but redact_types is empty', 'list the info types to redact in redact_types']
      : [
          'redact_enabled is false, but redact_types is not empty',
          'remove redact_enabled (derived from redact_types), or empty redact_types',
        ];
    return [documentError('manifest/redact-contradiction', '/redact_enabled', message, hint)];
  },
};
