import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';

const root = 'build/schemastore';
const entry = JSON.parse(readFileSync(`${root}/catalog-entry.json`, 'utf8'));
const schema = JSON.parse(readFileSync(`${root}/src/schemas/json/ostiary.json`, 'utf8'));

describe('the entry for SchemaStore', () => {
  test('has the fields of the catalog, in the words that its linter accepts', () => {
    expect(Object.keys(entry).toSorted()).toEqual(['description', 'fileMatch', 'name', 'url']);
    for (const text of [entry.name, entry.description]) expect(text).toMatch(/^(?!.*schema)[^\n]*[^,. \t\-"`\n]$/i);
    expect(entry.url).toBe('https://www.schemastore.org/ostiary.json');
  });

  test('matches exactly the names of config files, in no folder', () => {
    expect(entry.fileMatch).toEqual(['ostiary.yaml', 'ostiary.yml']);
  });

  test('has a schema of draft-07 that is valid in strict mode, under the address of the entry', () => {
    expect(schema).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#', $id: entry.url });
    expect(new Ajv({ strict: true }).compile(schema)).toBeTypeOf('function');
    expect(JSON.stringify(schema)).not.toMatch(/x-ostiary|"(?:description|title)":"[^"]*:"/);
  });

  test.each([
    ['test', true],
    ['negative_test', false],
  ])('has samples in %s, each below the line that names the schema', (folder, isValid) => {
    const names = readdirSync(`${root}/src/${folder}/ostiary`);
    expect(names.length).toBeGreaterThan(0);
    const validate = new Ajv({ strict: true }).compile(schema);
    for (const name of names) {
      const text = readFileSync(`${root}/src/${folder}/ostiary/${name}`, 'utf8');
      expect(text).toMatch(/^# yaml-language-server: \$schema=\.\.\/\.\.\/schemas\/json\/ostiary\.json\n/);
      expect({ name, isValid: validate(parse(text)) }).toEqual({ name, isValid });
    }
  });
});
