import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLineOrigins } from '../../../src/git/line-origins.ts';
import { type TestRepository, useRepositories } from '../../support/repository.ts';

const { make, clone } = useRepositories();

const files = (repository: TestRepository): readonly string[] =>
  readdirSync(join(repository.folder, 'a'))
    .map((name) => `a/${name}`)
    .toSorted();

/** Lists the commits of all lines of files, as git blame prints them; undefined for what is not committed. */
function blamed(repository: TestRepository, paths: readonly string[]): unknown {
  const commits = (path: string): readonly unknown[] =>
    [...repository.git('blame', '--porcelain', '--', path).matchAll(/^([0-9a-f]{40}) \d+ \d+/gm)].map(([, id = '']) =>
      /^0+$/.test(id) ? undefined : id,
    );
  return Object.fromEntries(paths.map((path) => [path, commits(path)]));
}

async function traced(repository: TestRepository, paths: readonly string[]): Promise<unknown> {
  const found = await findLineOrigins(await repository.open(), paths);
  // The text after the last line break is no line.
  return Object.fromEntries(
    paths.map((path) => [path, (found.get(path) ?? []).slice(0, -1).map((one) => (one.state === 'uncommitted' ? undefined : one.commit))]),
  );
}

test.each([1, 2, 3, 4, 5, 6])(
  'finds the commits that git blame finds, in random history %i with branches, merges and renames',
  async (seed) => {
    const numbers = fc.sample(fc.nat(), { seed, numRuns: 4000 }).values();
    const below = (end: number): number => (numbers.next().value ?? 0) % end;
    let last = 0;
    const line = (): string => `k${(last += 1)}: ${below(1000)}\n`;
    const lines = (count: number): string => Array.from({ length: count }, line).join('');
    const repository = make({
      'a/1.yaml': lines(9),
      'a/2.yaml': lines(9),
      'a/with "quotes" ü.yaml': lines(9),
      'a/no-change.yaml': lines(3),
    });
    const { git, folder } = repository;
    const edit = (): void => {
      const all = files(repository);
      const path = all[below(all.length)] ?? '';
      const text = readFileSync(join(folder, path), 'utf8').split(/(?<=\n)/);
      text.splice(below(text.length), below(3), ...Array.from({ length: below(3) }, line));
      repository.write({ [path]: text.length === 0 ? line() : text.join('') });
    };
    for (let step = 0; step < 25; step += 1) {
      const branches = git('branch', '--format=%(refname:short)').split('\n');
      const action = below(10);
      if (action === 0) git('switch', '--quiet', '--create', `b${step}`);
      if (action === 1) git('switch', '--quiet', branches[below(branches.length)] ?? 'main');
      const all = files(repository);
      if (action === 2) git('mv', all[below(all.length)] ?? '', `a/moved ${step}.yaml`);
      if (action === 3) repository.write({ [`a/new-${step}.yaml`]: lines(6) });
      if (action > 3) edit();
      if (action === 4 || action === 5) {
        repository.commit();
        try {
          git('merge', '--quiet', '--no-commit', '--no-ff', '--strategy-option=theirs', branches[below(branches.length)] ?? 'main');
        } catch {
          // The commit below has the conflict in it.
        }
        if (action === 5) edit();
      }
      repository.commit();
    }
    edit();
    expect(await traced(repository, files(repository))).toEqual(blamed(repository, files(repository)));
  },
  60_000,
);

test('finds what is not committed, also where an earlier file had the name', async () => {
  const repository = make({ 'a/old.yaml': 'a: 1\n' });
  repository.remove('a/old.yaml');
  repository.save({ 'a/kept.yaml': 'b: 1\n' });
  repository.write({ 'a/old.yaml': 'a: 1\n', 'a/kept.yaml': 'b: 1\nc: 1\n' });
  const head = repository.git('rev-parse', 'HEAD');
  expect(await traced(repository, ['a/old.yaml', 'a/kept.yaml'])).toEqual({ 'a/old.yaml': [undefined], 'a/kept.yaml': [head, undefined] });
});

test('a line has the latest commit of its value', async () => {
  const repository = make({ 'a/1.yaml': 'groups:\n  - a\nother: 1\n' });
  const first = repository.git('rev-parse', 'HEAD');
  // Git counts time in seconds.
  await new Promise((resolve) => void setTimeout(resolve, 1100));
  const second = repository.save({ 'a/1.yaml': 'groups:\n  - a\n  - b\nother: 1\n' });
  expect(await traced(repository, ['a/1.yaml'])).toEqual({ 'a/1.yaml': [second, first, second, first] });
});

test('in a shallow clone only what changed later has a known commit', async () => {
  const origin = make({ 'a/1.yaml': 'a: 1\nb: 1\n' });
  const cut = origin.save({ 'a/1.yaml': 'a: 1\nb: 2\n' });
  const later = origin.save({ 'a/1.yaml': 'a: 1\nb: 2\nc: 1\n' });
  const shallow = clone(origin, '--depth=2');
  const found = await findLineOrigins(await shallow.open(), ['a/1.yaml']);
  expect(found.get('a/1.yaml')?.slice(0, 3)).toMatchObject([
    { state: 'before', commit: cut },
    { state: 'before', commit: cut },
    { state: 'committed', commit: later },
  ]);
});
