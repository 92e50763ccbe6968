import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addToGroup } from '../../src/model/collections.ts';

/** A comment above a test, or above a row of its table, names the rows of SECURITY.md that it checks: `// security: fork, push`. */
const marker = /^ *\/\/ security: ([\w-]+(?:, [\w-]+)*)\n(?:.*\n)??.*?(['"`])(.+?)\2/gm;

/** Returns the page with the tests behind each row of SECURITY.md. Throws if a row has no test, or a marker names no row. */
export function securityTestPage(): string {
  const rows = [...readFileSync('SECURITY.md', 'utf8').matchAll(/^\| `([\w-]+)` \| (.+?) \|/gm)].map(([, row = '', who = '']) => ({
    row,
    who,
  }));
  const tests = new Map<string, string[]>();
  for (const path of readdirSync('test', { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!path.endsWith('.test.ts')) continue;
    for (const [, named = '', , title = ''] of readFileSync(join('test', path), 'utf8').matchAll(marker))
      for (const row of named.split(', '))
        addToGroup(tests, row, `- [${path}](../../test/${path}): ${title.replaceAll(/[*_<>|]/g, String.raw`\$&`)}`);
  }
  const untested = rows.filter(({ row }) => !tests.has(row)).map(({ row }) => `the row ${row} of SECURITY.md has no test`);
  const unknown = [...tests.keys()].filter((name) => rows.every(({ row }) => row !== name)).map((name) => `SECURITY.md has no row ${name}`);
  const problems = [...untested, ...unknown];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const sections = rows.flatMap(({ row, who }) => [
    '',
    `## \`${row}\``,
    '',
    `${who[0]?.toUpperCase()}${who.slice(1)}:`,
    '',
    ...(tests.get(row) ?? []),
  ]);
  const introduction =
    'The tests behind each row of [Security](../../SECURITY.md#who-can-do-what): a comment above a test names its rows (`// security: ROW`). `npm run generate` writes this page, and fails if a row has no test.';
  return `${['# Tests of security', '', introduction, ...sections].join('\n')}\n`;
}
