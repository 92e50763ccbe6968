import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../src/model/json.ts';

const files = readdirSync('schemas')
  .filter((file) => file.endsWith('.schema.json'))
  .map((file) => file.replace(/\.schema\.json$/, ''))
  .toSorted();

test('src/kinds/index.ts lists every schema', async () => {
  await expect(kindsIndex()).toMatchFileSnapshot('../src/kinds/index.ts');
});

test('src/manifest/validators.js is what the schemas compile to', async () => {
  await expect(validators()).toMatchFileSnapshot('../src/manifest/validators.js');
});

test('src/plan/validators.js is what the schema of plans compiles to', async () => {
  const schema = read('schemas/documents/plan.schema.json');
  const ajv = compiler({ allErrors: false });
  ajv.addSchema(bare(schema));
  await expect(moduleOf(ajv, { plan: textAt(schema, '$id') })).toMatchFileSnapshot('../src/plan/validators.js');
});

test('the schemas are strict, and no annotation is unknown', () => {
  const schemas = [...documents, 'plan'].map(documentSchema);
  for (const schema of [...files.map((file) => read(`schemas/${file}.schema.json`)), ...schemas]) {
    expect(() => compiler().addVocabulary(annotations).compile(schema)).not.toThrow();
  }
});

const annotations = [
  'borrowed closed dialect edge enough hint identity key known late manifest-only omitted on-wire pattern-hint protects read-only ref secret selector set'.split(
    ' ',
  ),
]
  .flat()
  .map((name) => `x-ostiary-${name}`);

function kindsIndex(): string {
  const names = files.map((file) => file.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()));
  return [
    '// Generated from the schemas by `npm run generate`; do not edit.',
    "import type { Kind, Registry } from '../model/kind.ts';",
    ...files.map((file, index) => `import { ${names[index]} } from './${file}.ts';`),
    '',
    `const kinds: readonly Kind[] = [${names.join(', ')}];`,
    '',
    '/** All kinds by name. */',
    'export const registry: Registry = new Map(kinds.map((kind) => [kind.name, kind]));',
    '',
  ].join('\n');
}

/** Documents that people write and that are no manifests of a kind. */
const documents = ['config', 'policy'];

function documentSchema(name: string): JsonObject {
  return read(`schemas/documents/${name}.schema.json`);
}

/** One module for all documents: manifests by kind, the config file, and policies. */
function validators(): string {
  const ajv = compiler();
  const names: Record<string, string> = {};
  const titles: string[] = [];
  for (const [index, file] of files.entries()) {
    const schema = read(`schemas/${file}.schema.json`);
    titles.push(textAt(schema, 'title'));
    names[`manifest${index}`] = textAt(schema, '$id');
    ajv.addSchema(bare(schema));
  }
  for (const name of documents) {
    const schema = documentSchema(name);
    ajv.addSchema(bare(schema));
    names[name] = textAt(schema, '$id');
  }
  const table = titles.map((title, index) => `  ${title}: manifest${index},`);
  const body = moduleOf(ajv, names).replaceAll(/export const (manifest\d+) =/g, 'const $1 =');
  return `${body}export const manifests = {\n${table.join('\n')}\n};\n`;
}

/** The validators as one ES module that needs nothing but what of ajv runs with them. */
function moduleOf(ajv: Ajv2020, names: Readonly<Record<string, string>>): string {
  const modules: string[] = [];
  const body = standalone
    .default(ajv, { ...names })
    .replace('"use strict";', '')
    .replaceAll(/require\("(ajv\/dist\/runtime\/(\w+))"\)\.default/g, (_, path: string, name: string) => {
      const line = `import ${name} from '${path}.js';`;
      if (!modules.includes(line)) modules.push(line);
      return `(${name}.default ?? ${name})`;
    });
  return [
    '// Generated from the schemas by `npm run generate`; do not edit.',
    ...modules,
    body.replaceAll(/;(?=(?:export )?(?:const|function) )/g, ';\n').replaceAll(/\}(?=function )/g, '}\n'),
    '',
  ].join('\n');
}

function compiler({ allErrors = true }: { readonly allErrors?: boolean } = {}): Ajv2020 {
  return new Ajv2020({
    allErrors,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    inlineRefs: false,
    messages: false,
    code: { source: true, esm: true },
  });
}

function read(path: string): JsonObject {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isObject(value)) throw new Error(`${path} is no object`);
  return value;
}

function textAt(schema: JsonObject, key: string): string {
  const text = schema[key];
  if (typeof text !== 'string') throw new Error(`a schema has no ${key}`);
  return text;
}

/**
 * The schema without what only people and editors read, without read-only fields (unknown fields to the validator) and
 * without the forms of secrets (`isSecret` knows them).
 */
function bare(node: JsonObject, map = false): JsonObject {
  if (Array.isArray(node['anyOf']) && node['anyOf'].some((form) => isObject(form) && form['$ref'] === '#/$defs/secretValue')) return {};
  const kept = Object.entries(node).filter(([key, value]) => {
    if (map) return !isObject(value) || !('not' in value);
    return !key.startsWith('x-ostiary-') && !['title', 'description', 'default', 'examples', 'deprecated'].includes(key);
  });
  return Object.fromEntries(kept.map(([key, value]) => [key, bareValue(value, !map && (key === 'properties' || key === '$defs'))]));
}

function bareValue(value: Json, map: boolean): Json {
  if (Array.isArray(value)) return value.map((entry: Json) => bareValue(entry, false));
  return isObject(value) ? bare(value, map) : value;
}
