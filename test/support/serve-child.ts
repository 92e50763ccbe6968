import { registry } from '../../src/kinds/index.ts';
import { startServer } from '../../src/server/start.ts';

const [folder = '', adminKey = ''] = process.argv.slice(2);

/** A program for tests that kill it: serves the folder and prints its url. */
const { url } = await startServer({
  database: { folder },
  port: 0,
  registry,
  adminKey,
  now: () => new Date(),
  log: () => {},
  version: '0.0.0-test',
});
process.stdout.write(`${url}\n`);
