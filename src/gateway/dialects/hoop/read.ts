import { isObject, type JsonObject } from '../../../model/json.ts';
import type { Part, Rows, Supplement, View, WireList } from '../../dialect.ts';
import { list, listOf, uidOf } from '../rest.ts';
import { entryId } from './entry-id.ts';

/** Every field of a connection but the secrets and what `supplement` adds; the array form is whole. */
export const connections: WireList = list('/connections');

/** Resources page by page (without a page the gateway sends the first 50): their roles are the connections' own rows. */
export const supplement: Supplement = { list: { ...list('/resources'), paged: true }, uidOf, partsOf };

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
const added = ['force_approve_groups', 'access_max_duration', 'min_review_approvals', 'mandatory_metadata_fields', 'secrets_updated_at'];

/** The version of the secrets is one to rely on only where the resource adds none of its own. */
function partsOf(resource: JsonObject): readonly Part[] {
  const alone = !isObject(resource['env_vars']) || Object.keys(resource['env_vars']).length === 0;
  return listOf(resource['roles']).flatMap((role) => {
    const uid = isObject(role) ? uidOf(role) : undefined;
    if (!isObject(role) || uid === undefined) return [];
    const version = role['secrets_updated_at'];
    return [
      { uid, shared: picked(role, shared), added: { ...picked(role, added), ...(alone && version ? { secrets_version: version } : {}) } },
    ];
  });
}

function picked(entry: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = entry[field];
      return value === undefined ? [] : [[field, value] as const];
    }),
  );
}

/**
 * A connection without what the answer does not truly say: lists blank the secrets of one that ever had some, and so
 * does every answer to somebody who may not see them. Attributes that the gateway manages are not ours to state.
 */
export function honestConnection(entry: JsonObject, { bulk, seesSecrets }: View): JsonObject {
  const { secret, ...rest } = entry;
  const shown = entry['secrets_updated_at'] === undefined || (!bulk && seesSecrets);
  const managed = new Set(listOf(entry['managed_attributes']));
  const attributes = listOf(entry['attributes']).filter((attribute) => !managed.has(attribute));
  return { ...rest, attributes, ...(shown && isObject(secret) ? { secret } : {}) };
}

/** When the secrets were last changed. */
export function secretsVersion(entry: JsonObject, { bulk }: View): string | undefined {
  const version = entry[bulk ? 'secrets_version' : 'secrets_updated_at'];
  return typeof version === 'string' ? version : undefined;
}

/** The one row that holds all runbook configurations of the organisation; there may be none. */
export const runbooks: WireList = {
  path: '/runbooks/configurations',
  rows(body): Rows | undefined {
    if (body === null) return { rows: [] };
    const repositories = isObject(body) ? body['repositories'] : undefined;
    return repositories === undefined ? undefined : { rows: listOf(repositories) };
  },
  isEmpty: (body) => isObject(body) && body['message'] === 'runbook configuration not found',
};

/** The id of a configuration follows from its address. */
export function runbookUid(entry: JsonObject): string | undefined {
  const url = entry['git_url'];
  return typeof url === 'string' && url !== '' ? entryId(url) : undefined;
}
