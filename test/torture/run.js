// Tortures the commands and the gateway, and prints what they survived. test/torture has one file for each section.
// npm run torture [-- [--size N] [--seed N] [SECTION…]]; N times the size of npm test, 10 by default; a section is a part of a file name.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../../build/read-arguments.js';

/** Sections that are programs, not test files. */
const programs = ['schemathesis', 'checks'];
const sectionFiles = readdirSync(import.meta.dirname).flatMap((name) => /^(.+)\.test\.ts$/.exec(name)?.[1] ?? []);
const sectionNames = [...sectionFiles, ...programs];
const { values, positionals } = readArguments(
  { size: '10', seed: '20261121' },
  {
    words: Infinity,
    usage: `run npm run torture [-- [--size N] [--seed N] [SECTION…]]; --size 1 is that of npm test; a section is a part of one of these names: ${sectionNames.join(', ')}`,
    problemOf(given, words) {
      const wrong = [given.size, given.seed].find((number) => !/^[1-9]\d*$/.test(number));
      if (wrong !== undefined) return `"${wrong}" is not a size or a seed`;
      const unknown = words.find((part) => !sectionNames.some((name) => name.includes(part)));
      return unknown === undefined ? undefined : `no section has a name with ${unknown}`;
    },
  },
);
const [size, seed] = [values.size, values.seed].map(String);

/** Runs a program to its end and returns its exit code; undefined if it cannot start. */
async function run(program, args, env = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: 'inherit' });
  const [code] = await once(child, 'close').catch(() => []);
  return code ?? undefined;
}

/** Returns the path of schemathesis, installed into the cache if it is not on the PATH; undefined if it cannot be installed. */
async function findSchemathesis() {
  const known = process.env.SCHEMATHESIS ?? 'schemathesis';
  if ((await run(known, ['--version'])) === 0) return known;
  const home = join(import.meta.dirname, '../../node_modules/.cache/ostiary/schemathesis');
  const installed = join(home, 'bin', 'schemathesis');
  if (existsSync(installed)) return installed;
  if ((await run('python3', ['-m', 'venv', home])) !== 0) return undefined;
  const installs = await run(join(home, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', 'schemathesis==4.*']);
  return installs === 0 ? installed : undefined;
}

const folder = mkdtempSync(join(tmpdir(), 'ostiary-torture-'));
const file = join(folder, 'tally');
const began = Date.now();
const isChosen = (name) => positionals.length === 0 || positionals.some((part) => name.includes(part));
const env = { OSTIARY_TEST_RUNS: size, OSTIARY_TEST_SEED: seed, OSTIARY_TORTURE_TALLY: file };
const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
const files = positionals.filter((part) => !programs.some((name) => name.includes(part))).map((part) => `test/torture/${part}`);
const onlyPrograms = positionals.length > 0 && files.length === 0;
const tests = onlyPrograms ? 0 : await run(process.execPath, [vitest, 'run', ...(files.length === 0 ? ['test/torture/'] : files)], env);

let api = 'not chosen';
if (isChosen('schemathesis')) {
  const program = await findSchemathesis();
  if (program === undefined) api = 'not run: schemathesis is not on the PATH and cannot be installed from PyPI';
  else {
    const cases = String(Math.min(25, Number(size)));
    const script = join(import.meta.dirname, 'schemathesis.js');
    const code = await run(process.execPath, [script, cases, '300'], { SCHEMATHESIS: program, OSTIARY_TORTURE_TALLY: file });
    api = code === 0 ? 'passed' : 'failed';
  }
}

let checks = 'not chosen';
if (isChosen('checks')) checks = (await run(process.execPath, [join(import.meta.dirname, 'safety-checks.js')])) === 0 ? 'passed' : 'failed';

const sections = new Map();
for (const line of existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []) {
  const { section, ...counts } = JSON.parse(line);
  const sums = sections.get(section) ?? { faults: 0, bytes: 0, inputs: 0 };
  for (const [name, count] of Object.entries(counts)) sums[name] += count;
  sections.set(section, sums);
}
rmSync(folder, { recursive: true, force: true });

const counted = [...sections].toSorted(([left], [right]) => (left < right ? -1 : 1));
const total = { faults: 0, bytes: 0, inputs: 0 };
for (const [, sums] of counted) for (const name of Object.keys(total)) total[name] += sums[name];
const rows = [['', { faults: 'faults survived', bytes: 'bytes searched', inputs: 'inputs tried' }], ...counted, ['total', total]];
const width = Math.max(...rows.map(([section]) => section.length));
const cell = (value) => value.toLocaleString('en').padStart(16);
const table = rows.map(([section, { faults, bytes, inputs }]) => `${section.padEnd(width)}${[faults, bytes, inputs].map(cell).join('')}\n`);
const seconds = Math.round((Date.now() - began) / 1000);
process.stdout.write(
  `\n${table.join('')}schemathesis: ${api}\nremoved safety checks: ${checks}\nsize ${size}, seed ${seed}, ${seconds} s\n`,
);
process.exitCode = tests === 0 && api !== 'failed' && checks !== 'failed' ? 0 : 1;
