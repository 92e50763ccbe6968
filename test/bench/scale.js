// How the cost of many writes grows with their number: each command at two or three sizes, on a gateway that answers at once.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf, writeManifests, writeRules } from './fixture.js';

const ci = ['--quiet', '--yes'];

/** The runs of one size: what is measured, how many connections the gateway holds at first, and the arguments. */
function runsOf({ created, changed, attached, folder }) {
  return [
    ['plan of new objects, text', 0, ['plan', created, '--quiet']],
    ['plan of new objects, JSON', 0, ['plan', created, '--quiet', '--report', `json=${join(folder, 'plan.json')}`]],
    ['plan of new objects, saved', 0, ['plan', created, '--quiet', '--out', join(folder, 'saved.json')]],
    ['plan of changed objects, text, Markdown and a page', 'all', ['plan', changed, '--quiet', ...reports(folder)]],
    ['plan of attached objects, text', 'all', ['plan', attached, '--quiet']],
    ['apply of new objects', 0, ['apply', created, ...ci, '--journal', join(folder, 'journal')]],
    ['apply of attached objects', 'all', ['apply', attached, ...ci, '--journal', join(folder, 'journal')]],
    ['pull', 'all', ['pull', join(folder, 'pulled'), '--secrets', 'omit', '--quiet']],
  ];
}

function reports(folder) {
  return [
    '--allow',
    'plan/too-many-updates=bench',
    '--report',
    `markdown=${join(folder, 'plan.md')}`,
    '--report',
    `html=${join(folder, 'plan.html')}`,
  ];
}

function changedManifest(index) {
  return manifestOf(index).replace('access_schema: enabled', 'access_schema: disabled');
}

function writeFolders(folder, count) {
  const made = (name, textOf) => writeManifests(join(folder, name), count, textOf);
  const attached = made('attached', manifestOf);
  writeRules(attached, count);
  return { created: made('created', manifestOf), changed: made('changed', changedManifest), attached, folder };
}

/** Adds a row for each command: CPU per object at each size, the growth from the smallest, and the peak memory. */
export async function scaleRows({ full, folder, run, cli, gateway, stop, row }) {
  const figures = new Map();
  const counts = full ? [1000, 12_000, 50_000] : [1000, 12_000];
  for (const count of counts) {
    const place = join(folder, `scale-${count}`);
    mkdirSync(place);
    for (const [what, live, command] of runsOf(writeFolders(place, count))) {
      const { url, child } = await gateway(live === 'all' ? count : live);
      const { cpu, memory } = run([cli].concat(command, '--url', url));
      await stop(child);
      figures.set(what, [...(figures.get(what) ?? []), { count, cpu: cpu / count, memory }]);
    }
  }
  for (const [what, sizes] of figures) {
    const growth = sizes.at(-1).cpu / sizes[0].cpu;
    const each = sizes.map(({ count, cpu, memory }) => `${count.toLocaleString('en')}: ${cpu.toFixed(2)} ms, ${memory.toFixed(0)} MiB`);
    row(`${what}, CPU per object`, `${growth.toFixed(2)} × (${each.join('; ')})`, '≤ 1 × (linear)', growth <= 1);
    const [middle, last] = sizes.slice(-2);
    if (sizes.length < 3) continue;
    const ratio = last.memory / last.count / (middle.memory / middle.count);
    row(`${what}, peak memory per object, ${middle.count} → ${last.count}`, `${ratio.toFixed(2)} ×`, '≤ 1.1 × (linear)', ratio <= 1.1);
  }
}
