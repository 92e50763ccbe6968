// Sends requests that schemathesis derives from the OpenAPI document to a new gateway, and checks every response against the document.
// npm run torture:api [-- CASES [SECONDS]]; at most CASES requests of random content per operation, 25 and 300 by default.
// Needs schemathesis 4 (`python3 -m venv VENV && VENV/bin/pip install schemathesis`) on the PATH or in the variable SCHEMATHESIS, and a build.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { readArguments } from '../../build/read-arguments.js';

const [cases = '25', seconds = '300'] = readArguments(
  {},
  {
    words: 2,
    usage: 'run npm run torture:api [-- CASES [SECONDS]]; at most CASES requests of random content per operation, 25 and 300 by default',
    problemOf(_, words) {
      const wrong = words.find((number) => !(Number(number) >= 1));
      return wrong === undefined ? undefined : `"${wrong}" is not a number of cases or seconds`;
    },
  },
).positionals;
const program = process.env.SCHEMATHESIS ?? 'schemathesis';
await promisify(execFile)(program, ['--version']).catch((error) => {
  throw new Error('schemathesis is not installed: see the top of test/torture/schemathesis.js', { cause: error });
});

const cli = join(import.meta.dirname, '../../dist/cli.js');
if (!existsSync(cli)) {
  process.stderr.write('there is no build; build first: npm run build\n');
  process.exit(1);
}

const key = 'key-of-the-torture';
const folder = await mkdtemp(join(tmpdir(), 'ostiary-schemathesis-'));
const flags = ['serve', '--port', '0', '--database', join(folder, 'database'), '--log', 'json'];
const server = spawn(process.execPath, [cli, ...flags], {
  env: { PATH: process.env.PATH, OSTIARY_SERVE_KEY: key },
  stdio: ['ignore', 'inherit', 'pipe'],
});
const ended = once(server, 'exit');
const statuses = new Map();
let onUrl;
const started = new Promise((resolve) => {
  onUrl = resolve;
});
createInterface({ input: server.stderr }).on('line', (line) => {
  const { message = '', status, level } = JSON.parse(line);
  const [url] = /http:\/\/\S+/.exec(message) ?? [];
  if (status === undefined && url !== undefined) onUrl(url);
  if (level === 'error') process.stdout.write(`${line}\n`);
  if (status !== undefined) statuses.set(status, (statuses.get(status) ?? 0) + 1);
});

try {
  const url = await Promise.race([started, ended.then(() => Promise.reject(new Error('the gateway did not start')))]);
  const run = ['run', `${url}/openapi.json`, '--phases', 'coverage,fuzzing', '--max-examples', cases, '--max-time', seconds];
  // Both headers, because schemathesis invents a value for a header that the document names and the command line does not.
  run.push('--header', `Authorization: Bearer ${key}`, '--header', `Api-Key: ${key}`);
  // A valid body may be refused: it names an agent that does not exist, or its If-Match fits no version. A request without a key may be
  // answered 429 instead of 401.
  run.push('--checks', 'all', '--exclude-checks', 'positive_data_acceptance,ignored_auth', '--warnings', 'off');
  run.push('--continue-on-failure', '--no-shrink');
  // Schemathesis keeps a cache in its working directory.
  const [code] = await once(spawn(program, run, { cwd: folder, stdio: 'inherit' }), 'close');
  const answers = [...statuses].toSorted(([left], [right]) => left - right).map(([status, count]) => `${count} × ${status}`);
  const total = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  process.stdout.write(`${total} requests (${answers.join(', ')})\n`);
  const file = process.env.OSTIARY_TORTURE_TALLY;
  if (file !== undefined) await appendFile(file, `${JSON.stringify({ section: 'f schemathesis', inputs: total })}\n`);
  process.exitCode = code === 0 && server.exitCode === null ? 0 : 1;
} finally {
  server.kill('SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true });
}
