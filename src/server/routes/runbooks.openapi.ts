import type { Json, JsonObject } from '../../model/json.ts';
import { type ApiSection, exactObject, schemaRef } from './api-section.ts';
import { sql } from 'kysely';
import type { RunbookLibrary, RunbookListing } from '../rules/runbooks/runbook-library.ts';
import { decidingGroups, isReachable } from '../rules/connection-access.ts';
import type { Principal } from '../principal.ts';
import type { Store } from '../store/store.ts';

const text: JsonObject = { type: 'string' };
const names: JsonObject = { type: 'array', items: text, description: 'Connections with `access_mode_runbooks` enabled.' };

const runbookSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'metadata', 'error'],
  properties: {
    name: { type: 'string', description: 'The path in its repository.' },
    metadata: {
      type: 'object',
      description: 'The parameters of the runbook.',
      additionalProperties: schemaRef('RunbookParameter'),
    },
    connections: names,
    error: { type: ['string', 'null'], description: 'The reason why it cannot run, or null.' },
  },
};

const parameter: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'required', 'description'],
  properties: {
    type: { enum: ['text', 'number', 'tel', 'time', 'date', 'url', 'email', 'select', 'textarea', 'password', 'file'] },
    required: { type: 'boolean' },
    description: text,
    default: text,
    placeholder: text,
    options: { type: 'array', items: text },
    asenv: { type: 'string', description: 'The environment variable that receives the value.' },
    order: { type: 'integer' },
    minlength: text,
    maxlength: text,
  },
};

const commit: JsonObject = {
  commit: { type: 'string', description: 'The head of the default branch.' },
  commit_author: { type: 'string', description: '`NAME <EMAIL>`' },
  commit_message: text,
};

const runbookItems: JsonObject = { type: 'array', items: schemaRef('Runbook') };

const listing = exactObject({
  errors: { type: 'array', items: text, description: 'A line for each repository that could not be read.' },
  repositories: {
    type: 'array',
    items: exactObject({ repository: text, ...commit, items: runbookItems }),
    description: 'One entry for each configuration.',
  },
  items: { ...runbookItems, description: 'The runbooks of all repositories.' },
  ...commit,
});

const how = `Files whose name contains \`.runbook.\`, at the head of the default branch of every configured repository, by path;
links are not followed. A repository is fetched when it is asked for, and kept for \`git_hook_ttl\` seconds (300 where that is 0);
changing its configuration fetches it anew. One that cannot be read, or is too slow, is a line in \`errors\`; the answer stays 200.
A file that is no template, or larger than 1 MB, has an \`error\`. \`metadata\` has the parameters outside of every block.
The top level has the runbooks of all repositories, and the commit of the first.`;

/** Describes and serves the runbooks of all repositories. */
export function runbookSection(library: RunbookLibrary, store: Store): ApiSection {
  return {
    name: 'Runbooks',
    description: 'Files of git repositories that run on connections.',
    schemas: { Runbook: runbookSchema, RunbookParameter: parameter, RunbookListing: listing },
    operations: [
      {
        route: 'GET /plugins/runbooks/templates',
        id: 'listTemplates',
        summary: 'List runbook templates',
        description: `${how}\n\nThe interface shows one repository and no query; every item lists all \`connections\` that it can run on.`,
        answer: [200, 'The runbooks.', 'RunbookListing'],
        async serve(c) {
          const caller = c.get('principal');
          return { json: listingJson(await library.list(caller.role), await connectionNames(store, caller)) };
        },
      },
    ],
  };
}

/** Returns the JSON of a listing. Callers that know one repository read the items and the commit at the top level. */
function listingJson({ repositories: listed, errors }: RunbookListing, connections: readonly string[]): JsonObject {
  const repositories = listed.map((one) => ({ ...one, items: one.items.map((runbook) => ({ ...runbook, connections })) }));
  const [first] = repositories;
  return {
    errors,
    repositories,
    items: repositories.flatMap(({ items }): readonly Json[] => items),
    commit: first?.commit ?? '',
    commit_author: first?.commit_author ?? '',
    commit_message: first?.commit_message ?? '',
  };
}

/** Lists the connections with runbooks that the caller may see. */
async function connectionNames({ db }: Store, caller: Principal): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('connections')
    .select('name')
    .where(sql<boolean>`spec ->> 'access_mode_runbooks' = 'enabled' and ${isReachable(decidingGroups(caller), sql`spec`)}`)
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}
