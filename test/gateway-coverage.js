// Compares the OpenAPI document of the public gateway with the table of what Ostiary manages, watches, uses and ignores of it:
// npm run nightly -- gateway DOCUMENT, a file or the address under which a gateway serves it. What is new, and a row of the table
// that no longer exists, are listed, and exit with 1.
// node test/gateway-coverage.js DOCUMENT --write writes the list of routes and fields that the tests compare with the table; npm run format formats it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readArguments } from '../build/read-arguments.js';

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];
const support = join(import.meta.dirname, 'support');

/** The table, and the list of the routes and fields of the version that it describes. */
const coverageFiles = { table: join(support, 'gateway-coverage.json'), list: join(support, 'gateway-routes.json') };

/** Returns the routes of an OpenAPI document, and the fields of those whose fields the table describes. */
function listDocument(document, table) {
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    methods.filter((method) => operations[method] !== undefined).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const described = table.fields.map(({ of }) => of).filter((route) => routes.includes(route));
  return {
    version: document.info.version,
    routes: routes.toSorted(),
    fields: Object.fromEntries(described.map((route) => [route, fieldsOfRoute(document, route)])),
  };
}

/** Returns the fields that a write sends, or that a read shows. */
function fieldsOfRoute(document, route) {
  const [method, path] = route.split(' ');
  const operation = document.paths[path][method.toLowerCase()];
  const content = method === 'GET' ? operation.responses?.['200']?.content : operation.requestBody?.content;
  const [{ schema } = {}] = Object.values(content ?? {});
  const fields = schema === undefined ? [] : fieldsIn(schema, document);
  return [...new Set(fields.map((field) => field.replace(/^\[\]\.?/, '')))].toSorted((left, right) => (left < right ? -1 : 1));
}

/** Lists the paths of the fields of a schema: `a.b`, and `a[].b` in a list. */
function fieldsIn(schema, document, path = '', depth = 0) {
  const { $ref: ref, allOf, anyOf, oneOf, items, properties } = schema;
  if (depth > 8) return [];
  if (ref !== undefined) {
    const target = ref
      .replace(/^#\//, '')
      .split('/')
      .reduce((part, key) => part?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
    return target === undefined ? [path] : fieldsIn(target, document, path, depth + 1);
  }
  const parts = [...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? [])];
  const found = [
    ...parts.flatMap((part) => fieldsIn(part, document, path, depth + 1)),
    ...(items === undefined ? [] : fieldsIn(items, document, `${path}[]`, depth + 1)),
    ...Object.entries(properties ?? {}).flatMap(([name, part]) =>
      fieldsIn(part, document, path === '' ? name : `${path}.${name}`, depth + 1),
    ),
  ];
  return found.length === 0 ? [path] : found;
}

/** Returns the fields of a kind as the gateway calls them, by its schema and the names that differ. */
function ownFields(schemas, { kind, names = {} }) {
  const schema = schemas.get(kind);
  if (schema === undefined) return undefined;
  return fieldsIn({ $ref: '#/$defs/spec' }, schema)
    .map((path) => {
      const [name] = path.split(/[.[]/);
      return names[name] === undefined ? path : `${names[name]}${path.slice(name.length)}`;
    })
    .concat('name', Object.values(names));
}

/** Reads the schemas of all kinds, also of those that are only watched. */
function readSchemas() {
  const folders = ['schemas', 'schemas/watched'];
  const files = folders.flatMap((folder) => readdirSync(folder, { withFileTypes: true }).map((file) => ({ folder, file })));
  return new Map(
    files
      .filter(({ file }) => file.name.endsWith('.schema.json'))
      .map(({ folder, file }) => JSON.parse(readFileSync(`${folder}/${file.name}`, 'utf8')))
      .map((schema) => [schema.title, schema]),
  );
}

function isWithin(path, other) {
  return path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`);
}

/** Lists where a list of routes and fields, and the table, differ: what is new, and what no longer exists. */
export function findGaps(list, table) {
  const schemas = readSchemas();
  const rows = table.rows.flatMap((row) => row.routes.map((route) => ({ ...row, route })));
  const known = new Set(rows.map(({ route }) => route));
  const has = new Set(list.routes);
  const twice = rows.filter(({ route }, index) => rows.findIndex((row) => row.route === route) !== index);
  return [
    ...list.routes.filter((route) => !known.has(route)).map((route) => `${route} is new: neither managed, watched, used nor ignored`),
    ...[...known].filter((route) => !has.has(route)).map((route) => `${route} is in the table, and no longer exists`),
    ...twice.map(({ route }) => `${route} is in the table twice`),
    ...table.fields.flatMap((entry) => fieldGaps(list.fields[entry.of] ?? [], entry, schemas)),
  ];
}

function fieldGaps(fields, entry, schemas) {
  const { of, kind, ignored } = entry;
  const own = ownFields(schemas, entry);
  if (own === undefined) return [`${of} is of a kind ${kind} that does not exist`];
  const plain = fields.map((field) => field.replace(/\[\]$/, ''));
  const bare = own.map((one) => one.replace(/\[\]$/, ''));
  // Only a field without known parts stands for whatever is in it.
  const leaves = bare.filter((one) => !bare.some((other) => other !== one && isWithin(other, one)));
  const isKnown = (field) => bare.some((one) => isWithin(one, field)) || leaves.some((one) => isWithin(field, one));
  const isIgnored = (field) => Object.keys(ignored).some((one) => isWithin(field, one));
  return [
    ...plain.filter((field) => !isKnown(field) && !isIgnored(field)).map((field) => `${of} has a new field ${field}: ${kind} has none`),
    ...Object.keys(ignored)
      .filter((one) => !plain.some((field) => isWithin(field, one)))
      .map((one) => `${of} has no field ${one} any more, which the table ignores`),
    ...Object.values(entry.names ?? {})
      .filter((one) => !plain.some((field) => isWithin(field, one)))
      .map((one) => `${of} has no field ${one} any more, which ${kind} reads`),
  ];
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

async function readDocument(path) {
  if (!/^https?:/.test(path)) return read(path);
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
  return response.json();
}

/** Compares a document with the table; returns the exit code. */
async function compareDocument(path, { write = false } = {}) {
  const table = read(coverageFiles.table);
  const list = listDocument(await readDocument(path), table);
  if (write) writeFileSync(coverageFiles.list, `${JSON.stringify(list, null, 2)}\n`);
  const gaps = findGaps(list, table);
  const routes = `${list.routes.length} routes of version ${list.version}`;
  for (const gap of gaps) process.stdout.write(`${gap}\n`);
  const rest = gaps.length === 0 ? 'all are in the table' : `${gaps.length} differ from test/support/gateway-coverage.json`;
  process.stdout.write(`${routes}: ${rest}\n`);
  return gaps.length === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const {
    values,
    positionals: [path],
  } = readArguments(
    { write: false },
    {
      words: 1,
      usage: 'run node test/gateway-coverage.js DOCUMENT [--write]; a file, or https://GATEWAY/api/openapiv3.json',
      problemOf: (_, words) => (words.length === 0 ? 'no document is given' : undefined),
    },
  );
  process.exitCode = await compareDocument(path, values);
}
