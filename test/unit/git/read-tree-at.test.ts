import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { maxBytes } from '../../../src/disk/text-file.ts';
import { decodeFile, readTree } from '../../../src/disk/walk.ts';
import { readTreeAt } from '../../../src/git/read-tree.ts';
import { runCount } from '../../support/property-runs.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';

const { make } = useRepositories();

type TreeResult = { readonly files: Readonly<Record<string, string>>; readonly problems: readonly string[] };

/** Reads the files at and below the paths at HEAD. */
async function readHead(
  repository: TestRepository,
  paths: readonly string[] = [''],
  exclude: readonly string[] = [],
  root = '',
): Promise<TreeResult> {
  const options = { root, exclude, show: (path: string) => path, maxBytes, decode: decodeFile };
  const { value = [], diagnostics } = await readTreeAt(await repository.open(), repository.git('rev-parse', 'HEAD'), { paths, options });
  const problems = diagnostics.map(({ code, at }) => `${at?.file}:${at?.line} ${code}`);
  return { files: Object.fromEntries(value.map(({ path, text }) => [path, text])), problems };
}

const yaml = 'a: 1\n';

describe('readTreeAt', () => {
  it('takes names that look like patterns, options and ranges literally', async () => {
    const files = { '*/x.yaml': yaml, '-r/x.yaml': yaml, ':(top)/x.yaml': yaml, 'ä ö/"q".yaml': yaml, 'a/x.yaml': yaml };
    const repository = make(files);
    for (const folder of ['*', '-r', ':(top)', 'ä ö'])
      expect(Object.keys((await readHead(repository, [folder])).files)).toStrictEqual(
        Object.keys(files).filter((path) => path.startsWith(`${folder}/`)),
      );
  });

  it('refuses files that are too large or not UTF-8, and drops a byte order mark', async () => {
    const large = `# ${'x'.repeat(maxBytes)}\n`;
    const repository = make({
      'bom.yaml': '\ufeffa: 1\n',
      'large.yaml': large,
      'huge.yaml': large.repeat(4),
      'limit.yaml': large.slice(0, maxBytes),
      'latin.yaml': Buffer.from('a: 1\nb: \xe4\n', 'latin1'),
      'empty.yaml': '',
    });
    const { files, problems } = await readHead(repository);
    expect(Object.keys(files)).toStrictEqual(['bom.yaml', 'empty.yaml', 'limit.yaml']);
    expect(files['bom.yaml']).toBe(yaml);
    expect(problems).toStrictEqual(['huge.yaml:1 manifest/too-large', 'large.yaml:1 manifest/too-large', 'latin.yaml:2 manifest/not-utf8']);
  });

  it('refuses names that are not UTF-8 or would break lines', async () => {
    const repository = make({ 'a/x.yaml': yaml });
    const id = repository.git('hash-object', '-w', 'a/x.yaml');
    const paths = ['a/\xff.yaml', 'b\nc/x.yaml', 'b\nc/y.yaml'];
    const index = Buffer.from(paths.map((path) => `100644 ${id}\t${path}\0`).join(''), 'latin1');
    execFileSync('git', ['update-index', '-z', '--index-info'], { cwd: repository.folder, input: index });
    repository.git('commit', '--quiet', '--message', 'odd names');
    const { files, problems } = await readHead(repository);
    expect(Object.keys(files)).toStrictEqual(['a/x.yaml']);
    expect(problems).toStrictEqual(['a/\ufffd.yaml:1 manifest/bad-file-name', 'b\ufffdc:1 manifest/bad-file-name']);
  });

  it('reports submodules', async () => {
    const repository = make({ 'a/x.yaml': yaml });
    repository.git('update-index', '--add', '--cacheinfo', `160000,${repository.git('rev-parse', 'HEAD')},a/module`);
    repository.git('commit', '--quiet', '--message', 'module');
    expect(await readHead(repository, ['a'])).toStrictEqual({ files: { 'a/x.yaml': yaml }, problems: ['a/module:1 git/submodule'] });
  });

  it('follows links below the root, each file once', async () => {
    const repository = make({ 'a/x.yaml': yaml, 'common/y.yaml': 'y: 1\n', 'common/deep/z.yaml': 'z: 1\n' });
    repository.link('a/y.yaml', '../common/y.yaml');
    repository.link('a/more', '../common/deep');
    repository.link('a/again.yaml', 'x.yaml');
    repository.link('a/nothing', 'nowhere');
    repository.link('via', 'common');
    repository.commit();
    expect(await readHead(repository, ['a'])).toStrictEqual({
      files: { 'a/more/z.yaml': 'z: 1\n', 'a/x.yaml': yaml, 'a/y.yaml': 'y: 1\n' },
      problems: [],
    });
    expect(Object.keys((await readHead(repository, ['via/deep'])).files)).toStrictEqual(['via/deep/z.yaml']);
  });

  it('reports links that point out of the repository, nowhere or in circles', async () => {
    const repository = make({ 'a/b/x.yaml': yaml, 'secret/s.yaml': yaml });
    repository.link('a/out.yaml', '/etc/passwd');
    repository.link('a/up.yaml', '../../x.yaml');
    repository.link('a/secret', '../secret');
    repository.link('a/gone.yaml', 'gone');
    repository.link('a/b/loop', '..');
    repository.link('a/self.yaml', 'self.yaml');
    repository.commit();
    expect(await readHead(repository, ['a'], [], 'a')).toStrictEqual({
      files: { 'a/b/x.yaml': yaml },
      problems: [
        'a/b/loop:1 manifest/symlink-loop',
        'a/gone.yaml:1 manifest/unreadable',
        'a/out.yaml:1 manifest/symlink-escape',
        'a/self.yaml:1 manifest/symlink-loop',
        'a/up.yaml:1 manifest/symlink-escape',
      ],
    });
  });

  it('reads hundreds of files, however git splits their bytes', async () => {
    const entries = Array.from({ length: 600 }, (_, index) => [`a/${index % 20}/${index}.yaml`, `n: ${index} ${'x'.repeat(index % 97)}\n`]);
    const files: Readonly<Record<string, string>> = Object.fromEntries([...entries, ['a/long.yaml', `# ${'ü'.repeat(200_000)}\n`]]);
    const repository = make(files);
    expect((await readHead(repository, ['a'])).files).toEqual(files);
    repository.git('gc', '--quiet');
    expect((await readHead(repository, ['a'])).files).toEqual(files);
  });
});

const name = fc.constantFrom('a', 'b', '.c', 'node_modules', 'd.yaml', 'e.yml', 'f.md');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const target = fc
  .array(fc.constantFrom('a', 'b', '..', '.', 'd.yaml', '.c', 'e.yml'), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'));
const isAbsolute = fc.nat({ max: 4 }).map((number) => number === 0);
const thing = fc.oneof({ weight: 3, arbitrary: fc.record({ path }) }, { weight: 2, arbitrary: fc.record({ path, target, isAbsolute }) });

test('reading a commit gives the same files as reading the disk, including links', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(thing, { minLength: 1, maxLength: 12 }), fc.constantFrom([], ['a/b']), async (things, exclude) => {
      const repository = make();
      const kept = things.filter((one) =>
        attempt(() =>
          'target' in one
            ? repository.link(one.path, one.isAbsolute ? `${repository.folder}/${one.target}` : one.target)
            : repository.write({ [one.path]: yaml }),
        ),
      );
      fc.pre(kept.length > 0);
      repository.commit();
      const disk = readTree([repository.folder], {
        root: repository.folder,
        cwd: repository.folder,
        exclude: exclude.map((one) => `${repository.folder}/${one}`),
      });
      const { files, problems } = await readHead(repository, [''], exclude);
      expect(Object.keys(files)).toStrictEqual((disk.value ?? []).map((file) => file.path));
      const wrong = disk.diagnostics.map(({ code, at }) => `${at?.file}:${at?.line} ${code}`).filter(isKnown);
      expect(problems.map(placeOf)).toStrictEqual(wrong.map(placeOf));
    }),
    { numRuns: runCount(9) },
  );
});

/**
 * Returns false for a link out of the commit or with an absolute path: a commit does not know whether it leads to a file that no name makes a
 * manifest.
 */
function isKnown(problem: string): boolean {
  return /\.ya?ml:/.test(problem) || !problem.endsWith('symlink-escape');
}

function placeOf(problem: string): string {
  return problem.split(' ')[0] ?? '';
}

/** Returns true if the file system allows the action. */
function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
