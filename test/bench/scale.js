// How the cost of many writes grows with their number: each command at two or three sizes, on a gateway that answers at once.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { actionEnvironment, commitFolder } from './action.js';
import { manifestOf, writeManifests, writeRules } from './fixture.js';

const ci = ['--quiet', '--yes'];

/** The runs of one size: what is measured, how many connections the gateway holds at first, the arguments, and what differs from the command line with exit 0. */
function runsOf({ created, changed, attached, removed, folder }) {
  return [
    { what: 'plan of new objects, text', live: 0, command: ['plan', created, '--quiet'] },
    { what: 'plan of new objects, JSON', live: 0, command: ['plan', created, '--quiet', '--report', `json=${join(folder, 'plan.json')}`] },
    { what: 'plan of new objects, saved', live: 0, command: ['plan', created, '--quiet', '--out', join(folder, 'saved.json')] },
    { what: 'plan of changed objects, text, Markdown and a page', live: 'all', command: ['plan', changed, '--quiet', ...reports(folder)] },
    { what: 'plan of attached objects, text', live: 'all', command: ['plan', attached, '--quiet'] },
    { what: 'plan of deletions, text', live: 'all', command: ['plan', ...deleting], cwd: removed },
    { what: 'plan of new objects by the action', live: 0, action: created },
    { what: 'apply of new objects', live: 0, command: ['apply', created, ...ci, '--journal', join(folder, 'journal')] },
    { what: 'apply of attached objects', live: 'all', command: ['apply', attached, ...ci, '--journal', join(folder, 'journal')] },
    { what: 'apply of deletions', live: 'all', command: ['apply', ...deleting, '--yes'], cwd: removed },
    { what: 'drift of every object, text and Markdown', live: 'all', command: drifting(changed, folder), expect: 2 },
    { what: 'pull', live: 'all', command: ['pull', join(folder, 'pulled'), '--secrets', 'omit', '--quiet'] },
  ];
}

const deleting = ['--quiet', '--prune', '--base', 'HEAD~1', '--no-origin', '--allow', 'plan/too-many-deletes=bench'];

function drifting(changed, folder) {
  return ['drift', changed, '--quiet', '--base', 'HEAD', '--no-origin', '--report', `markdown=${join(folder, 'drift.md')}`];
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
  return {
    created: made('created', manifestOf),
    changed: made('changed', changedManifest),
    attached,
    removed: removeAll(folder, count),
    folder,
  };
}

/** A repository whose last commit removed all manifests but one. */
function removeAll(folder, count) {
  const repository = `${folder}-removed`;
  const manifests = writeManifests(repository, count);
  writeFileSync(
    join(repository, 'ostiary.yaml'),
    'apiVersion: ostiary/v1\nkind: Config\nmanifests: [access]\ntargets: { bench: { url: "http://127.0.0.1:9" } }\n',
  );
  commitFolder(repository);
  rmSync(manifests, { recursive: true });
  writeManifests(repository, 1);
  commitFolder(repository);
  return repository;
}

/** Adds a row for each command: CPU per object at each size, the growth from the smallest, and the peak memory. */
export async function scaleRows({ full, folder, run, cli, actionProgram, gateway, stop, row }) {
  const figures = new Map();
  const counts = full ? [1000, 12_000, 50_000] : [1000, 12_000];
  for (const count of counts) {
    const place = join(folder, `scale-${count}`);
    mkdirSync(place);
    const folders = writeFolders(place, count);
    commitFolder(place);
    for (const { what, live, command = [], action, ...different } of runsOf(folders)) {
      const { url, child } = await gateway(live === 'all' ? count : live);
      const { cpu, memory } =
        action === undefined
          ? run([cli].concat(command, '--url', url), { cwd: place, ...different })
          : run([actionProgram], {
              cwd: place,
              env: actionEnvironment(place, { INPUT_MODE: 'plan', INPUT_PATHS: action, OSTIARY_URL: url }),
            });
      await stop(child);
      process.stderr.write(`${what}, ${count}: ${(cpu / 1000).toFixed(1)} s of CPU time, ${memory.toFixed(0)} MiB\n`);
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
