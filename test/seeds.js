// Runs the properties with fresh seeds until the time is over or one fails.
// npm run test:seeds [MINUTES [FILE…]]; all tests with properties unless files are given.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments } from '../build/read-arguments.js';

const times = process.env.OSTIARY_TEST_RUNS ?? '10';
const [minutes = '10', ...given] = readArguments(
  {},
  {
    words: Infinity,
    usage: 'run npm run test:seeds [-- MINUTES [FILE…]]; 10 minutes by default, and all tests with properties',
    problemOf: (_, [first = '10']) => (Number(first) > 0 ? undefined : `"${first}" is no number of minutes`),
  },
).positionals;

const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => join('test', path))
  .filter((path) => path.endsWith('.test.ts') && /\bfc\b|\basyncProperty\b/.test(readFileSync(path, 'utf8')));
const files = given.length === 0 ? tests : given;

const end = Date.now() + Number(minutes) * 60_000;
let rounds = 0;
while (Date.now() < end && process.exitCode === undefined) {
  const seed = String(randomInt(2 ** 31));
  const env = { ...process.env, OSTIARY_TEST_SEED: seed, OSTIARY_TEST_RUNS: times };
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', '--testTimeout=0', ...files];
  const [code] = await once(spawn(process.execPath, vitest, { env, stdio: 'inherit' }), 'close');
  rounds += 1;
  if (code !== 0) {
    process.exitCode = 1;
    process.stdout.write(`A property does not hold. Once more: OSTIARY_TEST_SEED=${seed} OSTIARY_TEST_RUNS=${times} npx vitest run FILE\n`);
  }
}
process.stdout.write(`${rounds} ${rounds === 1 ? 'round' : 'rounds'}, each property ${times} times as often as in npm test.\n`);
