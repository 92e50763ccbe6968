// A plugin of the bundler and of the tests: in place of the modules that only declare validators, it puts the code that ajv compiles
// from the schemas. So they are never out of date, and no run compiles a schema.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { shortened } from './shortened-validators.js';

const folder = join(import.meta.dirname, '../schemas');

/** Documents that are read from a repository and are not manifests of a kind, by the name of their validator. */
const documents = {
  accessTest: 'access-test',
  config: 'config',
  defaults: 'defaults',
  policy: 'policy',
  record: 'record',
};

/** The modules, by the end of their path. */
const modules = {
  '/src/manifest/validate/validators.ts': manifestValidators,
  '/src/reconcile/saved-plan/validators.ts': planValidator,
};

/** Returns the plugin. */
export function compiledSchemas() {
  return {
    name: 'compiled-schemas',
    load(id) {
      const compile = compilerOf(id);
      return compile === undefined ? null : { code: compile(), moduleType: 'js' };
    },
    // The tests keep modules by the content of their file, which here only declares.
    configureVitest({ experimental_defineCacheKeyGenerator: addToKey }) {
      addToKey(({ id }) => (compilerOf(id) === undefined ? undefined : digestOfSources()));
    },
  };
}

function compilerOf(id) {
  return Object.entries(modules).find(([path]) => id.replaceAll('\\', '/').endsWith(path))?.[1];
}

/** Returns a digest of everything that the code of the validators follows from, but for packages. */
function digestOfSources() {
  const files = [import.meta.filename, join(import.meta.dirname, 'shortened-validators.js'), ...filesIn('.'), ...filesIn('documents')];
  return createHash('sha256')
    .update(files.map((file) => readFileSync(file, 'utf8')).join('\n'))
    .digest('hex');
}

/** Returns the paths of the schemas in a folder below that of all schemas, in the order of their names. */
function filesIn(part) {
  return readdirSync(join(folder, part))
    .filter((name) => name.endsWith('.schema.json'))
    .toSorted()
    .map((name) => join(folder, part, name));
}

/** Returns one module for everything that people write, with the validators of manifests by kind; each finds every error. */
function manifestValidators() {
  const kinds = filesIn('.').map(read);
  const others = Object.entries(documents).map(([name, file]) => [name, documentSchema(file)]);
  const titles = kinds.map(({ title }) => title);
  const code = compiled(new Map([...kinds.map((schema) => [schema.title, schema]), ...others]), {
    allErrors: true,
    reported: ['instancePath', 'keyword', 'params'],
  });
  return `${code}\nexport const manifests = { ${titles.join(', ')} };\n`;
}

/** Returns the module that validates saved plans; it stops at the first error. */
function planValidator() {
  return compiled(new Map([['plan', documentSchema('plan')]]), { allErrors: false, reported: ['instancePath', 'keyword'] });
}

/** Returns a module that exports the validators of schemas by their names. */
function compiled(byName, { allErrors, reported }) {
  const ajv = new Ajv({
    allErrors,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    inlineRefs: false,
    messages: false,
    // A test compares them with their own meta-schema.
    validateSchema: false,
    meta: false,
    code: { source: true, esm: true },
  });
  const found = [...byName.values()].map((schema) => withoutNotes(schema));
  for (const schema of withSharedFields(found)) ajv.addSchema(schema);
  return shortened(standalone.default(ajv, Object.fromEntries([...byName].map(([name, { $id }]) => [name, $id]))), reported);
}

function documentSchema(file) {
  return read(join(folder, 'documents', `${file}.schema.json`));
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Returns the schemas with each field that several of them describe alike in one more schema, so that one function validates it everywhere. */
function withSharedFields(schemas) {
  const counts = new Map();
  const count = (node) => eachField(node, (field) => counts.set(JSON.stringify(field), (counts.get(JSON.stringify(field)) ?? 0) + 1));
  for (const schema of schemas) count(schema);
  const shared = new Map();
  const replaced = (node) => {
    if (Array.isArray(node)) return node.map(replaced);
    if (!isObject(node)) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        key === 'properties' && isObject(value) ? mapValues(value, referenceTo) : replaced(value),
      ]),
    );
  };
  const referenceTo = (field) => {
    const text = JSON.stringify(field);
    // A reference of its own is relative to its schema; a short field takes less than a call.
    if ((counts.get(text) ?? 0) < 2 || text.length < 40 || text.includes('"$ref"')) return replaced(field);
    if (!shared.has(text)) shared.set(text, `field${shared.size}`);
    return { $ref: `fields.schema.json#/$defs/${shared.get(text)}` };
  };
  const all = schemas.map(replaced);
  return [{ $id: 'fields.schema.json', $defs: Object.fromEntries([...shared].map(([text, name]) => [name, JSON.parse(text)])) }, ...all];
}

/** Calls back with each value of `properties` in a schema. */
function eachField(node, visit) {
  if (Array.isArray(node)) for (const one of node) eachField(one, visit);
  if (!isObject(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && isObject(value)) for (const field of Object.values(value)) visit(field);
    eachField(value, visit);
  }
}

function mapValues(map, convert) {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convert(value)]));
}

/**
 * Returns the schema without what only people and editors read, without read-only fields (unknown fields to the validator)
 * and without the forms of secrets (`isSecret` checks them).
 */
function withoutNotes(node, isMap = false) {
  if (Array.isArray(node.anyOf) && node.anyOf.some((form) => form.$ref === '#/$defs/secretValue')) return {};
  const kept = Object.entries(node).filter(([key, value]) => {
    if (isMap) return !isObject(value) || !('not' in value);
    return !key.startsWith('x-ostiary-') && !['title', 'description', 'default', 'examples', 'deprecated'].includes(key);
  });
  return Object.fromEntries(
    kept.map(([key, value]) => [key, valueWithoutNotes(value, !isMap && (key === 'properties' || key === '$defs'))]),
  );
}

function valueWithoutNotes(value, isMap) {
  if (Array.isArray(value)) return value.map((entry) => valueWithoutNotes(entry, false));
  return isObject(value) ? withoutNotes(value, isMap) : value;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
