import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connection, guardrail } from '../e2e/project.ts';
import { open, switchOn } from '../support/access-project.ts';
import { auditorToken, hoopProject, type HoopProject, standardToken } from '../support/hoop-project.ts';
import { manifestsOf, useHoopRepositories } from '../support/hoop-repository.ts';
import { applyAndExpectInSync, expectRefused, planSummary, writes } from './expectations.ts';

const repositories = useHoopRepositories();

const timeout = 60_000;

/** Returns the manifest of an attribute. */
function attribute(name: string, spec: object = {}, metadata: object = {}): string {
  return JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'Attribute', metadata: { name, ...metadata }, spec });
}

/** Returns the manifest of an access-request rule that governs connections with an attribute. */
function ruleBy(name: string, ...attributes: readonly string[]): string {
  const spec = { access_type: 'jit_command', attributes, reviewers_groups: ['dba'], min_approvals: 1 };
  return JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'AccessRequestRule', metadata: { name }, spec });
}

/** Returns the manifest of a guardrail of `orders-db`, with attributes. */
function guardrailBy(...attributes: readonly string[]): string {
  return guardrail('no-drop', ['drop'], { connection_ids: ['orders-db'], attributes });
}

type Attributes = Readonly<Record<string, { readonly groups: readonly string[]; readonly connections: readonly string[] }>>;

async function attributesOf({ send }: HoopProject): Promise<Attributes> {
  const { body } = await send('GET', '/attributes?page=1&page_size=100');
  const rows: readonly Readonly<Record<string, never>>[] = Object(body)['data'];
  return Object.fromEntries(
    rows.map((row) => [row['name'], { groups: row['access_control_group_names'], connections: row['connection_names'] }]),
  );
}

/** Returns a project whose access control is on: only admins see connections without groups then. */
async function controlled(): Promise<HoopProject> {
  const project = await hoopProject();
  await switchOn({ project });
  return project;
}

const tagged = connection('orders-db', { ...open, attributes: ['pci'] });

/** Returns a project whose access control is on, with one connection that has an attribute, and one without. */
async function applied(spec: object = { access_groups: ['dba'] }): Promise<HoopProject> {
  const project = await controlled();
  project.write({
    'access/a.yaml': tagged,
    'access/b.yaml': connection('other-db', open),
    'access/pci.yaml': attribute('pci', spec),
  });
  await applyAndExpectInSync(project);
  return project;
}

test('an attribute is created, grants more and less, and is renamed in place with its links', { timeout }, async () => {
  const project = await applied();
  expect(await attributesOf(project)).toEqual({ pci: { groups: ['dba'], connections: ['orders-db'] } });

  project.write({ 'access/pci.yaml': attribute('pci', { access_groups: ['dba', 'sre'] }) });
  expect((await planSummary(project)).headlines).toEqual(['weakens: sre can reach orders-db']);
  await applyAndExpectInSync(project);
  project.write({ 'access/pci.yaml': attribute('pci', { access_groups: ['sre'] }) });
  expect((await planSummary(project)).headlines).toEqual(['strengthens: dba can no longer reach orders-db']);
  const less = await applyAndExpectInSync(project);
  expect(writes(less)).toEqual(['PUT /api/attributes/pci']);

  project.write({
    'access/a.yaml': connection('orders-db', { ...open, attributes: ['cards'] }),
    'access/pci.yaml': attribute('cards', { access_groups: ['sre'] }, { renamedFrom: 'pci' }),
  });
  expect((await planSummary(project)).headlines).toEqual([]);
  expect(writes(await applyAndExpectInSync(project))).toEqual(['PUT /api/attributes/pci']);
  expect(await attributesOf(project)).toEqual({ cards: { groups: ['sre'], connections: ['orders-db'] } });
});

test('an attribute that attaches and grants nothing is no cause, and one that a rule has may be one', { timeout }, async () => {
  const project = await controlled();
  project.write({ 'access/a.yaml': connection('orders-db', open) });
  await applyAndExpectInSync(project);
  project.write({ 'access/a.yaml': tagged, 'access/pci.yaml': attribute('pci'), 'access/rule.yaml': guardrailBy() });
  const idle = await project.ostiary(['plan']);
  expect(idle.stdout).toMatch(/gains guardrail no-drop \(orders-db\) {2}access\/rule\.yaml:20, access\/rule\.yaml:1\n/);
  expect(idle.stdout).not.toContain('Other impact');
  project.write({ 'access/rule.yaml': guardrailBy('pci') });
  expect((await project.ostiary(['plan'])).stdout).toMatch(/Other impact:\n +attributes\.pci {2}cannot be compared/);
});

test('a rename is refused while manifests have the former name', { timeout }, async () => {
  const project = await applied();
  project.write({ 'access/pci.yaml': attribute('cards', { access_groups: ['dba'] }, { renamedFrom: 'pci' }) });
  await expectRefused(project, 'Connection/orders-db has the attribute "pci", which the plan renames to "cards"');
});

test('a write of an attribute leaves its links to connections and rules as they are', { timeout }, async () => {
  const project = await applied();
  const body = { name: 'no-drop', input: { rules: [] }, output: { rules: [] }, attributes: ['pci'] };
  expect((await project.send('POST', '/guardrails', body)).status).toBe(201);
  await project.send('PUT', '/attributes/pci', { name: 'pci', connection_names: ['orders-db', 'other-db'] });
  project.write({ 'access/pci.yaml': attribute('pci', { access_groups: ['sre'] }) });
  const done = await project.ostiary(['apply', '--yes']);
  expect([done.code, writes(done)]).toEqual([0, ['PUT /api/attributes/pci']]);
  const { pci } = await attributesOf(project);
  expect([pci?.groups, pci?.connections.toSorted()]).toEqual([['sre'], ['orders-db', 'other-db']]);
  expect(project.model.store.guardrailAttributes.has('pci', 'no-drop')).toBe(true);
  const sent = project.model.log.writes().findLast(({ path }) => path === '/api/attributes/pci');
  expect(Object.keys(JSON.parse(sent?.body ?? '{}')).toSorted()).toEqual(['access_control_group_names', 'description', 'name']);
});

test(
  'an attribute that a connection of the same plan names is written after the rule that protects the connection',
  { timeout },
  async () => {
    const project = await controlled();
    project.write({ 'access/a.yaml': connection('orders-db', open) });
    await applyAndExpectInSync(project);
    project.write({
      'access/a.yaml': tagged,
      'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }),
      'access/rule.yaml': ruleBy('cards', 'pci'),
    });
    const done = await applyAndExpectInSync(project);
    expect(writes(done)).toEqual([
      'POST /api/access-requests/rules',
      'PUT /api/attributes/pci',
      expect.stringMatching('^PUT /api/connections/'),
    ]);
    expect(await attributesOf(project)).toEqual({ pci: { groups: ['dba'], connections: ['orders-db'] } });
  },
);

test(
  'an attribute that only objects of the gateway name becomes managed without a question, and a pull states that it grants nothing',
  { timeout },
  async () => {
    const { project, run, change } = await repositories.apply(await hoopProject(), { 'access/a.yaml': tagged });
    await switchOn({ project });
    const empty = await run('plan');
    expect(empty.stdout).toContain('No changes');
    expect(empty.stdout).not.toContain('Attribute/');
    const done = await change({ 'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }) });
    expect(writes(done)).toEqual(['PUT /api/attributes/pci']);

    await project.send('POST', '/attributes', { name: 'team', connection_names: ['orders-db'], access_control_group_names: ['sre'] });
    await project.send('POST', '/attributes', { name: 'label', connection_names: ['orders-db'] });
    await project.send('POST', '/attributes', { name: 'noted', description: 'By hand' });
    const pulled = repositories.create(project);
    expect((await pulled.run('pull')).code).toBe(0);
    const found = manifestsOf('Attribute', pulled.repository.folder).map(({ metadata, spec }) => [metadata.name, spec]);
    expect(Object.fromEntries(found)).toEqual({
      pci: { access_groups: ['dba'] },
      team: { access_groups: ['sre'] },
      noted: { description: 'By hand' },
      label: {},
    });
    const plan = await pulled.run('plan --detailed-exitcode');
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('No changes')]);
  },
);

const granting = { 'access/a.yaml': tagged, 'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }) };

test('a grant made by hand is drift that the next apply reverts, and a stricter one is held', { timeout }, async () => {
  const { project, run } = await repositories.apply(await controlled(), granting);
  await project.send('PUT', '/attributes/pci', { name: 'pci', access_control_group_names: ['dba', 'sre'] });
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining('sre can reach orders-db')]);
  expect(drift.stdout).not.toContain('in no manifest');
  expect(writes(await run('apply --yes'))).toEqual(['PUT /api/attributes/pci']);
  expect(await attributesOf(project)).toEqual({ pci: { groups: ['dba'], connections: ['orders-db'] } });
  expect(await run('drift')).toMatchObject({ code: 0 });

  await project.send('PUT', '/attributes/pci', { name: 'pci', access_control_group_names: [] });
  const stricter = await run('drift');
  expect([stricter.code, stricter.stdout]).toEqual([2, expect.stringContaining('held')]);
  const kept = await run('apply --yes');
  expect([kept.code, writes(kept)]).toEqual([0, []]);
  expect(writes(await run('apply --yes --revert Attribute/pci'))).toEqual(['PUT /api/attributes/pci']);
});

test('a grant made by hand and accepted by the manifests is a weakening', { timeout }, async () => {
  const { project, run, commit } = await repositories.apply(await controlled(), granting);
  await project.send('PUT', '/attributes/pci', { name: 'pci', access_control_group_names: ['dba', 'sre'] });
  commit({ 'access/pci.yaml': attribute('pci', { access_groups: ['dba', 'sre'] }) });
  const plan = await run('plan');
  expect(plan.stdout).toContain('Weakens protection of 1 connection. Nothing to write: 1 drift accepted in the manifests');
  expect(plan.stdout).toContain('sre can reach orders-db in the manifests');
});

test('links of an attribute to a connection that leaves attributes to the gateway stay watched', { timeout }, async () => {
  const { project, run } = await repositories.apply(await controlled(), { ...granting, 'access/b.yaml': connection('other-db', open) });
  await project.send('PUT', '/attributes/pci', { name: 'pci', connection_names: ['orders-db', 'other-db'] });
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining('dba can reach other-db')]);
  expect(drift.stdout).toMatch(/attribute pci, not managed: changed\s+connections {2}\+ other-db/);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await run('drift')).toMatchObject({ code: 0 });
});

test('an attribute is deleted after the last connection let go of it, and never while a manifest names it', { timeout }, async () => {
  const { project, run, change } = await repositories.apply(await controlled(), {
    ...granting,
    'access/rule.yaml': ruleBy('cards', 'pci'),
  });
  await expect(change({}, ['access/pci.yaml'])).rejects.toThrow(
    /Connection\/orders-db has the attribute "pci"[\s\S]*AccessRequestRule\/cards has|AccessRequestRule\/cards has[\s\S]*Connection\/orders-db has/,
  );
  const machine = { name: 'robot', connection_names: [], attributes: ['pci'] };
  project.model.settings.listeners = true;
  expect((await project.send('POST', '/machineidentities', machine)).status).toBe(201);
  const plain = connection('orders-db', { ...open, attributes: [] });
  const gone = await change({ 'access/a.yaml': plain }, ['access/rule.yaml']);
  expect(writes(gone).slice(-2)).toEqual(['DELETE /api/access-requests/rules/cards', 'DELETE /api/attributes/pci']);
  expect(gone.stdout + gone.stderr).toContain('machine identity robot, whose credentials stay');
  expect(await attributesOf(project)).toEqual({});
  expect(await run('drift')).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift') });
});

test('an attribute stays while a rule that it links cannot be deleted', { timeout }, async () => {
  const { project, run, commit } = await repositories.apply(await controlled(), {
    'access/a.yaml': connection('orders-db', open),
    'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }),
    'access/rule.yaml': ruleBy('cards', 'pci'),
  });
  commit({}, ['access/pci.yaml', 'access/rule.yaml']);
  project.model.setFault(({ method, path }) =>
    method === 'DELETE' && path.includes('/access-requests/') ? { kind: 'answer', when: 'before', status: 400, message: 'no' } : undefined,
  );
  const failed = await run('apply --yes --prune');
  expect([failed.code, writes(failed)]).toEqual([5, ['DELETE /api/access-requests/rules/cards']]);
  expect(await attributesOf(project)).toEqual({ pci: { groups: ['dba'], connections: [] } });
  project.model.setFault(undefined);
  const ended = await run('apply --yes --prune');
  expect([ended.code, writes(ended)]).toEqual([0, ['DELETE /api/access-requests/rules/cards', 'DELETE /api/attributes/pci']]);
  expect(await attributesOf(project)).toEqual({});
});

test('groups of a deleted attribute never keep a connection without the approval that its rule asks for', { timeout }, async () => {
  const { project, run, commit } = await repositories.apply(await controlled(), {
    'access/a.yaml': connection('orders-db', open),
    'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }),
    'access/rule.yaml': ruleBy('cards', 'pci'),
  });
  await project.send('PUT', '/attributes/pci', { name: 'pci', connection_names: ['orders-db'] });
  commit({}, ['access/pci.yaml', 'access/rule.yaml']);
  const refused = await run('apply --yes --prune');
  expect([refused.code, refused.stdout + refused.stderr, writes(refused)]).toEqual([6, expect.stringContaining('plan/window'), []]);
});

test('the deletion of an attribute names what loses it without a manifest, and says what that means', { timeout }, async () => {
  const { project, run, change } = await repositories.apply(await controlled(), {
    'access/b.yaml': connection('other-db', { ...open, access_groups: ['sre'] }),
    'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }),
  });
  await project.send('PUT', '/attributes/pci', { name: 'pci', connection_names: ['other-db'] });
  expect(
    (
      await project.send('POST', '/access-requests/rules', {
        name: 'by-hand',
        access_type: 'jit_command',
        connection_names: ['elsewhere'],
        attributes: ['pci'],
        reviewers_groups: ['dba'],
        approval_required_groups: [],
        force_approval_groups: [],
        min_approvals: 1,
      })
    ).status,
  ).toBe(201);
  project.model.settings.listeners = true;
  expect((await project.send('POST', '/machineidentities', { name: 'robot', connection_names: [], attributes: ['pci'] })).status).toBe(201);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  const done = await change({}, ['access/pci.yaml']);
  const losers = 'AccessRequestRule/by-hand, Connection/other-db, machine identity robot, whose credentials stay';
  expect(done.stdout + done.stderr).toContain(`takes it from ${losers}`);
  expect(done.stdout).toContain('dba can no longer reach other-db');
  expect(done.stdout).toContain('1 connection loses approval (other-db)');
  expect(done.stdout).not.toContain('machine identity robot can no longer reach');
});

test.each([
  ['a name of a protection profile', attribute('hoop_protection_profile-mine'), 'hoop/managed-attribute'],
  ['a name of a rulepack', attribute('rulepack_mine'), 'hoop/managed-attribute'],
  ['its links', attribute('pci', { connection_names: ['orders-db'] }), 'it follows from attributes of connections and rules'],
])('%s is refused before anything is written', { timeout }, async (_, manifest, text) => {
  const project = await applied();
  project.write({ 'access/two.yaml': manifest, ...(text.startsWith('it ') ? { 'access/pci.yaml': manifest, 'access/two.yaml': '' } : {}) });
  await expectRefused(project, text);
});

test('an attribute that the gateway manages is never written', { timeout }, async () => {
  const { project, change } = await repositories.apply(await hoopProject(), granting);
  const row = project.model.store.attributes.get('pci');
  if (row === undefined) throw new Error('the attribute is missing');
  project.model.store.attributes.set('pci', { ...row, managedBy: 'hoop' });
  await expect(change({ 'access/pci.yaml': attribute('pci', { access_groups: ['sre'] }) })).rejects.toThrow('plan/managed');
});

test('groups that no user has are a warning', { timeout }, async () => {
  const project = await applied();
  project.write({ 'access/pci.yaml': attribute('pci', { access_groups: ['dba', 'dab'] }) });
  const plan = await project.ostiary(['plan']);
  expect(plan.stdout + plan.stderr).toContain('unknown group "dab" on the gateway');
});

test('while access control is off a grant does nothing, and counts in the plan that switches it on', { timeout }, async () => {
  const project = await hoopProject();
  project.write({ ...granting, 'access/b.yaml': connection('other-db', open) });
  const plan = await project.ostiary(['plan']);
  expect(plan.stdout + plan.stderr).toContain('the attribute "pci" grants nothing yet: access control is off');
  await applyAndExpectInSync(project);
  expect((await planSummary(project)).headlines).toEqual([]);

  project.write({ 'access/c.yaml': connection('third-db', { ...open, access_groups: ['sre'] }) });
  const refused = await project.ostiary(['plan']);
  expect(refused.stdout + refused.stderr).toContain('plan/access-control-on');
  expect(refused.stdout + refused.stderr).toContain('only admins see 1 connection without access_groups: other-db');
  const allowed = ['apply', '--yes', '--allow', 'plan/access-control-on=test'];
  expect((await project.ostiary(allowed)).code).toBe(0);
});

test('who may read, may plan; only admins write', { timeout }, async () => {
  const { run, project } = await repositories.apply(await controlled(), granting);
  expect(await run('plan --detailed-exitcode', auditorToken)).toMatchObject({ code: 0 });
  expect((await project.ostiary(['get', 'attributes'], { OSTIARY_TOKEN: standardToken })).stdout).toContain('pci');
});

test('an attribute is renamed before a connection that has it is written', { timeout }, async () => {
  const { project, run, change } = await repositories.apply(await controlled(), {
    ...granting,
    'access/rule.yaml': ruleBy('cards', 'pci'),
  });
  const done = await change({
    'access/a.yaml': connection('orders-db', { ...open, attributes: ['cards'], reviewers: ['sre'] }),
    'access/pci.yaml': attribute('cards', { access_groups: ['dba', 'sre'] }, { renamedFrom: 'pci' }),
    'access/rule.yaml': ruleBy('cards', 'cards'),
  });
  expect(writes(done).map((one) => one.replace(/[0-9a-f-]{36}$/, 'ID'))).toEqual([
    'PUT /api/attributes/pci',
    'PUT /api/attributes/cards',
    'PUT /api/connections/ID',
  ]);
  expect(await attributesOf(project)).toEqual({ cards: { groups: ['dba', 'sre'], connections: ['orders-db'] } });
  expect(await run('plan')).toMatchObject({ stdout: expect.stringContaining('No changes') });
  expect(await run('drift')).toMatchObject({ code: 0 });
});

test('an attribute and a rule that names it are created in one plan, whichever is first', { timeout }, async () => {
  const { project, run, change } = await repositories.apply(await hoopProject(), { 'access/a.yaml': connection('orders-db', open) });
  await change({ 'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }), 'access/rule.yaml': ruleBy('cards', 'pci') });
  expect(await attributesOf(project)).toEqual({ pci: { groups: ['dba'], connections: [] } });
  expect(await run('plan')).toMatchObject({ stdout: expect.stringContaining('No changes') });
});

test('a grant made by hand is accepted into the manifest, and explained', { timeout }, async () => {
  const { project, run, repository } = await repositories.apply(await controlled(), granting);
  await project.send('PUT', '/attributes/pci', { name: 'pci', access_control_group_names: ['dba', 'sre'] });
  expect(await run('drift --adopt --no-commit')).toMatchObject({ stdout: expect.stringContaining('Accepted: 1 object') });
  expect(readFileSync(join(repository.folder, 'access/pci.yaml'), 'utf8')).toMatch(/"?dba"?,\s*"?sre"?/);
  expect((await run('plan')).stdout).toContain('1 drift accepted in the manifests');
  const explained = await run('explain Connection/orders-db');
  expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining('Attribute/pci')]);
  expect(await run('explain Attribute/pci')).toMatchObject({ code: 0, stdout: expect.stringContaining('access_groups') });
});

test('groups move between the row of a connection and its attribute, and no one else reaches it meanwhile', { timeout }, async () => {
  const { project, run, change } = await repositories.apply(await controlled(), {
    'access/a.yaml': connection('orders-db', { ...open, attributes: ['pci'], access_groups: ['dba'] }),
    'access/pci.yaml': attribute('pci'),
  });
  await change({
    'access/a.yaml': connection('orders-db', { ...open, attributes: ['pci'], access_groups: [] }),
    'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }),
  });
  expect(await attributesOf(project)).toEqual({ pci: { groups: ['dba'], connections: ['orders-db'] } });
  const back = await change({
    'access/a.yaml': connection('orders-db', { ...open, attributes: ['pci'], access_groups: ['dba', 'sre'] }),
    'access/pci.yaml': attribute('pci', { access_groups: [] }),
  });
  expect(writes(back)).toEqual([expect.stringMatching('access_control|attributes'), expect.stringMatching('access_control|attributes')]);
  expect(await run('plan')).toMatchObject({ stdout: expect.stringContaining('No changes') });
});

test('drift after a pull finds an attribute that was added by hand to a connection without any', { timeout }, async () => {
  const project = await applied();
  const { repository, run } = repositories.create(project);
  expect(await run('pull')).toMatchObject({ code: 0 });
  repository.commit();
  const stated = manifestsOf('Connection', repository.folder).map(({ metadata, spec }) => [metadata.name, spec['attributes']]);
  expect(stated).toEqual([
    ['orders-db', ['pci']],
    ['other-db', []],
  ]);
  const body = { name: 'pci', access_control_group_names: ['dba'], connection_names: ['orders-db', 'other-db'] };
  expect((await project.send('PUT', '/attributes/pci', body)).status).toBe(200);
  const drift = await run('drift --base HEAD');
  expect(drift.stdout).toContain('dba can reach other-db');
});

/** Returns a connection that may have reviewers and a guardrail, and another one. */
function guarded({ reviewers = ['sre'], guard = ['orders-db'], own = {} }): Readonly<Record<string, string>> {
  return {
    'access/a.yaml': connection('orders-db', { ...open, reviewers, ...own }),
    'access/b.yaml': guardrail('no-drop', ['drop'], { connection_ids: [...guard, 'other-db'] }),
    'access/c.yaml': connection('other-db', open),
  };
}

test.each([
  ['a guardrail', { guard: [] }, 'GuardrailRule/no-drop removes an attachment'],
  ['the reviewers', { reviewers: [] }, 'Connection/orders-db removes reviewers.sre'],
])('the plan names the moment between the end of %s and that of the access by a deleted attribute', async (_, change, lost) => {
  const project = await repositories.apply(await controlled(), {
    ...guarded({ own: { attributes: ['pci'] } }),
    'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }),
  });
  // The manifest of the connection leaves its attributes to the gateway.
  project.commit(guarded(change), ['access/pci.yaml']);
  const { code, stdout } = await project.run('plan --prune');
  expect([code, stdout]).toEqual([6, expect.stringContaining(`less protected after ${lost}, and before Attribute/pci is deleted`)]);
});
