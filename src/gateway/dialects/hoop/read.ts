import { createHash } from 'node:crypto';
import { durationText } from '../../../model/time.ts';
import { isObject, type JsonObject } from '../../../model/json.ts';
import type { AccessRule } from '../../../model/live.ts';
import type { ListRows, ReadMode, SupplementList, SupplementRow, WireList } from '../../dialect.ts';
import { asArray, readUid, restList } from '../rest.ts';

/** Contains every field of a connection except the secrets and what `connectionSupplement` adds; the array form is complete. */
export const connections: WireList = restList('/connections');

/** The fields that are reliable in both lists. */
const shared = [
  'name',
  'type',
  'subtype',
  'agent_id',
  'resource_name',
  'command',
  'access_mode_connect',
  'access_mode_exec',
  'access_mode_runbooks',
  'access_schema',
];

/** The fields that the list of connections omits. */
const added = [
  'force_approve_groups',
  'access_max_duration',
  'min_review_approvals',
  'mandatory_metadata_fields',
  'secrets_updated_at',
  'secrets_version',
];

/** Reads resources by page (without a page the gateway sends the first 50): their roles are the rows of connections. */
export const connectionSupplement: SupplementList = {
  list: { ...restList('/resources'), paged: true },
  uidOf: readUid,
  objectsIn: rolesIn,
  shared,
  added,
};

/** Returns the roles of a resource. The version of their secrets is reliable only where the resource adds no secrets of its own. */
function rolesIn(resource: JsonObject): readonly SupplementRow[] {
  const alone = !isObject(resource['env_vars']) || Object.keys(resource['env_vars']).length === 0;
  const parts: SupplementRow[] = [];
  for (const role of asArray(resource['roles'])) {
    const uid = isObject(role) ? readUid(role) : undefined;
    if (!isObject(role) || uid === undefined) continue;
    const version = role['secrets_updated_at'];
    parts.push({ uid, fields: alone && version ? { ...role, secrets_version: version } : role });
  }
  return parts;
}

/**
 * Returns a connection without unreliable fields. Lists blank the secrets of a connection that ever had some, and so does
 * every response to a caller without permission to see them. Attributes that the gateway manages are not part of a manifest.
 */
export function stripUntrusted(entry: JsonObject, { bulk, seesSecrets }: ReadMode): JsonObject {
  const { secret, ...rest } = entry;
  const shown = entry['secrets_updated_at'] === undefined || (!bulk && seesSecrets);
  const managed = asArray(entry['managed_attributes']);
  const attributes = asArray(entry['attributes']).filter((attribute) => !managed.includes(attribute));
  return { ...rest, attributes, ...(shown && isObject(secret) ? { secret } : {}) };
}

/** Returns when the secrets were last changed. */
export function secretsVersion(entry: JsonObject, { bulk }: ReadMode): string | undefined {
  const version = entry[bulk ? 'secrets_version' : 'secrets_updated_at'];
  return typeof version === 'string' ? version : undefined;
}

/**
 * Reads the one row that contains all runbook configurations of the organization; it may be absent. An entry without an
 * address, which only a write of the whole row can create, cannot be named or written alone.
 */
export const runbooks: WireList = {
  path: '/runbooks/configurations',
  rows(body): ListRows | undefined {
    if (body === null) return { rows: [] };
    const repositories = isObject(body) ? body['repositories'] : undefined;
    if (repositories === undefined) return undefined;
    return { rows: asArray(repositories).filter((entry) => !isObject(entry) || entry['git_url'] !== '') };
  },
  isEmpty: (body) => isObject(body) && body['message'] === 'runbook configuration not found',
};

/** Returns the id of a configuration, which follows from its address. */
export function runbookUid(entry: JsonObject): string | undefined {
  const url = entry['git_url'];
  return typeof url === 'string' && url !== '' ? repositoryId(url) : undefined;
}

// RFC 9562, the namespace of URLs.
const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/** Returns the id of a runbook configuration, which the gateway never sends: the UUIDv5 of its address exactly as written. */
export function repositoryId(gitUrl: string): string {
  const bytes = createHash('sha1').update(namespace).update(gitUrl, 'utf8').digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) % 16) + 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) % 64) + 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Access-request rules: the gateway's own rules that require reviews and limit access, beside connections. They are read, and never written. */
export const accessRules: { readonly list: WireList; readonly read: (row: JsonObject) => AccessRule | undefined } = {
  list: restList('/access-requests/rules'),
  read: readAccessRule,
};

function readAccessRule(row: JsonObject): AccessRule | undefined {
  const { name, access_type: type, access_max_duration: duration } = row;
  if (typeof name !== 'string') return undefined;
  const reviewers = texts(row, 'reviewers_groups');
  const needed = row['all_groups_must_approve'] === true ? reviewers.length : row['min_approvals'];
  const parts = [
    `${typeof needed === 'number' ? needed : '?'} of ${reviewers.join(', ') || 'no group'} for ${typeof type === 'string' ? type : 'access'}`,
    ...namedGroups('asked of', texts(row, 'approval_required_groups')),
    ...namedGroups('forced by', texts(row, 'force_approval_groups')),
    ...namedGroups('skipped by', texts(row, 'skip_review_groups')),
    ...(typeof duration === 'number' && duration > 0 ? [`at most ${durationText(duration)}`] : []),
  ];
  return { name, connections: texts(row, 'connection_names'), attributes: texts(row, 'attributes'), text: parts.join('; ') };
}

function namedGroups(what: string, groups: readonly string[]): readonly string[] {
  return groups.length === 0 ? [] : [`${what} ${groups.join(', ')}`];
}

function texts(row: JsonObject, field: string): readonly string[] {
  return asArray(row[field]).filter((entry) => typeof entry === 'string');
}
