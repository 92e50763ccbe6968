import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';
import { applyAndExpectInSync, expectRefused, planSummary, writes } from './expectations.ts';

const repositories = useHoopRepositories();

/** Returns the manifest of an access-request rule that asks for two approvals of native access. */
function ruleManifest(name: string, spec: object = {}, metadata: object = {}): string {
  const usual = { access_type: 'jit', connection_names: ['orders-db'], reviewers_groups: ['dba', 'security'], min_approvals: 2 };
  return JSON.stringify({
    apiVersion: 'ostiary/v1',
    kind: 'AccessRequestRule',
    metadata: { name, ...metadata },
    spec: { ...usual, ...spec },
  });
}

async function rulesOf({ send }: HoopProject): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { body } = await send('GET', '/access-requests/rules');
  return Object(body)['data'];
}

/** Returns a project with a connection in production, another one, and one applied rule. */
async function applied(spec: object = {}): Promise<HoopProject> {
  const project = await hoopProject();
  project.write({
    'access/a.yaml': connection('orders-db', { connection_tags: { env: 'prod' } }),
    'access/b.yaml': connection('other-db'),
    'access/rule.yaml': ruleManifest('prod', spec),
  });
  await applyAndExpectInSync(project);
  return project;
}

test('a rule is created, changed, and renamed in place', async () => {
  const project = await applied();
  const [created] = await rulesOf(project);
  expect(created).toMatchObject({ name: 'prod', connection_names: ['orders-db'], min_approvals: 2 });

  const easier = { min_approvals: 1, force_approval_groups: ['oncall'] };
  project.write({ 'access/rule.yaml': ruleManifest('prod', easier) });
  expect((await planSummary(project)).headlines).toEqual(['weakens: 1 connection can be approved by any 1 of 2 groups (was 2 of 2)']);
  await applyAndExpectInSync(project);

  project.write({ 'access/rule.yaml': ruleManifest('production', easier, { renamedFrom: 'prod' }) });
  expect((await planSummary(project)).headlines).toEqual([]);
  await applyAndExpectInSync(project);
  expect(await rulesOf(project)).toMatchObject([{ id: created?.['id'], name: 'production' }]);
});

test('a number of approvals counts for credentials of native clients, although all groups must approve a session', async () => {
  const all = { min_approvals: null, all_groups_must_approve: true };
  const project = await applied(all);
  const [rule] = await rulesOf(project);
  const path = '/access-requests/rules/prod';
  expect((await project.send('PUT', path, { ...rule, min_approvals: 1 })).status).toBe(200);
  const stricter = 'strengthens: 1 connection needs approval by 2 of 2 groups (was 1 of 2)';
  expect(await planSummary(project)).toEqual({ headlines: [stricter], refusals: [] });
  expect((await project.ostiary(['can', 'dev', 'connect', 'orders-db', '--live'])).stdout).toMatch(/1 of dba, security/);
  // A rule about commands alone decides no credentials.
  const commands = { access_type: 'command', min_approvals: 1 };
  project.write({ 'access/rule.yaml': ruleManifest('prod', { ...all, ...commands }) });
  await expectRefused(project, 'hoop/approval');
});

const moved = { 'access/rule.yaml': ruleManifest('prod', { connection_names: ['other-db'] }), 'access/two.yaml': ruleManifest('twin') };

test.each([
  ['a rule that governs what another governs', { 'access/two.yaml': ruleManifest('twin') }, 'hoop/rule-overlap'],
  [
    'a rule beside another one, by attributes that the plan adds to a connection',
    {
      'access/a.yaml': connection('orders-db', { access_mode_exec: 'enabled', attributes: ['one', 'two'] }),
      'access/two.yaml': ruleManifest('twin', { connection_names: [], attributes: ['one'] }),
      'access/three.yaml': ruleManifest('third', { connection_names: [], attributes: ['two'] }),
    },
    'hoop/rule-overlap',
  ],
  [
    'a move of a connection that its manifest protects',
    { ...moved, 'access/a.yaml': connection('orders-db', { access_mode_exec: 'enabled' }, { protect: true }) },
    'hoop/rule-move',
  ],
  [
    'a move of a connection whose manifest ignores an access mode',
    { ...moved, 'access/a.yaml': connection('orders-db', { access_mode_exec: 'enabled' }, { ignore: ['/access_mode_exec'] }) },
    'hoop/rule-move',
  ],
  ['a rule without connections', { 'access/two.yaml': ruleManifest('twin', { connection_names: [] }) }, 'hoop/no-target'],
  [
    'groups that skip and groups that are asked',
    { 'access/two.yaml': ruleManifest('twin', { approval_required_groups: ['dba'], skip_review_groups: ['sre'] }) },
    'manifest/approval-contradiction',
  ],
])('%s is refused before anything is written', async (_, files, code) => {
  const project = await applied();
  project.write(files);
  await expectRefused(project, code);
});

const two = { 'access/a.yaml': connection('orders-db'), 'access/b.yaml': connection('other-db'), 'access/rule.yaml': ruleManifest('prod') };

test('stricter drift that the gateway does not accept beside a change of the manifest is not held', async () => {
  const usual = { access_type: 'command', reviewers_groups: ['dba'], min_approvals: 1 };
  const { project, run, commit } = await repositories.apply(await hoopProject(), {
    // Those who skip the review of the rule meet the reviewers of the connection.
    'access/a.yaml': connection('orders-db', { access_mode_exec: 'enabled', reviewers: ['dba'] }),
    'access/rule.yaml': ruleManifest('prod', usual),
  });
  const [rule] = await rulesOf(project);
  const drift = { skip_review_groups: ['audit'], reviewers_groups: ['dba', 'security'], min_approvals: 2 };
  expect((await project.send('PUT', '/access-requests/rules/prod', { ...rule, ...drift })).status).toBe(200);
  expect((await run('plan')).stdout).toContain('held');
  const wanted = { ...usual, approval_required_groups: ['sre'] };
  commit({ 'access/rule.yaml': ruleManifest('prod', wanted) });
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await rulesOf(project)).toMatchObject([{ ...wanted, skip_review_groups: [] }]);
  expect((await run('plan')).stdout).toContain('No changes.');
});

test('groups that a manifest ignores and the gateway does not accept beside its own are an error before the first write', async () => {
  const project = await applied({ skip_review_groups: ['audit'] });
  const change = { approval_required_groups: ['sre'] };
  project.write({ 'access/rule.yaml': ruleManifest('prod', change, { ignore: ['/skip_review_groups'] }) });
  await expectRefused(project, 'manifest/approval-contradiction');
});

test.each([
  [403, 'does not list objects of the kind AccessRequestRule to this token', 'use a key with the role admin, or auditor'],
  [404, 'GET URL/access-requests/rules: the gateway has no such list (404', 'update a gateway that does not have the kind'],
  [500, 'GET URL/access-requests/rules: the gateway failed (500', 'check the log of the gateway'],
])('rules that the gateway answers with %i are an error that says why', async (status, message, hint) => {
  const project = await applied();
  project.model.setFault(({ path }) => (path.includes('/access-requests/') ? { kind: 'answer', when: 'before', status } : undefined));
  const { stderr } = await expectRefused(project, 'plan/unreadable-kind');
  const text = stderr.replaceAll(/\s+/g, ' ');
  expect(text).toContain(message.replace('URL', project.url));
  expect(text).toContain(hint);
  expect(text.includes('role admin')).toBe(status === 403);
});

test('a deletion takes the name of the connection from the rule that a manifest declares, and keeps one made by hand', async () => {
  const selected = { connection_names: [], connection_selector: { match_tags: { env: 'prod' }, allow_empty: true } };
  const { project, run, commit } = await repositories.apply(await hoopProject(), {
    ...two,
    'access/a.yaml': connection('orders-db', { connection_tags: { env: 'prod' } }),
    'access/c.yaml': connection('shop-db', { connection_tags: { env: 'prod' } }),
    'access/rule.yaml': ruleManifest('prod', selected),
  });
  commit({}, ['access/c.yaml']);
  const pruned = await run('apply --yes --prune');
  expect([pruned.code, writes(pruned).slice(1), pruned.stderr.includes('keeps naming')]).toEqual([
    0,
    ['PUT /api/access-requests/rules/prod', 'DELETE /api/connections/shop-db'],
    false,
  ]);
  expect(await rulesOf(project)).toMatchObject([{ connection_names: ['orders-db'] }]);
  expect((await run('plan')).stdout).not.toContain('unmanaged');

  await project.send('PUT', '/access-requests/rules/prod', {
    ...(await rulesOf(project))[0],
    connection_names: ['orders-db', 'other-db'],
  });
  commit({}, ['access/a.yaml', 'access/b.yaml']);
  const last = await run('apply --yes --prune');
  expect([last.code, last.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
    0,
    expect.stringContaining('remove its manifest, or let it name another connection'),
  ]);
  expect(await rulesOf(project)).toMatchObject([{ connection_names: ['orders-db', 'other-db'] }]);
});
