import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the embedded database that people install is the one that is tested', () => {
  const { devDependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { version } = JSON.parse(readFileSync('node_modules/@electric-sql/pglite/package.json', 'utf8'));
  expect([devDependencies, peerDependencies].map((packages) => packages['@electric-sql/pglite'])).toEqual([version, version]);
});

test('the lockfile names source and digest of every package', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const entries = Object.entries<{ readonly resolved?: string; readonly integrity?: string }>(packages).filter(([path]) => path !== '');
  expect(entries.length).toBeGreaterThan(300);
  expect(
    entries.filter(
      ([, { resolved, integrity }]) =>
        !(resolved ?? '').startsWith('https://registry.npmjs.org/') || !(integrity ?? '').startsWith('sha512-'),
    ),
  ).toEqual([]);
});
