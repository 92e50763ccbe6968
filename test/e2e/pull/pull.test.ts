import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runInFolder } from '../../support/run-in-process.ts';
import { createKey } from '../../server/client.ts';
import { owned, stateOf } from '../../support/terraform-state.ts';
import { fillGateway } from '../fill-gateway.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, filesBelow, guardrail, manifest, useProjects, writeFiles } from '../project.ts';

const gateway = useGateway();
const makeProject = useProjects();

beforeAll(() => fillGateway(gateway.call));

/** Runs a command line in this process. */
function run(cwd: string, line: string, more: Readonly<Record<string, string>> = {}): ReturnType<typeof runInFolder> {
  return runInFolder(cwd, line.split(' '), { ...gateway.env(), ...more });
}

const pulledFiles = [
  'access/connections/Orders-DB-ffdc7dbb.yaml',
  'access/connections/orders-db.yaml',
  'access/data-masking-rules/x-e45d7b2d.yaml',
  'access/guardrail-rules/no-drop.yaml',
  'access/runbook-configurations/ops-books.yaml',
];

test('pulls a gateway into an empty folder; a plan there finds no changes', async () => {
  const cwd = makeProject({});
  const pulled = await gateway.run(`pull project --url ${gateway.url()}`, cwd);
  expect([pulled.code, pulled.stderr]).toEqual([0, '']);
  expect(pulled.stdout).toContain('Connection/owned  managed by platform');
  expect(pulled.stdout).toContain('Pulled 5 objects from production. 3 secrets kept.');
  expect(pulled.stdout).toMatch(/\nNext, in project:\n {2}git add .*\n {2}ostiary plan .*\n {2}ostiary apply .*\n$/);
  const project = join(cwd, 'project');
  expect(filesBelow(project).filter((path) => path.startsWith('access/'))).toEqual(pulledFiles);
  const planned = await gateway.run('plan --detailed-exitcode', project);
  expect([planned.code, planned.stdout, planned.stderr]).toEqual([
    0,
    expect.stringContaining('No changes. The gateway matches the manifests: 5 resources'),
    '',
  ]);
  expect(readFileSync(join(project, 'access/connections/orders-db.yaml'), 'utf8'))
    .toBe(`# yaml-language-server: $schema=../../schemas/connection.schema.json
apiVersion: ostiary/v1
kind: Connection
metadata:
  name: orders-db
spec:
  type: database
  agent_id: default
  access_mode_connect: enabled
  access_mode_exec: enabled
  access_mode_runbooks: disabled
  access_schema: enabled
  command: []
  guardrail_rules: [no-drop]
  resource_name: orders
  reviewers: [dba]
  secret:
    envvar:PASS: { keep: true }
    envvar:TOKEN: { keep: true }
  min_review_approvals: null
`);
  // Only the rule can declare its edge to the managed connection.
  expect(readFileSync(join(project, 'access/guardrail-rules/no-drop.yaml'), 'utf8')).toContain('connection_ids: [owned]');
  for (const path of filesBelow(project)) expect(readFileSync(join(project, path), 'utf8')).not.toMatch(/canary|Y2FuYXJ5/);
  const again = await run(cwd, `pull project --url ${gateway.url()} --format json`);
  expect([again.code, JSON.parse(again.stdout)]).toEqual([
    0,
    expect.objectContaining({ written: [], unchanged: 5, differing: [], files: [] }),
  ]);
});

test('--secrets stubs writes variables, keeps references and extends secrets.env.example', async () => {
  const cwd = makeProject({ 'secrets.env.example': 'MINE=\nOSTIARY_SECRET_ORDERS_DB_PASS=\n' });
  const pulled = await run(cwd, `pull --url ${gateway.url()} --secrets stubs`);
  expect([pulled.code, pulled.stdout]).toEqual([0, expect.stringContaining('2 variables to fill in')]);
  const text = readFileSync(join(cwd, 'access/connections/orders-db.yaml'), 'utf8');
  expect(text).toContain('envvar:PASS: { valueFrom: { env: OSTIARY_SECRET_ORDERS_DB_PASS } }\n');
  expect(text).toContain('envvar:TOKEN: "_cloudsecrets:orders:token"\n');
  expect(readFileSync(join(cwd, 'secrets.env.example'), 'utf8')).toBe(
    'MINE=\nOSTIARY_SECRET_ORDERS_DB_PASS=\n\n# RunbookConfiguration/ops-books\nOSTIARY_SECRET_OPS_BOOKS_GIT_PASSWORD=\n',
  );
  const values = { OSTIARY_SECRET_ORDERS_DB_PASS: 'canary-value', OSTIARY_SECRET_OPS_BOOKS_GIT_PASSWORD: 'canary-word' };
  expect((await run(cwd, 'plan --detailed-exitcode', values)).code).toBe(0);
  expect((await run(cwd, 'plan --detailed-exitcode', { ...values, OSTIARY_SECRET_ORDERS_DB_PASS: 'other' })).code).toBe(2);
});

test('--secrets omit writes no secrets; an auditor cannot read them', async () => {
  const cwd = makeProject({});
  const auditor = { OSTIARY_TOKEN: await createKey(gateway.call, 'auditor', ['auditor']) };
  for (const [name, flag, env] of [
    ['omitted', 'omit', {}],
    ['kept', 'keep', auditor],
    ['named', 'stubs', auditor],
  ] as const) {
    expect((await run(cwd, `pull ${name} --url ${gateway.url()} --secrets ${flag}`, env)).code).toBe(0);
    expect((await run(join(cwd, name), 'plan --detailed-exitcode', env)).code).toBe(0);
    const text = readFileSync(join(cwd, name, 'access/connections/orders-db.yaml'), 'utf8');
    expect(text.includes('secret:')).toBe(flag !== 'omit');
  }
});

test('adds missing manifests to an existing project and edits the others in place', async () => {
  const rule = `# The rule of the house.
apiVersion: ostiary/v1
kind: GuardrailRule
metadata: { name: no-drop }
spec:
  input:
    rules:
      # not by hand
      - type: deny_words_list
        words: [TRUNCATE]
`;
  const books = manifest('RunbookConfiguration', 'books', {
    git_url: 'https://git.example.com/ops/books.git',
    git_password: { keep: true },
  });
  const cwd = makeProject({
    'ostiary.yaml': config({ production: gateway.url(), staging: 'http://127.0.0.1:9' }),
    'access/all.yaml': `${rule}---\n${connection('gone-db')}---\n${books}`,
    'access/connections/Orders-DB.yaml': '# ours\n',
  });
  const { code, stdout, stderr } = await run(cwd, 'pull --target production --format json');
  const report = JSON.parse(stdout);
  expect([code, stderr, report.updated, report.edited, report.unchanged]).toEqual([
    0,
    '',
    [{ id: 'GuardrailRule/no-drop', file: 'access/all.yaml' }],
    ['access/all.yaml'],
    1,
  ]);
  expect([report.differing, report.gone]).toEqual([[], [{ id: 'Connection/gone-db', at: expect.anything(), fields: [] }]]);
  expect(readFileSync(join(cwd, 'access/all.yaml'), 'utf8')).toBe(
    `${rule.replace('TRUNCATE', 'DROP')}---\n${connection('gone-db')}---\n${books}`,
  );
  expect(readFileSync(join(cwd, 'access/connections/Orders-DB.yaml'), 'utf8')).toBe('# ours\n');
  // The folder is read for both targets, and the other one has none of these.
  const file = report.written.find(({ id }: { id: string }) => id === 'Connection/orders-db')?.file;
  expect(file).toMatch(/^access\/connections\/orders-db-[0-9a-f]{8}\.yaml$/);
  expect(readFileSync(join(cwd, file), 'utf8')).toContain('targets: [production]');
  const planned = await run(cwd, 'plan --target production --format json');
  expect(JSON.parse(planned.stdout).plans[0].changes.map(({ id }: { id: string }) => id)).toEqual(['Connection/gone-db']);
});

test('edits a selector that would match a new manifest although the live rule does not', async () => {
  const selector = { connection_selector: { match_tags: { env: 'live' }, allow_empty: true } };
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/rule.yaml': guardrail('no-drop', ['x'], selector) });
  const { code, stdout } = await run(cwd, 'pull');
  expect([code, stdout]).toEqual([0, expect.not.stringContaining('Not as on the gateway')]);
  expect(readFileSync(join(cwd, 'access/rule.yaml'), 'utf8')).toContain('Orders-DB');
  expect(await run(cwd, 'plan --detailed-exitcode')).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
  expect((await run(cwd, 'pull')).stdout).toContain('Pulled 0 objects from production. 5 manifests unchanged.');
});

test('--only pulls one object', async () => {
  const cwd = makeProject({});
  const { code } = await run(cwd, `pull --url ${gateway.url()} --only GuardrailRule/no-drop`);
  expect([code, filesBelow(join(cwd, 'access'))]).toEqual([0, ['guardrail-rules/no-drop.yaml']]);
  expect(readFileSync(join(cwd, 'access/guardrail-rules/no-drop.yaml'), 'utf8')).toContain('connection_ids: [orders-db, owned]');
  expect((await run(cwd, 'plan --detailed-exitcode')).code).toBe(0);
  const unknown = await run(cwd, 'pull --only GuardrailRule/no-dorp');
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('did you mean "GuardrailRule/no-drop"?')]);
});

test('never follows a link out of the folder and leaves no partial files', async () => {
  const cwd = makeProject({ 'outside/keep': '' });
  mkdirSync(join(cwd, 'project', 'access'), { recursive: true });
  symlinkSync(join(cwd, 'outside'), join(cwd, 'project', 'access', 'connections'));
  const { code, stderr } = await run(cwd, `pull project --url ${gateway.url()}`);
  expect([code, stderr]).toEqual([3, expect.stringMatching(/symlink-escape|is a link that leads out/)]);
  expect([readdirSync(join(cwd, 'outside')), existsSync(join(cwd, 'project', 'ostiary.yaml'))]).toEqual([['keep'], false]);
  const linked = makeProject({ 'outside/keep': '' });
  mkdirSync(join(linked, 'access', 'connections'), { recursive: true });
  symlinkSync(join(linked, 'outside', 'new.yaml'), join(linked, 'access', 'connections', 'orders-db.yaml'));
  const beside = await run(linked, `pull --url ${gateway.url()}`);
  expect([beside.code, readdirSync(join(linked, 'outside'))]).toEqual([3, ['keep']]);
});

test('reports impossible options before it reads the gateway', async () => {
  const cwd = makeProject({ file: '', 'other/x.yaml': 'a: 1\n', 'broken/access/a.yaml': 'kind: Connection\nspec: {}\n' });
  writeFileSync(join(cwd, 'broken/access/b.yaml'), connection('b', { reviewer: [] }));
  writeFiles(join(cwd, 'begun'), { 'ostiary.yaml': config('http://127.0.0.1:9'), 'access/.keep': '', '.git/HEAD': '' });
  const unreachable = 'http://127.0.0.1:9';
  for (const [line, expected] of [
    ['pull', 'no gateway is configured'],
    [`pull file --url ${unreachable}`, 'is not a folder'],
    [`pull file/below --url ${unreachable}`, 'a part of its path is not a folder'],
    [`pull broken --url ${unreachable}`, 'manifest/unknown-field'],
    ['pull begun/elsewhere', 'does not read manifests from this folder'],
    [`pull new --url ${unreachable} --target a/b`, 'invalid target name "a/b"'],
    [`pull new --url ${unreachable} --secrets all`, 'invalid value "all" for --secrets'],
    ['pull new --url http://user:pass@127.0.0.1', 'invalid gateway URL'],
  ] as const) {
    const { code, stderr } = await run(cwd, line);
    expect([line, code, stderr]).toEqual([line, 3, expect.stringContaining(expected)]);
  }
  const away = await run(cwd, `pull new --url ${unreachable}`);
  expect([away.code, existsSync(join(cwd, 'new'))]).toEqual([4, false]);
  const wrong = await run(cwd, `pull new --url ${gateway.url()}`, { OSTIARY_TOKEN: 'wrong' });
  expect([wrong.code, existsSync(join(cwd, 'new'))]).toEqual([4, false]);
});

test('creates the manifest folder of the config even without objects', async () => {
  const cwd = makeProject({ state: stateOf([owned('hoop_connection', 'gone', { name: 'gone' })]) });
  const { code, stdout } = await run(cwd, `pull --url ${gateway.url()} --from-state state`);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Pulled 0 objects from ')]);
  expect(await run(cwd, 'plan')).toMatchObject({ code: 3, stderr: expect.stringContaining('manifest/none') });
});

test('--from-state pulls the objects of a Terraform state and writes removed blocks', async () => {
  const { list } = await gateway.call('GET', '/datamasking-rules');
  const state = stateOf([
    owned('hoop_connection', 'orders', { name: 'orders-db' }, { module: 'module.teams["a.b]"].module.x[0]' }),
    owned('hoop_connection', 'gone', { name: 'gone-db', id: '00000000-0000-4000-8000-000000000000' }),
    owned('hoop_connection', 'many', [{ name: 'Orders-DB' }, { name: 'owned' }]),
    owned('hoop_datamasking_rules', 'x', { id: list[0]?.['id'] }),
    owned('hoop_runbook_configuration', 'books', { git_url: 'git@git.example.com:ops/books' }),
    owned('hoop_user', 'ada', { email: 'ada@example.com' }),
    owned('hoop_connection', 'read', { name: 'owned' }, { mode: 'data' }),
    owned('aws_instance', 'other', { name: 'orders-db' }, { provider: 'provider["registry.terraform.io/hashicorp/aws"]' }),
  ]);
  const cwd = makeProject({ 'terraform.tfstate': state });
  const { code, stdout, stderr } = await run(cwd, `pull project --url ${gateway.url()} --from-state terraform.tfstate --format json`);
  const report = JSON.parse(stdout);
  expect([code, stderr, report.written.map(({ id }: { id: string }) => id)]).toEqual([
    0,
    '',
    ['Connection/Orders-DB', 'Connection/orders-db', 'DataMaskingRule/../../x', 'RunbookConfiguration/ops-books'],
  ]);
  expect(report.terraform).toEqual({
    taken: [
      { address: 'module.teams["a.b]"].module.x[0].hoop_connection.orders', id: 'Connection/orders-db' },
      { address: 'hoop_datamasking_rules.x' },
      { address: 'hoop_runbook_configuration.books', id: 'RunbookConfiguration/git.example.com/ops/books' },
    ],
    gone: [{ address: 'hoop_connection.gone', id: 'Connection/gone-db' }],
    kept: [
      { address: 'hoop_connection.many[1]', id: 'Connection/owned', reason: 'managed by platform' },
      { address: 'hoop_user.ada', reason: 'manifests do not support this type' },
      { address: 'hoop_connection.many[0]', id: 'Connection/Orders-DB', reason: expect.stringContaining('another instance') },
    ],
    file: 'project/terraform-removed.tf',
  });
  const project = join(cwd, 'project');
  const removed = readFileSync(join(project, 'terraform-removed.tf'), 'utf8');
  expect([...removed.matchAll(/^ {2}from = (.*)$/gm)].map(([, address]) => address)).toEqual([
    'hoop_datamasking_rules.x',
    'hoop_runbook_configuration.books',
    'module.teams.module.x.hoop_connection.orders',
  ]);
  expect(removed).toContain('removed {\n  from = hoop_datamasking_rules.x\n\n  lifecycle {\n    destroy = false\n  }\n}\n');
  expect((await run(project, 'plan --detailed-exitcode')).code).toBe(0);
  for (const path of filesBelow(project)) expect(readFileSync(join(project, path), 'utf8')).not.toMatch(/canary|Y2FuYXJ5/);
  const again = await run(cwd, `pull project --url ${gateway.url()} --from-state terraform.tfstate`);
  expect([again.code, readFileSync(join(project, 'terraform-removed.tf'), 'utf8')]).toEqual([0, removed]);
  expect(`${stdout}${again.stdout}`).not.toMatch(/canary/);
});
