import { openAsBlob } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { createDatabase, fixture, startTestServer, type TestServer, type TestServerOptions } from '../support/servers.ts';

/** A gateway, and another connection to its database. */
export type OpenedServer = {
  readonly server: TestServer;
  readonly run: (statement: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

async function onPglite(options: TestServerOptions = {}): Promise<OpenedServer> {
  const lite = await PGlite.create({ dataDir: 'memory://', loadDataDir: await openAsBlob(await fixture('snapshot')) });
  const server = await startTestServer({ database: { lite }, ...options });
  return { server, run: (statement) => lite.exec(statement), close: () => server.close().then(() => lite.close()) };
}

async function onPostgres(options: TestServerOptions = {}): Promise<OpenedServer> {
  const { url, drop } = await createDatabase();
  const server = await startTestServer({ database: { url }, ...options });
  const client = new Client({ connectionString: url });
  await client.connect();
  const close = async (): Promise<void> => {
    await server.close();
    await client.end();
    await drop();
  };
  return { server, run: (statement) => client.query(statement), close };
}

/** The two databases of a gateway, open to the tests. */
export const openDatabases: readonly (readonly [name: string, start: (options?: TestServerOptions) => Promise<OpenedServer>])[] = [
  ['PGlite', onPglite],
  ['PostgreSQL', onPostgres],
];
