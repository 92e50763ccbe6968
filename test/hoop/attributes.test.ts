import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { open, switchOn } from '../support/access-project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';
import { applyAndExpectInSync, expectRefused, planSummary, refuse, writes } from './expectations.ts';

const repositories = useHoopRepositories();

/** Returns the manifest of an attribute. */
function attribute(name: string, spec: object = {}, metadata: object = {}): string {
  return JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'Attribute', metadata: { name, ...metadata }, spec });
}

/** Returns the manifest of an access-request rule that governs connections with an attribute. */
function ruleBy(name: string, ...attributes: readonly string[]): string {
  const spec = { access_type: 'jit_command', attributes, reviewers_groups: ['dba'], min_approvals: 1 };
  return JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'AccessRequestRule', metadata: { name }, spec });
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

test('an attribute is created, grants more and less, and is renamed in place with its links', async () => {
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

test('a rename is refused while manifests have the former name', async () => {
  const project = await applied();
  project.write({ 'access/pci.yaml': attribute('cards', { access_groups: ['dba'] }, { renamedFrom: 'pci' }) });
  await expectRefused(project, 'Connection/orders-db has the attribute "pci", which the plan renames to "cards"');
});

const granting = { 'access/a.yaml': tagged, 'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }) };

test('links of an attribute to a connection that leaves attributes to the gateway stay watched', async () => {
  const { project, run } = await repositories.apply(await controlled(), { ...granting, 'access/b.yaml': connection('other-db', open) });
  await project.send('PUT', '/attributes/pci', { name: 'pci', connection_names: ['orders-db', 'other-db'] });
  const drift = await run('drift');
  expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining('dba can reach other-db')]);
  expect(drift.stdout).toMatch(/Connection\/other-db: changed\s+attributes {2}\+ pci/);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await run('drift')).toMatchObject({ code: 0 });
});

test('an attribute with a manifest that was renamed by hand gives nothing to connections without one', async () => {
  const { project, run } = await repositories.apply(await controlled(), granting);
  const { body } = await project.send('GET', '/connections/orders-db');
  expect((await project.send('POST', '/connections', { ...Object(body), name: 'legacy-db' })).status).toBe(201);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  const renamed = { name: 'cards', access_control_group_names: ['dba'], connection_names: ['legacy-db', 'orders-db'] };
  expect((await project.send('PUT', '/attributes/pci', renamed)).status).toBe(200);
  const { outside } = JSON.parse((await run('drift --format json')).stdout).drifts[0].plan;
  expect(outside).toMatchObject({ changes: [{ id: 'Connection/legacy-db' }, { id: 'Attribute/cards' }] });
  expect(JSON.stringify(outside.headlines)).not.toContain('legacy-db');
});

test('an attribute is deleted after the last connection let go of it, and never while a manifest names it', async () => {
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

test('an attribute stays while a rule that it links cannot be deleted', async () => {
  const { project, run, commit } = await repositories.apply(await controlled(), {
    'access/a.yaml': connection('orders-db', open),
    'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }),
    'access/rule.yaml': ruleBy('cards', 'pci'),
  });
  commit({}, ['access/pci.yaml', 'access/rule.yaml']);
  refuse(project, 'DELETE /api/access-requests/', 400);
  const failed = await run('apply --yes --prune');
  expect([failed.code, writes(failed)]).toEqual([5, ['DELETE /api/access-requests/rules/cards']]);
  expect(await attributesOf(project)).toEqual({ pci: { groups: ['dba'], connections: [] } });
  project.model.setFault(undefined);
  const ended = await run('apply --yes --prune');
  expect([ended.code, writes(ended)]).toEqual([0, ['DELETE /api/access-requests/rules/cards', 'DELETE /api/attributes/pci']]);
  expect(await attributesOf(project)).toEqual({});
});

test('groups of a deleted attribute never keep a connection without the approval that its rule asks for', async () => {
  const { project, run, commit } = await repositories.apply(await controlled(), {
    'access/a.yaml': connection('orders-db', open),
    'access/pci.yaml': attribute('pci', { access_groups: ['dba'] }),
    'access/rule.yaml': ruleBy('cards', 'pci'),
  });
  await project.send('PUT', '/attributes/pci', { name: 'pci', connection_names: ['orders-db'] });
  commit({}, ['access/pci.yaml', 'access/rule.yaml']);
  const done = await run('apply --yes --prune');
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('closed while its rules change')]);
  expect(writes(done).map((one) => one.replace(/[0-9a-f-]{36}$/, 'ID'))).toEqual([
    'PUT /api/connections/ID',
    'DELETE /api/access-requests/rules/cards',
    'DELETE /api/attributes/pci',
    'PUT /api/connections/ID',
  ]);
});

test.each([
  ['a name of a protection profile', attribute('hoop_protection_profile-mine'), 'hoop/managed-attribute'],
  ['a name of a rulepack', attribute('rulepack_mine'), 'hoop/managed-attribute'],
  ['its links', attribute('pci', { connection_names: ['orders-db'] }), 'it follows from attributes of connections and rules'],
])('%s is refused before anything is written', async (_, manifest, text) => {
  const project = await applied();
  project.write({ 'access/two.yaml': manifest, ...(text.startsWith('it ') ? { 'access/pci.yaml': manifest, 'access/two.yaml': '' } : {}) });
  await expectRefused(project, text);
});

test('a live attribute that no route reaches is one that the gateway cannot change, and neither rename', async () => {
  const project = await controlled();
  expect((await project.send('POST', '/attributes', { name: 'team/one' })).status).toBe(201);
  for (const manifest of [attribute('team/one', { access_groups: ['dba'] }), attribute('team-one', {}, { renamedFrom: 'team/one' })]) {
    project.write({ 'access/one.yaml': manifest });
    const { code, stderr } = await project.ostiary(['plan']);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/error hoop\/name +the gateway cannot change or delete the live "team\/one"/),
    ]);
  }
});

test('an attribute that no route reaches is not created by a connection or a rule, and is linked if it is live', async () => {
  const project = await controlled();
  project.write({ 'access/one.yaml': ruleBy('by-attribute', 'team/one') });
  await expectRefused(project, 'no route of the gateway reaches the attribute "team/one"');
  project.write({ 'access/one.yaml': connection('one-db', { attributes: ['..'] }) });
  await expectRefused(project, 'no route of the gateway reaches the attribute ".."');
  expect((await project.send('POST', '/attributes', { name: 'team/one' })).status).toBe(201);
  project.write({ 'access/one.yaml': connection('one-db', { attributes: ['team/one'] }) });
  const { code, stderr } = await project.ostiary(['plan']);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('hoop/name')]);
});

test('an orphan that no route reaches is not deleted; it is released', async () => {
  const gateway = await controlled();
  expect((await gateway.send('POST', '/attributes', { name: 'team/two' })).status).toBe(201);
  const project = await repositories.apply(gateway, {
    'access/kept.yaml': attribute('kept', {}),
    'access/two.yaml': attribute('team/two', {}, { adopt: true }),
  });
  project.commit({}, ['access/two.yaml']);
  const done = await project.run('apply --yes --prune');
  expect([done.code, done.stdout.replaceAll(/\s+/g, ' '), writes(done)]).toEqual([
    6,
    expect.stringContaining('the gateway cannot delete Attribute/team/two'),
    [],
  ]);
});
