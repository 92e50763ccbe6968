// Checks action.yml and all workflows, those of the examples too, with actionlint and with zizmor (persona auditor). Both are installed
// into a temporary folder; where a registry or a program is missing, a line says so, and only findings fail.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = ['.github/workflows', 'examples/github', 'examples/fleet'];
const workflows = folders.flatMap((folder) =>
  readdirSync(folder)
    // A pipeline for GitLab is no workflow.
    .filter((name) => name.endsWith('.yml') && !name.endsWith('.gitlab-ci.yml'))
    .map((name) => join(folder, name)),
);
const home = mkdtempSync(join(tmpdir(), 'ostiary-linters-'));

/** Installs a linter with the commands and returns its path; undefined if one of them fails. */
function install(name, program, commands) {
  try {
    for (const [command, ...args] of commands)
      execFileSync(command, args, { stdio: 'ignore', env: { ...process.env, GOBIN: home, GOFLAGS: '' } });
    return join(home, program);
  } catch {
    process.stdout.write(`${name} cannot be installed on this machine: workflows are not checked with it\n`);
    return undefined;
  }
}

/** Runs a linter if it is installed; returns whether it found nothing. */
function check(name, path, args) {
  if (path === undefined) return true;
  const { status, stdout, stderr } = spawnSync(path, args, { encoding: 'utf8' });
  process.stdout.write(status === 0 ? `${name}: no findings in ${workflows.length} workflows\n` : `${name}:\n${stdout}${stderr}`);
  return status === 0;
}

try {
  const pip = join(home, 'zizmor', 'bin', 'pip');
  const zizmor = install('zizmor', join('zizmor', 'bin', 'zizmor'), [
    ['python3', '-m', 'venv', join(home, 'zizmor')],
    [pip, 'install', '--quiet', '--disable-pip-version-check', '--only-binary=:all:', 'zizmor==1.32.0'],
  ]);
  // The package of actionlint on PyPI downloads a binary from elsewhere.
  const actionlint = install('actionlint', 'actionlint', [['go', 'install', 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12']]);
  const isClean = [
    check('zizmor', zizmor, ['--offline', '--no-progress', '--persona', 'auditor', 'action.yml', ...workflows]),
    check('actionlint', actionlint, ['-no-color', ...workflows]),
  ];
  if (isClean.includes(false)) process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}
