import { setFlagsFromString } from 'node:v8';
import { makeFolder } from '../../src/disk/make-folder.ts';
import { registry } from '../../src/kinds/index.ts';
import { startServer } from '../../src/server/process/start-server.ts';

const [place = '', adminKey = '', encryptionKey] = process.argv.slice(2);

// PGlite is compiled once, not a second time for speed: the program does not live long enough for that.
setFlagsFromString('--liftoff-only');

/** A program for tests that kill it: serves the folder or the database at the url, and prints its own url. */
const { url } = await startServer({
  database: place.startsWith('postgres') ? { url: place } : { folder: place },
  port: 0,
  registry,
  adminKey,
  ...(encryptionKey === undefined ? {} : { encryptionKey }),
  now: () => new Date(),
  makeFolder,
  log: () => {},
  version: '0.0.0-test',
});
process.stdout.write(`${url}\n`);
