// Removes safety checks from a copy of the sources, one at a time; a test has to fail for each.
// npm run torture:checks [-- PART…]; a part of the name of a check chooses it.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readArguments } from '../../build/read-arguments.js';
import { accessChecks } from './access-checks.js';
import { boundaryChecks } from './boundary-checks.js';
import { changeChecks } from './change-checks.js';
import { commentChecks } from './comment-checks.js';
import { decisionChecks } from './decision-checks.js';
import { enforcementChecks } from './enforcement-checks.js';
import { placeChecks } from './place-checks.js';
import { recordChecks } from './record-checks.js';

/**
 * Each check: what it guards, its file below src (or above it), its text, what replaces it, the tests of which one fails without it, and a
 * text that goes first. A test is a path below test, or with `: ` a part of the name of one of its tests, which takes less time.
 */
export const checks = [
  ...changeChecks,
  ...recordChecks,
  ...commentChecks,
  ...decisionChecks,
  ...placeChecks,
  ...boundaryChecks,
  ...accessChecks,
  ...enforcementChecks,
];

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Copies everything that tests read; the packages are linked. */
function copySources() {
  const copy = mkdtempSync(join(tmpdir(), 'ostiary-checks-'));
  const left = new Set(['.git', '.ostiary', 'node_modules', 'dist']);
  cpSync(root, copy, { recursive: true, filter: (path) => !left.has(path.slice(root.length + 1)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs tests of the copy, up to the first that fails; returns its file and its name, and how many ran: none of a file that cannot be loaded. */
async function runTests(copy, tests) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const [paths, names] = [
    tests.map((one) => `test/${one.split(': ')[0]}`),
    tests.flatMap((one) => one.split(': ').slice(1).join(': ') || []),
  ];
  const pattern = names.map((name) => name.replaceAll(/[^\w ,-]/g, '\\$&')).join('|');
  const flags = ['run', '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const named = names.length === tests.length ? [`--testNamePattern=${pattern}`] : [];
  const options = { cwd: copy, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NO_COLOR: '1' } };
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  await run(process.execPath, [vitest, ...flags, ...named, ...new Set(paths)], options).catch(() => undefined);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const results = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ status, fullName }) => ({ status, fullName, file: name.slice(copy.length + 6) })),
  );
  const ran = results.filter(({ status }) => status === 'passed' || status === 'failed').length;
  return { failed: results.find(({ status }) => status === 'failed'), ran };
}

/** Removes one check, runs its tests, and puts it back. */
async function removeCheck(copy, [, file, from, to, tests, first = '']) {
  const path = join(copy, 'src', file);
  const text = readFileSync(path, 'utf8');
  for (const part of [from, first]) if (!text.includes(part)) throw new Error(`${file} does not contain ${JSON.stringify(part)}`);
  writeFileSync(
    path,
    text.replace(first, '').replace(from, () => to),
  );
  try {
    return await runTests(copy, tests);
  } finally {
    writeFileSync(path, text);
  }
}

/** Returns whether a test of a row has a name. */
function namesTest(test) {
  return test.includes(': ');
}

/** Removes the chosen checks one by one; returns the exit code. */
async function removeChecks(parts) {
  const chosen = checks.filter(([name]) => parts.length === 0 || parts.some((part) => name.includes(part)));
  const copies = Array.from({ length: Math.min(availableParallelism(), chosen.length) }, copySources);
  const killers = new Set();
  const waiting = [...chosen];
  let survived = 0;
  const work = async (copy) => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const began = performance.now();
      const [name, , , , tests] = check;
      const { failed, ran } = await removeCheck(copy, check);
      if (failed === undefined) survived += 1;
      // A test of a row that names none may need the tests before it.
      else killers.add(tests.every(namesTest) ? `${failed.file}: ${failed.fullName}` : failed.file);
      const seconds = Math.round((performance.now() - began) / 1000);
      const noticed = failed === undefined ? `NOT NOTICED by ${ran} tests` : `${failed.file}: ${failed.fullName}`;
      process.stdout.write(`${String(name)} (${seconds} s): ${noticed}\n`);
    }
  };
  try {
    // While another one works, its copy cannot be removed, and that error would hide this one.
    for (const ended of await Promise.allSettled(copies.map(work))) if (ended.status === 'rejected') throw ended.reason;
    // A test that fails in any case proves nothing.
    for (const group of [[...killers].filter(namesTest), [...killers].filter((one) => !namesTest(one))]) {
      const { failed } = group.length === 0 ? {} : await runTests(copies[0], group);
      if (failed !== undefined) throw new Error(`with all checks, ${failed.file} fails: ${failed.fullName}`);
    }
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
  process.stdout.write(`${chosen.length} safety checks removed one by one, ${survived} not noticed\n`);
  return survived === 0 && chosen.length > 0 ? 0 : 1;
}

// The tests of the architecture read the list.
if (process.argv[1] === import.meta.filename) {
  const usage = `run npm run torture:checks [-- PART…]; a part of the name of a check chooses it; there are ${checks.length}:\n${checks.map(([name]) => `  ${String(name)}`).join('\n')}`;
  process.exitCode = await removeChecks(readArguments({}, { words: Infinity, usage }).positionals);
}
