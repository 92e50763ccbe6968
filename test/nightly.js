// Runs what takes long or needs programs from a registry, and prints the counts of each part: npm run nightly [-- PART…].
// npm run nightly -- gateway DOCUMENT compares the OpenAPI document of a release of the public gateway with what Ostiary knows of it.
// Every part installs what it needs into a temporary folder; a part that cannot be installed here is "not run", which --strict counts as failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from '../build/read-arguments.js';

const vitest = 'node_modules/vitest/vitest.mjs';

/** Runs a program to its end and returns its exit code. */
async function run(program, args, { env = {}, quiet = false } = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: quiet ? 'ignore' : ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'close').catch(() => [127]);
  return code ?? 1;
}

/** Runs a program as root: through sudo, which must not ask for a password, unless this process is one of root. */
function runAsRoot(program, args, options) {
  if (process.getuid?.() === 0) return run(program, args, options);
  return run('sudo', ['--non-interactive', 'env', `PATH=${process.env.PATH}`, program, ...args], options);
}

/** Installs packages of Debian; without them, what needs them is not run. */
function installFromDebian(...packages) {
  return runAsRoot('apt-get', ['install', '--yes', '--no-install-recommends', ...packages], { quiet: true });
}

/** Runs node with a script. */
function node(...args) {
  return run(process.execPath, args);
}

/** Runs tests and returns how many passed and failed; a file that cannot be loaded counts as failed. */
async function runTests(name, args, { program = process.execPath, env = {} } = {}) {
  const file = join(home, `${name}.json`);
  const code = await run(program, [vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args], { env });
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const { numPassedTests: passed, numFailedTests, testResults } = JSON.parse(readFileSync(file, 'utf8'));
  const broken = testResults.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0).length;
  const failed = numFailedTests + broken;
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

/** Returns a folder with a package of npm and what it needs; undefined if it cannot be installed. */
async function installFromNpm(spec) {
  const folder = mkdtempSync(join(home, 'npm-'));
  const flags = ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, spec];
  return (await run('npm', flags, { quiet: true })) === 0 ? join(folder, 'node_modules') : undefined;
}

/** Returns the folder of the programs of a package of PyPI; undefined if it cannot be installed. */
async function installFromPypi(spec) {
  const folder = mkdtempSync(join(home, 'pypi-'));
  if ((await run('python3', ['-m', 'venv', folder], { quiet: true })) !== 0) return undefined;
  return (await run(join(folder, 'bin', 'pip'), ['install', '--quiet', spec], { quiet: true })) === 0 ? join(folder, 'bin') : undefined;
}

/** Returns the path of another version of Node; undefined if it cannot be installed. */
async function installNode(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const modules = await installFromNpm(`${name}@${version}`);
  return modules === undefined ? undefined : join(modules, name, 'bin', 'node');
}

/** Runs a check with what was installed for it. */
async function withInstalled(installed, check) {
  const found = await installed;
  return found === undefined ? 'not installed' : check(found);
}

/** The tests that read how many cases they try. */
const withCases = ['test/property', 'test/model', 'test/unit', 'test/server', 'test/hoop', 'test/git', 'test/e2e'];

/** Each part: a name and what it runs; it returns an exit code, the counts of its tests, or that it cannot be installed here. */
const parts = {
  cases: () => runTests('cases', withCases, { env: { OSTIARY_TEST_RUNS: '4' } }),
  races: () => runTests('races', ['test/torture']),
  torture: () => node('test/torture/run.js'),
  shells: async () => {
    await installFromDebian('zsh', 'fish');
    return runTests('shells', ['test/e2e/command-line/completion.test.ts'], { env: { OSTIARY_TEST_SHELLS: 'all' } });
  },
  node24: () =>
    withInstalled(installNode(24), (program) =>
      runTests('node24', ['test/e2e/action/bundle.test.ts', 'test/e2e/action/pull-request-story.test.ts'], { program }),
    ),
  node26: () => withInstalled(installNode(26), (program) => runTests('node26', ['--project=main'], { program })),
  executable: () =>
    withInstalled(
      installNode(26),
      async (program) => (await run(program, ['build/executable.js'])) || node('test/executable.js', 'dist/executable/ostiary'),
    ),
  workflows: () => node('build/lint-workflows.js'),
  spelling: () => withInstalled(installFromPypi('typos==1.52.0'), (bin) => run(join(bin, 'typos'), ['--format', 'brief'])),
  hooks: () => withInstalled(installFromPypi('pre-commit==4.7.0'), (bin) => node('test/pre-commit.js', join(bin, 'pre-commit'))),
  deployments: () =>
    withInstalled(installFromPypi('kubernetes-validate==1.37.0'), (bin) => node('test/deployments.js', join(bin, 'kubernetes-validate'))),
  site: async () => {
    const flags = ['ci', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', 'site'];
    if ((await run('npm', flags, { quiet: true })) !== 0) return 'not installed';
    return (await run('npm', ['run', '--silent', 'build', '--prefix', 'site'])) || node('site/check.js');
  },
  editors: () =>
    withInstalled(installFromNpm('yaml-language-server@2.0.0'), (modules) =>
      node('test/editors.js', join(modules, 'yaml-language-server/bin/yaml-language-server')),
    ),
  container: async () => {
    if ((await runAsRoot('true', [], { quiet: true })) !== 0) return 'not installed';
    await installFromDebian('buildah', 'mmdebstrap');
    const code = await runAsRoot(process.execPath, ['test/container.js']);
    return code === 77 ? 'not installed' : code;
  },
};

/** Runs the chosen parts one after the other and prints the table of their counts; returns the exit code. */
async function runParts(names, strict) {
  const rows = [];
  for (const name of names) {
    const began = performance.now();
    process.stdout.write(`\n== ${name}\n`);
    const result = await parts[name]();
    const counts =
      result === 'not installed'
        ? { passed: 0, failed: strict ? 1 : 0, note: 'not run: this machine does not have what it needs' }
        : typeof result === 'number'
          ? { passed: result === 0 ? 1 : 0, failed: result === 0 ? 0 : 1 }
          : result;
    rows.push({ name, ...counts, seconds: Math.round((performance.now() - began) / 1000) });
  }
  const lines = rows.map(
    ({ name, passed, failed, seconds, note }) => `${name.padEnd(12)} ${note ?? `${passed} passed, ${failed} failed`} (${seconds} s)\n`,
  );
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  process.stdout.write(`\n${lines.join('')}\n${sum('passed')} passed, ${sum('failed')} failed\n`);
  return sum('failed') === 0 ? 0 : 1;
}

const names = Object.keys(parts);
/** What follows the part `gateway` is a document. */
const partsIn = (words) => words.filter((_, index) => !(index === 1 && words[0] === 'gateway'));
const { values, positionals } = readArguments(
  { strict: false },
  {
    words: Infinity,
    usage: `run npm run nightly [-- [--strict] [PART…]], or npm run nightly -- gateway DOCUMENT; parts: ${names.join(', ')}, gateway`,
    problemOf(_, words) {
      const unknown = partsIn(words).filter((name) => name !== 'gateway' && !names.includes(name));
      return unknown.length === 0 ? undefined : `no part has the name ${unknown.join(', ')}`;
    },
  },
);
// The document of another release is no part of this project.
parts['gateway'] = () => node('test/gateway-coverage.js', ...positionals.slice(1, 2));
const home = mkdtempSync(join(tmpdir(), 'ostiary-nightly-'));
try {
  process.exitCode = await runParts(positionals.length === 0 ? names : partsIn(positionals), values.strict);
} finally {
  rmSync(home, { recursive: true, force: true });
}
