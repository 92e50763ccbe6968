import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { missingPaths, readTree } from '../../../src/disk/walk.ts';

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-walk-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content: string | Uint8Array = 'a: 1\n'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function link(path: string, target: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(target, join(root, path));
}

function walk(paths: readonly string[] = ['.'], exclude: readonly string[] = []): { readonly files: unknown; readonly problems: unknown } {
  const { value, diagnostics } = readTree(
    paths.map((path) => join(root, path)),
    { root, cwd: root, exclude: exclude.map((path) => join(root, path)) },
  );
  return {
    files: value?.map(({ path }) => path),
    problems: diagnostics.map(({ code, at }) => `${at?.file}:${at?.line}:${at?.column} ${code}`),
  };
}

describe('readTree', () => {
  it('finds YAML files at any depth, sorted by path, and skips other files', () => {
    for (const path of 'b.yaml a/z.yml a/b/c/d.yaml a.yaml a-b/x.yaml notes.md x.yaml.bak .git/x.yaml a/node_modules/x.yaml a/.x/y.yml'.split(
      ' ',
    ))
      put(path);
    expect(walk()).toStrictEqual({ files: ['a-b/x.yaml', 'a.yaml', 'a/b/c/d.yaml', 'a/z.yml', 'b.yaml'], problems: [] });
  });

  it.each([
    ['orders.YAML', 'apiVersion: ostiary/v1\nkind: Connection\n'],
    ['orders.Yml', '# a comment\n---\nkind: Connection\napiVersion: "ostiary/v1"\n'],
    ['orders.json', '{"kind":"Connection","apiVersion":"ostiary/v1"}'],
    ['orders.json', '{\n  "apiVersion": "ostiary/v1"\n}\n'],
    ['orders.yaml.disabled', 'apiVersion: ostiary/v1\r\nkind: Connection\r\n'],
    ['orders.yml~', '\ufeffkind: Connection\n"apiVersion": ostiary/v1\n'],
    ['orders', 'apiVersion: ostiary/v1\n'],
  ])('reports %s, which has the text of a manifest', (name, text) => {
    put('a/b.yaml');
    put(`a/${name}`, text);
    expect(walk()).toStrictEqual({ files: ['a/b.yaml'], problems: [`a/${name}:1:1 manifest/unread-file`] });
  });

  it.each([
    ['README.md', 'An example:\n```yaml\napiVersion: ostiary/v1\n```\n'],
    ['other.json', '{"apiVersion":"v1","kind":"ConfigMap"}'],
    ['b.yaml~', 'apiVersion: ostiary/v1\n'],
    ['b.yaml.bak', 'apiVersion: ostiary/v1\n'],
    ['#b.yaml#', 'apiVersion: ostiary/v1\n'],
    ['.b.yaml.swp', 'apiVersion: ostiary/v1\n'],
  ])('says nothing about %s', (name, text) => {
    put('a/b.yaml');
    put(`a/${name}`, text);
    expect(walk()).toStrictEqual({ files: ['a/b.yaml'], problems: [] });
  });

  it('reports a link to a file of the repository that has the text of a manifest and another name', () => {
    put('lib/orders.txt', 'apiVersion: ostiary/v1\n');
    put('a/b.yaml');
    link('a/orders.YAML', '../lib/orders.txt');
    expect(walk(['a'])).toStrictEqual({ files: ['a/b.yaml'], problems: ['a/orders.YAML:1:1 manifest/unread-file'] });
  });
});

describe('errors of readTree', () => {
  it('reports every unreadable file and reads the others', () => {
    put('good.yaml');
    put('large.yaml', 'x'.repeat(1_048_577));
    put('full.yaml', `#${'x'.repeat(1_048_575)}`);
    put('latin.yaml', Buffer.from('a: 1\nb: caf\u00e9\n', 'latin1'));
    expect(walk(['.', 'missing', 'missing.yaml'])).toStrictEqual({
      files: ['full.yaml', 'good.yaml'],
      problems: [
        'large.yaml:1:1 manifest/too-large',
        'latin.yaml:2:1 manifest/not-utf8',
        'missing:1:1 manifest/no-such-path',
        'missing.yaml:1:1 manifest/no-such-path',
      ],
    });
  });

  it('rejects names that break lines', () => {
    put('a\nb.yaml');
    put('c\u001b[31m/d.yaml');
    put('e\n.txt');
    expect(walk()).toStrictEqual({
      files: [],
      problems: ['a\ufffdb.yaml:1:1 manifest/bad-file-name', 'c\ufffd[31m:1:1 manifest/bad-file-name'],
    });
  });

  it('rejects a named file that is not YAML', () => {
    put('a.json');
    expect(walk(['a.json'])).toStrictEqual({ files: [], problems: ['a.json:1:1 manifest/unreadable'] });
  });

  it.skipIf(process.platform === 'win32')('never opens pipes', () => {
    execFileSync('mkfifo', [join(root, 'pipe.yaml'), join(root, 'pipe')]);
    link('link.yaml', 'pipe');
    expect(walk(['.', 'pipe.yaml'])).toStrictEqual({
      files: [],
      problems: ['link.yaml:1:1 manifest/unreadable', 'pipe.yaml:1:1 manifest/unreadable', 'pipe.yaml:1:1 manifest/unreadable'],
    });
  });

  it.skipIf(process.getuid?.() === 0)('reports a folder without read permission', () => {
    put('a.yaml');
    put('b/c.yaml');
    chmodSync(join(root, 'a.yaml'), 0);
    chmodSync(join(root, 'b'), 0);
    expect(walk()).toStrictEqual({ files: [], problems: ['a.yaml:1:1 manifest/unreadable', 'b:1:1 manifest/unreadable'] });
    chmodSync(join(root, 'b'), 0o700);
  });
});

describe('links', () => {
  it('follows links inside the root, each file once and by its own path', () => {
    put('real/a.yaml');
    link('alias.yaml', 'real/a.yaml');
    link('again', 'real');
    put('.hidden/b.yaml');
    link('shown.yaml', '.hidden/b.yaml');
    expect(walk()).toStrictEqual({ files: ['real/a.yaml', 'shown.yaml'], problems: [] });
    const { value = [] } = readTree([root], { root, cwd: root, exclude: [] });
    expect(value.map(({ path, isPrivate }) => [path, isPrivate])).toStrictEqual([
      ['real/a.yaml', undefined],
      ['shown.yaml', true],
    ]);
  });

  it('reads a folder outside the paths through its link', () => {
    put('common/a.yaml');
    link('access/team', '../common');
    expect(walk(['access'])).toStrictEqual({ files: ['access/team/a.yaml'], problems: [] });
  });

  // security: proposal
  it('rejects links out of the root', () => {
    put('repo/a.yaml');
    put('outside/b.yaml');
    link('repo/file.yaml', '../outside/b.yaml');
    link('repo/folder', '../outside');
    link('repo/host.yaml', '/etc/hostname');
    link('repo/notes.txt', '/etc/hostname');
    link('repo/here', '.');
    const { value, diagnostics } = readTree([join(root, 'repo')], { root: join(root, 'repo'), cwd: join(root, 'repo'), exclude: [] });
    expect(value?.map(({ path }) => path)).toStrictEqual(['a.yaml']);
    expect(diagnostics.map(({ code, at }) => `${at?.file} ${code}`)).toStrictEqual([
      'file.yaml manifest/symlink-escape',
      'folder manifest/symlink-escape',
      'here manifest/symlink-loop',
      'host.yaml manifest/symlink-escape',
    ]);
  });

  it('rejects links with absolute paths inside the root, which a commit cannot follow', () => {
    for (const path of ['shared/a.yaml', 'shared/more/b.yaml', 'notes.txt']) put(path);
    link('access/file.yaml', join(root, 'shared/a.yaml'));
    link('access/folder', join(root, 'shared/more'));
    link('access/notes', join(root, 'notes.txt'));
    link('access/node_modules', join(root, 'shared'));
    link('access/.cache', join(root, 'shared'));
    link('via', join(root, 'shared'));
    link('access/on.yaml', '../via/a.yaml');
    link('access/back.yaml', `../../${basename(root)}/shared/a.yaml`);
    const wrong = ['access/back.yaml', 'access/file.yaml', 'access/folder', 'access/on.yaml'].map(
      (path) => `${path}:1:1 manifest/symlink-escape`,
    );
    expect(walk(['access']).problems).toStrictEqual(wrong);
    expect(walk(['via']).problems).toStrictEqual(['via:1:1 manifest/symlink-escape']);
  });

  it('rejects a named path that leads out through a link, and accepts a named path outside the root', () => {
    put('repo/a.yaml');
    put('outside/b.yaml');
    link('repo/folder', '../outside');
    const options = { root: join(root, 'repo'), cwd: root, exclude: [] };
    expect(readTree([join(root, 'repo/folder')], options).diagnostics.map(({ code }) => code)).toStrictEqual(['manifest/symlink-escape']);
    expect(readTree([join(root, 'outside')], options).value?.map(({ path }) => path)).toStrictEqual(['outside/b.yaml']);
  });

  it('ends for circular and broken links', () => {
    put('a/x.yaml');
    put('b/y.yaml');
    link('a/b', '../b');
    link('b/a', '../a');
    link('a/up', '..');
    link('self.yaml', 'self.yaml');
    link('gone.yaml', 'nowhere');
    link('gone', 'nowhere');
    expect(walk()).toStrictEqual({
      files: ['a/x.yaml', 'b/y.yaml'],
      problems: ['a/up:1:1 manifest/symlink-loop', 'gone.yaml:1:1 manifest/unreadable', 'self.yaml:1:1 manifest/symlink-loop'],
    });
  });

  it('walks a folder once for any number of links', () => {
    for (let level = 0; level < 30; level += 1) {
      mkdirSync(join(root, `hidden/${level}`), { recursive: true });
      link(`hidden/${level}/x`, `../${level + 1}`);
      link(`hidden/${level}/y`, `../${level + 1}`);
    }
    put('hidden/30/a.yaml');
    link('top/first', '../hidden/0');
    expect(walk(['top'])).toMatchObject({ problems: [] });
  });
});

describe('missingPaths', () => {
  it('reports each path that does not exist', () => {
    put('a/x.yaml');
    const paths = ['a', 'a/x.yaml', 'typo/', 'a/x.yaml/y', 'a/z.yaml'].map((path) => join(root, path));
    expect(missingPaths(paths, root).map(({ code, at }) => `${at?.file} ${code}`)).toStrictEqual([
      'a/x.yaml/y manifest/no-such-path',
      'a/z.yaml manifest/no-such-path',
      'typo/ manifest/no-such-path',
    ]);
  });
});
