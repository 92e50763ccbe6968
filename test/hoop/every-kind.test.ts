import { expect, test } from 'vitest';
import { registry } from '../../src/kinds/index.ts';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { type HoopRepository, manifestsOf, useHoopRepositories } from '../support/hoop-repository.ts';
import { applyAndExpectInSync, expectRefused, jitRule, nightlyRule } from './expectations.ts';

const repositories = useHoopRepositories();
/** Pulls a whole gateway into a new repository, and expects that a plan of it is empty. */
async function pullAndExpectInSync(project: HoopProject): Promise<HoopRepository> {
  const copy = repositories.create(project);
  const pulled = await copy.run('pull');
  expect([pulled.code, pulled.stderr]).toEqual([0, '']);
  const plan = await copy.run('plan --detailed-exitcode');
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('No changes')]);
  return copy;
}

const requestRule = { access_type: 'jit', reviewers_groups: ['dba', 'security'], min_approvals: 2, force_approval_groups: ['sre'] };
const runbook = { repository: 'git.example.com/ops/runbooks', name: 'ops/' };
const types = [{ name: 'CONTACT', entity_types: ['EMAIL_ADDRESS'] }];

test('a gateway with objects of every kind is pulled completely, and then planned empty', async () => {
  const project = await hoopProject();
  const first = repositories.create(project, {
    'access/a.yaml': connection('orders-db', { connection_tags: { env: 'prod' }, access_groups: ['sre'], attributes: ['pci'] }),
    'access/b.yaml': connection('closed-db', { access_groups: [], reviewers: ['dba'], min_review_approvals: 1 }),
    'access/attribute.yaml': manifest('Attribute', 'pci', { access_groups: ['security'] }),
    'access/guardrail.yaml': guardrail('no-drop', ['DROP'], { connection_ids: ['orders-db'] }),
    'access/masking.yaml': manifest('DataMaskingRule', 'pii', {
      score_threshold: 0.5,
      supported_entity_types: types,
      connection_ids: ['orders-db'],
    }),
    'access/repository.yaml': manifest('RunbookConfiguration', 'ops', { git_url: 'https://git.example.com/ops/runbooks.git' }),
    'access/request.yaml': manifest('AccessRequestRule', 'prod', { ...requestRule, connection_names: ['orders-db'] }),
    'access/requests.yaml': manifest('AccessRequestRule', 'cards', { ...requestRule, access_type: 'command', attributes: ['pci'] }),
    'access/runbook.yaml': manifest('RunbookRule', 'nightly', { runbooks: [runbook], connections: ['orders-db'], user_groups: ['sre'] }),
    'access/runbooks.yaml': manifest('RunbookRule', 'everywhere', { runbooks: [runbook], connections: [], user_groups: ['dba'] }),
  });
  const applied = await first.run('apply --yes --allow plan/access-control-on=first');
  expect([applied.code, applied.code === 0 ? '' : `${applied.stdout}${applied.stderr}`]).toEqual([0, '']);
  const { repository } = await pullAndExpectInSync(project);
  for (const kind of registry.keys()) {
    const [had, has] = [first.repository.folder, repository.folder].map((folder) => manifestsOf(kind, folder).length);
    expect([kind, has]).toEqual([kind, had]);
    expect(had).toBeGreaterThan(0);
  }
  expect(manifestsOf('Connection', repository.folder).map(({ spec }) => spec)).toMatchObject([
    { access_groups: [], min_review_approvals: 1 },
    { access_groups: ['sre'], attributes: ['pci'] },
  ]);
});

test('300 connections and three rules that follow tags are pulled as selectors', async () => {
  const project = await hoopProject();
  const { send, model } = project;
  const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled', access_schema: 'enabled' };
  const body = { type: 'custom', agent_id: model.store.agentNamed('default')?.id ?? '', ...modes };
  const teams = ['orders', 'payments', 'data', 'support'];
  const found: { readonly name: string; readonly env: string; readonly team: string }[] = [];
  for (let index = 0; index < 300; index += 1) {
    const [name, env, team] = [`db-${index}`, index % 3 === 0 ? 'prod' : 'test', teams[index % 4] ?? ''];
    await send('POST', '/connections', { name, ...body, connection_tags: { env, team } });
    found.push({ name, env, team });
  }
  const tagged = (key: 'env' | 'team', value: string): readonly string[] =>
    found.filter((one) => one[key] === value).map(({ name }) => name);
  const rules = [
    ['/access-requests/rules', { ...jitRule, connection_names: tagged('env', 'prod') }],
    ['/access-requests/rules', { ...jitRule, name: 'commands', access_type: 'command', connection_names: tagged('team', 'payments') }],
    ['/runbooks/rules', { ...nightlyRule, connections: tagged('team', 'orders') }],
  ] as const;
  for (const [path, rule] of rules) expect((await send('POST', path, rule)).status).toBe(201);
  const { repository } = await pullAndExpectInSync(project);
  const specs = ['AccessRequestRule', 'RunbookRule'].flatMap((kind) => manifestsOf(kind, repository.folder).map(({ spec }) => spec));
  expect(specs.map(({ connection_selector: selector }) => selector)).toEqual([
    { match_tags: { team: 'payments' } },
    { match_tags: { env: 'prod' } },
    { match_tags: { team: 'orders' } },
  ]);
  expect(specs.flatMap((spec) => Object.keys(spec).filter((field) => /^connection(?:s|_names)$/.test(field)))).toEqual([]);
});

test('the free license allows one access-request rule: a second one is refused before anything is written', async () => {
  const project = await hoopProject({ licence: 'oss' });
  const [first = '', second = ''] = ['db-0', 'db-1'].map((name) =>
    manifest('AccessRequestRule', `rule-${name}`, { ...requestRule, connection_names: [name] }),
  );
  const both = `${first}---\n${second}`;
  project.write({ 'access/a.yaml': connection('db-0'), 'access/b.yaml': connection('db-1'), 'access/rules.yaml': both });
  const refused = await expectRefused(project, 'hoop/license', 6);
  expect(refused.stdout.replaceAll(/\s+/g, ' ')).toContain('the free license allows one AccessRequestRule, but there would be 2');
  project.write({ 'access/rules.yaml': first });
  await applyAndExpectInSync(project);
  project.write({ 'access/rules.yaml': both });
  await expectRefused(project, 'hoop/license', 6);
});
