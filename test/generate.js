// Writes what follows from other files: the index of kinds, the type of the codes of diagnostics, the schema of defaults, the schema for SchemaStore from the schemas, the indexes of dialects
// and their names in the schema of the config from the folders of dialects, the picture of the map from the imports. `--check` compares instead
// and exits with 1.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readArguments } from '../build/read-arguments.js';

const kinds = readdirSync('schemas')
  .filter((file) => file.endsWith('.schema.json'))
  .map((file) => file.replace(/\.schema\.json$/, ''))
  .toSorted();

const dialectsFolder = 'src/gateway/dialects';

/** Every folder with a `dialect.json`; the default dialect first. */
const dialects = readdirSync(dialectsFolder)
  .filter((name) => existsSync(`${dialectsFolder}/${name}/dialect.json`))
  .map((name) => ({ name, ...read(`${dialectsFolder}/${name}/dialect.json`) }))
  .toSorted((left, right) => Number(right.default === true) - Number(left.default === true));

const outputs = {
  'src/kinds/index.ts': kindsIndex,
  'src/model/dialects.ts': dialectFacts,
  'src/gateway/dialects/index.ts': dialectsIndex,
  'schemas/documents/config.schema.json': configSchema,
  'schemas/documents/defaults.schema.json': defaultsSchema,
  'build/schemastore/src/schemas/json/ostiary.json': storeSchema,
  'src/README.md': mapWithPicture,
};

const { check } = readArguments(
  { check: false },
  { usage: 'run npm run generate; node test/generate.js --check compares, and exits with 1' },
).values;
for (const [path, generate] of Object.entries(outputs)) {
  const text = generate();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  if (check) {
    process.stderr.write(`${path} is out of date; run npm run generate\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
    process.stdout.write(`${path} written\n`);
  }
}

/** Returns the module that lists every kind. */
function kindsIndex() {
  const names = kinds.map((file) => file.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase()));
  return [
    '// Generated from the schemas by `npm run generate`; do not edit.',
    "import type { Kind, Registry } from '../model/kind.ts';",
    ...kinds.map((file, index) => `import { ${names[index]} } from './${file}.ts';`),
    '',
    'const kinds: readonly Kind[] = [',
    ...names.map((name) => `  ${name},`),
    '];',
    '',
    '/** All kinds by name. */',
    'export const registry: Registry = new Map(kinds.map((kind) => [kind.name, kind]));',
    '',
  ].join('\n');
}

/** Returns the module with what every folder may know of the dialects. */
function dialectFacts() {
  const names = dialects.map(({ name }) => `'${name}'`);
  const controls = dialects.map(
    ({ name, hiddenControls }) => `  ${name}: [${hiddenControls.map((control) => `'${control}'`).join(', ')}],`,
  );
  return [
    '// Generated from the folders of src/gateway/dialects by `npm run generate`; do not edit.',
    `export type DialectName = ${names.join(' | ')};`,
    '',
    "/** A dialect, or `auto`: the one that the gateway's response suggests. */",
    "export type DialectChoice = 'auto' | DialectName;",
    '',
    '/** All dialects; the default first. */',
    `export const dialectNames: readonly DialectName[] = [${names.join(', ')}];`,
    '',
    '/** By dialect: the controls to which gateways may add rules that manifests do not contain. */',
    'export const hiddenControls = {',
    ...controls,
    '} as const;',
    '',
    '/** By dialect: the version of the public gateway that it describes. */',
    'export const describedVersions: Readonly<Record<string, string>> = {',
    ...dialects.flatMap(({ name, describes }) => (describes === undefined ? [] : [`  ${name}: '${describes}',`])),
    '};',
    '',
  ].join('\n');
}

/** Returns the module that lists every dialect. */
function dialectsIndex() {
  const names = dialects.map(({ name }) => `${name}Dialect`);
  return [
    '// Generated from the folders beside this file by `npm run generate`; do not edit.',
    "import type { Dialect } from '../dialect.ts';",
    ...dialects.map(({ name }) => `import { ${name}Dialect } from './${name}/index.ts';`),
    '',
    '/** All dialects; the default first. */',
    `export const dialects: readonly Dialect[] = [${names.join(', ')}];`,
    '',
  ].join('\n');
}

/** Returns the schema of the config with every dialect as a choice, and every field that has known values. */
function configSchema() {
  const choices = ['auto', ...dialects.map(({ name }) => name)].map((name) => `"${name}"`).join(', ');
  const fields = kinds.flatMap((file) => {
    const schema = read(`schemas/${file}.schema.json`);
    return knownFields(schema, schema.properties.spec, schema.title);
  });
  const allowed = fields.map((field) => `        "${field}": {\n          "$ref": "#/$defs/values"\n        }`).join(',\n');
  return readFileSync('schemas/documents/config.schema.json', 'utf8')
    .replace(/("dialect": \{\s*"type": "string",\s*"enum": )\[[^\]]*\]/, `$1[${choices}]`)
    .replace(/("allow_values": \{[^]*?"properties": \{)[^]*?\n {6}\}/, (_, start) => `${start}\n${allowed}\n      }`);
}

/** Returns the schema of the config as SchemaStore takes it: draft-07, without annotations of Ostiary. */
function storeSchema() {
  const { $schema: _, $id: __, $defs, examples: ___, ...schema } = read('schemas/documents/config.schema.json');
  const convert = (node) => {
    if (Array.isArray(node)) return node.map(convert);
    if (!isObject(node)) return node;
    const kept = Object.entries(node).filter(([key]) => !key.startsWith('x-ostiary-'));
    const { $ref, ...rest } = Object.fromEntries(kept.map(([key, value]) => [key, convert(value)]));
    if ($ref === undefined) return rest;
    const reference = { $ref: $ref.replace('#/$defs/', '#/definitions/') };
    // Draft-07 ignores everything beside a reference.
    return Object.keys(rest).length === 0 ? reference : { ...rest, allOf: [reference] };
  };
  const address = read('build/schemastore/catalog-entry.json').url;
  const store = { $schema: 'http://json-schema.org/draft-07/schema#', $id: address, ...convert(schema), definitions: convert($defs) };
  return `${JSON.stringify(store, null, 2)}\n`;
}

/** Lists the fields with known values, as `Connection.subtype`. */
function knownFields(schema, node, place) {
  const own =
    node.$ref === undefined
      ? node
      : node.$ref
          .slice(2)
          .split('/')
          .reduce((at, token) => at[token], schema);
  return [
    ...('x-ostiary-known' in own ? [place] : []),
    ...Object.entries(own.properties ?? {}).flatMap(([name, field]) => knownFields(schema, field, `${place}.${name}`)),
    ...(own.items === undefined ? [] : knownFields(schema, own.items, place)),
  ];
}

/** Returns the schema of a defaults file: the fields of every kind, none of them required, without secrets. */
function defaultsSchema() {
  const schemas = kinds.map((file) => read(`schemas/${file}.schema.json`));
  const example = {
    apiVersion: 'ostiary/v1',
    kind: 'Defaults',
    spec: { Connection: { reviewers: ['dba-team'], access_mode_exec: 'disabled', connection_tags: { env: 'prod' } } },
  };
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'defaults.schema.json',
    title: 'Defaults',
    description: '_defaults.yaml: fields for the manifests in its folder and in the folders below.',
    type: 'object',
    additionalProperties: false,
    required: ['apiVersion', 'kind', 'spec'],
    properties: {
      apiVersion: { const: 'ostiary/v1', description: 'The version of the format.' },
      kind: { const: 'Defaults', description: 'What this document describes.' },
      spec: {
        type: 'object',
        additionalProperties: false,
        description: 'The fields of each kind. A manifest that states a field itself replaces the value; maps merge key by key.',
        properties: Object.fromEntries(schemas.map(({ title }) => [title, { $ref: `#/$defs/${title}` }])),
      },
    },
    $defs: Object.assign({}, ...schemas.map(defaultFields)),
    examples: [example],
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Returns the definitions that a kind's schema adds to the schema of defaults. */
function defaultFields({ title, description, $defs }) {
  const defs = {};
  const add = (name, node) => {
    if (name in defs) return;
    defs[name] = {};
    defs[name] = renamed(node);
  };
  const renamed = (node) => {
    if (Array.isArray(node)) return node.map(renamed);
    if (!isObject(node)) return node;
    const reference = typeof node.$ref === 'string' ? node.$ref.slice('#/$defs/'.length) : undefined;
    if (reference !== undefined) add(`${title}.${reference}`, $defs[reference]);
    const entries = Object.entries(node).map(([key, value]) => [key, renamed(value)]);
    return { ...Object.fromEntries(entries), ...(reference === undefined ? {} : { $ref: `#/$defs/${title}.${reference}` }) };
  };
  const { required: _, ...spec } = $defs.spec;
  const properties = Object.entries(spec.properties).map(([name, node]) => [name, renamed(defaultField(node))]);
  return { [title]: { ...spec, description, properties: Object.fromEntries(properties) }, ...defs };
}

/** Returns the node of a field as a default: maps may lack fields, a null removes a key, and a secret has no default. */
function defaultField(node) {
  if ('x-ostiary-secret' in node) {
    return {
      not: {},
      'x-ostiary-secret': node['x-ostiary-secret'],
      'x-ostiary-no-default': 'state secrets in the manifest of each object',
    };
  }
  const { required: _, ...rest } = node;
  const { properties, additionalProperties } = rest;
  if (isObject(properties))
    rest.properties = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, defaultField(one)]));
  if (isObject(additionalProperties))
    rest.additionalProperties = { ...additionalProperties, type: [additionalProperties.type, 'null'].flat() };
  return rest;
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the map with a picture of which folder imports which; what everything imports, and what follows from other arrows, is left out. */
function mapWithPicture() {
  const imports = importsBetweenFolders();
  const reached = (from, skipped, seen = new Set()) => {
    for (const next of imports.get(from) ?? []) {
      if (next === skipped || seen.has(next)) continue;
      seen.add(next);
      reached(next, undefined, seen);
    }
    return seen;
  };
  const lines = [...imports].flatMap(([from, targets]) =>
    [...targets].filter((to) => to !== 'model' && !reached(from, to).has(to)).map((to) => `  ${from} --> ${to}`),
  );
  const picture = ['```mermaid', 'graph TD', ...lines, '```'].join('\n');
  return readFileSync('src/README.md', 'utf8').replace(/```mermaid\ngraph TD\n[\s\S]*?```/, picture);
}

/** Returns the folders of `src` in order, each with the folders that its files import. */
function importsBetweenFolders() {
  const folders = readdirSync('src', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
  return new Map(
    folders.map((folder) => {
      const files = readdirSync(join('src', folder), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
      const targets = files.flatMap((file) => {
        const path = join('src', folder, file);
        const specifiers = readFileSync(path, 'utf8').matchAll(/(?:from\s+|import\(\s*)'(\.[^']+)'/g);
        return [...specifiers].map(([, specifier]) => relative('src', join(dirname(path), specifier)).split('/')[0]);
      });
      return [folder, new Set(targets.filter((target) => target !== folder && folders.includes(target)).toSorted())];
    }),
  );
}
