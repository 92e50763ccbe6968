import { startPostgres } from '../support/postgres.ts';

/** A program for the bench: a PostgreSQL of its own until it is told to end; prints its url. */
const { url, close } = await startPostgres();
process.stdout.write(`${url}\n`);
process.once('SIGTERM', () => void close().finally(() => process.exit()));
