import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPage } from '../support/run-page.ts';

const pages = ['README.md', ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name))]
  .filter((path) => path.endsWith('.md'))
  .toSorted();
const withCommands = pages.filter((path) => /^```console/m.test(readFileSync(path, 'utf8')));

// A page whose output is out of date: `npx vitest run test/e2e/pages.test.ts -u` writes the new output into it; read it then.
test.each(withCommands)('%s shows what its commands print', async (path) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-page-')));
  try {
    await expect(await runPage(readFileSync(path, 'utf8'), folder)).toMatchFileSnapshot(join(process.cwd(), path));
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
