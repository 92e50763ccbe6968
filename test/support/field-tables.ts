import { readdirSync, readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';

/** Returns the page of all fields, generated from the schemas. */
export function fieldTables(): string {
  const kinds = readdirSync('schemas')
    .filter((name) => name.endsWith('.schema.json'))
    .toSorted();
  const parts = [...kinds, 'documents/config.schema.json'].map((name) => tablesOf(`schemas/${name}`));
  const head = [
    '# Fields',
    '',
    'Generated from the [schemas](../../schemas/). Meaning of the words: [Manifests](manifests.md). `npm run generate` writes this page.',
  ];
  return `${[...head, ...parts.flatMap((part) => ['', ...part])].join('\n')}\n`;
}

/** Returns a value if it is an object, else an empty one. */
export function objectAt(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns a text of a schema, or an empty one. */
export function textAt(node: JsonObject, key: string): string {
  const value = node[key];
  return typeof value === 'string' ? value : '';
}

function tablesOf(path: string): readonly string[] {
  const schema: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isObject(schema)) throw new Error(`${path} is no object`);
  const definitions = objectAt(schema['$defs']);
  const named = { metadata: 'metadata', spec: 'spec', test: 'tests[]' };
  const tables = Object.entries(named).flatMap(([name, title]) =>
    name in definitions ? [[title, objectAt(definitions[name])] as const] : [],
  );
  const shown =
    tables.length > 0
      ? tables
      : ([['', { ...schema, properties: without(objectAt(schema['properties']), ['apiVersion', 'kind']) }]] as const);
  return [
    `## ${textAt(schema, 'title')}`,
    '',
    `${textAt(schema, 'description')} Schema: [${path.replace('schemas/', '')}](../../${path}).`,
    ...shown.flatMap(([name, node]) => [
      '',
      `| ${name === '' ? 'field' : `\`${name}\``} | value | omitted | about |`,
      '|---|---|---|---|',
      ...rowsOf(schema, node, ''),
      ...readOnlyLine(node),
    ]),
  ];
}

function without(map: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
}

function resolved(schema: JsonObject, node: JsonObject): JsonObject {
  const [, name] = /^#\/\$defs\/(\w+)$/.exec(textAt(node, '$ref')) ?? [];
  return name === undefined ? node : { ...objectAt(objectAt(schema['$defs'])[name]), ...node };
}

/** Returns a row for each field and its nested fields; the forms of a secret have their own page. */
function rowsOf(schema: JsonObject, owner: JsonObject, prefix: string): readonly string[] {
  const required = Array.isArray(owner['required']) ? owner['required'] : [];
  return Object.entries(objectAt(owner['properties'])).flatMap(([name, value]) => {
    const node = resolved(schema, objectAt(value));
    if ('not' in node) return [];
    const path = `${prefix}${name}`;
    const about = textAt(node, 'description').replaceAll('|', '\\|');
    const row = `| \`${path}\` | ${valueOf(schema, node)} | ${omittedOf(node, required.includes(name))} | ${about} |`;
    if (node['x-ostiary-secret'] !== undefined && textAt(node, 'x-ostiary-hint') === '') return [row];
    const entries = resolved(schema, objectAt(node['items']));
    const map = resolved(schema, objectAt(node['additionalProperties']));
    return [row, ...rowsOf(schema, node, `${path}.`), ...rowsOf(schema, entries, `${path}[].`), ...rowsOf(schema, map, `${path}.NAME.`)];
  });
}

function valueOf(schema: JsonObject, node: JsonObject): string {
  const types = [node['type']].flat().filter((type) => type !== 'null');
  const entries = resolved(schema, objectAt(node['items']));
  const key = textAt(node, 'x-ostiary-key');
  const refers = textAt(objectAt(node['x-ostiary-ref']), 'kind');
  const { enum: choices, minimum, maximum } = node;
  const known = node['x-ostiary-known'];
  const words = Array.isArray(choices)
    ? choices.map((choice: Json) => `\`${typeof choice === 'string' ? choice : JSON.stringify(choice)}\``).join(', ')
    : '';
  const notes = [
    refers === '' ? '' : `${refers}, name or id`,
    typeof minimum === 'number' ? `from ${minimum}${typeof maximum === 'number' ? ` to ${maximum}` : ''}` : '',
    typeof node['maxLength'] === 'number' ? `at most ${node['maxLength']} characters` : '',
    textAt(node, 'x-ostiary-pattern-hint') || textAt(entries, 'x-ostiary-pattern-hint'),
    Array.isArray(known) && known.length < 12 ? `known: ${known.join(', ')}` : '',
    node['deprecated'] === true ? 'deprecated' : '',
  ];
  const list = key !== '' ? `list, keyed by \`${key}\`` : node['x-ostiary-set'] === true ? 'set of texts' : 'list';
  const names: Readonly<Record<string, string>> = {
    string: 'text',
    array: list,
    object: 'map',
    integer: 'whole number',
    number: 'number',
    boolean: 'true or false',
  };
  const [type] = types;
  const plain = typeof type === 'string' ? (names[type] ?? 'text') : 'text';
  const name =
    node['x-ostiary-secret'] === undefined || textAt(node, 'x-ostiary-hint') !== ''
      ? plain
      : type === 'object'
        ? 'map of [secrets](manifests.md#secrets)'
        : '[secret](manifests.md#secrets)';
  return [words || name, ...notes.filter((note) => note !== '')].join('; ').replaceAll('|', '\\|');
}

function omittedOf(node: JsonObject, required: boolean): string {
  if (required) return '**required**';
  if (node['x-ostiary-omitted'] === 'kept') return 'kept';
  if (node['x-ostiary-omitted'] === 'derived') return 'derived';
  return 'default' in node ? `\`${JSON.stringify(node['default'])}\`` : '';
}

function readOnlyLine(owner: JsonObject): readonly string[] {
  const all = Object.entries(objectAt(owner['properties'])).filter(([, node]) => 'not' in objectAt(node));
  return all.length === 0
    ? []
    : [
        '',
        `Never in a manifest: ${all.map(([name, node]) => `\`${name}\` (${textAt(objectAt(node), 'x-ostiary-read-only')})`).join(', ')}.`,
      ];
}
