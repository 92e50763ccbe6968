import { isObject, type JsonObject } from '../../../model/json.ts';
import type { SupplementRow, ListRows, SupplementList, ReadMode, WireList } from '../../dialect.ts';
import { restList, asArray, readUid } from '../shared/rest.ts';
import { repositoryId } from './entry-id.ts';

/** Every field of a connection but the secrets and what `supplement` adds; the array form is whole. */
export const connections: WireList = restList('/connections');

/** What rows of both lists truly say. */
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

/** What the list of connections leaves out. */
const added = [
  'force_approve_groups',
  'access_max_duration',
  'min_review_approvals',
  'mandatory_metadata_fields',
  'secrets_updated_at',
  'secrets_version',
];

/** Resources page by page (without a page the gateway sends the first 50): their roles are the connections' own rows. */
export const connectionSupplement: SupplementList = {
  list: { ...restList('/resources'), paged: true },
  uidOf: readUid,
  objectsIn: rolesIn,
  shared,
  added,
};

/** The version of the secrets is one to rely on only where the resource adds none of its own. */
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
 * A connection without what the answer does not truly say: lists blank the secrets of one that ever had some, and so
 * does every answer to somebody who may not see them. Attributes that the gateway manages are not ours to state.
 */
export function stripUntrusted(entry: JsonObject, { bulk, seesSecrets }: ReadMode): JsonObject {
  const { secret, ...rest } = entry;
  const shown = entry['secrets_updated_at'] === undefined || (!bulk && seesSecrets);
  const managed = asArray(entry['managed_attributes']);
  const attributes = asArray(entry['attributes']).filter((attribute) => !managed.includes(attribute));
  return { ...rest, attributes, ...(shown && isObject(secret) ? { secret } : {}) };
}

/** When the secrets were last changed. */
export function secretsVersion(entry: JsonObject, { bulk }: ReadMode): string | undefined {
  const version = entry[bulk ? 'secrets_version' : 'secrets_updated_at'];
  return typeof version === 'string' ? version : undefined;
}

/**
 * The one row that holds all runbook configurations of the organisation; there may be none. An entry without an address,
 * which only a write of the whole row lets in, cannot be named or written by itself.
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

/** The id of a configuration follows from its address. */
export function runbookUid(entry: JsonObject): string | undefined {
  const url = entry['git_url'];
  return typeof url === 'string' && url !== '' ? repositoryId(url) : undefined;
}
