import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { useRepositories, type TestRepository } from '../../support/repository.ts';

const { make, makeOrigin } = useRepositories();
const script = resolve('build/publish.js');
const root = mkdtempSync(join(tmpdir(), 'ostiary-publish-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const examples = ['examples/github/plan.yml', 'examples/fleet/plan.yml', 'examples/gitlab/.gitlab-ci.yml'];

/** A repository that is ready for the release of a version, and its origin. */
function prepared(version: string): { readonly repository: TestRepository; readonly origin: TestRepository } {
  const repository = make({
    'package.json': JSON.stringify({ name: 'ostiary', type: 'module', version, files: ['dist'], scripts: { prepare: 'exit 1' } }),
    'CHANGELOG.md': `# Changelog\n\n## Unreleased\n\n## ${version} - 2026-11-21\n\n### Added\n\n- One thing.\n\n## 0.0.1\n\n- Older.\n`,
    'action.yml': 'runs:\n  using: node24\n  main: dist/action.js\n',
    ...Object.fromEntries(examples.map((path) => [path, readFileSync(path, 'utf8')])),
    '.gitignore': 'dist/\n',
    LICENSE: 'MIT\n',
  });
  repository.git('branch', '--move', 'main');
  const origin = makeOrigin(repository);
  repository.write({ 'dist/action.js': 'export {};\n' });
  return { repository, origin };
}

/** The folder that the executables of all platforms were downloaded to. */
function executables(): string {
  const folder = mkdtempSync(join(root, 'release-'));
  for (const name of ['ostiary-linux-x64', 'ostiary-windows-x64.exe']) writeFileSync(join(folder, name), name);
  return folder;
}

/** The folder that the images of all platforms were downloaded to. */
function images(): string {
  const folder = mkdtempSync(join(root, 'images-'));
  for (const name of ['amd64.tar', 'arm64.tar']) writeFileSync(join(folder, name), name);
  return folder;
}

/** The real `npm pack`; all that needs credentials is recorded. `gh release view` finds what was created before. */
function programs(): { readonly path: string; readonly calls: () => readonly string[] } {
  const folder = mkdtempSync(join(root, 'programs-'));
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const stub = (name: string, text: string): void => writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const recorded = `echo "$(basename "$0") $*" >> '${folder}/calls'`;
  const found = `if [ "$2" = view ]; then grep -q "^gh .*create" '${folder}/calls'; exit $?; fi`;
  stub('gh', `${found}\n${recorded}`);
  stub('docker', recorded);
  stub('npm', `if [ "$1" = pack ]; then exec '${npm}' "$@"; fi\n${recorded}`);
  writeFileSync(join(folder, 'calls'), '');
  return { path: folder, calls: () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') };
}

type Ran = { readonly code: number; readonly output: string };

function publish({ folder }: TestRepository, args: readonly string[], path: string = process.env['PATH'] ?? ''): Ran {
  const env = { PATH: path, HOME: root, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', GITHUB_REPOSITORY: 'octo/ostiary' };
  try {
    return { code: 0, output: execFileSync(process.execPath, [script, ...args], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }) };
  } catch (error) {
    if (error instanceof Error && 'status' in error && 'stderr' in error)
      return { code: Number(error.status), output: String(error.stderr) };
    throw error;
  }
}

describe('publishing a release', () => {
  test('as a dry run makes all files, prints the commands and changes nothing', () => {
    const { repository, origin } = prepared('1.2.3');
    repository.git('tag', 'v1.1.9');
    repository.git('tag', 'v2.0.0');
    const folder = executables();
    const imageFolder = images();
    const { code, output } = publish(repository, [folder, imageFolder, '--dry-run']);
    expect(code).toBe(0);
    const [, commit = ''] = /would run: git push --force origin ([0-9a-f]{40}):refs\/tags\/v1\n/.exec(output) ?? [];
    expect(output.split('\n').filter((line) => line.startsWith('would run:'))).toEqual([
      'would run: git push origin refs/tags/v1.2.3',
      `would run: git push --force origin ${commit}:refs/tags/v1`,
      expect.stringMatching(/gh release create v1\.2\.3 --verify-tag --title v1\.2\.3 --notes-file \S+ --latest=false .*SHA256SUMS$/),
      ...['amd64', 'arm64'].flatMap((name) => [
        `would run: docker load --input ${join(imageFolder, `${name}.tar`)}`,
        `would run: docker tag ostiary:${name} ghcr.io/octo/ostiary:1.2.3-${name}`,
        `would run: docker push ghcr.io/octo/ostiary:1.2.3-${name}`,
      ]),
      'would run: docker buildx imagetools create --tag ghcr.io/octo/ostiary:1.2.3 ghcr.io/octo/ostiary:1.2.3-amd64 ghcr.io/octo/ostiary:1.2.3-arm64',
    ]);
    expect(output).toContain('### Added\n\n- One thing.\n\nThe commit of the Action is');
    expect(output).not.toContain('Older.');
    expect(repository.git('tag', '--list')).toBe('v1.1.9\nv2.0.0');
    expect(origin.git('for-each-ref', 'refs/tags')).toBe('');
    const files = ['ostiary-1.2.3.tgz', 'ostiary-examples-1.2.3.tar.gz', 'ostiary-linux-x64', 'ostiary-windows-x64.exe'];
    expect(readdirSync(folder).toSorted()).toEqual(['SHA256SUMS', ...files].toSorted());
    const sums = files.map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    );
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toBe(sums.join(''));
    const unpacked = mkdtempSync(join(root, 'unpacked-'));
    for (const name of files.slice(0, 2)) execFileSync('tar', ['-xzf', join(folder, name), '-C', unpacked]);
    const packed = JSON.parse(readFileSync(join(unpacked, 'package/package.json'), 'utf8'));
    expect(packed.repository).toEqual({ type: 'git', url: 'git+https://github.com/octo/ostiary.git' });
    expect(packed).not.toHaveProperty('scripts');
    const [github = '', fleet = '', gitlab = ''] = examples.map((path) => readFileSync(join(unpacked, path), 'utf8'));
    for (const workflow of [github, fleet]) expect(workflow).toContain(`- uses: octo/ostiary@${commit} # v1.2.3\n`);
    expect(`${github}${fleet}${gitlab}`).not.toMatch(/acme|0000000|zeros/);
    for (const [text, name] of [
      [fleet, 'ostiary-linux-x64'],
      [gitlab, 'ostiary-1.2.3.tgz'],
    ] as const) {
      expect(text).toContain(` https://github.com/octo/ostiary/releases/download/v1.2.3/${name}\n`);
      expect(text).toContain(sums.find((line) => line.endsWith(`${name}\n`))?.trim());
    }
  });

  test('runs nothing for an option that is not known', () => {
    const { repository, origin } = prepared('1.2.3');
    const { code, output } = publish(repository, [executables(), images(), '--dryrun']);
    expect({ code, output }).toEqual({ code: 3, output: expect.stringContaining("'--dryrun'") });
    expect(repository.git('tag')).toBe('');
    expect(origin.git('for-each-ref', 'refs/tags')).toBe('');
  });

  test('pushes both tags, creates the release, and continues after a failure', () => {
    const { repository, origin } = prepared('1.2.3');
    const { path, calls } = programs();
    const all = `${path}${delimiter}${process.env['PATH']}`;
    expect(publish(repository, [executables(), images()], all).code).toBe(0);
    const commit = repository.git('rev-parse', 'v1.2.3');
    expect(origin.git('rev-parse', 'v1.2.3', 'v1').split('\n')).toEqual([commit, commit]);
    expect(origin.git('ls-tree', '--name-only', 'v1:dist')).toBe('action.js');
    const withoutImages = (): readonly string[] => calls().filter((line) => !line.startsWith('docker'));
    expect(calls().at(-1)).toMatch(
      /^docker buildx imagetools create --tag ghcr\.io\/octo\/ostiary:1\.2\.3 --tag ghcr\.io\/octo\/ostiary:latest /,
    );
    expect(withoutImages().map((line) => line.split(' ', 4).join(' '))).toEqual(['gh release create v1.2.3']);
    expect(publish(repository, [executables(), images()], all).code).toBe(0);
    expect(withoutImages()).toHaveLength(1);
    repository.save({ 'README.md': 'later' });
    expect(publish(repository, [executables(), images()], all)).toMatchObject({
      code: 3,
      output: expect.stringContaining('the tag v1.2.3 is of another commit'),
    });
  });
});
