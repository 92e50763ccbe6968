import type { AllowedValues, Target } from '../../model/config.ts';
import { createSpelling, type Spelling } from '../../model/spec/spelling.ts';
import type { DesiredResource } from '../../model/desired.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { DialectName } from '../../model/dialects.ts';
import { asObject, isObject } from '../../model/json.ts';
import type { Dialect, ServerInfo, TerraformTypes } from '../dialect.ts';
import { dialects } from './index.ts';

/** Returns the dialect of a name. */
export function dialectNamed(name: DialectName): Dialect {
  const named = dialects.find((dialect) => dialect.name === name);
  if (named === undefined) throw new Error(`there is no dialect ${name}`);
  return named;
}

/** Returns the dialect of gateways that show none. */
export function defaultDialect(): Dialect {
  const [first] = dialects;
  if (first === undefined) throw new Error('there is no dialect');
  return first;
}

/** Returns the dialect that the body of the server info shows: `ostiary serve` names itself, and other fields belong to one dialect. */
export function recognizeInfo({ body }: ServerInfo): Dialect | undefined {
  const info = asObject(body);
  return dialects.find(({ signs }) => signs.server === info['name']) ?? dialectWithFields([info], ({ signs }) => signs.infoFields);
}

/** Returns the dialect that a list of connections shows: connections without a field of any dialect are those of the default; undefined if it shows none. */
export function recognizeRows(body: unknown): Dialect | undefined {
  const rows = rowsIn(body) ?? [];
  const areConnections = rows.some((row) => isObject(row) && 'access_mode_connect' in row);
  return areConnections && !haveSigns(rows) ? defaultDialect() : dialectWithFields(rows, ({ signs }) => signs.rowFields);
}

/** Returns the default dialect for a gateway whose server info has no fields, and its connections none of any dialect: others have some. */
export function recognizeAbsence({ status, body }: ServerInfo, connections: unknown): Dialect | undefined {
  const isReadable = status !== 401 && status !== 403;
  const hasFields = status < 300 && isObject(body) && Object.keys(body).length > 0;
  const rows = rowsIn(connections);
  return isReadable && !hasFields && rows !== undefined && !haveSigns(rows) ? defaultDialect() : undefined;
}

function haveSigns(rows: readonly unknown[]): boolean {
  return rows.some((row) => isObject(row) && dialects.some(({ signs }) => signs.rowFields.some((field) => field in row)));
}

function rowsIn(body: unknown): readonly unknown[] | undefined {
  const rows = isObject(body) ? (body['data'] ?? (body['pages'] === undefined ? undefined : [])) : body;
  return Array.isArray(rows) ? rows : undefined;
}

/** Returns the dialect that the header `Server` names. It is only a hint: proxies replace it. */
export function recognizeHeader({ server }: ServerInfo): Dialect | undefined {
  const name = server.toLowerCase().split(/[/ ]/, 1)[0];
  return dialects.find(({ signs }) => signs.server === name);
}

/** Returns the only dialect of which an object has a field; undefined if there are none or several. */
function dialectWithFields(objects: readonly unknown[], fieldsOf: (dialect: Dialect) => readonly string[]): Dialect | undefined {
  const found = dialects.filter((dialect) => objects.some((one) => isObject(one) && fieldsOf(dialect).some((field) => field in one)));
  return found.length === 1 ? found[0] : undefined;
}

/** Returns whether any dialect sends such a token in the header `Api-Key`. */
export function mayBeApiKey(token: string): boolean {
  return dialects.some(({ authHeaderFor }) => authHeaderFor(token) === 'api-key');
}

/** Lists the prefixes of secret values that are references; for `auto`, those of all dialects. */
export function referencePrefixesOf(dialect: string): readonly string[] {
  const spoken = dialect === 'auto' ? dialects : dialects.filter(({ name }) => name === dialect);
  return [...new Set(spoken.flatMap(({ referencePrefixes }) => referencePrefixes))];
}

/** Returns the checks of manifests by a dialect; none for `auto`, because only the gateway shows its dialect. */
export function manifestCheckOf(dialect: string, allowed: AllowedValues): (resource: DesiredResource) => readonly Diagnostic[] {
  const [named] = dialects.filter(({ name }) => name === dialect);
  return (resource) => named?.checkManifest(resource, allowed) ?? [];
}

/** Returns the spelling of the dialect that all targets name; undefined if they name none, several, or one without other names. */
export function spellingOf(targets: readonly Pick<Target, 'dialect'>[]): Spelling | undefined {
  const named = dialects.find(({ name }) => targets.length > 0 && targets.every(({ dialect }) => dialect === name));
  const spelling = named === undefined ? undefined : spellingOfDialects([named]);
  return spelling === undefined || spelling.toGateway.size === 0 ? undefined : spelling;
}

function spellingOfDialects(some: readonly Dialect[]): Spelling {
  return createSpelling(
    some
      .flatMap(({ kinds }) => Object.entries(kinds))
      .map(([kind, { fieldNames, valueNames = {}, referenceNames = {} }]) => [
        kind,
        { fields: fieldNames, values: valueNames, prefixes: referenceNames },
      ]),
  );
}

/** Returns the Terraform provider of the one dialect that has one. */
export function terraformProvider(): TerraformTypes {
  const [terraform] = dialects.flatMap((dialect) => dialect.terraform ?? []);
  if (terraform === undefined) throw new Error('no dialect has a Terraform provider');
  return terraform;
}

/** Returns the names of all gateways. */
export function gatewayNames(): Spelling {
  return spellingOfDialects(dialects);
}

/** Returns the values that the config of a target allows, or that its dialect has. */
export function knownValuesOf({ dialect, allowedValues }: Pick<Target, 'dialect' | 'allowedValues'>): AllowedValues {
  const known = dialects.find(({ name }) => name === dialect)?.knownValues ?? {};
  const fields = Object.entries(known).map(([field, values]) => [field, [...values, ...(allowedValues[field] ?? [])]] as const);
  return { ...allowedValues, ...Object.fromEntries(fields) };
}
