// The gateway of our own, on PGlite and on PostgreSQL, beside the same queries in the same framework.
import { cpSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { create, fill, hangUp, mixedPaths, read, slowestHealth } from './server-load.js';
import { serverScaleRows } from './server-scale.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
// Beside the packages that the programs import.
const built = here('../../node_modules/.cache/ostiary-bench');
const key = Buffer.alloc(32, 7).toString('base64');

async function program(source) {
  const build = await rolldown({ input: here(source), platform: 'node', external: /^[^./]/ });
  const file = join(built, `${parse(source).name}.mjs`);
  await build.write({ file, codeSplitting: false });
  await build.close();
  return file;
}

/** The rows of both databases. */
export async function serverRows(bench) {
  const floor = await program('server-floor.ts');
  const postgres = await bench.start([await program('server-postgres.ts')], 'stdout');
  try {
    await rowsOf('PostgreSQL', postgres.url, { ...bench, floor });
  } finally {
    await bench.stop(postgres.child);
  }
  await rowsOf('PGlite', join(bench.folder, 'server'), { ...bench, floor });
  if (bench.full) await largeRows(bench);
  await hangUp();
}

/** The rows of up to 100,000 connections, on new databases. */
async function largeRows(bench) {
  const options = { ...bench, key, fill: await program('server-fill.js'), startGateway: (database) => startGateway(database, bench) };
  const postgres = await bench.start([await program('server-postgres.ts')], 'stdout');
  try {
    await serverScaleRows('PostgreSQL', { ...options, database: postgres.url, files: postgres.url });
  } finally {
    await bench.stop(postgres.child);
  }
  const database = join(bench.folder, 'large');
  await serverScaleRows('PGlite', { ...options, database, files: join(database, 'postgres') });
}

async function rowsOf(name, database, bench) {
  const headers = { authorization: `Bearer ${bench.token}` };
  let server = await startGateway(database, bench);
  const filled = await fill(server.url, headers);
  const own = name === 'PGlite' ? `${database}-floor` : database;
  if (own !== database) {
    // A folder has one process: the floor gets a copy.
    await bench.stop(server.child);
    cpSync(join(database, 'postgres'), own, { recursive: true });
    server = await startGateway(database, bench);
  }
  const floor = await bench.start([bench.floor, own], 'stdout');
  const sides = { name, headers, server, floor, ...filled };
  await readRows(sides, bench);
  await healthRow(sides, bench);
  await memoryRow(sides, bench);
  // At the end: the lists are longer from here on.
  await createRow(sides, bench);
  await bench.stop(floor.child);
  await bench.stop(server.child);
}

function startGateway(database, { start, cli, token }) {
  const gateway = [cli, 'serve', '--port', '0', '--quiet', '--database', database, '--agent', 'prod-agent'];
  const args = ['--expose-gc', '--import', pathToFileURL(here('collect.js')).href, ...gateway];
  return start(args, 'stderr', { OSTIARY_SERVE_KEY: token, OSTIARY_SERVE_ENCRYPTION_KEY: key });
}

/** The share of the floor's rate, pair by pair, after one pair that warms both up. */
async function shareOf(rounds, floor, server, median) {
  await floor(-1);
  await server(-1);
  const shares = [];
  for (let round = 0; round < rounds; round += 1) shares.push((await floor(round)) / (await server(round)));
  return median(shares);
}

async function readRows({ name, headers, server, floor, ids }, { row, median }) {
  const readings = [
    { what: 'list of 10,000 connections', paths: ['/connections'], count: 5, atOnce: 1, least: 0.65, goal: 80 },
    { what: 'mixed reads, 32 at once', paths: mixedPaths(ids), count: 1100, atOnce: 32, least: 0.75, goal: 90 },
  ];
  for (const { what, paths, count, atOnce, least, goal } of readings) {
    const reading = (url) => () => read(url, headers, paths, count, atOnce);
    const share = await shareOf(3, reading(floor.url), reading(server.url), median);
    row(`${name}: ${what}`, percent(share, 'of the bare queries'), `≥ ${least * 100} % (goal ${goal})`, share >= least);
  }
}

/** The floor inserts one row; the gateway validates, encrypts, adds the resource and the audit entry in one transaction. */
async function createRow({ name, headers, server, floor, agentId }, { row, median }) {
  const creating = (url, from) => (round) => create(url, headers, agentId, { first: from + (round + 2) * 1000, count: 1000 });
  const share = await shareOf(3, creating(floor.url, 100_000), creating(server.url, 200_000), median);
  row(`${name}: 1,000 creates, 32 at once`, percent(share, 'of a bare insert'), '', true);
}

async function healthRow({ name, headers, server }, { row }) {
  const slowest = await slowestHealth(server.url, headers, 30);
  const aimed = name === 'PostgreSQL';
  row(`${name}: /healthz while all is listed`, `${slowest.toFixed(0)} ms at most`, aimed ? '≤ 200 ms' : '', !aimed || slowest <= 200);
}

async function memoryRow({ name, headers, server, ids }, { row }) {
  // Searches look through all rows: they would take minutes, and leave no more behind than the others.
  const paths = mixedPaths(ids).filter((path) => !path.startsWith('/search'));
  await read(server.url, headers, paths, 10_000);
  const before = await residentMiB(server.child);
  await read(server.url, headers, paths, 50_000);
  const after = await residentMiB(server.child);
  const growth = after / before - 1;
  row(`${name}: memory after 50,000 more reads`, `${percent(growth, 'growth')} (${after.toFixed(0)} MiB)`, '≤ 15 %', growth <= 0.15);
}

async function residentMiB(child) {
  child.kill('SIGUSR2');
  await delay(1000);
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
}

function percent(share, of) {
  return `${(share * 100).toFixed(0)} % ${of}`;
}
