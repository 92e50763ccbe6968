import { createServer, type Server } from 'node:http';
import { Client } from 'pg';
import { makeFolder } from '../../src/disk/write.ts';
import { openDatabase } from '../../src/server/store/database.ts';
import { createSchema } from '../../src/server/store/schema.ts';
import { startPostgres, type RunningPostgres } from './postgres.ts';
import { snapshotFile } from './snapshot.ts';

export type Fixtures = { readonly url: string; readonly close: () => Promise<void> };

/** Creates each fixture at its first request, once for all workers: `/postgres`, `/template` and `/snapshot`. */
export async function offerFixtures(): Promise<Fixtures> {
  let postgres: Promise<RunningPostgres> | undefined;
  let snapshot: Promise<string> | undefined;
  let template: Promise<string> | undefined;
  const started = (): Promise<RunningPostgres> => (postgres ??= startPostgres());
  const answer = async (path: string | undefined): Promise<string> => {
    if (path === '/snapshot') return (snapshot ??= snapshotFile());
    if (path === '/postgres') return (await started()).url;
    if (path === '/template') return (template ??= started().then(({ url }) => makeTemplate(url)));
    throw new Error(`there is no fixture ${path ?? ''}`);
  };
  const server = createServer((request, response) => {
    // A worker that asks again would use a connection that was closed meanwhile.
    response.setHeader('connection', 'close');
    answer(request.url).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const url = await listening(server);
  const stop = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    const running = await postgres?.catch(() => undefined);
    await running?.close();
  };
  return { url, close: stop };
}

function listening(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
    });
  });
}

/** Returns the name of a database with empty tables. */
async function makeTemplate(maintenance: string): Promise<string> {
  const name = 'ostiary_template';
  const client = new Client({ connectionString: maintenance });
  await client.connect();
  await client.query(`create database ${name}`).finally(() => client.end());
  const url = new URL(maintenance);
  url.pathname = `/${name}`;
  const { db, close } = await openDatabase({ database: { url: url.href }, encryptionKey: Buffer.alloc(32), makeFolder, log: () => {} });
  await createSchema(db).finally(close);
  return name;
}
