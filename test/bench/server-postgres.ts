import { startPostgres } from '../support/postgres.ts';

/** Runs a PostgreSQL for the bench until it is terminated; prints its URL. */
const { url, close } = await startPostgres();
process.stdout.write(`${url}\n`);
process.once('SIGTERM', () => void close().finally(() => process.exit()));
