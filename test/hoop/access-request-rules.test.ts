import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { manifestsOf, useHoopRepositories } from '../support/hoop-repository.ts';
import { applyAndExpectInSync, driftHeadlines, expectRefused, planSummary, writes } from './expectations.ts';

const repositories = useHoopRepositories();

const timeout = 60_000;

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

test('a rule is created, changed, and renamed in place', { timeout }, async () => {
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

test('what the gateway stores beside the manifest is carried', { timeout }, async () => {
  const project = await applied();
  await project.send('PUT', '/access-requests/rules/prod', {
    ...(await rulesOf(project))[0],
    description: 'by hand',
    connection_names: ['orders-db', 'gone-db'],
  });
  project.write({ 'access/rule.yaml': ruleManifest('prod', { min_approvals: 1 }) });
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  expect(await rulesOf(project)).toMatchObject([{ min_approvals: 1, description: '', connection_names: ['gone-db', 'orders-db'] }]);
});

const moved = { 'access/rule.yaml': ruleManifest('prod', { connection_names: ['other-db'] }), 'access/two.yaml': ruleManifest('twin') };

test.each([
  ['a rule that governs what another governs', { 'access/two.yaml': ruleManifest('twin') }, 'hoop/rule-overlap'],
  ['a rule for commands, too', { 'access/two.yaml': ruleManifest('twin', { access_type: 'jit_command' }) }, 'hoop/rule-overlap'],
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
  ['more approvals than groups', { 'access/two.yaml': ruleManifest('twin', { min_approvals: 3 }) }, 'hoop/approval'],
  ['no number of approvals', { 'access/two.yaml': ruleManifest('twin', { min_approvals: null }) }, 'manifest/approval-contradiction'],
  [
    'a longest access of commands',
    { 'access/two.yaml': ruleManifest('twin', { access_type: 'command', access_max_duration: 60 }) },
    'hoop/approval',
  ],
  [
    'groups that skip and groups that are asked',
    { 'access/two.yaml': ruleManifest('twin', { approval_required_groups: ['dba'], skip_review_groups: ['sre'] }) },
    'manifest/approval-contradiction',
  ],
  [
    'a connection that does not exist',
    { 'access/two.yaml': ruleManifest('twin', { connection_names: ['nowhere'] }) },
    'manifest/dangling-reference',
  ],
])('%s is refused before anything is written', { timeout }, async (_, files, code) => {
  const project = await applied();
  project.write(files);
  await expectRefused(project, code);
});

test('two rules that exchange their only connections are refused: neither can let go first', { timeout }, async () => {
  const project = await applied();
  project.write({ 'access/two.yaml': ruleManifest('twin', { connection_names: ['other-db'] }) });
  await applyAndExpectInSync(project);
  project.write({
    'access/rule.yaml': ruleManifest('prod', { connection_names: ['other-db'] }),
    'access/two.yaml': ruleManifest('twin', { connection_names: ['orders-db'] }),
  });
  const { stderr } = await expectRefused(project, 'hoop/rule-move');
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain('nothing would be left that it governs');
});

test('two rules that exchange their types and keep their connections are refused', { timeout }, async () => {
  const both = { connection_names: ['orders-db', 'other-db'] };
  const project = await applied(both);
  project.write({ 'access/two.yaml': ruleManifest('twin', { ...both, access_type: 'command' }) });
  await applyAndExpectInSync(project);
  project.write({
    'access/rule.yaml': ruleManifest('prod', { ...both, access_type: 'command' }),
    'access/two.yaml': ruleManifest('twin', both),
  });
  const { stderr } = await expectRefused(project, 'hoop/rule-move');
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain('and then it would no longer govern what it keeps');
});

test('a new connection is opened after the rule that its tags select governs it', { timeout }, async () => {
  const project = await applied({ access_type: 'jit_command', connection_names: [], connection_selector: { match_tags: { env: 'prod' } } });
  project.write({ 'access/new.yaml': connection('new-db', { connection_tags: { env: 'prod' } }) });
  expect((await planSummary(project)).headlines).toEqual([]);
  const done = await project.ostiary(['apply', '--yes']);
  expect(done.code).toBe(0);
  expect(writes(done)).toEqual([
    'POST /api/connections',
    'PUT /api/access-requests/rules/prod',
    expect.stringMatching('^PUT /api/connections/'),
  ]);
});

test('reviewers of a connection go after the rule that replaces them, and come before it goes', { timeout }, async () => {
  const [reviewed, open] = [connection('orders-db', { reviewers: ['dba'] }), connection('orders-db', { reviewers: [] })];
  const rule = ruleManifest('prod', { access_type: 'jit_command', reviewers_groups: ['dba'], min_approvals: 1 });
  const { change } = await repositories.apply(await hoopProject(), { 'access/a.yaml': reviewed });
  const toRule = await change({ 'access/a.yaml': open, 'access/rule.yaml': rule });
  expect(writes(toRule)).toEqual(['POST /api/access-requests/rules', expect.stringMatching('^PUT /api/connections/')]);
  const back = await change({ 'access/a.yaml': reviewed }, ['access/rule.yaml']);
  expect(writes(back)).toEqual([expect.stringMatching('^PUT /api/connections/'), 'DELETE /api/access-requests/rules/prod']);
});

const two = { 'access/a.yaml': connection('orders-db'), 'access/b.yaml': connection('other-db'), 'access/rule.yaml': ruleManifest('prod') };

test.each([
  ['a weaker rule', { min_approvals: 1 }, 'min_approvals', 'can be approved by any 1 of 2 groups (was 2 of 2)'],
  ['a group that skips the review', { skip_review_groups: ['sre'] }, 'skip_review_groups', 'people in sre no longer need approval'],
  ['a rule that asks one group alone', { approval_required_groups: ['sre'] }, 'approval_required_groups', 'no longer'],
])('%s, made by hand, is drift that the next apply reverts', { timeout }, async (_, change, shown, headline) => {
  const { project, run } = await repositories.apply(await hoopProject(), two);
  const [rule] = await rulesOf(project);
  expect((await project.send('PUT', '/access-requests/rules/prod', { ...rule, ...change })).status).toBe(200);
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining(shown)]);
  expect(drift.stdout).toContain(headline);
  expect(drift.stdout).not.toContain('in no manifest');
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  const { updated_at: __, skip_review_groups: ___, ...before } = rule ?? {};
  expect(await rulesOf(project)).toMatchObject([before]);
  expect(await run('drift')).toMatchObject({ code: 0 });
});

test.each([
  ['one more reviewer group that has to approve', { reviewers_groups: ['dba', 'security', 'audit'], min_approvals: 3 }],
  ['one more connection', { connection_names: ['orders-db', 'other-db'] }],
])('%s, made by hand, is stricter and held', { timeout }, async (_, change) => {
  const { project, run } = await repositories.apply(await hoopProject(), two);
  const [rule] = await rulesOf(project);
  await project.send('PUT', '/access-requests/rules/prod', { ...rule, ...change });
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining('held')]);
  const kept = await run('apply --yes');
  expect([kept.code, writes(kept)]).toEqual([0, []]);
  expect(await rulesOf(project)).toMatchObject([change]);
});

test('stricter drift that the gateway does not accept beside a change of the manifest is not held', { timeout }, async () => {
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

test(
  'groups that a manifest ignores and the gateway does not accept beside its own are an error before the first write',
  { timeout },
  async () => {
    const project = await applied({ skip_review_groups: ['audit'] });
    const change = { approval_required_groups: ['sre'] };
    project.write({ 'access/rule.yaml': ruleManifest('prod', change, { ignore: ['/skip_review_groups'] }) });
    await expectRefused(project, 'manifest/approval-contradiction');
  },
);

test.each([
  ['a weaker rule', { min_approvals: 1 }, '1 connection can be approved by any 1 of 2 groups (was 2 of 2) in the manifests'],
  ['a group that skips the review', { skip_review_groups: ['sre'] }, 'people in sre no longer need approval on orders-db in the manifests'],
  ['a rule that lets go of a connection', { connection_names: ['other-db'] }, '1 connection loses approval in the manifests'],
  ['no rule', undefined, '1 connection loses approval in the manifests'],
])('%s, made by hand and accepted by the manifests, is a weakening', { timeout }, async (_, change, headline) => {
  const { project, run, commit } = await repositories.apply(await hoopProject(), two);
  const [rule] = await rulesOf(project);
  await project.send(change === undefined ? 'DELETE' : 'PUT', '/access-requests/rules/prod', { ...rule, ...change });
  if (change === undefined) commit({}, ['access/rule.yaml']);
  else commit({ 'access/rule.yaml': ruleManifest('prod', change) });
  const plan = await run('plan');
  expect(plan.stdout).toContain('Weakens protection of 1 connection. Nothing to write: 1 drift accepted in the manifests');
  expect(plan.stdout).toContain(headline);
  expect(plan.stdout).toContain('risk: weakens (');
});

test('a saved plan of a rule is applied, unless the rule was changed in between', { timeout }, async () => {
  const { project, run, commit } = await repositories.apply(await hoopProject(), two);
  commit({ 'access/rule.yaml': ruleManifest('prod', { access_max_duration: 3600 }) });
  expect(await run('plan --out plan.json')).toMatchObject({ code: 0 });
  const [rule] = await rulesOf(project);
  await project.send('PUT', '/access-requests/rules/prod', { ...rule, min_approvals: 1 });
  const stale = await run('apply --plan plan.json --yes');
  expect([stale.code, writes(stale)]).toEqual([6, []]);
  await project.send('PUT', '/access-requests/rules/prod', rule);
  expect(writes(await run('apply --plan plan.json --yes'))).toEqual(['PUT /api/access-requests/rules/prod']);
});

test('a successor is opened after the rule of its predecessor takes it', { timeout }, async () => {
  const { run, commit } = await repositories.apply(await hoopProject(), two);
  commit({
    'access/a.yaml': connection('orders-new', { access_mode_connect: 'enabled' }, { replaces: 'orders-db' }),
    'access/rule.yaml': ruleManifest('prod', { connection_names: ['orders-new'] }),
  });
  const done = await run('apply --yes');
  expect([done.code, writes(done).slice(0, 2)]).toEqual([0, ['POST /api/connections', 'PUT /api/access-requests/rules/prod']]);
  expect(writes(done)).toHaveLength(4);
});

test('a rule that is deleted by hand is created again; one that the gateway manages is never written', { timeout }, async () => {
  const { project, run, change } = await repositories.apply(await hoopProject(), two);
  await project.send('DELETE', '/access-requests/rules/prod');
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining('deleted outside Ostiary')]);
  expect(writes(await run('apply --yes'))).toEqual(['POST /api/access-requests/rules']);

  const row = project.model.store.accessRules.get('prod');
  if (row === undefined) throw new Error('the rule is missing');
  project.model.store.accessRules.set('prod', { ...row, managedBy: 'hoop' });
  await expect(change({ 'access/rule.yaml': ruleManifest('prod', { min_approvals: 1 }) })).rejects.toThrow('plan/managed');
});

test('a pull writes rules with selectors where tags explain their connections, and the plan is empty', { timeout }, async () => {
  const project = await hoopProject();
  const names = Array.from({ length: 12 }, (_, index) => `db-${index}`);
  const files = names.map((name, index) => [
    `access/${name}.yaml`,
    connection(name, { connection_tags: { env: index < 6 ? 'prod' : 'test' } }),
  ]);
  project.write(Object.fromEntries(files));
  await applyAndExpectInSync(project);
  const rule = {
    name: 'prod',
    access_type: 'jit',
    approval_required_groups: [],
    reviewers_groups: ['dba'],
    force_approval_groups: [],
    all_groups_must_approve: true,
  };
  expect((await project.send('POST', '/access-requests/rules', { ...rule, connection_names: names.slice(0, 6) })).status).toBe(201);
  expect(
    (
      await project.send('POST', '/access-requests/rules', {
        ...rule,
        name: 'some',
        min_approvals: 1,
        all_groups_must_approve: false,
        connection_names: ['db-7', 'gone'],
      })
    ).status,
  ).toBe(201);
  const copy = repositories.create(project);
  const pulled = await copy.run('pull');
  expect([pulled.code, pulled.stderr]).toEqual([0, expect.any(String)]);
  const specs = manifestsOf('AccessRequestRule', copy.repository.folder).map(({ spec }) => spec);
  expect(specs).toMatchObject([{ connection_selector: { match_tags: { env: 'prod' } } }, { connection_names: ['db-7'], min_approvals: 1 }]);
  expect(specs[0]).not.toHaveProperty('connection_names');
  const plan = await copy.run('plan --detailed-exitcode');
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('No changes')]);
});

test.each([
  [403, 'does not list objects of the kind AccessRequestRule to this token', 'use a key with the role admin, or auditor'],
  [404, 'GET URL/access-requests/rules: the gateway has no such list (404', 'update a gateway that does not have the kind'],
  [500, 'GET URL/access-requests/rules: the gateway failed (500', 'check the log of the gateway'],
])('rules that the gateway answers with %i are an error that says why', { timeout }, async (status, message, hint) => {
  const project = await applied();
  project.model.setFault(({ path }) => (path.includes('/access-requests/') ? { kind: 'answer', when: 'before', status } : undefined));
  const { stderr } = await expectRefused(project, 'plan/unreadable-kind');
  const text = stderr.replaceAll(/\s+/g, ' ');
  expect(text).toContain(message.replace('URL', project.url));
  expect(text).toContain(hint);
  expect(text.includes('role admin')).toBe(status === 403);
});

test('a rule with an attribute is not explained as a rule on itself', { timeout }, async () => {
  const project = await applied({ attributes: ['pci'] });
  for (const name of ['AccessRequestRule/prod', 'Connection/orders-db']) {
    const { code, stdout } = await project.ostiary(['explain', name]);
    expect([name, code, stdout.includes('Rules on it')]).toEqual([name, 0, name !== 'AccessRequestRule/prod']);
  }
});

test(
  'a deletion takes the name of the connection from the rule that a manifest declares, and keeps one made by hand',
  { timeout },
  async () => {
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
  },
);

test.each<readonly [string, object, readonly string[]]>([
  ['alone', {}, []],
  ['and weakened', { min_approvals: 1 }, ['weakens: 1 connection can be approved by any 1 of 2 groups (was 2 of 2)']],
  [
    'and strengthened',
    { reviewers_groups: ['dba', 'security', 'sre'], min_approvals: 3 },
    ['strengthens: 1 connection gains reviewer group sre'],
  ],
])('a rule renamed by hand %s is judged by what changed', { timeout }, async (_, change, headlines) => {
  const { project, run } = await repositories.apply(await hoopProject(), two);
  const [rule] = await rulesOf(project);
  await project.send('PUT', '/access-requests/rules/prod', { ...rule, ...change, name: 'renamed' });
  expect(driftHeadlines(await run('drift --format json'))).toEqual(headlines);
});

test.each(['ab', 'two words', 'a-b', '-rule'])(
  'the name %j, which the gateway rejects, is an error before the first write',
  async (name) => {
    const project = await hoopProject();
    project.write({ 'access/a.yaml': connection('orders-db'), 'access/rule.yaml': ruleManifest(name) });
    const { spec } = JSON.parse(ruleManifest(name));
    const body = { ...spec, name, approval_required_groups: [], force_approval_groups: [], all_groups_must_approve: false };
    expect(await project.send('POST', '/access-requests/rules', body)).toMatchObject({ status: 422 });
    await expectRefused(project, 'hoop/name');
  },
);
