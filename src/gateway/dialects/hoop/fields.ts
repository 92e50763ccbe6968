import { encodedText } from '../../../model/secret.ts';
import { Buffer } from 'node:buffer';

/** Our field name of a connection → the gateway's. */
export const fieldNames: Readonly<Record<string, string>> = { issuetracker_issue_template_id: 'jira_issue_template_id' };

/** By our field name: our value → the gateway's. */
export const valueNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  subtype: { keyvaluedb: 'dynamodb', cloudmonitor: 'cloudwatch' },
};

/** The types that a connection may have: an enum of the gateway's database. */
export const types: readonly string[] = [
  'database',
  'application',
  'custom',
  'command-line',
  'httpproxy',
  'tcp',
  'postgres',
  'mysql',
  'mssql',
];

/** Fields of a connection that the gateway sets: read, and never sent. */
export const readOnly: ReadonlySet<string> = new Set([
  'id',
  'status',
  'managed_by',
  'default_database',
  'managed_attributes',
  'effective_features',
  'jit_access_duration_sec',
  'secrets_updated_at',
  'secrets_version',
  'mcp_oauth_warning',
  'mcp_oauth_granted',
]);

/** Fields of rules and runbook configurations that the gateway sets. */
export const readOnlyElsewhere: ReadonlySet<string> = new Set(['id', 'org_id', 'managed_by', 'repository', 'created_at', 'updated_at']);

/** Fields that repeat the value of a secret. */
export const secretEchoes: readonly string[] = ['default_database', 'env_vars'];

/** Our prefix of a reference → the gateway's; on the wire the whole value is base64, as every value is. */
const prefixes: readonly (readonly [string, string])[] = [
  ['_cloudsecrets:', '_aws:'],
  ['_envjson:', '_envjson:'],
  ['_vaultkv1:', '_vaultkv1:'],
  ['_vaultkv2:', '_vaultkv2:'],
  ['_aws_iam_rds:', '_aws_iam_rds:'],
];

/** Our prefix of a reference → the gateway's, where they differ. */
export const differingPrefixes: Readonly<Record<string, string>> = Object.fromEntries(prefixes.filter(([ours, theirs]) => ours !== theirs));

/** Our prefixes of references. */
export const referencePrefixes: readonly string[] = prefixes.map(([ours]) => ours);

/** Returns a stored value in our spelling: a reference as plain text, anything else unchanged. */
export function fromWire(value: string): string {
  // The base64 of a text that begins with `_` begins with X.
  if (!value.startsWith('X')) return value;
  const text = Buffer.from(value, 'base64').toString('utf8');
  const prefix = prefixes.find(([, theirs]) => text.startsWith(theirs));
  if (prefix === undefined || encodedText(text) !== value) return value;
  return `${prefix[0]}${text.slice(prefix[1].length)}`;
}

/** Returns a value in the spelling of the gateway. */
export function toWire(value: string): string {
  const prefix = prefixes.find(([ours]) => value.startsWith(ours));
  return prefix === undefined ? value : encodedText(`${prefix[1]}${value.slice(prefix[0].length)}`);
}
