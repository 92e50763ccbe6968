import { type RawBuilder, sql } from 'kysely';
import { asText, type JsonObject } from '../../model/json.ts';
import { Rejection } from '../rejection.ts';
import { decidingGroups, isReachable, isResourceReachable } from '../rules/connection-access.ts';
import { agentIdsSince, aliveSince } from '../rules/agents.ts';
import type { RunbookLibrary } from '../rules/runbooks/runbook-library.ts';
import type { Log } from '../log.ts';
import { containsText } from '../rules/object-reader.ts';
import type { Store } from '../store/store.ts';
import { type ApiSection, exactObject, idSchema, queryParameter } from './api-section.ts';

type SearchOptions = { readonly store: Store; readonly searchRunbooks: RunbookLibrary['search']; readonly log: Log };
/** A part of the answer: the JSON of a list, as the database writes it, because a short term finds everything. */
type SearchPart = { readonly found: string; readonly errors: readonly string[] };

const searched = [sql`name`, sql`spec ->> 'type'`, sql`spec ->> 'subtype'`];

async function searchConnections({ db, now }: Store, term: string, groups: readonly string[] | null): Promise<SearchPart> {
  return readList(
    db,
    sql`select id, name, spec ->> 'resource_name' as resource_name, spec ->> 'type' as type, spec ->> 'subtype' as subtype,
      case when spec ->> 'agent_id' in ${agentIdsSince(aliveSince(now()))} then 'online' else 'offline' end as status,
      spec ->> 'access_mode_runbooks' as access_mode_runbooks, spec ->> 'access_mode_exec' as access_mode_exec,
      spec ->> 'access_mode_connect' as access_mode_connect
    from connections where ${containsText(term, searched)} and ${isReachable(groups, sql`spec`)}`,
  );
}

async function searchResources({ db }: Store, term: string, groups: readonly string[] | null): Promise<SearchPart> {
  return readList(
    db,
    sql`select id, name, spec ->> 'type' as type, spec ->> 'subtype' as subtype from resources
    where ${containsText(term, searched)} and ${isResourceReachable(groups, sql`name`)}`,
  );
}

/** Returns the rows of a query, sorted by name. */
async function readList(db: Store['db'], query: RawBuilder<unknown>): Promise<SearchPart> {
  const { rows } = await sql<{ readonly list: string }>`
    select coalesce(string_agg(row_to_json(found)::text, ',' order by name), '') as list from (${query}) as found`.execute(db);
  return { found: `[${rows.map(({ list }) => list).join(',')}]`, errors: [] };
}

const text = { type: 'string' } as const;
const mode = { enum: ['enabled', 'disabled'] } as const;
const described = { id: idSchema, name: text, type: text, subtype: text } as const;

const connection: JsonObject = exactObject({
  ...described,
  resource_name: text,
  status: { enum: ['online', 'offline'] },
  access_mode_runbooks: mode,
  access_mode_exec: mode,
  access_mode_connect: mode,
});

function listOf(entry: JsonObject): JsonObject {
  return { type: 'array', items: entry };
}

/** Describes and serves the search. A part that fails is reported in `errors`; the other parts still answer. */
export function searchSection({ store, searchRunbooks, log }: SearchOptions): ApiSection {
  return {
    name: 'Search',
    description: 'One term in connections, resources and runbooks.',
    schemas: {
      SearchResult: exactObject({
        connections: listOf(connection),
        resources: listOf(exactObject(described)),
        runbooks: listOf(exactObject({ name: text, repository: text })),
        errors: { ...listOf(text), description: 'A line for each part that could not be searched.' },
      }),
    },
    operations: [
      {
        route: 'GET /search',
        id: 'search',
        summary: 'Search for a term',
        description: `The interface does not show the name of the parameter; it is that of the public gateway. The term is always plain text:
connections and resources are found by name, type and subtype, runbooks by repository and path. Each list is sorted, without
limit, and empty where nothing is found. A part that fails is reported in \`errors\`; the status stays 200.`,
        parameters: [queryParameter('term', 'At least one character; without it, the answer is 400, as on the public gateway.', text)],
        answer: [200, 'What was found.', 'SearchResult'],
        errors: [400, 422],
        async serve(c, _body, query) {
          const term = asText(query['term']);
          if (term === '') throw new Rejection(400, 'the query parameter term is required: /search?term=TEXT');
          const attempt = async (what: string, part: Promise<SearchPart>): Promise<SearchPart> =>
            part.catch((error: unknown) => {
              const requestId = c.get('requestId');
              const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
              log({ level: 'error', message: `${what} could not be searched`, requestId, details: { stack } });
              return { found: '[]', errors: [`${what} could not be searched; see request ${requestId} in the log of the gateway`] };
            });
          const groups = decidingGroups(c.get('principal'));
          const [connections, resources, runbooks] = await Promise.all([
            attempt('connections', searchConnections(store, term, groups)),
            attempt('resources', searchResources(store, term, groups)),
            attempt(
              'runbooks',
              searchRunbooks(term, c.get('principal').role).then(({ runbooks: found, errors }) => ({
                found: JSON.stringify(found),
                errors,
              })),
            ),
          ]);
          const errors = [connections, resources, runbooks].flatMap((part) => part.errors);
          const lists = `"connections":${connections.found},"resources":${resources.found},"runbooks":${runbooks.found}`;
          return { json: `{${lists},"errors":${JSON.stringify(errors)}}` };
        },
      },
    ],
  };
}
