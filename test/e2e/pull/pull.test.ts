import { expectValid } from '../../support/documents.ts';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runInFolder } from '../../support/run-in-process.ts';
import { createKey } from '../../server/client.ts';
import { fillGateway } from '../fill-gateway.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, filesBelow, manifest, useProjects } from '../project.ts';

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
  expect(text).toContain('envvar:TOKEN: _cloudsecrets:orders:token\n');
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
  expectValid('pull', stdout);
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
