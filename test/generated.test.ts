import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';

const annotations =
  'borrowed by-name closed counts dialect edge enough hint identity implied key known late manifest-only no-default omitted on-wire open pattern-hint protects read-only ref secret selector set timed'
    .split(' ')
    .map((name) => `x-ostiary-${name}`);

test('the generated files follow from the schemas', () => {
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
