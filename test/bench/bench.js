// The figures that Ostiary is held to, as ratios measured side by side in one run: npm run bench -- --help
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { compiledSchemas } from '../../build/compiled-schemas.js';
import { readArguments } from '../../build/read-arguments.js';
import { actionEnvironment } from './action.js';
import { manifestOf, writeManifests } from './fixture.js';
import { growthRows, orderRows } from './growth.js';
import { scaleRows } from './scale.js';
import { serverRows } from './server.js';
import { fillShared, sharedAnswers, sharedRows } from './shared-rules.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const cli = here('../../dist/cli.js');
const actionProgram = here('../../dist/action.js');
/** The parts by name, in their order. */
function partsOf({ full, kind }) {
  return {
    version: versionRow,
    step: stepRow,
    ref: refRow,
    plan: () => planRows(full),
    scale: () =>
      scaleRows({
        full,
        folder,
        run,
        cli,
        actionProgram,
        gateway: (count) => start([here('gateway.js'), String(count)], 'stdout'),
        stop,
        row,
      }),
    growth: () => growthRows({ folder, run, cli, bundled, row }),
    order: () => orderRows({ kind, run, bundled, row }),
    shared: () => sharedRows({ full, folder, run, cli, serve: serveShared, stop, row }),
    hoop: hoopRow,
    first: firstRow,
    action: actionRow,
    pull: pullRows,
    apply: applyRows,
    server: () => serverRows({ full, cli, folder, token, start, stop, run, row, median }),
  };
}

const names = Object.keys(partsOf({}));
const chosen = readArguments(
  { full: false, only: '', kind: '' },
  {
    usage: `run npm run bench [-- [--full] [--only PART] [--kind KIND]]; --full also measures 50,000 objects, --kind one kind of rule of the part order; parts: ${names.join(', ')}`,
    problemOf: ({ only }) => (only === '' || names.includes(only) ? undefined : `no part has the name ${only}`),
  },
).values;
const folder = mkdtempSync(join(tmpdir(), 'ostiary-bench-'));
const token = 'bench-key';
const children = [];

function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Runs a node program to its end: wall and CPU milliseconds, peak MiB. */
function run(args, { expect = 0, env = {}, cwd = folder } = {}) {
  const result = join(folder, 'measure.json');
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', pathToFileURL(here('measure.js')).href, ...args], {
    encoding: 'utf8',
    cwd,
    env: { ...process.env, OSTIARY_TOKEN: token, OSTIARY_MEASURE: result, ...env },
  });
  const wall = performance.now() - started;
  if (status !== expect) throw new Error(`${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  return { wall, stdout, ...JSON.parse(readFileSync(result, 'utf8')) };
}

/** Runs the two in turn and returns both medians and the median of the ratios, pair by pair. */
function pairs(count, first, second) {
  first();
  second();
  const all = Array.from({ length: count }, () => [first(), second()]);
  const of = (side, figure) => median(all.map((pair) => pair[side][figure]));
  const ratio = (figure) => median(all.map(([one, other]) => one[figure] / other[figure]));
  return {
    first: { wall: of(0, 'wall'), cpu: of(0, 'cpu'), memory: Math.max(...all.map(([one]) => one.memory)) },
    second: { wall: of(1, 'wall'), cpu: of(1, 'cpu') },
    wall: ratio('wall'),
    cpu: ratio('cpu'),
  };
}

/** Starts a program that prints an address, and waits for it. */
async function start(args, stream, env = {}) {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let text = '';
  return new Promise((resolve, reject) => {
    child[stream].on('data', (chunk) => {
      text += chunk;
      const [address] = /(?:http|postgres):\/\/\S+/.exec(text) ?? [];
      if (address !== undefined) resolve({ url: address, child });
    });
    child.on('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}: ${text}`)));
  });
}

async function stop(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.removeAllListeners('exit');
  child.once('exit', () => undefined);
  const done = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  await Promise.race([ended, done]);
}

const rows = [];
function row(what, figure, aim, reached) {
  rows.push({ what, figure, aim, reached });
  process.stderr.write(`${what}: ${figure}\n`);
}

async function planRows(full) {
  const counts = full ? [1000, 10_000, 50_000] : [1000, 10_000];
  const perObject = [];
  for (const count of counts) {
    const manifests = writeManifests(join(folder, String(count)), count);
    const { url, child } = await start([here('gateway.js'), String(count)], 'stdout');
    const plan = () => {
      const result = run([cli, 'plan', manifests, '--url', url, '--quiet']);
      if (!result.stdout.includes('No changes.')) throw new Error(result.stdout.slice(0, 2000));
      return result;
    };
    const floor = () => run([here('floor.js'), manifests, url]);
    const { first, second, wall, cpu } = pairs(count > 10_000 ? 3 : 7, plan, floor);
    const name = `${count.toLocaleString('en')} objects in as many files`;
    const aim = count === 10_000 ? '≤ 4 ×' : '';
    row(
      `plan, nothing to change, ${name}`,
      `${wall.toFixed(2)} × floor (${first.wall.toFixed(0)} against ${second.wall.toFixed(0)} ms)`,
      aim,
      aim === '' || wall <= 4,
    );
    row(
      `CPU time, ${name}`,
      `${cpu.toFixed(2)} × floor (${first.cpu.toFixed(0)} against ${second.cpu.toFixed(0)} ms)`,
      aim === '' ? '' : '≤ 4.5 ×',
      aim === '' || cpu <= 4.5,
    );
    row(
      `peak memory, ${name}`,
      `${first.memory.toFixed(0)} MiB`,
      count === 10_000 ? '≤ 200 MiB' : '',
      count !== 10_000 || first.memory <= 200,
    );
    perObject.push(first.cpu / count);
    await stop(child);
  }
  const growth = perObject.at(-1) / perObject[0];
  row(`CPU per object, ${counts[0]} → ${counts.at(-1)}`, `${growth.toFixed(2)} ×`, '≤ 1 × (linear)', growth <= 1);
}

/** The milliseconds of one detail read among 16: a third of what it takes on the gateway itself. Alone, one takes 12. */
const oneOfMany = '60';

/** Returns a program of this folder as JavaScript: Node 20 cannot run TypeScript as it is. */
async function bundled(name) {
  const build = await rolldown({ input: here(`${name}.ts`), platform: 'node', plugins: [compiledSchemas()] });
  const { output } = await build.write({ dir: join(folder, name), format: 'esm', entryFileNames: '[name].mjs' });
  await build.close();
  return join(folder, name, output[0].fileName);
}

/** The model of the public gateway as a program. */
async function hoopGateway(key, ...more) {
  return start([await bundled('hoop-gateway'), key, ...more], 'stdout');
}

/** An unchanged plan of the public gateway, secrets verified before, against its own requests by a bare client: whole processes both. */
async function hoopRow() {
  const env = { OSTIARY_TOKEN: 'hpk_bench' };
  const manifests = writeManifests(join(folder, '1000'), 1000);
  const { url, child } = await hoopGateway(env.OSTIARY_TOKEN);
  const root = `${url}/api`;
  run([cli, 'apply', manifests, '--url', root, '--yes', '--quiet'], { env });
  run([cli, 'plan', manifests, '--url', root, '--quiet'], { env });
  const plan = () => {
    const result = run([cli, 'plan', manifests, '--url', root, '--quiet'], { env });
    if (!result.stdout.includes('No changes.')) throw new Error(result.stdout.slice(0, 2000));
    return result;
  };
  const { first, second, wall, cpu } = pairs(11, plan, () => run([here('hoop-floor.js'), root], { env }));
  row(
    'plan, nothing to change, 1,000 connections of the public gateway',
    `${wall.toFixed(2)} × its bulk reads (CPU ${cpu.toFixed(2)} ×; ${first.wall.toFixed(0)} against ${second.wall.toFixed(0)} ms)`,
    '≤ 3 ×',
    wall <= 3,
  );
  await stop(child);
}

/** A first plan of the public gateway, which reads every connection, against the same reads by a bare client. */
async function firstRow() {
  const env = { OSTIARY_TOKEN: 'hpk_bench' };
  const manifests = writeManifests(join(folder, '1000'), 1000);
  const { url, child } = await hoopGateway(env.OSTIARY_TOKEN, oneOfMany);
  const root = `${url}/api`;
  run([cli, 'apply', manifests, '--url', root, '--yes', '--quiet'], { env });
  let round = 0;
  const plan = () => run([cli, 'plan', manifests, '--url', root, '--quiet', '--cache', join(folder, `none-${(round += 1)}`)], { env });
  const { first, second, wall, cpu } = pairs(5, plan, () => run([here('hoop-floor.js'), root, 'details'], { env }));
  row(
    'first plan, 1,000 connections of the public gateway',
    `${wall.toFixed(2)} × its reads (CPU ${cpu.toFixed(2)} ×; ${first.wall.toFixed(0)} against ${second.wall.toFixed(0)} ms)`,
    '≤ 1.1 × (goal 1.0)',
    wall <= 1.1,
  );
  await stop(child);
}

/** A plan by the action, without a comment, against the same plan by the command line: whole processes both. */
async function actionRow() {
  const manifests = writeManifests(join(folder, '1000'), 1000);
  const own = await gateway('action');
  run([cli, 'apply', manifests, '--url', own.url, '--yes', '--quiet']);
  const env = actionEnvironment(folder, { INPUT_MODE: 'plan', INPUT_PATHS: manifests, OSTIARY_URL: own.url });
  const action = () => run([actionProgram], { env });
  const plan = () => run([cli, 'plan', '--url', own.url, '--out', join(folder, 'saved.json'), manifests]);
  const { first, second, wall, cpu } = pairs(9, action, plan);
  row(
    'plan of 1,000 objects by the action',
    `${wall.toFixed(2)} × the command line (CPU ${cpu.toFixed(2)} ×; ${first.wall.toFixed(0)} against ${second.wall.toFixed(0)} ms)`,
    '≤ 1.3 ×',
    cpu <= 1.3,
  );
  await stop(own.child);
}

async function gateway(name) {
  const args = [cli, 'serve', '--port', '0', '--quiet', '--database', join(folder, name), '--agent', 'prod-agent'];
  return start(args, 'stderr', { OSTIARY_SERVE_KEY: token });
}

// The disk counts on one side alone, and ext4 takes a second for a thousand new files where many were removed a minute ago.
const shelf = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ostiary-bench-'));

/** A pull into an empty folder against its own requests by a bare client: whole processes both. */
function pullRow(what, { root, env, floor, secrets, aim }) {
  let round = 0;
  const pull = () => {
    round += 1;
    const into = join(shelf, what.replaceAll(/\W+/g, '-'), String(round));
    return run([cli, 'pull', into, '--url', root, '--secrets', secrets, '--quiet'], { env });
  };
  const { first, second, wall, cpu } = pairs(secrets === 'omit' ? 7 : 5, pull, () => run([here('hoop-floor.js'), root, ...floor], { env }));
  const figure = `${wall.toFixed(2)} × its reads (CPU ${cpu.toFixed(2)} ×; ${first.wall.toFixed(0)} against ${second.wall.toFixed(0)} ms)`;
  row(`pull of 1,000 connections, ${what}`, figure, `≤ ${aim} ×`, wall <= aim);
}

async function pullRows() {
  const manifests = writeManifests(join(folder, '1000'), 1000);
  const own = await gateway('pulled');
  run([cli, 'apply', manifests, '--url', own.url, '--yes', '--quiet']);
  pullRow('a gateway of its own', { root: own.url, env: {}, floor: ['interface'], secrets: 'keep', aim: 3 });
  await stop(own.child);
  const env = { OSTIARY_TOKEN: 'hpk_bench' };
  const hoop = await hoopGateway(env.OSTIARY_TOKEN, oneOfMany);
  const root = `${hoop.url}/api`;
  run([cli, 'apply', manifests, '--url', root, '--yes', '--quiet'], { env });
  pullRow('the public gateway, without secrets', { root, env, floor: [], secrets: 'omit', aim: 2 });
  pullRow('the public gateway, with secrets', { root, env, floor: ['details'], secrets: 'keep', aim: 1.2 });
  await stop(hoop.child);
}

/** A gateway of a dialect with connections that share rules, before some of the rules change. */
async function serveShared(dialect, scene, place) {
  if (dialect === 'interface') {
    const answers = join(place, 'answers.json');
    writeFileSync(answers, JSON.stringify(sharedAnswers(scene)));
    return { ...(await start([here('gateway.js'), answers], 'stdout')), token };
  }
  const { url, child } = await hoopGateway('hpk_bench');
  await fillShared(`${url}/api`, 'hpk_bench', scene);
  return { url: `${url}/api`, child, token: 'hpk_bench' };
}

const noDrop = `apiVersion: ostiary/v1
kind: GuardrailRule
metadata: { name: no-drop }
spec: { input: { rules: [{ type: pattern_match, pattern_regex: "(?i)drop table" }] } }
`;

function writeAccess(name, textOf) {
  const manifests = writeManifests(join(folder, `apply-${name}`), 1000, textOf);
  writeFileSync(join(manifests, 'no-drop.yaml'), noDrop);
  return manifests;
}

function applyQuietly(url, manifests, { env, more = [] }) {
  const allowed = ['--allow', 'plan/too-many-updates=bench'];
  return run([cli, 'apply', manifests, '--url', url, '--yes', '--quiet', '--format', 'json', ...allowed, ...more], { env });
}

/** The share of the raw write rate that apply reaches, from its first request to the last object read back: creations, updates, and attachments, which apply writes with the rule. */
async function applyRows() {
  const before = writeAccess('start', manifestOf);
  await applyRow('creates', { manifests: before });
  const updated = writeAccess('update', (index) => manifestOf(index).replace('access_schema: enabled', 'access_schema: disabled'));
  await applyRow('updates', { before, manifests: updated, raw: 'update' });
  await applyRow('updates against a read and a write each', { before, manifests: updated, raw: 'reread' });
  const attached = writeAccess('attach', (index) => `${manifestOf(index)}  guardrail_rules: [no-drop]\n`);
  await applyRow('attachments', { before, manifests: attached, raw: 'attach' });
  await applyRow('creates on the public gateway', { manifests: before, isPublic: true });
  await applyRow('updates on the public gateway', { before, manifests: updated, raw: 'update', isPublic: true });
  await applyRow('updates on the public gateway against a read and a write each', {
    before,
    manifests: updated,
    raw: 'reread',
    isPublic: true,
  });
}

async function applyRow(what, { before, manifests, raw = 'create', isPublic = false }) {
  const ratios = [];
  const env = isPublic ? { OSTIARY_TOKEN: 'hpk_bench' } : {};
  const open = async (name) => {
    if (!isPublic) return gateway(`${name}-${what}`);
    const { url, child } = await hoopGateway(env.OSTIARY_TOKEN, '12');
    return { url: `${url}/api`, child };
  };
  for (let round = 0; round < (isPublic ? 3 : 5); round += 1) {
    const [bare, own] = [await open(`raw-${round}`), await open(`own-${round}`)];
    for (const { url } of before === undefined ? [] : [bare, own]) applyQuietly(url, before, { env });
    const rawTime = Number(run([here('raw-writes.js'), bare.url, '1000', '8', raw], { env }).stdout);
    await stop(bare.child);
    const journal = join(folder, `journal-${what}-${round}`);
    applyQuietly(own.url, manifests, { env, more: ['--journal', journal] });
    await stop(own.child);
    const events = readFileSync(journal, 'utf8').trim().split('\n').map(JSON.parse);
    const since = (first) => rawTime / (Date.parse(events.at(-1).at) - Date.parse(first.at));
    ratios.push({ whole: since(events[0]), planned: since(events.find(({ event }) => event === 'begin')) });
  }
  const [whole, planned] = ['whole', 'planned'].map((from) => median(ratios.map((one) => one[from])));
  const figure = `${(whole * 100).toFixed(0)} % of the raw write rate, ${(planned * 100).toFixed(0)} % without planning`;
  row(`apply, 1,000 ${what}, read-back included`, figure, '≥ 70 % (goal 90)', whole >= 0.7);
}

/** A commit's manifests, packed, beside the same files on disk. */
async function refRow() {
  const home = join(folder, 'ref');
  const manifests = writeManifests(home, 10_000);
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
  const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', '-c', 'gc.auto=0'];
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
    [...who, 'commit', '--quiet', '--message', 'bench'],
    ['gc', '--quiet'],
  ])
    spawnSync('git', args, { cwd: home, env });
  const times = JSON.parse(run([await bundled('read-trees'), manifests, '9']).stdout);
  const [disk, git] = [median(times.map((one) => one.disk)), median(times.map((one) => one.git))];
  const ratio = median(times.map((one) => one.git / one.disk));
  const figure = `${ratio.toFixed(2)} × the same files on disk (${git.toFixed(0)} against ${disk.toFixed(0)} ms)`;
  row('manifests of a commit, 10,000 files', figure, '≤ 3 ×', ratio <= 3);
}

/** A step of the action that plans nothing, against a process that does nothing. */
function stepRow() {
  const place = join(folder, 'step');
  const env = actionEnvironment(place, { INPUT_MODE: 'validate', INPUT_PATHS: writeManifests(place, 1) });
  const { wall, cpu } = pairs(
    9,
    () => run([actionProgram], { cwd: place, env }),
    () => run(['-e', '0']),
  );
  row(
    'a step of the action that validates',
    `${cpu.toFixed(2)} × the CPU time of an empty node (${wall.toFixed(2)} ×)`,
    '≤ 12 ×',
    cpu <= 12,
  );
}

function versionRow() {
  const { wall, cpu } = pairs(
    15,
    () => run([cli, '--version']),
    () => run(['-e', '0']),
  );
  row('--version', `${wall.toFixed(2)} × an empty node (CPU ${cpu.toFixed(2)} ×)`, '≤ 1.5 × (goal 1.3)', wall <= 1.5);
}

try {
  const parts = partsOf({ ...chosen, kind: chosen.kind || undefined });
  for (const [name, measure] of Object.entries(parts)) if (['', name].includes(chosen.only)) await measure();
  const width = Math.max(...rows.map((one) => one.what.length));
  const middle = Math.max(...rows.map((one) => one.figure.length));
  process.stdout.write(`\nNode ${process.version}; ratios of processes run in turn, medians.\n\n`);
  for (const { what, figure, aim, reached } of rows)
    process.stdout.write(
      `${what.padEnd(width)}  ${figure.padEnd(middle)}  ${aim}${aim === '' ? '' : reached ? '  reached' : '  MISSED'}\n`,
    );
  if (rows.some((one) => !one.reached)) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
  for (const made of [folder, shelf]) rmSync(made, { recursive: true, force: true });
}
