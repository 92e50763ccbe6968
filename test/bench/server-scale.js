// How the cost of reads grows with the connections of the gateway, on one database.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeManifests } from './fixture.js';
import { read } from './server-load.js';

const sizes = [10_000, 50_000, 100_000];

/** Adds the rows of a database: each read at three sizes, and the memory of the server. `startGateway` starts one on the database. */
export async function serverScaleRows(name, { database, files, key, fill, startGateway, stop, run, cli, folder, token, row }) {
  const headers = { authorization: `Bearer ${token}` };
  const manifest = writeManifests(join(folder, 'one'), 1);
  await stop((await startGateway(database)).child);
  const figures = new Map();
  let filled = 0;
  for (const size of sizes) {
    const { status, stderr } = spawnSync(process.execPath, [fill, files, key, String(filled), String(size)], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    filled = size;
    const server = await startGateway(database);
    const pages = { 'the first page': 1, 'the last page': size / 50 };
    const paths = Object.entries(pages).map(([what, page]) => [what, `/connections?page=${page}&page_size=50`]);
    for (const [what, path] of [...paths, ['a search', `/search?term=db-${size - 1}`], ['the whole list', '/connections']]) {
      const taken = [];
      for (let round = 0; round < 7; round += 1) taken.push(await read(server.url, headers, [path], 1, 1));
      note(what, Math.min(...taken));
    }
    note('peak memory of the server', peakMiB(server.child), 'MiB');
    // Each connection has four secrets.
    const { cpu, memory } = run([cli, 'plan', manifest, '--url', server.url, '--quiet']);
    note('CPU time of a plan of one manifest', cpu);
    note('peak memory of that plan', memory, 'MiB');
    await stop(server.child);
  }
  for (const [what, { values, unit }] of figures) {
    const growth = values.at(-1) / sizes.at(-1) / (values[0] / sizes[0]);
    const each = values.map((value, index) => `${sizes[index].toLocaleString('en')}: ${value.toFixed(0)} ${unit}`);
    // Quadratic growth would be ten times as much; the clock of a busy machine accounts for a part of it.
    row(`${name}: ${what}`, each.join('; '), '≤ 1.5 × per connection', growth <= 1.5);
  }

  function note(what, value, unit = 'ms') {
    const known = figures.get(what) ?? { values: [], unit };
    figures.set(what, { ...known, values: [...known.values, value] });
    process.stderr.write(`${name}, ${filled}: ${what}: ${value.toFixed(0)} ${unit}\n`);
  }
}

function peakMiB(child) {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
}
