// Tries the single executable whose path is given, with no Node and no package in reach: versions, a project, a gateway, a plan and an apply.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const executable = resolve(process.argv[2] ?? 'dist/executable/ostiary');
const cwd = mkdtempSync(join(tmpdir(), 'ostiary-executable-'));
const env = {
  HOME: cwd,
  PATH: join(cwd, 'nothing'),
  NO_COLOR: '1',
  OSTIARY_SECRET_EXAMPLE_DB_PASS: 'secret',
  OSTIARY_TOKEN: 'an-admin-key',
};

/** Runs a command line and returns its exit code and output. */
function ostiary(...line) {
  return new Promise((done) => {
    execFile(executable, line, { cwd, env }, (error, stdout, stderr) => done({ code: error?.code ?? 0, stdout, stderr }));
  });
}

const server = spawn(executable, ['serve', '--port', '0', '--log', 'json'], {
  cwd,
  env: { ...env, OSTIARY_SERVE_KEY: env.OSTIARY_TOKEN },
  stdio: ['ignore', 'ignore', 'pipe'],
});
try {
  const lines = createInterface({ input: server.stderr });
  let url = '';
  for await (const line of lines) {
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? '';
    if (url !== '') break;
  }
  assert.notEqual(url, '', 'serve prints its address');
  const { stdout } = await ostiary('version', '--json');
  assert.equal(JSON.parse(stdout).build, 'executable');
  assert.equal((await ostiary('--version')).stdout.trim(), JSON.parse(stdout).version);
  assert.equal((await ostiary('init')).code, 0);
  for (const { line, code, text } of [
    { line: 'validate', code: 0, text: 'Valid.' },
    { line: `plan --url ${url}`, code: 0, text: 'to create' },
    { line: `apply --yes --url ${url}`, code: 0, text: 'created' },
    { line: `plan --detailed-exitcode --url ${url}`, code: 0, text: 'No changes.' },
    { line: 'plan --no-such-flag', code: 3, text: '' },
  ]) {
    const ended = await ostiary(...line.split(' '));
    assert.deepEqual({ line, code: ended.code }, { line, code }, ended.stderr);
    assert.ok(ended.stdout.includes(text), `${line} prints "${text}": ${ended.stdout}`);
  }
  process.stdout.write('the executable works without Node\n');
} finally {
  server.kill();
  await once(server, 'exit');
  rmSync(cwd, { recursive: true, force: true });
}
