import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** Names that several files export because they implement one port: each dialect, and each database. */
const portFolders = ['src/gateway/dialects/'];

const vagueFileNames = /^(?:utils?|helpers?|common|misc|manager|handler|base|impl|types)$/;

type SourceText = { readonly path: string; readonly text: string };

function readFolder(folder: string): readonly SourceText[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => join(folder, path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

const files = readFolder('src');
const paths = files.map(({ path }) => path);
const testPaths = readFolder('test').flatMap(({ path }) => (path.endsWith('.test.ts') ? path : []));

function exportsOf(text: string): readonly string[] {
  const found = text.matchAll(/^export (?:abstract )?(?:async )?(?:type|interface|class|const|function\*?) (\w+)/gm);
  return [...new Set([...found].map((match) => match[1] ?? ''))];
}

test('no two files export the same name, unless they implement one port', () => {
  const owners = new Map<string, string[]>();
  for (const { path, text } of files) {
    if (path === 'src/index.ts' || portFolders.some((folder) => path.startsWith(folder))) continue;
    for (const name of exportsOf(text)) owners.set(name, [...(owners.get(name) ?? []), path]);
  }
  const shared = [...owners].filter(([, some]) => some.length > 1).map(([name, some]) => `${name}: ${some.join(', ')}`);
  expect(shared).toEqual([]);
});

test('an exported function has a docstring that begins with a verb', () => {
  const bare = files.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:\/\*\*\s+(?:\* )?(?:[A-Z][a-z]+s\b)(?:(?!\*\/)[\s\S])*\*\/\n)?^export (?:async )?function\*? (\w+)/gm)]
      .filter(([all]) => !all.startsWith('/**'))
      .map(([, name]) => `${path}: ${name}`),
  );
  expect([...new Set(bare)]).toEqual([]);
});

test('a file name says what is inside', () => {
  expect(paths.filter((path) => vagueFileNames.test(basename(path, '.ts')))).toEqual([]);
});

test('the tests of a command and of a folder of src are found by its name', () => {
  const found = new Set(testPaths.flatMap((path) => path.split('/').flatMap((segment) => [segment, ...segment.split(/[-.]/)])));
  const commands = files.flatMap(({ path, text }) => (/^export const \w+: DefineCommand\b/m.test(text) ? basename(path, '.ts') : []));
  const folders = new Set(paths.map((path) => path.split('/')[1] ?? '').filter((name) => !name.endsWith('.ts')));
  expect(commands).toContain('plan');
  // Kinds are declarations, which the tests of all stages use; the tests of usage print the version.
  expect([...commands, ...folders].filter((name) => !found.has(name))).toEqual(['version', 'kinds']);
});

test('a folder holds at most 20 files', () => {
  const counts = new Map<string, number>();
  for (const path of [...paths, ...testPaths.filter((one) => one.startsWith('test/e2e/'))])
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > 20)).toEqual([]);
});

test('a private function of many files has the name of what it does there', () => {
  const owners = new Map<string, string[]>();
  for (const { path, text } of files.filter((file) => !portFolders.some((folder) => file.path.startsWith(folder))))
    for (const [, name = ''] of text.matchAll(/^(?:async )?function\*? (\w+)/gm)) owners.set(name, [...(owners.get(name) ?? []), path]);
  expect([...owners].filter(([, some]) => some.length > 3).map(([name, some]) => `${name}: ${some.join(', ')}`)).toEqual([]);
});
