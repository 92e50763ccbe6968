import type { Json, JsonObject } from './json.ts';
import { encode } from './secrets.ts';

const commands: Readonly<Record<string, readonly string[]>> = {
  postgres: ['psql', '-v', 'ON_ERROR_STOP=1', '-A', '-F\t', '-P', 'pager=off', '-h', '$HOST', '-U', '$USER', '--port=$PORT', '$DB'],
  mysql: ['mysql', '-h$HOST', '-u$USER', '--port=$PORT', '-D$DB'],
  mssql: ['sqlcmd', '--exit-on-error', '--trim-spaces', '-s\t', '-r', '-S$HOST:$PORT', '-U$USER', '-d$DB', '-i/dev/stdin'],
  oracledb: ['sqlplus', '-s', '$USER/$PASS@$HOST:$PORT/$SID'],
  mongodb: ['mongo', '--quiet', '$CONNECTION_STRING'],
};

const mongoByParts = ['mongo', '--quiet', 'mongodb://$USER:$PASS@$HOST:$PORT/?$OPTIONS'];

export type CompletedConnection = { readonly command: readonly string[] | null; readonly secret: JsonObject };

/** Returns the gateway's defaults for known subtypes: the command and secrets. */
export function fillDefaults(type: string, subtype: string, { command, secret }: CompletedConnection): CompletedConnection {
  const kind = kindOf(type, subtype);
  const byParts = kind === 'mongodb' && secret['envvar:CONNECTION_STRING'] === '';
  const given = command === null || command.length === 0 ? null : command;
  return {
    command: given ?? (byParts ? mongoByParts : (commands[kind] ?? null)),
    secret: { ...missing(kind, byParts), ...secret },
  };
}

function kindOf(type: string, subtype: string): string {
  if (type === 'database') return subtype;
  return ['postgres', 'mysql', 'mssql'].includes(type) ? type : '';
}

function missing(kind: string, byParts: boolean): Readonly<Record<string, Json>> {
  if (kind === 'mssql') return { 'envvar:INSECURE': encode('false') };
  return byParts ? { 'envvar:OPTIONS': encode('tls=true'), 'envvar:PORT': encode('27017') } : {};
}
