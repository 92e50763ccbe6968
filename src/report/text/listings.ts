import type { Agent, ListedResource, Review, RunbookTemplate, SearchResult } from '../../model/service.ts';

/** Rows under headers, as `tableText` takes them. */
export type TableListing = { readonly headers: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** Agents, and whether they are connected. */
export function agentListing(agents: readonly Agent[]): TableListing {
  return { headers: ['name', 'status', 'id'], rows: agents.map(({ name, status, id }) => [name, status, id]) };
}

/** Resources with the names of their agents and variables, never a value. */
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

/** Runbooks with their repositories. */
export function templateListing(templates: readonly RunbookTemplate[]): TableListing {
  return {
    headers: ['runbook', 'repository', 'connections', 'commit', 'error'],
    rows: templates.map((one) => [one.name, one.repository, one.connections.join(' '), one.commit.slice(0, 8), one.error]),
  };
}

/** Reviews by their ids, and what each group said. */
export function reviewListing(reviews: readonly Review[], secondsSince: (time: string) => number): TableListing {
  return {
    headers: ['review', 'status', 'type', 'age', 'groups'],
    rows: reviews.map((one) => [one.id, one.status, one.type, ageOf(secondsSince(one.created_at)), groupsOf(one)]),
  };
}

/** Everything that a search found, one sort after the other. */
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

/** What is said first, then who is waited for. */
function groupsOf({ review_groups_data: groups }: Review): string {
  const said = groups.filter(({ status }) => status !== 'PENDING').map(({ group, status }) => `${group} ${status}`);
  const waiting = groups.filter(({ status }) => status === 'PENDING').map(({ group }) => group);
  return [...said, ...(waiting.length === 0 ? [] : [`waits for ${waiting.join(' ')}`])].join(', ');
}

/** How long ago, in the largest whole unit. */
function ageOf(seconds: number): string {
  if (Number.isNaN(seconds)) return '';
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ] as const;
  const [unit, length] = units.find(([, one]) => seconds >= one) ?? ['s', 1];
  return `${Math.max(0, Math.floor(seconds / length))}${unit}`;
}
