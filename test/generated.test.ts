import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { commandNames, helpOf } from './support/command-help.ts';
import { fieldTables } from './support/field-tables.ts';
import { securityTestPage } from './support/security-tests.ts';
import { actionPage, commandPage, coveragePage, diagnosticPage, jsonPage, riskPage } from './support/reference-pages.ts';

const annotations =
  'borrowed by-name closed combines counts dialect edge enough hint identity implied key known late manifest-only no-default omitted on-wire open pattern-hint protects read-only ref secret selector set text timed'
    .split(' ')
    .map((name) => `x-ostiary-${name}`);

/** The pages of docs/reference that follow from the source. */
const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  action: actionPage,
  cli: helpPage,
  coverage: coveragePage,
  diagnostics: diagnosticPage,
  fields: fieldTables,
  json: jsonPage,
  risks: riskPage,
  'security-tests': securityTestPage,
};

async function helpPage(): Promise<string> {
  const helps = new Map<string, string>();
  for (const name of await commandNames()) {
    const [command = ''] = name.split('|');
    helps.set(command, await helpOf([command], 100));
  }
  return commandPage(await helpOf([], 100), helps);
}

// `npm run generate` writes all of them.
test.each(Object.entries(pages))('docs/reference/%s.md is committed as it is generated', async (name, page) => {
  const text = await page();
  await expect(text).toMatchFileSnapshot(`../docs/reference/${name}.md`);
});

test('the files that follow from other files are committed as they are generated', () => {
  // Throws with the names of the files that differ.
  expect(execFileSync(process.execPath, ['test/generate.js', '--check'], { encoding: 'utf8' })).toBe('');
});

const schemas = ['schemas', 'schemas/documents'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.schema.json'))
    .map((name) => ({ path: `${folder}/${name}`, schema: JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) })),
);

test.each(schemas)('$path is strict, and has no unknown annotation', ({ schema }) => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
  // They refer to each other.
  ajv.addVocabulary(annotations).addSchema(schemas.map((one) => one.schema));
  expect(ajv.getSchema(schema.$id)).toBeTypeOf('function');
});
