import { setFlagsFromString } from 'node:v8';
import { makeFolder } from '../../src/disk/write.ts';
import { registry } from '../../src/kinds/index.ts';
import { startServer } from '../../src/server/http/start-server.ts';

const [place = '', adminKey = '', encryptionKey = ''] = process.argv.slice(2);

// Prevents V8 from compiling PGlite a second time: the program is too short-lived for that to save time.
setFlagsFromString('--liftoff-only');

/** A program for tests that kill it: serves the folder or the database URL, and prints its own URL. */
const { url } = await startServer({
  database: place.startsWith('postgres') ? { url: place } : { folder: place },
  port: 0,
  registry,
  adminKey,
  ...(encryptionKey === '' ? {} : { encryptionKey }),
  now: () => new Date(),
  makeFolder,
  log: () => {},
  version: '0.0.0-test',
});
process.stdout.write(`${url}\n`);
