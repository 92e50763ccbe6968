import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';

function configure({ write, url }: HoopProject, dialect: string, more = ''): void {
  write({
    'ostiary.yaml': `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\n${more}targets:\n  prod: { url: '${url}', dialect: ${dialect} }\n`,
  });
}

/** Returns the lines about what the gateway rejects. */
function rejections(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trimStart())
    .filter((line) => /^access\/a\.yaml:\d+:\d+ (?:error|warning) hoop\//.test(line));
}

const repository = { git_url: 'https://git.example.com/ops.git', ssh_key: { value: 'no key' } };

/** By what is wrong: the manifest, and the codes in the order of lines. */
const rejected: Readonly<Record<string, readonly [text: string, codes: readonly string[]]>> = {
  'a name': [connection('a b'), ['hoop/name']],
  'an attribute that no route reaches': [manifest('Attribute', 'team/one', { access_groups: ['admin'] }), ['hoop/name']],
  'a type': [connection('orders-db', { type: 'databse' }), ['hoop/unknown-type']],
  'an issue template': [connection('orders-db', { issuetracker_issue_template_id: 'seven' }), ['hoop/not-a-uuid']],
  tags: [connection('orders-db', { connection_tags: { 'a..b': 'x', team: 'a.b' }, tags: ['a..b'] }), ['hoop/tag', 'hoop/tag', 'hoop/tag']],
  attributes: [
    connection('orders-db', { attributes: ['a'.repeat(256), 'hoop_protection_profile-x'] }),
    ['hoop/too-long', 'hoop/managed-attribute'],
  ],
  'a text': [connection('orders-db', { command: ['psql', 'a\0b'] }), ['hoop/nul']],
  'a reviewer group': [connection('orders-db', { reviewers: ['g'.repeat(101)] }), ['hoop/long-group']],
  'entity types': [
    manifest('DataMaskingRule', 'pii', { supported_entity_types: [{ name: 'pii', entity_types: ['email'] }] }),
    ['hoop/entity-type', 'hoop/entity-type'],
  ],
  'a pattern': [guardrail('no-drop', [], { input: { rules: [{ type: 'pattern_match', pattern_regex: '(?=DROP)' }] } }), ['hoop/pattern']],
  'a private key': [manifest('RunbookConfiguration', 'ops', repository), ['hoop/ssh-key']],
  'an approval': [
    `${connection('orders-db')}---\n${manifest('AccessRequestRule', 'prod', { access_type: 'jit', connection_names: ['orders-db'], reviewers_groups: ['dba'], min_approvals: 3 })}`,
    ['hoop/approval'],
  ],
};

test.each(Object.entries(rejected))('validate finds %s that plan would find, at the same place', async (_what, [text, codes]) => {
  const project = await hoopProject();
  configure(project, 'hoop');
  project.model.store.groups.add('g'.repeat(101));
  project.write({ 'access/a.yaml': text });
  const validated = await project.ostiary(['validate']);
  const planned = await project.ostiary(['plan']);
  expect(rejections(validated.stderr)).toEqual(rejections(`${planned.stdout}${planned.stderr}`));
  expect(rejections(validated.stderr).map((line) => line.split(' ')[2])).toEqual(codes);
  // One mistake has one finding.
  expect(`${validated.stderr}${planned.stderr}`).not.toContain('manifest/unfamiliar-value');
  expect([validated.code, validated.requests]).toEqual([planned.code, []]);
});

test('validate knows nothing of the gateway where the config does not name its dialect, and no type that the config allows is unknown', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { type: 'databse' }) });
  expect((await project.ostiary(['validate'])).code).toBe(0);
  configure(project, 'interface');
  expect((await project.ostiary(['validate'])).code).toBe(0);
  configure(project, 'hoop');
  expect((await project.ostiary(['validate'])).code).toBe(3);
  configure(project, 'hoop', 'allow_values: { Connection.type: [databse] }\n');
  expect(await project.ostiary(['validate'])).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/databse/) });
});

test('the checks without a gateway accept the example of every field', async () => {
  const project = await hoopProject();
  configure(project, 'hoop');
  for (const kind of registry.keys()) {
    const example = await project.ostiary(['schema', kind]);
    project.write({ 'access/a.yaml': example.stdout });
    expect([kind, example.code, rejections((await project.ostiary(['validate'])).stderr)]).toEqual([kind, 0, []]);
  }
});

test('values that pull wrote are no warning, whatever the gateway has; a write of them is still checked', async () => {
  const project = await hoopProject({ version: '1.160.2' });
  const { store } = project.model;
  project.write({ 'access/a.yaml': connection('orders-db', { type: 'custom' }) });
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  const row = store.findConnection('orders-db');
  if (row === undefined) throw new Error('it is not there');
  const long = 'g'.repeat(101);
  store.groups.add(long);
  store.saveConnection({ ...row, type: 'application-v2', subtype: 'clickhouse', reviewers: [long] });
  const rule = { name: 'prod', access_type: 'jit', connection_names: ['orders-db'], reviewers_groups: ['dba'], min_approvals: 2 };
  const lists = { approval_required_groups: [], force_approval_groups: [] };
  expect((await project.send('POST', '/access-requests/rules', { ...rule, ...lists })).status).toBe(201);
  const custom_entity_types = [{ name: 'EMP_ID', regex: 'E[0-9]+', score: 0.2 }];
  const idle = { name: 'idle', description: '', supported_entity_types: [], custom_entity_types, score_threshold: 0.6, connection_ids: [] };
  expect((await project.send('POST', '/datamasking-rules', idle)).status).toBe(201);
  const folder = join(project.folder, 'new');
  mkdirSync(folder);
  expect((await project.runIn(folder, ['pull', '--url', project.url])).code).toBe(0);
  expect(readFileSync(join(folder, 'ostiary.yaml'), 'utf8')).toMatch(/^    dialect: hoop$/m);
  const written = readFileSync(join(folder, 'access/connections/orders-db.yaml'), 'utf8');
  for (const code of ['manifest/unfamiliar-value', 'hoop/unknown-type', 'hoop/long-group'])
    expect(written).toMatch(new RegExp(`^ +# ostiary:ok ${code} the gateway has it$`, 'm'));
  const masking = join(folder, 'access/data-masking-rules/idle.yaml');
  expect(readFileSync(masking, 'utf8')).toContain('# ostiary:ok rule/score-below-threshold the gateway has it\n');
  const validated = await project.runIn(folder, ['validate', '--verbose']);
  expect(validated.stderr).not.toMatch(/^access\S+ (?:error|warning) /m);
  expect(validated.stderr).toContain('acknowledged hoop/approval');
  expect(validated.code).toBe(0);
  const planned = await project.runIn(folder, ['plan']);
  expect([planned.code, planned.stdout, planned.stderr]).toEqual([
    0,
    expect.stringContaining('No changes'),
    expect.not.stringMatching(/ (?:error|warning) /),
  ]);
  const file = join(folder, 'access/access-request-rules/prod.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('- dba', '- sre').replace('[dba]', '[sre]'));
  expect((await project.runIn(folder, ['plan'])).stderr).toContain('error hoop/approval');
  writeFileSync(masking, readFileSync(masking, 'utf8').replace('0.6', '0.7'));
  expect((await project.runIn(folder, ['plan', '--only', 'DataMaskingRule/idle'])).stderr).toContain('error rule/score-below-threshold');
});
