import { Hono } from 'hono';
import type { Kysely } from 'kysely';
import type { Registry } from '../../src/model/kind.ts';
import { listAgents } from '../../src/server/rules/agents.ts';
import { type Collection, collectionsOf } from '../../src/server/collections.ts';
import type { Principal } from '../../src/server/principal.ts';
import type { AppEnv } from '../../src/server/routes/request-context.ts';
import { findObject, listObjects, pageObjects } from '../../src/server/rules/object-reader.ts';
import { searchSection } from '../../src/server/routes/search.openapi.ts';
import { serveSection } from '../../src/server/routes/serve-section.ts';
import type { Store } from '../../src/server/store/store.ts';
import type { Tables } from '../../src/server/store/schema.ts';

const now = (): Date => new Date();
const reader: Principal = { id: '', name: '', email: '', groups: [], role: 'admin', manager: '' };

/** Makes the gateway's reads of the bench, by path, on a database that is watched. */
export function readingsOf(db: Kysely<Tables>, registry: Registry): (path: string) => Promise<unknown> {
  // What is sealed does not matter to the queries.
  const cipher = { keyId: '', keyIds: [], seal: () => '', open: () => '{}' };
  const store: Store = { db, cipher, now };
  const connections = collectionOf(registry, 'connections');
  const search = new Hono<AppEnv>();
  search.use(async (c, next) => {
    c.set('principal', reader);
    await next();
  });
  const searchRunbooks = async (): Promise<{ readonly runbooks: []; readonly errors: [] }> => {
    await listObjects(store, collectionOf(registry, 'runbook_configurations'), { visibleTo: null, make: () => undefined });
    return { runbooks: [], errors: [] };
  };
  serveSection(search, searchSection({ store, searchRunbooks, log: () => undefined }));

  return async (path) => {
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    const page = searchParams.get('page');
    if (pathname === '/agents') return listAgents(store);
    if (pathname === '/search') return search.request(path);
    if (pathname !== connections.path)
      return findObject(store, connections, { text: pathname.slice(connections.path.length + 1), visibleTo: null });
    return page === null
      ? listObjects(store, connections, { visibleTo: null, make: () => undefined })
      : pageObjects(store, connections, { visibleTo: null, page: { page: Number(page), size: 50 } });
  };
}

function collectionOf(registry: Registry, table: string): Collection {
  const found = collectionsOf(registry).find((collection) => collection.table === table);
  if (found === undefined) throw new Error(`nothing is kept in ${table}`);
  return found;
}
