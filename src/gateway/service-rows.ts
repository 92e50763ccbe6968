import { isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Agent, ListedResource, Review, ReviewGroup, RunbookTemplate, SearchResult, TimeWindow } from '../model/service.ts';
import type { WireService } from './dialect.ts';

/** An agent in our words. */
export function agentOf(row: JsonObject, { agentStatus }: WireService): Agent {
  const status = text(row, 'status');
  return { id: text(row, 'id'), name: text(row, 'name'), status: agentStatus[status] ?? status };
}

/** A resource in our words; the values of its variables stay here. */
export function resourceOf(row: JsonObject, wire: WireService): ListedResource {
  return {
    ...foundOf(row, wire),
    agent_id: text(row, 'agent_id'),
    env_vars: Object.fromEntries(Object.keys(part(row, 'env_vars')).map((name) => [name, '***'])),
    created_at: text(row, 'created_at'),
    updated_at: text(row, 'updated_at'),
  };
}

/** The runbooks of one repository. */
export function templatesOf(listing: JsonObject): readonly RunbookTemplate[] {
  return rows(listing, 'items').map((row) => ({
    name: text(row, 'name'),
    repository: text(row, 'repository') || text(listing, 'repository'),
    connections: texts(row, 'connections'),
    error: text(row, 'error'),
    metadata: part(row, 'metadata'),
    commit: text(row, 'commit') || text(listing, 'commit'),
    commit_author: text(row, 'commit_author') || text(listing, 'commit_author'),
    commit_message: text(row, 'commit_message') || text(listing, 'commit_message'),
  }));
}

/** A review in our words; `bulk` where it comes from a list. */
export function reviewOf(row: JsonObject, wire: WireService, { bulk }: { readonly bulk: boolean }): Review {
  const duration = row['access_duration'];
  return {
    id: text(row, 'id'),
    created_at: text(row, 'created_at'),
    session: text(row, 'session'),
    type: text(row, 'type'),
    status: text(row, 'status'),
    access_duration: typeof duration === 'number' ? duration : 0,
    revoke_at: text(row, 'revoke_at'),
    review_groups_data: rows(row, 'review_groups_data').map((group) => groupOf(group, wire)),
    ...(bulk && !wire.listsWindows ? {} : { time_window: windowOf(part(part(row, 'time_window'), 'configuration')) }),
  };
}

/** What a search found, in our words. */
export function searchResultOf(body: JsonObject, wire: WireService): SearchResult {
  return {
    connections: rows(body, 'connections').map((row) => ({ ...foundOf(row, wire), resource_name: text(row, 'resource_name') })),
    resources: rows(body, 'resources').map((row) => foundOf(row, wire)),
    runbooks: rows(body, 'runbooks').map((row) => ({ name: text(row, 'name'), repository: text(row, 'repository') })),
    errors: texts(body, 'errors'),
  };
}

function foundOf(row: JsonObject, { subtypes }: WireService): SearchResult['resources'][number] {
  const subtype = text(row, 'subtype');
  return { id: text(row, 'id'), name: text(row, 'name'), type: text(row, 'type'), subtype: subtypes[subtype] ?? subtype };
}

function groupOf(row: JsonObject, { chatId }: WireService): ReviewGroup {
  const by = part(row, 'reviewed_by');
  const nobody = Object.keys(by).length === 0;
  return {
    id: text(row, 'id'),
    group: text(row, 'group'),
    status: text(row, 'status'),
    forced_review: row['forced_review'] === true,
    review_date: text(row, 'review_date') || null,
    reviewed_by: nobody ? null : { id: text(by, 'id'), name: text(by, 'name'), email: text(by, 'email'), chat_id: text(by, chatId) },
  };
}

function windowOf(configuration: JsonObject): TimeWindow | null {
  const [start, end] = [text(configuration, 'start_time'), text(configuration, 'end_time')];
  return start === '' || end === '' ? null : { configuration: { start_time: start, end_time: end } };
}

function text(row: JsonObject, field: string): string {
  const value = row[field];
  return typeof value === 'string' ? value : '';
}

function texts(row: JsonObject, field: string): readonly string[] {
  const value = row[field];
  return Array.isArray(value) ? value.flatMap((one: Json) => (typeof one === 'string' ? [one] : [])) : [];
}

function part(row: JsonObject, field: string): JsonObject {
  const value = row[field];
  return isObject(value) ? value : {};
}

function rows(row: JsonObject, field: string): readonly JsonObject[] {
  const value = row[field];
  return Array.isArray(value) ? value.filter((one) => isObject(one)) : [];
}
