import type { Agent, ListedResource, Review, RunbookTemplate, SearchResult } from '../../model/service.ts';

/** Headers and rows for `tableText`. */
export type TableListing = { readonly headers: readonly string[]; readonly rows: readonly (readonly string[])[] };

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

/** Returns reviews with the decision of each group. */
export function reviewListing(reviews: readonly Review[], secondsSince: (time: string) => number): TableListing {
  return {
    headers: ['review', 'status', 'type', 'age', 'groups'],
    rows: reviews.map((one) => [one.id, one.status, one.type, ageOf(secondsSince(one.created_at)), groupsOf(one)]),
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

/** Returns the decisions of groups, then the groups that have not decided. */
function groupsOf({ review_groups_data: groups }: Review): string {
  const said = groups.filter(({ status }) => status !== 'PENDING').map(({ group, status }) => `${group} ${status}`);
  const waiting = groups.filter(({ status }) => status === 'PENDING').map(({ group }) => group);
  return [...said, ...(waiting.length === 0 ? [] : [`waits for ${waiting.join(' ')}`])].join(', ');
}

/** Returns an age in the largest whole unit. */
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
