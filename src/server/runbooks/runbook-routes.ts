import type { Context, Hono } from 'hono';
import { sql } from 'kysely';
import type { Json, JsonObject } from '../../model/json.ts';
import { InvalidBody } from '../http/rejection.ts';
import type { AppEnv } from '../http/request-context.ts';
import type { Runbook, RunbookLibrary, RunbookListing } from './runbook-library.ts';
import type { Store } from '../store/store.ts';

/** Serves the runbooks of all repositories in two forms: that of the interface, and that of the public gateway. */
export function serveRunbooks(app: Hono<AppEnv>, library: RunbookLibrary, store: Store): void {
  app.get('/plugins/runbooks/templates', async (c) => {
    const connections = await connectionNames(store);
    return c.json(listingJson(await library.list(), (runbook) => [{ ...runbook, connections }]));
  });
  app.get('/runbooks', async (c) => {
    const all = await connectionNames(store);
    const wanted = c.req.query('connection_name') || c.req.query('connection') || undefined;
    const connections = wanted === undefined ? all : all.filter((name) => name === wanted);
    const [onlyWithConnections, listed] = [readFlag(c, 'remove_empty_connections', true), readFlag(c, 'list_connections', false)];
    if (connections.length === 0 && onlyWithConnections) return c.json(listingJson(await library.list(), () => []));
    const shown = listed && connections.length > 0 ? { connections } : {};
    return c.json(listingJson(await library.list(), (runbook) => [{ ...runbook, ...shown }]));
  });
}

function readFlag(c: Context<AppEnv>, name: string, otherwise: boolean): boolean {
  const value = c.req.query(name) ?? String(otherwise);
  if (value !== 'true' && value !== 'false') throw new InvalidBody([{ field: name, reason: 'must be true or false' }]);
  return value === 'true';
}

/** Returns the JSON of a listing. Callers that know one repository read the items and the commit at the top level. */
function listingJson({ repositories: listed, errors }: RunbookListing, itemsOf: (runbook: Runbook) => readonly JsonObject[]): JsonObject {
  const repositories = listed.map((one) => ({ ...one, items: one.items.flatMap((runbook) => itemsOf(runbook)) }));
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

async function connectionNames({ db }: Store): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('connections')
    .select('name')
    .where(sql<boolean>`spec ->> 'access_mode_runbooks' = 'enabled'`)
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}
