import { createServer, type Server } from 'node:http';
import { startPostgres, type RunningPostgres } from './postgres.ts';
import { snapshotFile } from './snapshot.ts';

export type Fixtures = { readonly url: string; readonly close: () => Promise<void> };

/** Makes each fixture when a worker first asks for it, once for all workers: `/postgres` and `/snapshot`. */
export async function offerFixtures(): Promise<Fixtures> {
  let postgres: Promise<RunningPostgres> | undefined;
  let snapshot: Promise<string> | undefined;
  const answer = async (path: string | undefined): Promise<string> => {
    if (path === '/snapshot') return (snapshot ??= snapshotFile());
    if (path === '/postgres') return (await (postgres ??= startPostgres())).url;
    throw new Error(`there is no fixture ${path ?? ''}`);
  };
  const server = createServer((request, response) => {
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
