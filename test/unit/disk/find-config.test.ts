import { lchownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findConfig } from '../../../src/disk/find-config.ts';
import { makeForeign } from '../../support/foreign-files.ts';

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-config-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content: string | Uint8Array = 'x'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function find(cwd: string, env: Readonly<Record<string, string>> = {}): string | undefined {
  mkdirSync(join(root, cwd), { recursive: true });
  return findConfig({ cwd: join(root, cwd), env }).value?.file.text;
}

it('finds the nearest one upward in a repository', () => {
  put('.git/HEAD');
  put('ostiary.yaml', 'outer');
  put('a/ostiary.yml', 'inner');
  mkdirSync(join(root, 'a/b'));
  expect(findConfig({ cwd: join(root, 'a/b'), env: {} })).toStrictEqual({
    value: { file: { path: join(root, 'a/ostiary.yml'), text: 'inner' }, folder: join(root, 'a') },
    diagnostics: [],
  });
  expect(findConfig({ cwd: root, env: {} }).value).toStrictEqual({ file: { path: 'ostiary.yaml', text: 'outer' }, folder: root });
});

it.each([
  ['the top of the repository', ['repo/.git/HEAD'], 'repo/access', {}, undefined],
  ['the top of a worktree', ['repo/.git'], 'repo/access', {}, undefined],
  ['the home folder', [], 'home/work', { HOME: 'home' }, undefined],
  ['the working directory, outside both', [], 'work/deep', { HOME: 'home' }, undefined],
  ['a repository in the home folder', ['home/repo/.git/HEAD'], 'home/repo', { HOME: '' }, undefined],
  ['a home folder in a repository', ['.git/HEAD'], 'home', { HOME: 'home' }, undefined],
  ['not at a bare repository', ['.git/HEAD', 'infra/HEAD', 'infra/objects/k', 'infra/refs/k'], 'infra', {}, 'planted'],
  ['not below the top', ['.git/HEAD'], 'a/b/c', {}, 'planted'],
  ['not below the home folder', [], 'a/b/c', { HOME: '' }, 'planted'],
] as const)('ends the search at %s', (_, files, cwd, { HOME = 'nowhere' }: { readonly HOME?: string }, text) => {
  for (const file of files) put(file);
  put('ostiary.yaml', 'planted');
  expect(find(cwd, { HOME: join(root, HOME) })).toBe(text);
});

it('resolves links to the home folder', () => {
  put('real/ostiary.yaml', 'home');
  symlinkSync(join(root, 'real'), join(root, 'home'));
  expect(find('real/a', { HOME: join(root, 'home') })).toBe('home');
});

// security: machine
it('ignores files of other users with a warning, and reads the explicit one', () => {
  put('.git/HEAD');
  put('ostiary.yaml', 'theirs');
  makeForeign(join(root, 'ostiary.yaml'));
  const { value, diagnostics } = findConfig({ cwd: root, env: {} });
  expect(value).toBeUndefined();
  expect(diagnostics).toMatchObject([{ code: 'config/foreign-owner', severity: 'warning', at: { file: 'ostiary.yaml' } }]);
  expect(findConfig({ cwd: root, env: {} }, 'ostiary.yaml').value?.file.text).toBe('theirs');
});

it('checks the owner of a link and of the file behind it', () => {
  put('theirs.yaml', 'theirs');
  symlinkSync(join(root, 'theirs.yaml'), join(root, 'ostiary.yaml'));
  makeForeign(join(root, 'theirs.yaml'));
  expect(find('')).toBeUndefined();
  put('link/mine.yaml', 'mine');
  symlinkSync(join(root, 'link/mine.yaml'), join(root, 'link/ostiary.yaml'));
  if (process.geteuid?.() === 0) lchownSync(join(root, 'link/ostiary.yaml'), 54_321, 54_321);
  expect(find('link')).toBeUndefined();
});

it.each([
  ['missing.yaml', 'config/not-found'],
  ['.', 'config/not-found'],
  ['file/below', 'config/not-found'],
  ['large', 'config/too-large'],
  ['latin', 'config/not-utf8'],
])('refuses %s', (path, code) => {
  put('file');
  put('large', 'x'.repeat(1_048_577));
  put('latin', Uint8Array.of(0xe9));
  expect(findConfig({ cwd: root, env: {} }, path).diagnostics.map((found) => found.code)).toStrictEqual([code]);
});
