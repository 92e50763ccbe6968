import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { partsOf } from '../../support/page-steps.ts';
import { runPage } from '../../support/run-page.ts';
import { createDatabase, encryptionKey, fixture } from '../../support/servers.ts';

const pages = ['README.md', ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name))]
  .filter((path) => path.endsWith('.md'))
  .toSorted();
const withCommands = pages.filter((path) => /^```console/m.test(readFileSync(path, 'utf8')));

// A page whose output is out of date: `npm run generate -- reports/pages` writes the new output into it; read it then.
test.each(withCommands)('%s shows what its commands print', async (path) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-page-')));
  // The tutorial takes every step as a reader does; the others share a PostgreSQL server, which starts faster.
  const { url, drop } = await createDatabase(await fixture('template'));
  const database = { OSTIARY_SERVE_DATABASE: url, OSTIARY_SERVE_ENCRYPTION_KEY: encryptionKey.toString('base64') };
  try {
    const page = readFileSync(path, 'utf8');
    const result = await runPage(page, folder, path === 'docs/tutorial.md' ? {} : database);
    await expect(result).toMatchFileSnapshot(join(process.cwd(), path));
  } finally {
    await drop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

function hasStep(text: string): boolean {
  return partsOf(text).some(({ kind }) => kind === 'commands' || kind === 'hidden');
}

test('there are twenty recipes, and each has a step that is run', () => {
  const [, ...recipes] = readFileSync('docs/recipes.md', 'utf8').split(/^### /m);
  expect(recipes.map((text) => Number.parseInt(text, 10))).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(recipes.filter((text) => !hasStep(text))).toEqual([]);
});
