import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Agent, ListedResource, Review, ReviewGroup, RunbookTemplate, SearchResult, TimeWindow } from '../../model/service.ts';
import type { WireService } from '../dialect.ts';

/** Returns an agent with our names of statuses. */
export function parseAgent(row: JsonObject, { agentStatus }: WireService): Agent {
  const status = textAt(row, 'status');
  return { id: textAt(row, 'id'), name: textAt(row, 'name'), status: agentStatus[status] ?? status };
}

/** Returns a resource with our names of subtypes, and without the values of its variables. */
export function parseResource(row: JsonObject, wire: WireService): ListedResource {
  return {
    ...parseMatch(row, wire),
    agent_id: textAt(row, 'agent_id'),
    env_vars: Object.fromEntries(Object.keys(objectAt(row, 'env_vars')).map((name) => [name, '***'])),
    created_at: textAt(row, 'created_at'),
    updated_at: textAt(row, 'updated_at'),
  };
}

/** Returns the runbooks of one repository. */
export function parseTemplates(listing: JsonObject): readonly RunbookTemplate[] {
  return rowsAt(listing, 'items').map((row) => ({
    name: textAt(row, 'name'),
    repository: textAt(row, 'repository') || textAt(listing, 'repository'),
    connections: textsAt(row, 'connections'),
    error: textAt(row, 'error'),
    metadata: objectAt(row, 'metadata'),
    commit: textAt(row, 'commit') || textAt(listing, 'commit'),
    commit_author: textAt(row, 'commit_author') || textAt(listing, 'commit_author'),
    commit_message: textAt(row, 'commit_message') || textAt(listing, 'commit_message'),
  }));
}

/** Returns a review; `bulk`: the row comes from a list. */
export function parseReview(row: JsonObject, wire: WireService, { bulk }: { readonly bulk: boolean }): Review {
  const duration = row['access_duration'];
  return {
    id: textAt(row, 'id'),
    created_at: textAt(row, 'created_at'),
    session: textAt(row, 'session'),
    type: textAt(row, 'type'),
    status: textAt(row, 'status'),
    access_duration: typeof duration === 'number' ? duration : 0,
    revoke_at: textAt(row, 'revoke_at'),
    review_groups_data: rowsAt(row, 'review_groups_data').map((group) => parseReviewGroup(group, wire)),
    ...(bulk && !wire.listsWindows ? {} : { time_window: parseTimeWindow(objectAt(objectAt(row, 'time_window'), 'configuration')) }),
  };
}

/** Returns the matches of a search with our names of subtypes. */
export function parseSearchResult(body: JsonObject, wire: WireService): SearchResult {
  return {
    connections: rowsAt(body, 'connections').map((row) => ({ ...parseMatch(row, wire), resource_name: textAt(row, 'resource_name') })),
    resources: rowsAt(body, 'resources').map((row) => parseMatch(row, wire)),
    runbooks: rowsAt(body, 'runbooks').map((row) => ({ name: textAt(row, 'name'), repository: textAt(row, 'repository') })),
    errors: textsAt(body, 'errors'),
  };
}

function parseMatch(row: JsonObject, { subtypes }: WireService): SearchResult['resources'][number] {
  const subtype = textAt(row, 'subtype');
  return { id: textAt(row, 'id'), name: textAt(row, 'name'), type: textAt(row, 'type'), subtype: subtypes[subtype] ?? subtype };
}

function parseReviewGroup(row: JsonObject, { chatId }: WireService): ReviewGroup {
  const by = objectAt(row, 'reviewed_by');
  const isUnreviewed = Object.keys(by).length === 0;
  return {
    id: textAt(row, 'id'),
    group: textAt(row, 'group'),
    status: textAt(row, 'status'),
    forced_review: row['forced_review'] === true,
    review_date: textAt(row, 'review_date') || null,
    reviewed_by: isUnreviewed
      ? null
      : { id: textAt(by, 'id'), name: textAt(by, 'name'), email: textAt(by, 'email'), chat_id: textAt(by, chatId) },
  };
}

function parseTimeWindow(configuration: JsonObject): TimeWindow | null {
  const [start, end] = [textAt(configuration, 'start_time'), textAt(configuration, 'end_time')];
  return start === '' || end === '' ? null : { configuration: { start_time: start, end_time: end } };
}

function textAt(row: JsonObject, field: string): string {
  const value = row[field];
  return typeof value === 'string' ? value : '';
}

function textsAt(row: JsonObject, field: string): readonly string[] {
  const value = row[field];
  return Array.isArray(value) ? value.flatMap((one: Json) => (typeof one === 'string' ? [one] : [])) : [];
}

function objectAt(row: JsonObject, field: string): JsonObject {
  const value = row[field];
  return isObject(value) ? value : {};
}

function rowsAt(row: JsonObject, field: string): readonly JsonObject[] {
  const value = row[field];
  return Array.isArray(value) ? value.filter((one) => isObject(one)) : [];
}
