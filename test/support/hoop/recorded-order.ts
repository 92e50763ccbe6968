import type { ComparisonOptions } from './id-matcher.ts';

/**
 * The recordings of the first gateway in the order of the times in them.
 * Unrecorded changes between them are in `gatewaySteps` of `recorded-gateway.ts`.
 */
export const recordedOrder: readonly string[] = [
  '00-preflight.json',
  '10-connections.json',
  '20-guardrails.json',
  '30-datamasking.json',
  '40-runbooks.json',
  '50-search-resources.json',
  '60-reviews.json',
  '15-connection-reads.json',
  '75-audit.json',
  '80-attributes.json',
  '70-roles.json',
  '61-review-states.json',
  '41-runbook-listing.json',
  '85-access-rules.json',
  '72-hidden-secrets.json',
  '16-create-with-edges.json',
  '82-protection-profile.json',
];

/** The recordings of the second gateway; unrecorded changes between them are in `accessSteps` of `recorded-access.ts`. */
export const accessOrder: readonly string[] = [
  '86-access-control.json',
  '87-attributes-that-grant.json',
  '88-access-request-rules.json',
  '89-runbook-rules.json',
  '90-rulepacks-analyzer-groups.json',
];

/** The recordings of the third gateway; `rolesSteps` of `recorded-roles.ts` are between them. */
export const rolesOrder: readonly string[] = ['94-who-is-admin.json', '97-sessions.json'];

/** Who made which requests of a file, where it was not the admin's key `ci`: the recordings say it only in `why`. */
const callers: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  '61-review-states.json': {
    'rev-devs-30625': [1],
    'rev-dba-30625': [3, 5, 6, 8, 9, 11, 13, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25],
    'rev-dba+sec-30625': [10],
    'rev-sre-30625': [14],
  },
  '70-roles.json': { 'rec-auditor': [0, 1, 2, 3, 4, 5, 6], 'rec-standard': [7, 8, 9, 10, 11], wrong: [12], nobody: [13] },
  '72-hidden-secrets.json': { user: [0, 2, 3, 5] },
};

/** The name under which `tokens` of the recorded gateway keeps the caller of an exchange. */
export function callerOf(file: string, index: number): string {
  return Object.entries(callers[file] ?? {}).find(([, indexes]) => indexes.includes(index))?.[0] ?? 'ci';
}

const unorderedRoots = new Set(['/agents', '/plugins', '/datamasking-rules', '/reviews', '/runbooks/rules', '/users/groups', '/api-keys']);

/** How the answer of an endpoint is compared. */
export function comparisonOptions(path: string): ComparisonOptions {
  const [endpoint = ''] = path.split('?');
  const tags = endpoint === '/connection-tags';
  return { unorderedRoot: unorderedRoots.has(endpoint), unorderedItems: tags, freeTimes: tags || endpoint === '/rulepacks' };
}
