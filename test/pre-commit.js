// Tries the hooks of .pre-commit-hooks.yaml with the real pre-commit: node test/pre-commit.js PATH-OF-PRE-COMMIT
import { strict as assert } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

const program = resolve(process.argv[2] ?? 'pre-commit');
const place = mkdtempSync(join(tmpdir(), 'ostiary-hooks-'));
const [hooks, project, bin] = ['hooks', 'project', 'bin'].map((name) => {
  const folder = join(place, name);
  mkdirSync(folder);
  return folder;
});
const env = {
  PATH: `${bin}${delimiter}${process.env['PATH']}`,
  HOME: place,
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};
const run = (folder, command, ...args) =>
  execFileSync(command, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Stages everything and runs all hooks; returns which of them failed. */
function failedHooks() {
  run(project, 'git', 'add', '--all');
  const { status, stdout, stderr } = spawnSync(program, ['run', '--color', 'never'], { cwd: project, env, encoding: 'utf8' });
  const failed = [...stdout.matchAll(/^ostiary (\w+)\.+Failed$/gm)].map((match) => match[1]);
  assert.equal(status, failed.length === 0 ? 0 : 1, stdout + stderr);
  assert.equal([...stdout.matchAll(/^ostiary \w+\.+(?:Failed|Passed)$/gm)].length, 3, stdout + stderr);
  return failed;
}

try {
  cpSync('.pre-commit-hooks.yaml', join(hooks, '.pre-commit-hooks.yaml'));
  run(hooks, 'git', 'init', '--quiet');
  run(hooks, 'git', 'add', '--all');
  run(hooks, 'git', 'commit', '--quiet', '--message', 'Hooks');
  writeFileSync(join(bin, 'ostiary'), `#!/bin/sh\nexec '${process.execPath}' '${resolve('dist/cli.js')}' "$@"\n`);
  chmodSync(join(bin, 'ostiary'), 0o755);
  run(project, 'git', 'init', '--quiet');
  run(project, 'ostiary', 'init');
  const ids = ['ostiary-fmt', 'ostiary-validate', 'ostiary-test'].map((id) => `{ id: ${id} }`).join(', ');
  const revision = run(hooks, 'git', 'rev-parse', 'HEAD').trim();
  writeFileSync(join(project, '.pre-commit-config.yaml'), `repos:\n  - repo: ${hooks}\n    rev: ${revision}\n    hooks: [${ids}]\n`);
  assert.deepEqual(failedHooks(), []);
  const path = join(project, 'access/example-db.yaml');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('apiVersion: ostiary/v1\nkind: Connection', 'kind:   Connection\napiVersion: ostiary/v1'));
  assert.deepEqual(failedHooks(), ['fmt']);
  assert.equal(readFileSync(path, 'utf8'), text);
  assert.deepEqual(failedHooks(), []);
  writeFileSync(path, text.replace('reviewers:', 'reviewer:'));
  assert.ok(failedHooks().includes('validate'));
  writeFileSync(path, text);
  const rule = join(project, 'access/no-drop.yaml');
  writeFileSync(rule, readFileSync(rule, 'utf8').replace('expect: allowed', 'expect: blocked'));
  assert.ok(failedHooks().includes('test'));
  process.stdout.write('the hooks work with pre-commit\n');
} finally {
  rmSync(place, { recursive: true, force: true });
}
