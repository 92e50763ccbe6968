import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { builtPackage, start, type Ended } from '../../support/cli.ts';
import { config, guardrail, useProjects } from '../project.ts';

const run = promisify(execFile);
const makeProject = useProjects();
let installed: string;

/** Packs the package and installs it from the tarball, as `npm install --global` does, without any other package. */
beforeAll(async () => {
  const home = makeProject({});
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', home], { cwd: await builtPackage() });
  const [{ filename }] = JSON.parse(stdout);
  await run('npm', ['install', '--global', '--offline', '--no-audit', '--no-fund', '--prefix', home, join(home, filename)]);
  installed = join(home, 'lib', 'node_modules', 'ostiary');
});

function ostiary(line: string, cwd: string): Promise<Ended> {
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  return start(process.execPath, [join(installed, bin.ostiary), ...line.split(' ')], { cwd }).ended;
}

test('the package runs', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:9'), 'access/rule.yaml': guardrail('no-drop') });
  expect(await ostiary('--version', cwd)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(await ostiary('validate', cwd)).toMatchObject({ code: 0, stdout: 'Valid. 1 resource.\n', stderr: '' });
});

test('an installation is one package of at most 6 MB, and the embedded database is installed beside it on request', async () => {
  const modules = dirname(installed);
  expect(readdirSync(modules)).toEqual(['ostiary']);
  expect(readdirSync(installed)).not.toContain('node_modules');
  expect(sizeOf(installed)).toBeLessThan(6e6);

  const cwd = makeProject({});
  const tested = JSON.parse(readFileSync('node_modules/@electric-sql/pglite/package.json', 'utf8')).version;
  expect(await ostiary('serve --port 0', cwd)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(
      `error serve/no-embedded-database  the embedded database is not installed\n  hint: install it with npm install --global @electric-sql/pglite@${tested}, or`,
    ),
  });
  expect(existsSync(join(cwd, '.ostiary', 'gateway'))).toBe(false);

  mkdirSync(join(modules, '@electric-sql'));
  symlinkSync(resolve('node_modules/@electric-sql/pglite'), join(modules, '@electric-sql/pglite'));
  expect(await ostiary('serve --port 0', cwd)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('this gateway has no keys'),
  });
});

/** Returns the bytes of all files below a folder. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0),
    0,
  );
}

test('the help states how to run the command, and the package contains only the promised files', () => {
  expect(readFileSync(join(installed, 'dist', 'cli.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(
    readdirSync(installed)
      .filter((name) => !['LICENSE', 'README.md', 'CHANGELOG.md'].includes(name))
      .toSorted(),
  ).toEqual(['dist', 'package.json', 'schemas']);
  for (const name of readdirSync('schemas')) expect(existsSync(join(installed, 'schemas', name))).toBe(true);
  const text = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' });
  expect(text.filter((name) => !name.endsWith('.js')).toSorted()).toEqual(['chunks', 'licenses.txt', 'sbom.cdx.json']);
});

// That two builds are equal: e2e/release/branch.
test('the package states the licenses and versions of what it bundles', () => {
  const materials = JSON.parse(readFileSync(join(installed, 'dist', 'sbom.cdx.json'), 'utf8'));
  const notices = readFileSync(join(installed, 'dist', 'licenses.txt'), 'utf8');
  const names: readonly string[] = materials.components.map(({ name }: { readonly name: string }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['@octokit/rest', 'ajv', 'fast-json-patch', 'hono', 'kysely', 'pg', 'simple-git', 'undici', 'yaml']),
  );
  expect(names).not.toContain('@electric-sql/pglite');
  for (const { name, version, hashes } of materials.components) {
    expect(notices).toContain(`${name} ${version}\n`);
    expect(hashes).toMatchObject([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
  }
});
