import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { useRepositories, type TestRepository } from '../../support/repository.ts';

const { make } = useRepositories();
const script = resolve('build/release.js');

const files = {
  'package.json': JSON.stringify({ type: 'module', version: '1.2.3' }),
  'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-11-21\n\n- One.\n',
  'action.yml': 'runs:\n  using: node24\n  main: dist/action.js\n',
  '.gitignore': 'dist/\n',
};

/** Runs what `npm run release` runs. */
function release({ folder, git }: TestRepository, ...args: readonly string[]): { readonly code: number; readonly said: string } {
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  try {
    const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
    return { code: 0, said: execFileSync(process.execPath, [script, ...args], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }) };
  } catch (error) {
    if (error instanceof Error && 'status' in error && 'stderr' in error) return { code: Number(error.status), said: String(error.stderr) };
    throw error;
  }
}

test('a release is main with the built action, and leaves main as it is', () => {
  const repository = make(files);
  const { git, write } = repository;
  git('branch', '--move', 'main');
  write({ 'dist/action.js': 'export {};\n', 'dist/chunks/one.js': 'export {};\n' });
  const head = git('rev-parse', 'HEAD');
  const first = release(repository);
  expect(first).toMatchObject({ code: 0, said: expect.stringContaining('git push origin v1.2.3') });
  expect(git('ls-tree', '-r', '--name-only', 'v1.2.3').split('\n')).toEqual([
    '.gitignore',
    'CHANGELOG.md',
    'action.yml',
    'dist/action.js',
    'dist/chunks/one.js',
    'package.json',
  ]);
  expect(git('rev-parse', 'v1.2.3~1', 'HEAD', 'main').split('\n')).toEqual([head, head, head]);
  expect(git('status', '--porcelain')).toBe('');
  expect(git('ls-files', 'dist')).toBe('');
  expect(release(repository)).toMatchObject({ code: 3, said: expect.stringContaining('the tag v1.2.3 exists') });
  const made = git('rev-parse', 'v1.2.3');
  git('tag', '--delete', 'v1.2.3');
  release(repository);
  expect(git('rev-parse', 'v1.2.3')).toBe(made);
});

test('a release needs a build, a section of the changelog, and everything committed', () => {
  const repository = make({ ...files, 'CHANGELOG.md': '## Unreleased\n\n## 1.2.30\n' });
  repository.write({ 'README.md': 'new' });
  const { code, said } = release(repository);
  expect({ code, lines: said.trim().split('\n') }).toEqual({
    code: 3,
    lines: [
      expect.stringContaining('not committed'),
      expect.stringContaining('no section "## 1.2.3"'),
      expect.stringContaining('dist/action.js, which action.yml names, is not built'),
    ],
  });
  expect(repository.git('tag')).toBe('');
});

test('the branch of the action needs everything committed, and another branch', () => {
  const repository = make(files);
  repository.git('switch', '--quiet', '--create', 'release');
  repository.write({ 'README.md': 'new' });
  const { code, said } = release(repository, '--branch');
  expect({ code, lines: said.trim().split('\n') }).toEqual({
    code: 3,
    lines: [expect.stringContaining('not committed'), expect.stringContaining('release is checked out')],
  });
});

test.each([
  ['--help', 0, 'npm run release'],
  ['--brnch', 3, "'--brnch'"],
  ['1.2.3', 3, "'1.2.3'"],
])('%s makes neither a tag nor a branch', (word, code, text) => {
  const repository = make(files);
  repository.write({ 'dist/action.js': 'export {};\n' });
  const branches = repository.git('branch');
  expect(release(repository, word)).toMatchObject({ code, said: expect.stringContaining(text) });
  expect(repository.git('tag')).toBe('');
  expect(repository.git('branch')).toBe(branches);
});
