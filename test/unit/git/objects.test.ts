import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { listTree, readObjects } from '../../../src/git/objects.ts';
import { findCommit } from '../../../src/git/repository.ts';
import { runCount } from '../../support/property-runs.ts';
import { useRepositories } from '../../support/repository.ts';

const { make } = useRepositories();

/** Returns the ids of the processes that read objects in a folder. */
function readersIn(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((id) => /^\d+$/.test(id))
    .map(Number)
    .filter((id) => {
      try {
        return readlinkSync(`/proc/${id}/cwd`) === folder && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('\0cat-file\0');
      } catch {
        // It has ended.
        return false;
      }
    });
}

describe('readObjects', () => {
  it('answers requests that overlap in their order, by one process that ends when it is idle', async () => {
    const repository = make({ 'a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n' });
    const opened = await repository.open();
    const [a = '', b = ''] = repository.git('rev-parse', 'HEAD:a.yaml', 'HEAD:b.yaml').split('\n');
    const none = '0'.repeat(40);
    const found: string[] = [];
    const read = (...names: readonly string[]): Promise<void> =>
      readObjects(opened, names, { onObject: (object, name) => found.push(`${name} ${object?.type} ${object?.bytes.toString()}`) });
    await Promise.all([read(a, none), read(b)]);
    expect(found).toEqual([`${a} blob a: 1\n`, `${none} undefined undefined`, `${b} blob b: 1\n`]);
    expect(readersIn(repository.folder)).toHaveLength(1);
    await expect.poll(() => readersIn(repository.folder)).toEqual([]);
    await read(a);
    expect(found).toHaveLength(4);
  });

  it('reads a commit that is made while the process runs, and starts again after it was stopped', async () => {
    const repository = make({ 'a.yaml': 'a: 1\n' });
    const opened = await repository.open();
    const first = repository.git('rev-parse', 'HEAD');
    expect(await findCommit(opened, first)).toBe(first);
    const second = repository.save({ 'a.yaml': 'a: 2\n' });
    expect(await findCommit(opened, second)).toBe(second);
    for (const id of readersIn(repository.folder)) process.kill(id, 'SIGKILL');
    await expect.poll(() => findCommit(opened, second).catch(String)).toBe(second);
  });

  it('knows ids and nothing else, and rejects all requests when git fails', async () => {
    const repository = make({ 'a.yaml': 'a: 1\n' });
    const opened = await repository.open();
    const id = repository.git('rev-parse', 'HEAD');
    for (const name of [
      'HEAD',
      'main',
      'refs/heads/main',
      id.slice(0, 12),
      `${id}\n${id}`,
      `${id}:a.yaml`,
      `${id}^{/change}`,
      `${id}@{0}`,
    ]) {
      expect(await findCommit(opened, name)).toBeUndefined();
      await expect(readObjects(opened, [id, name], { onObject: () => undefined })).rejects.toThrow(/is not the id of an object/);
    }
    expect(readersIn(repository.folder)).toEqual([]);
    repository.remove('.git/HEAD', '.git/objects');
    await expect(Promise.all([findCommit(opened, id), findCommit(opened, `${id}~1`)])).rejects.toMatchObject({ code: 'git/failed' });
  });
});

const part = fc.constantFrom('a', 'b', 'a.b', 'ü', 'x y');
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const files = fc.uniqueArray(path, { minLength: 1, maxLength: 12 });

test('listTree lists what git ls-tree lists, also in a repository with SHA-256', async () => {
  await fc.assert(
    fc.asyncProperty(files, fc.uniqueArray(path, { maxLength: 3 }), fc.constantFrom('sha1', 'sha256'), async (all, paths, format) => {
      const repository = make();
      repository.remove('.git');
      repository.git('init', '--quiet', '--template=', '--initial-branch=main', `--object-format=${format}`);
      const blob = repository.git('hash-object', '-w', '--stdin');
      const zero = blob.replaceAll(/./g, '1');
      const free = all.filter((one) => !all.some((other) => other.startsWith(`${one}/`)));
      for (const [index, one] of free.entries()) {
        const mode = ['100644', '100755', '120000', '160000'][index % 4];
        repository.git('update-index', '--add', '--cacheinfo', `${mode},${mode === '160000' ? zero : blob},${one}`);
      }
      repository.git('commit', '--quiet', '--message', 'all');
      const opened = await repository.open();
      const listed = (...args: readonly string[]): readonly string[] =>
        repository
          .git('--literal-pathspecs', 'ls-tree', '-z', '--full-tree', ...args)
          .split('\0')
          .filter((line) => line !== '')
          .map((line) => line.replace(/^0?(\d+) \w+ /, '$1 '))
          .toSorted();
      const found = async (wanted: readonly string[], below: boolean): Promise<readonly string[]> =>
        (await listTree(opened, opened.head ?? '', { paths: wanted, below }))
          .map((entry) => `${entry.mode} ${entry.id}\t${entry.path}`)
          .toSorted();
      expect(await found([''], true)).toEqual(listed('-r', 'HEAD'));
      if (paths.length === 0) return;
      expect(await found(paths, true)).toEqual(listed('-r', 'HEAD', '--', ...paths));
      const exact = listed('-t', 'HEAD', '--', ...paths).filter((line) => paths.includes(line.replace(/^.*\t/, '')));
      expect(await found(paths, false)).toEqual(exact);
    }),
    { numRuns: runCount(5) },
  );
});
