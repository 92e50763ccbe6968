import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { catalogSections } from '../../src/model/catalog/diagnostic-catalog.ts';
import { registry } from '../../src/kinds/index.ts';
import { watchedKinds } from '../../src/kinds/watched.ts';
import { type DialectFields, hasField } from '../../src/model/gateway.ts';
import { controlTable, decidingKindsOf } from '../../src/protection/controls/control-table.ts';
import { controlTypes } from '../../src/model/protection/protection.ts';
import { riskCodes } from '../../src/protection/risk/risk-codes.ts';
import { addToGroup } from '../../src/model/collections.ts';
import type { CoverageTable } from '../gateway-coverage.js';
import { objectAt, textAt } from './field-tables.ts';
import { pagesNeeding } from './option-pages.ts';
import coverage from './gateway-coverage.json' with { type: 'json' };
import routes from './gateway-routes.json' with { type: 'json' };

/** Returns the page of all commands: the help of the program, and of each command by its name. */
export function commandPage(general: string, commands: ReadonlyMap<string, string>): string {
  const sections = [...commands].flatMap(([name, help]) => ['', `## ostiary ${name}`, '', ...block(help)]);
  return page('Command line', 'Generated from the help of the program (`ostiary --help`, `ostiary plan --help`).', [
    '',
    ...block(general),
    ...sections,
    '',
    '## Where options are used',
    '',
    'Each option, and at most three pages that need it.',
    '',
    '| option | page |',
    '|---|---|',
    ...optionsOf([...commands.values()]).map((name) => `| \`--${name}\` | ${pagesNeeding(name, 'option')} |`),
  ]);
}

/** Returns the names of the options in help texts; the help itself needs no page. */
function optionsOf(helps: readonly string[]): readonly string[] {
  const found = helps.flatMap((help) => [...help.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map((match) => match[1] ?? ''));
  return [...new Set(found)].filter((name) => name !== 'help').toSorted();
}

function block(text: string): readonly string[] {
  return [
    '```text',
    ...text
      .trim()
      .split('\n')
      .map((line) => line.trimEnd()),
    '```',
  ];
}

const documents = ['plan', 'apply', 'drift', 'test', 'diagnostics', 'pull', 'explain', 'record'];

/** Returns the page of all JSON documents that Ostiary writes. */
export function jsonPage(): string {
  const sections = documents.flatMap((name) => {
    const path = `schemas/documents/${name}.schema.json`;
    const schema: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isObject(schema)) throw new Error(`${path} is no object`);
    const parts = Object.entries(objectAt(schema['$defs'])).flatMap(([part, node]) => sectionOf(`${name}: ${part}`, name, objectAt(node)));
    return [
      '',
      `## ${name}`,
      '',
      `${textAt(schema, 'description')} Schema: [${name}.schema.json](../../${path}).`,
      '',
      ...tableOf(name, schema),
      ...parts,
    ];
  });
  return page('JSON documents', 'Generated from the JSON Schemas of the documents. Optional fields are in italics.', sections);
}

function sectionOf(title: string, document: string, node: JsonObject): readonly string[] {
  const table = tableOf(document, node);
  const about = textAt(node, 'description');
  return ['', `### ${title}`, '', [about, table.length === 0 ? `${typeOf(document, node)}.` : ''].filter(Boolean).join(' '), '', ...table];
}

function tableOf(document: string, node: JsonObject): readonly string[] {
  const fields = Object.entries(objectAt(node['properties']));
  if (fields.length === 0) return [];
  const required = Array.isArray(node['required']) ? node['required'] : [];
  const rows = fields.map(([name, value]) => {
    const shown = required.includes(name) ? `\`${name}\`` : `*\`${name}\`*`;
    return `| ${shown} | ${typeOf(document, objectAt(value))} | ${cell(textAt(objectAt(value), 'description'))} |`;
  });
  return ['| field | value | meaning |', '|---|---|---|', ...rows];
}

/** Returns the type of a value in words; a definition is a link to its section. */
function typeOf(document: string, node: JsonObject): string {
  const [, name] = /^#\/\$defs\/(\w+)$/.exec(textAt(node, '$ref')) ?? [];
  if (name !== undefined) return `[${name}](#${document}-${name.toLowerCase()})`;
  const foreign = textAt(node, '$ref');
  if (foreign !== '') return `a document of ${foreign.replace(/^.*\//, '')}`;
  const choices = [node['anyOf'] ?? node['oneOf'] ?? []].flat();
  if (choices.length > 0) return choices.map((choice) => typeOf(document, objectAt(choice))).join(' or ');
  if ('const' in node) return `\`${JSON.stringify(node['const'])}\``;
  if (Array.isArray(node['enum']))
    return node['enum'].map((one: Json) => `\`${typeof one === 'string' ? one : JSON.stringify(one)}\``).join(', ');
  if (node['type'] === 'array') return `list of ${'items' in node ? typeOf(document, objectAt(node['items'])) : 'values'}`;
  if (node['type'] === 'object')
    return 'properties' in node ? `object with ${Object.keys(objectAt(node['properties'])).join(', ')}` : 'object';
  return [node['type'] ?? 'any value'].flat().map(String).join(' or ');
}

/** Returns the page of all risks of changes. */
export function riskPage(): string {
  const rows = Object.entries(riskCodes).map(
    ([name, { class: one, means }]) =>
      `| \`risk/${name}\` | ${controlTypes.some((type) => type === name) ? 'compared' : one} | ${cell(means)} |`,
  );
  const introduction =
    'Generated from the source. The class of controls is that of their [comparison](../explanation/protection.md#risks): weakens, unknown or strengthens.';
  return page('Risks', introduction, ['', '| code | class | meaning |', '|---|---|---|', ...rows]);
}

/** The gateways that have other fields and lists: what each is called, and how its fields are found. */
const gateways: readonly (DialectFields & { readonly called: string })[] = [
  { called: '`ostiary serve`', dialect: 'interface', borrowed: borrowedFields() },
  { called: 'public gateway', dialect: 'hoop' },
  { called: 'other gateways of the interface', dialect: 'interface' },
];

function borrowedFields(): readonly string[] {
  return [...registry].flatMap(([name, { fields }]) =>
    fields.filter((field) => field.borrowed === 'interface').map((field) => `${name}.${field.name}`),
  );
}

/** Returns the page of what is covered on which gateway, from the table of controls. */
export function coveragePage(): string {
  const rows = controlTable.map((row) => {
    const { type, column, fields } = row;
    const decidedBy = [...new Set(decidingKindsOf(row))];
    const covered = gateways.map((gateway) => {
      const declared = Object.entries(fields).flatMap(([kind, names]) => {
        const { dialect = gateway.dialect, fields: known = [] } = registry.get(kind) ?? {};
        const own = known.filter((field) => dialect === gateway.dialect && names.includes(field.name) && hasField(gateway, kind, field));
        return own.map(({ name }) => `\`${kind === 'Connection' ? '' : `${kind}.`}${name}\``);
      });
      const read = gateway.dialect === 'hoop' ? decidedBy.filter((kind) => watchedKinds.has(kind)) : [];
      return [declared.join(', '), read.length === 0 ? '' : `read: ${read.join(', ')}`].filter((text) => text !== '').join('; ');
    });
    return `| \`${type}\` | ${column.heading} | ${covered.map((text) => text || '–').join(' | ')} |`;
  });
  const introduction =
    'Generated from the table of controls that decides [protection](../explanation/protection.md). Fields are those of manifests (of connections, if no kind is named): plan compares them, and apply writes them. What is **read** belongs to objects that manifests cannot declare: plan compares it, and nothing writes it. A list that the token cannot read is named once, and reports say *at least*.';
  const heading = `| control | what | ${gateways.map(({ called }) => called).join(' | ')} |`;
  const controls = ['', '## Controls', '', heading, `|---|---|${'---|'.repeat(gateways.length)}`, ...rows];
  return page('What is covered', introduction, [...controls, ...routeSection()]);
}

/** Returns the part of the page about the routes of the public gateway, and about fields that no manifest has. */
function routeSection(): readonly string[] {
  const { rows, fields }: CoverageTable = coverage;
  const known = new Map(fields.map((entry) => [`${entry.kind} ${Object.entries(entry.ignored).join('; ')}`, entry]));
  const ignored = [...known.values()].flatMap(({ kind, of, ignored: left }) =>
    Object.entries(left).map(([field, why = '']) => `| \`${kind}\` | \`${field}\` | \`${of}\` | ${why} |`),
  );
  return [
    '',
    '## Routes of the public gateway',
    '',
    `All ${routes.routes.length} routes of the OpenAPI document of version ${routes.version}. **Managed** is what manifests declare; **watched** is read, recorded and drift; **used** is asked, and decides nothing that drift compares; everything else is ignored, for a reason. \`npm run nightly -- gateway DOCUMENT\` lists what another version has besides, also new fields.`,
    '',
    '| | what | routes |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row.is} | ${row.why ?? cell(row.as ?? '')} | ${routesText(row.routes)} |`),
    '',
    '## Fields that are not compared',
    '',
    '| kind | field | of | why |',
    '|---|---|---|---|',
    ...ignored,
  ];
}

/** Returns routes with the methods of each path together: `GET POST /connections`. */
function routesText(names: readonly string[]): string {
  const byPath = new Map<string, string[]>();
  for (const name of names) {
    const [method = '', path = ''] = name.split(' ');
    addToGroup(byPath, path, method);
  }
  return [...byPath].map(([path, methods]) => `\`${methods.join(' ')} ${path}\``).join(', ');
}

/** Returns the page of all codes: one heading for each, which links lead to. */
export function diagnosticPage(): string {
  const sections = catalogSections.flatMap(({ title, about = '', codes }) => [
    '',
    `## ${title}`,
    '',
    about,
    ...Object.entries(codes).flatMap(([code, { level = 'error', meaning, cause, fix, example }]) => [
      '',
      `### \`${code}\``,
      '',
      `${meaning}.`,
      '',
      `- Level: ${level}`,
      `- Cause: ${cause}`,
      `- Fix: ${fix}`,
      `- Example: ${example.includes('`') ? `\`\` ${example} \`\`` : `\`${example}\``}`,
    ]),
  ]);
  const introduction =
    'Generated from the source. Every message has a code, `area/reason`. Codes are stable; the words may change. An **error** stops the run (exit 3 for input), a **refusal** too (exit 6, see [Exit codes](exit-codes.md)); a **warning** and a **notice** do not, and `--quiet` hides them. Each is printed once, and the last line counts them. `ostiary validate --format json` prints them as JSON; with `--format json`, every command that fails prints its errors as [`failures`](json.md#diagnostics).';
  return page('Diagnostics', introduction, sections);
}

/** Returns the page of the inputs and outputs of the action. */
export function actionPage(): string {
  const action: unknown = parse(readFileSync('action.yml', 'utf8'));
  const part = (name: string): readonly (readonly [string, JsonObject])[] =>
    Object.entries(objectAt(isObject(action) ? action[name] : undefined)).map(([key, value]) => [key, objectAt(value)]);
  const inputs = part('inputs').map(
    ([name, input]) =>
      `| \`${name}\` | ${textAt(input, 'default') === '' ? '' : `\`${textAt(input, 'default')}\``} | ${cell(textAt(input, 'description'))} | ${pagesNeeding(name, 'input')} |`,
  );
  const outputs = part('outputs').map(([name, output]) => `| \`${name}\` | ${cell(textAt(output, 'description'))} |`);
  const introduction =
    'Generated from [action.yml](../../action.yml). Set up: [GitHub](../how-to/github.md). An input takes several values on separate lines. A switch takes `true` or `false`. An unknown input, or one without meaning for the mode, fails the step.';
  return page('GitHub Action', introduction, [
    '',
    '## Inputs',
    '',
    '| input | default | meaning | used in |',
    '|---|---|---|---|',
    ...inputs,
    '',
    '## Outputs',
    '',
    '| output | meaning |',
    '|---|---|',
    ...outputs,
    '',
    '## Environment',
    '',
    'GitHub sets what the action reads: `GITHUB_ACTIONS`, `GITHUB_REPOSITORY`, `GITHUB_SERVER_URL`, `GITHUB_API_URL`, `GITHUB_GRAPHQL_URL`, `GITHUB_EVENT_NAME`, `GITHUB_EVENT_PATH`, `GITHUB_SHA`, `GITHUB_REF`, `GITHUB_RUN_ID`, `GITHUB_WORKFLOW_REF`, `GITHUB_WORKSPACE` and `RUNNER_TEMP`. It writes to `GITHUB_OUTPUT` and `GITHUB_STEP_SUMMARY`, and passes the token of the job to git in `GIT_CONFIG_COUNT`.',
    '',
    'On GitLab, `ostiary ci` reads `GITLAB_CI`, `CI_API_V4_URL`, `CI_API_GRAPHQL_URL`, `CI_COMMIT_BRANCH`, `CI_COMMIT_REF_PROTECTED`, `CI_COMMIT_SHA`, `CI_DEFAULT_BRANCH`, `CI_JOB_URL`, `CI_MERGE_REQUEST_*`, `CI_PIPELINE_SOURCE`, `CI_PROJECT_DIR`, `CI_PROJECT_ID`, `CI_PROJECT_URL`, `CI_SERVER_TLS_CA_FILE`, `GITLAB_USER_LOGIN` and `TRIGGER_PAYLOAD`.',
  ]);
}

function page(title: string, introduction: string, lines: readonly string[]): string {
  const update = '`npm run generate` writes this page.';
  const text = [`# ${title}`, '', `${introduction} ${update}`, ...lines].join('\n');
  return `${text.replaceAll(/\n{3,}/g, '\n\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
