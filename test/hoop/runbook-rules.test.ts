import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';
import { applyAndExpectInSync, expectRefused, nightlyRule, planSummary, refuse, summaryOf, writes } from './expectations.ts';

const repositories = useHoopRepositories();

const runbook = { repository: 'github.com/acme/runbooks', name: 'ops/' };
const open = { access_mode_runbooks: 'enabled' };

/** Returns the manifest of a runbook rule that allows one folder of runbooks on one connection to one group. */
function ruleManifest(name: string, spec: object = {}, metadata: object = {}): string {
  const usual = { runbooks: [runbook], connections: ['orders-db'], user_groups: ['sre'] };
  return JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'RunbookRule', metadata: { name, ...metadata }, spec: { ...usual, ...spec } });
}

type Rule = Readonly<Record<string, unknown>>;

async function rulesOf({ send }: HoopProject): Promise<readonly Rule[]> {
  const { body } = await send('GET', '/runbooks/rules');
  const rules: readonly Rule[] = Object(body);
  return [...rules].toSorted((left, right) => String(left['name']).localeCompare(String(right['name'])));
}

const two = {
  'access/a.yaml': connection('orders-db', { connection_tags: { env: 'prod' }, ...open }),
  'access/b.yaml': connection('other-db', open),
};

/** Returns a project with two connections, and one applied rule that names the first. */
async function applied(spec: object = {}): Promise<HoopProject> {
  const project = await hoopProject();
  project.write({ ...two, 'access/rule.yaml': ruleManifest('nightly', spec) });
  await applyAndExpectInSync(project);
  return project;
}

test('the first rule closes every other runbook; a rule is changed in one write, and renamed in place', async () => {
  const project = await hoopProject();
  project.write(two);
  await applyAndExpectInSync(project);
  project.write({ 'access/rule.yaml': ruleManifest('nightly') });
  expect(await planSummary(project)).toEqual({
    headlines: ['strengthens: 2 connections allow only the runbooks of rules: there were no runbook rules before'],
    refusals: [],
  });
  expect(writes(await applyAndExpectInSync(project))).toEqual(['POST /api/runbooks/rules']);
  const [created] = await rulesOf(project);
  expect(created).toMatchObject({ name: 'nightly', connections: ['orders-db'], runbooks: [runbook], user_groups: ['sre'] });

  const more = { user_groups: ['dev', 'sre'] };
  project.write({ 'access/rule.yaml': ruleManifest('nightly', more) });
  expect(await planSummary(project)).toEqual({
    headlines: ['weakens: dev can run github.com/acme/runbooks:ops/ on orders-db'],
    refusals: [],
  });
  await applyAndExpectInSync(project);

  project.write({ 'access/rule.yaml': ruleManifest('weekly', more, { renamedFrom: 'nightly' }) });
  expect(await planSummary(project)).toEqual({ headlines: [], refusals: [] });
  await applyAndExpectInSync(project);
  expect(await rulesOf(project)).toMatchObject([{ id: created?.['id'], name: 'weekly', connections: ['orders-db'] }]);
});

test.each([
  ['no connections', { 'access/two.yaml': ruleManifest('twin', { connections: null }) }, 'manifest/unstated-connections'],
  [
    'a selector that matches nothing',
    { 'access/two.yaml': ruleManifest('twin', { connections: null, connection_selector: { match_tags: { env: 'none' } } }) },
    'manifest/selector-empty',
  ],
  [
    'a selector that may match nothing',
    {
      'access/two.yaml': ruleManifest('twin', { connections: [], connection_selector: { match_tags: { env: 'none' }, allow_empty: true } }),
    },
    'hoop/every-connection',
  ],
])('%s is refused before anything is written', async (_, files, code) => {
  const project = await applied();
  project.write(files);
  await expectRefused(project, code);
});

const ruled = { ...two, 'access/rule.yaml': ruleManifest('nightly') };

test('the last connection of a rule is not removed from it; an empty list has to be stated', async () => {
  const selected = ruleManifest('nightly', { connections: [], connection_selector: { match_tags: { env: 'prod' }, allow_empty: true } });
  const { project, run, commit } = await repositories.apply(await hoopProject(), { ...two, 'access/rule.yaml': selected });
  commit({ 'access/a.yaml': connection('orders-db', { connection_tags: { env: 'test' }, ...open }) });
  const refused = await run('apply --yes');
  expect([refused.code, refused.stderr, writes(refused)]).toEqual([3, expect.stringContaining('hoop/every-connection'), []]);
  expect(await rulesOf(project)).toMatchObject([{ connections: ['orders-db'] }]);

  commit({ 'access/rule.yaml': ruleManifest('nightly', { connections: [] }) });
  expect(summaryOf(await run('plan --format json')).headlines).toEqual([
    expect.stringMatching('^weakens: .*sre can run github.com/acme/runbooks:ops/ on other-db'),
  ]);
  expect((await run('plan')).stdout).toContain('      - Connection/orders-db\n      + every connection\n');
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await rulesOf(project)).toMatchObject([{ connections: [] }]);
  expect((await run('explain Connection/other-db')).stdout).toContain('RunbookRule/nightly  allows runbooks, on every connection');
  expect((await run('explain RunbookRule/nightly')).stdout).not.toContain('Rules on it');
});

test('a rule loses the name of a connection that is deleted, but not its last one: it would include every connection', async () => {
  const selected = ruleManifest('nightly', { connections: [], connection_selector: { match_tags: { env: 'prod' }, allow_empty: true } });
  const { project, run, commit } = await repositories.apply(await hoopProject(), {
    ...two,
    'access/c.yaml': connection('shop-db', { connection_tags: { env: 'prod' }, ...open }),
    'access/rule.yaml': selected,
  });
  commit({}, ['access/c.yaml']);
  const { headlines } = summaryOf(await run('plan --prune --format json'));
  expect(headlines.filter((one) => one.includes('runbooks'))).toEqual([]);
  const pruned = await run('apply --yes --prune');
  expect([pruned.code, writes(pruned)]).toEqual([
    0,
    [
      expect.stringMatching('^PUT /api/connections/'),
      expect.stringMatching('^PUT /api/runbooks/rules/'),
      'DELETE /api/connections/shop-db',
    ],
  ]);
  expect(await rulesOf(project)).toMatchObject([{ connections: ['orders-db'] }]);

  commit({}, ['access/a.yaml']);
  const last = await run('plan --prune --format json');
  expect(summaryOf(last).headlines.filter((one) => one.includes('runbooks'))).toEqual([]);
  expect((await run('apply --yes --prune')).stderr).toContain('let it name another connection: without a runbook rule');
  expect(await rulesOf(project)).toMatchObject([{ connections: ['orders-db'] }]);
});

test('a rule is stated for every connection while the plan deletes the last one that it names', async () => {
  const { project, run, commit } = await repositories.apply(await hoopProject(), ruled);
  commit({ 'access/rule.yaml': ruleManifest('nightly', { connections: [] }) }, ['access/a.yaml']);
  expect(summaryOf(await run('plan --prune --format json')).headlines).toContainEqual(
    expect.stringMatching('^weakens: .*sre can run github.com/acme/runbooks:ops/ on other-db'),
  );
  const done = await run('apply --yes --prune');
  expect([done.code, writes(done).map((request) => request.replace(/\/[^/]*$/, ''))]).toEqual([
    0,
    ['PUT /api/connections', 'PUT /api/runbooks/rules', 'DELETE /api/connections'],
  ]);
  expect(await rulesOf(project)).toMatchObject([{ connections: [] }]);
  expect((await run('plan --prune --detailed-exitcode')).code).toBe(0);
});

test('a rule is stated for every connection while the plan replaces one that it names, but not while it has the name of another one', async () => {
  const named = ruleManifest('nightly', { connections: ['orders-db', 'other-db'] });
  const every = ruleManifest('nightly', { connections: [] });
  const { project, run, commit } = await repositories.apply(await hoopProject(), { ...two, 'access/rule.yaml': named });
  const [rule] = await rulesOf(project);
  const attached = { ...rule, connections: ['orders-db', 'other-db', 'their-db'] };
  expect((await project.send('PUT', `/runbooks/rules/${String(rule?.['id'])}`, attached)).status).toBe(200);
  commit({ 'access/rule.yaml': every, 'access/b.yaml': connection('next-db', open, { replaces: 'other-db' }) });
  const refused = await run('apply --yes --prune');
  expect([refused.code, refused.stderr, writes(refused)]).toEqual([3, expect.stringContaining('rule nightly keeps their-db'), []]);

  expect((await project.send('PUT', `/runbooks/rules/${String(rule?.['id'])}`, rule)).status).toBe(200);
  expect(await run('apply --yes --prune')).toMatchObject({ code: 0 });
  expect(await rulesOf(project)).toMatchObject([{ connections: [] }]);
});

test('a rule is not stated for every connection while the plan deletes one that was attached by hand', async () => {
  const named = ruleManifest('nightly', { connections: ['other-db'] });
  const { project, run, commit } = await repositories.apply(await hoopProject(), { ...two, 'access/rule.yaml': named });
  const [rule] = await rulesOf(project);
  const attached = { ...rule, connections: ['orders-db', 'other-db'] };
  expect((await project.send('PUT', `/runbooks/rules/${String(rule?.['id'])}`, attached)).status).toBe(200);
  commit({ 'access/rule.yaml': ruleManifest('nightly', { connections: [] }) }, ['access/a.yaml']);
  const refused = await run('apply --yes --prune');
  expect([refused.code, refused.stderr, writes(refused)]).toEqual([3, expect.stringContaining('rule nightly keeps orders-db'), []]);
});

test('to delete the last rule has to be allowed; another one takes its place without a gap', async () => {
  const { project, run, commit } = await repositories.apply(await hoopProject(), ruled);
  commit({ 'access/two.yaml': ruleManifest('twin', { user_groups: ['dev'] }) }, ['access/rule.yaml']);
  // Between the two writes both groups could run the runbooks, or everybody: the connection is closed meanwhile.
  const planned = await run('plan --prune --format json');
  expect(summaryOf(planned)).toMatchObject({ refusals: [] });
  const [{ changes }] = JSON.parse(planned.stdout).plans;
  const closed = changes.filter(({ reasons }: { readonly reasons: readonly string[] }) => reasons.includes('closed-between'));
  expect(closed.map(({ id }: { readonly id: string }) => id)).toEqual(['Connection/orders-db']);

  commit({ 'access/two.yaml': ruleManifest('twin', { runbooks: [{ ...runbook, name: 'ops/nightly/' }] }) });
  const replaced = await run('apply --yes --prune');
  expect([replaced.code, replaced.stderr]).toEqual([0, expect.any(String)]);
  expect(writes(replaced)).toEqual(['POST /api/runbooks/rules', expect.stringMatching('^DELETE /api/runbooks/rules/')]);

  commit({}, ['access/two.yaml']);
  expect(summaryOf(await run('plan --prune --format json'))).toEqual({
    headlines: ['weakens: 2 connections let everybody with access run every runbook: no runbook rule is left'],
    refusals: ['plan/last-runbook-rule'],
  });
  expect(writes(await run('apply --yes --prune'))).toEqual([]);
  const allowed = await run('apply --yes --prune --allow plan/last-runbook-rule=closed');
  expect([allowed.code, allowed.stderr]).toEqual([0, expect.any(String)]);
  expect(await rulesOf(project)).toEqual([]);
});

test('the last rules are deleted after another one is created, although none names a connection that they close', async () => {
  const closed = connection('orders-db', { access_mode_runbooks: 'disabled' });
  const before = { ...two, 'access/a.yaml': closed, 'access/rule.yaml': ruleManifest('nightly'), 'access/two.yaml': ruleManifest('twin') };
  const project = await hoopProject();
  const { run, commit } = repositories.create(project, before);
  // Both rules protect each new connection, so each of them alone seems to change nothing.
  const written = writes(await run('apply --yes')).map((request) => request.replace(/[^/]*$/, ''));
  expect(written.slice(-3)).toEqual(['POST /api/runbooks/', 'POST /api/runbooks/', 'POST /api/']);
  commit({ 'access/three.yaml': ruleManifest('weekly') }, ['access/rule.yaml', 'access/two.yaml']);
  // Without any rule, every runbook would be open.
  refuse(project, 'POST');
  const apply = 'apply --yes --prune --allow plan/immutable-name=another';
  expect((await run(apply)).code).toBe(5);
  expect((await rulesOf(project)).map(({ name }) => name)).toContain('nightly');
  project.model.setFault(undefined);
  expect((await run(apply)).code).toBe(0);
  expect(await rulesOf(project)).toMatchObject([{ name: 'weekly' }]);
});

test.each([2, 12])('%s rules of other groups are not all deleted before the one that replaces them is created', async (count) => {
  const names = Array.from({ length: count }, (_, index) => `old-${index}`);
  const rules = names.map((name) => ruleManifest(name, { runbooks: [{ ...runbook, name: `${name}/` }] }));
  const before = { ...two, 'access/old.yaml': rules.join('\n---\n') };
  const { project, run, commit } = repositories.create(await hoopProject(), before);
  expect(await run('apply --yes --allow plan/window=first')).toMatchObject({ code: 0 });
  commit({ 'access/new.yaml': ruleManifest('new', { user_groups: ['dba'] }) }, ['access/old.yaml']);
  refuse(project, 'POST');
  expect(await run('apply --yes --prune --allow plan/window=both --allow plan/too-many-deletes=all')).toMatchObject({ code: 5 });
  expect(await rulesOf(project)).not.toEqual([]);
});

test('a rule in no manifest is left, and it alone keeps other runbooks closed', async () => {
  const { project, run, commit } = await repositories.apply(await hoopProject(), ruled);
  await project.send('POST', '/runbooks/rules', { ...nightlyRule, name: 'by-hand' });
  commit({}, ['access/rule.yaml']);
  expect(summaryOf(await run('plan --prune --format json')).refusals).toEqual([]);
  expect(await run('apply --yes --prune')).toMatchObject({ code: 0 });
  expect(await rulesOf(project)).toMatchObject([{ name: 'by-hand' }]);
});

test('several rules with the name of a manifest are an error that lists them; others are only unmanaged', async () => {
  const { project, run } = await repositories.apply(await hoopProject(), ruled);
  for (const user of ['dev', 'ops']) await project.send('POST', '/runbooks/rules', { ...nightlyRule, name: 'other', user_groups: [user] });
  const plan = await run('plan --detailed-exitcode');
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('No changes')]);

  await project.send('POST', '/runbooks/rules', { ...nightlyRule, user_groups: ['dev'] });
  const ids = (await rulesOf(project)).filter(({ name }) => name === 'nightly').map(({ id }) => String(id));
  for (const line of ['plan', 'apply --yes', 'drift']) {
    const ended = await run(line);
    expect([line, ended.code, writes(ended)]).toEqual([line, 3, []]);
    for (const text of ['plan/namesakes', ...ids, 'orders-db', 'dev', 'sre']) expect(ended.stderr).toContain(text);
  }
});
