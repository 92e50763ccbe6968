import type { Agent, ListedResource, RunbookTemplate, SearchResult } from '../../model/service.ts';
import type { TableListing } from '../blocks.ts';

/** Returns agents and their status. */
export function agentListing(agents: readonly Agent[]): TableListing {
  return { headers: ['name', 'status', 'id'], rows: agents.map(({ name, status, id }) => [name, status, id]) };
}

/** Returns resources with the names of their agents and variables, never a value. */
export function resourceListing(resources: readonly ListedResource[], agents: readonly Agent[]): TableListing {
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  return {
    headers: ['name', 'type', 'agent', 'variables'],
    rows: resources.map((one) => [
      one.name,
      typeOf(one),
      names.get(one.agent_id) ?? one.agent_id,
      Object.keys(one.env_vars).toSorted().join(' '),
    ]),
  };
}

/** Returns runbooks with their repositories. */
export function templateListing(templates: readonly RunbookTemplate[]): TableListing {
  return {
    headers: ['runbook', 'repository', 'connections', 'commit', 'error'],
    rows: templates.map((one) => [one.name, one.repository, one.connections.join(' '), one.commit.slice(0, 8), one.error]),
  };
}

/** Returns all results of a search: connections, resources, then runbooks. */
export function searchListing({ connections, resources, runbooks }: SearchResult): TableListing {
  return {
    headers: ['name', 'what', 'type', 'of'],
    rows: [
      ...connections.map((one) => [one.name, 'connection', typeOf(one), one.resource_name]),
      ...resources.map((one) => [one.name, 'resource', typeOf(one), '']),
      ...runbooks.map((one) => [one.name, 'runbook', '', one.repository]),
    ],
  };
}

function typeOf({ type, subtype }: { readonly type: string; readonly subtype: string }): string {
  return [type, subtype].filter((part) => part !== '').join('/');
}
