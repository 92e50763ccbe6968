import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { manifestsOf, useHoopRepositories } from '../support/hoop-repository.ts';
import { applyAndExpectInSync, driftHeadlines, expectRefused, nightlyRule, planSummary, summaryOf, writes } from './expectations.ts';

const repositories = useHoopRepositories();

const timeout = 60_000;
const runbook = { repository: 'github.com/acme/runbooks', name: 'ops/' };
const runbookName = `${runbook.repository}:${runbook.name}`;
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

test('the first rule closes every other runbook; a rule is changed in one write, and renamed in place', { timeout }, async () => {
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

test('a rule for every connection says so, and names that no manifest attached are carried', { timeout }, async () => {
  const project = await applied({ connections: [], user_groups: [], runbooks: [] });
  const [rule] = await rulesOf(project);
  expect(rule).toMatchObject({ connections: [], user_groups: [], runbooks: [] });
  project.write({ 'access/rule.yaml': ruleManifest('nightly') });
  expect((await planSummary(project)).headlines).toEqual([expect.stringMatching('^strengthens: .*can no longer run .* on')]);
  expect((await project.ostiary(['plan'])).stdout).toContain('      + Connection/orders-db\n      - every other connection\n');
  await applyAndExpectInSync(project);
  expect(await rulesOf(project)).toMatchObject([{ id: rule?.['id'], connections: ['orders-db'], runbooks: [runbook] }]);

  await project.send('PUT', `/runbooks/rules/${String(rule?.['id'])}`, { ...nightlyRule, connections: ['orders-db', 'gone-db'] });
  project.write({ 'access/rule.yaml': ruleManifest('nightly', { user_groups: ['dev'] }) });
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  expect(await rulesOf(project)).toMatchObject([{ user_groups: ['dev'], connections: ['gone-db', 'orders-db'] }]);
});

test.each([
  ['no connections', { 'access/two.yaml': ruleManifest('twin', { connections: null }) }, 'manifest/unstated-connections'],
  ['no runbooks', { 'access/two.yaml': ruleManifest('twin', { runbooks: null }) }, 'manifest/wrong-type'],
  ['no groups', { 'access/two.yaml': ruleManifest('twin', { user_groups: undefined }) }, 'manifest/missing-field'],
  ['a runbook without a name', { 'access/two.yaml': ruleManifest('twin', { runbooks: [{ repository: 'r' }] }) }, 'manifest/missing-field'],
  ['one runbook twice', { 'access/two.yaml': ruleManifest('twin', { runbooks: [runbook, runbook] }) }, 'manifest/'],
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
  [
    'a connection that does not exist',
    { 'access/two.yaml': ruleManifest('twin', { connections: ['nowhere'] }) },
    'manifest/dangling-reference',
  ],
])('%s is refused before anything is written', { timeout }, async (_, files, code) => {
  const project = await applied();
  project.write(files);
  await expectRefused(project, code);
});

const ruled = { ...two, 'access/rule.yaml': ruleManifest('nightly') };

test('the last connection of a rule is not removed from it; an empty list has to be stated', { timeout }, async () => {
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

test(
  'a rule loses the name of a connection that is deleted, but not its last one: it would include every connection',
  { timeout },
  async () => {
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
  },
);

test('a rule is not stated for every connection while the plan deletes or replaces one that it names', { timeout }, async () => {
  const named = ruleManifest('nightly', { connections: ['orders-db', 'other-db'] });
  const every = ruleManifest('nightly', { connections: [] });
  const { project, run, commit } = await repositories.apply(await hoopProject(), { ...two, 'access/rule.yaml': named });
  commit({ 'access/rule.yaml': every }, ['access/b.yaml']);
  const deleted = await run('apply --yes --prune');
  expect([deleted.code, deleted.stderr, writes(deleted)]).toEqual([3, expect.stringContaining('rule nightly keeps other-db'), []]);

  commit({ 'access/b.yaml': connection('next-db', open, { replaces: 'other-db' }) });
  const replaced = await run('apply --yes --prune');
  expect([replaced.code, replaced.stderr, writes(replaced)]).toEqual([3, expect.stringContaining('rule nightly keeps other-db'), []]);

  commit({ 'access/b.yaml': connection('other-db', open) });
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await rulesOf(project)).toMatchObject([{ connections: [] }]);
});

test('to delete the last rule has to be allowed; another one takes its place without a gap', { timeout }, async () => {
  const { project, run, commit } = await repositories.apply(await hoopProject(), ruled);
  commit({ 'access/two.yaml': ruleManifest('twin', { user_groups: ['dev'] }) }, ['access/rule.yaml']);
  // Between the two writes both groups could run the runbooks.
  expect(summaryOf(await run('plan --prune --format json'))).toMatchObject({ refusals: ['plan/window'] });

  commit({ 'access/two.yaml': ruleManifest('twin', { runbooks: [{ ...runbook, name: 'ops/nightly/' }] }) });
  const replaced = await run('apply --yes --prune');
  expect([replaced.code, replaced.stderr]).toEqual([0, expect.any(String)]);
  expect(writes(replaced)).toEqual(['POST /api/runbooks/rules', expect.stringMatching('^DELETE /api/runbooks/rules/')]);

  commit({}, ['access/two.yaml']);
  expect(summaryOf(await run('plan --prune --format json'))).toEqual({
    headlines: ['weakens: 2 connections let everybody run every runbook: no runbook rule is left'],
    refusals: ['plan/last-runbook-rule'],
  });
  expect(writes(await run('apply --yes --prune'))).toEqual([]);
  const allowed = await run('apply --yes --prune --allow plan/last-runbook-rule=closed');
  expect([allowed.code, allowed.stderr]).toEqual([0, expect.any(String)]);
  expect(await rulesOf(project)).toEqual([]);
});

test('the last rules are deleted after another one is created, although none names a connection that they close', { timeout }, async () => {
  const closed = connection('orders-db', { access_mode_runbooks: 'disabled' });
  const before = { ...two, 'access/a.yaml': closed, 'access/rule.yaml': ruleManifest('nightly'), 'access/two.yaml': ruleManifest('twin') };
  const project = await hoopProject();
  const { run, commit } = repositories.create(project, before);
  // Both rules protect each new connection, so each of them alone seems to change nothing.
  const written = writes(await run('apply --yes')).map((request) => request.replace(/[^/]*$/, ''));
  expect(written.slice(-3)).toEqual(['POST /api/runbooks/', 'POST /api/runbooks/', 'PUT /api/connections/']);
  commit({ 'access/three.yaml': ruleManifest('weekly') }, ['access/rule.yaml', 'access/two.yaml']);
  const [planned] = JSON.parse((await run('plan --prune --format json')).stdout).plans;
  expect(planned.singleWrites).toMatchObject([
    { id: 'RunbookRule/nightly', slot: 'after-objects', windows: [] },
    { id: 'RunbookRule/twin', slot: 'before-objects', windows: [] },
    { id: 'RunbookRule/weekly', slot: 'before-objects', windows: [] },
  ]);
  // Without any rule, every runbook would be open.
  project.model.setFault(({ method }) => (method === 'POST' ? { kind: 'answer', when: 'before', status: 422, message: 'no' } : undefined));
  const apply = 'apply --yes --prune --allow plan/immutable-name=another';
  expect((await run(apply)).code).toBe(5);
  expect((await rulesOf(project)).map(({ name }) => name)).toContain('nightly');
  project.model.setFault(undefined);
  expect((await run(apply)).code).toBe(0);
  expect(await rulesOf(project)).toMatchObject([{ name: 'weekly' }]);
});

test.each([2, 12])(
  '%s rules of other groups are not all deleted before the one that replaces them is created',
  { timeout },
  async (count) => {
    const names = Array.from({ length: count }, (_, index) => `old-${index}`);
    const rules = names.map((name) => ruleManifest(name, { runbooks: [{ ...runbook, name: `${name}/` }] }));
    const before = { ...two, 'access/old.yaml': rules.join('\n---\n') };
    const { project, run, commit } = repositories.create(await hoopProject(), before);
    expect(await run('apply --yes --allow plan/window=first')).toMatchObject({ code: 0 });
    commit({ 'access/new.yaml': ruleManifest('new', { user_groups: ['dba'] }) }, ['access/old.yaml']);
    project.model.setFault(({ method }) =>
      method === 'POST' ? { kind: 'answer', when: 'before', status: 422, message: 'no' } : undefined,
    );
    expect(await run('apply --yes --prune --allow plan/window=both --allow plan/too-many-deletes=all')).toMatchObject({ code: 5 });
    expect(await rulesOf(project)).not.toEqual([]);
  },
);

test('a rule in no manifest is left, and it alone keeps other runbooks closed', { timeout }, async () => {
  const { project, run, commit } = await repositories.apply(await hoopProject(), ruled);
  await project.send('POST', '/runbooks/rules', { ...nightlyRule, name: 'by-hand' });
  commit({}, ['access/rule.yaml']);
  expect(summaryOf(await run('plan --prune --format json')).refusals).toEqual([]);
  expect(await run('apply --yes --prune')).toMatchObject({ code: 0 });
  expect(await rulesOf(project)).toMatchObject([{ name: 'by-hand' }]);
});

test('several rules with the name of a manifest are an error that lists them; others are only unmanaged', { timeout }, async () => {
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

test.each([
  ['more groups', { user_groups: ['dev', 'sre'] }, 'user_groups', 'dev can run github.com/acme/runbooks:ops/ on'],
  ['all groups', { user_groups: [] }, 'user_groups', 'everybody can run github.com/acme/runbooks:ops/ on'],
  ['more runbooks', { runbooks: [] }, 'runbooks', 'sre can run every runbook on'],
  [
    'every connection',
    { connections: [] },
    '- Connection/orders-db\n      + every connection\n',
    'sre can run github.com/acme/runbooks:ops/ on other-db',
  ],
])('%s, made by hand, are drift that the next apply reverts', { timeout }, async (_, change, shown, headline) => {
  const { project, run } = await repositories.apply(await hoopProject(), ruled);
  const [rule] = await rulesOf(project);
  expect((await project.send('PUT', `/runbooks/rules/${String(rule?.['id'])}`, { ...rule, ...change })).status).toBe(200);
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining(shown)]);
  expect(drift.stdout).toContain(headline);
  expect(drift.stdout).not.toContain('in no manifest');
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  const { updated_at: __, ...before } = rule ?? {};
  expect(await rulesOf(project)).toMatchObject([before]);
  expect(await run('drift')).toMatchObject({ code: 0 });
});

test.each([
  ['fewer runbooks', {}, { runbooks: [{ ...runbook, name: 'ops/nightly/' }] }],
  ['fewer groups', { user_groups: [] }, { user_groups: ['sre'] }],
  ['fewer connections', { connections: [] }, { connections: ['orders-db'] }],
])('%s, made by hand, are stricter and held', { timeout }, async (_, spec, change) => {
  const { project, run } = await repositories.apply(await hoopProject(), { ...two, 'access/rule.yaml': ruleManifest('nightly', spec) });
  const [rule] = await rulesOf(project);
  await project.send('PUT', `/runbooks/rules/${String(rule?.['id'])}`, { ...rule, ...change });
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining('held')]);
  const kept = await run('apply --yes');
  expect([kept.code, writes(kept)]).toEqual([0, []]);
  expect(await rulesOf(project)).toMatchObject([change]);
});

test('the last rule, deleted by hand, is created again', { timeout }, async () => {
  const { project, run } = await repositories.apply(await hoopProject(), ruled);
  const [rule] = await rulesOf(project);
  await project.send('DELETE', `/runbooks/rules/${String(rule?.['id'])}`);
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining('deleted outside Ostiary')]);
  expect(drift.stdout).toContain('no runbook rule is left');
  expect(writes(await run('apply --yes'))).toEqual(['POST /api/runbooks/rules']);
});

test('drift of a rule is adopted into its manifest', { timeout }, async () => {
  const { project, run } = await repositories.apply(await hoopProject(), ruled);
  const [rule] = await rulesOf(project);
  await project.send('PUT', `/runbooks/rules/${String(rule?.['id'])}`, {
    ...rule,
    user_groups: ['dev', 'sre'],
    connections: ['orders-db', 'other-db'],
  });
  expect(await run('drift --adopt --no-commit')).toMatchObject({ code: 0 });
  const plan = await run('plan --detailed-exitcode');
  expect([plan.code, plan.stdout]).toEqual([2, expect.stringContaining('1 drift accepted in the manifests')]);
  expect(plan.stdout).toContain('dev and sre can run github.com/acme/runbooks:ops/ on other-db');
  expect(plan.stdout).toContain('risk: weakens (');
  expect(writes(await run('apply --yes'))).toEqual([]);
  expect(await run('drift')).toMatchObject({ code: 0 });
});

test('a pull writes rules with selectors where tags explain their connections, and the plan is empty', { timeout }, async () => {
  const project = await hoopProject();
  const names = Array.from({ length: 8 }, (_, index) => `db-${index}`);
  project.write(
    Object.fromEntries(
      names.map((name, index) => [`access/${name}.yaml`, connection(name, { connection_tags: { env: index < 4 ? 'prod' : 'test' } })]),
    ),
  );
  await applyAndExpectInSync(project);
  const rules = [
    { ...nightlyRule, name: 'all', connections: [], user_groups: [], runbooks: [] },
    { ...nightlyRule, name: 'ghost', connections: ['gone'] },
    { ...nightlyRule, name: 'prod', connections: names.slice(0, 4) },
    { ...nightlyRule, name: 'some', connections: ['db-7', 'gone'] },
    { ...nightlyRule, name: 'twin', connections: ['db-1'] },
    { ...nightlyRule, name: 'twin', connections: ['db-2'] },
  ];
  for (const rule of rules) expect((await project.send('POST', '/runbooks/rules', rule)).status).toBe(201);
  const copy = repositories.create(project);
  const pulled = await copy.run('pull');
  expect([pulled.code, pulled.stderr]).toEqual([0, expect.any(String)]);
  const shown = `${pulled.stdout}${pulled.stderr}`;
  expect(shown).toMatch(/RunbookRule\/ghost.*/);
  expect(shown).toMatch(/RunbookRule\/twin.*/);
  const specs = manifestsOf('RunbookRule', copy.repository.folder).map(({ spec }) => spec);
  expect(specs).toEqual([
    { runbooks: [], connections: [], user_groups: [] },
    { runbooks: [runbook], connection_selector: { match_tags: { env: 'prod' } }, user_groups: ['sre'] },
    { runbooks: [runbook], connections: ['db-7'], user_groups: ['sre'] },
  ]);
  const plan = await copy.run('plan --detailed-exitcode');
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('No changes')]);
});

test('a new connection has no runbooks until the rule that its tags select includes it', { timeout }, async () => {
  const project = await applied({ connections: [], connection_selector: { match_tags: { env: 'prod' } } });
  project.write({ 'access/new.yaml': connection('new-db', { connection_tags: { env: 'prod' }, ...open }) });
  const done = await project.ostiary(['apply', '--yes']);
  expect([done.code, done.stderr]).toEqual([0, expect.any(String)]);
  expect(writes(done)).toEqual(['POST /api/connections', expect.stringMatching('^PUT /api/runbooks/rules/')]);
  expect(await rulesOf(project)).toMatchObject([{ connections: ['new-db', 'orders-db'] }]);
});

test('a successor that the rule of its predecessor takes needs no override', { timeout }, async () => {
  const { project, run, commit } = await repositories.apply(await hoopProject(), ruled);
  const successor = connection('orders-new', open, { replaces: 'orders-db' });
  commit({ 'access/a.yaml': successor, 'access/rule.yaml': ruleManifest('nightly', { connections: ['orders-new'] }) });
  const done = await run('apply --yes');
  expect([done.code, writes(done).slice(0, 2)]).toEqual([0, ['POST /api/connections', expect.stringMatching('^PUT /api/runbooks/rules/')]]);
  expect(await rulesOf(project)).toMatchObject([{ connections: ['orders-db', 'orders-new'] }]);
});

test.each<readonly [string, object, readonly string[]]>([
  ['alone', {}, []],
  [
    'with another group',
    { user_groups: ['dev'] },
    [`strengthens: sre can no longer run ${runbookName} on orders-db`, `weakens: dev can run ${runbookName} on orders-db`],
  ],
])('the only rule, renamed by hand %s, is judged by what changed', { timeout }, async (_, change, headlines) => {
  const { project, run } = await repositories.apply(await hoopProject(), ruled);
  const [rule] = await rulesOf(project);
  await project.send('PUT', `/runbooks/rules/${String(rule?.['id'])}`, { ...rule, ...change, name: 'renamed' });
  expect(driftHeadlines(await run('drift --format json'))).toEqual(headlines);
});
