import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { connection } from '../e2e/project.ts';
import { disturbableHoop } from '../support/disturbable-gateways.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { scenarioToken } from '../support/hoop-scenario.ts';
import { type Disturbance, interruptedHistory } from '../support/interrupted-apply.ts';
import { applyAndExpectInSync } from './expectations.ts';

const shop = { 'access/a.yaml': connection('shop-db', {}, { replaces: 'orders-db' }) };

async function prepared(): Promise<HoopProject> {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db') });
  await applyAndExpectInSync(project);
  return project;
}

test.each([
  ['are not shown', 403],
  ['cannot be read', 500],
  ['may be hidden by a proxy', 404],
])('runbook rules that %s', async (_, status) => {
  const project = await prepared();
  project.write(shop);
  project.model.setFault(({ path }) => (path.endsWith('/runbooks/rules') ? { kind: 'answer', when: 'before', status } : undefined));
  const planned = await project.ostiary(['plan']);
  expect(planned.code).toBe(6);
  const message = 'the token cannot see whether runbook rules name Connection/orders-db';
  expect(planned.stdout.replaceAll(/\s+/g, ' ')).toContain(message);
});

const spec = { type: 'database', subtype: 'postgres', agent_id: 'default', access_schema: 'disabled' };
const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };
const shut = { access_mode_connect: 'disabled', access_mode_exec: 'disabled', access_mode_runbooks: 'disabled' };
const other = { kind: 'Connection', metadata: { name: 'ledger-db' }, spec: { ...spec, ...modes, access_groups: ['dba'] } };

test('a successor gets the attribute that the same plan renames', async () => {
  const world = await disturbableHoop();
  const history = interruptedHistory(world, {
    before: [
      other,
      { kind: 'Attribute', metadata: { name: 'pci' }, spec: { access_groups: ['dba'] } },
      { kind: 'Connection', metadata: { name: 'orders-db' }, spec: { ...spec, ...modes, attributes: ['pci'] } },
    ],
    after: [
      other,
      { kind: 'Attribute', metadata: { name: 'cards', renamedFrom: 'pci' }, spec: {} },
      { kind: 'Connection', metadata: { name: 'shop-db', replaces: 'orders-db' }, spec: { ...spec, ...modes, attributes: ['cards'] } },
    ],
  });
  expect(await history.apply('before')).toEqual([]);
  expect(await history.apply('after')).toEqual([]);
  expect(await history.rest('after')).toEqual([]);
  await world.close();
});

const inheriting = {
  before: [
    other,
    { kind: 'Attribute', metadata: { name: 'pci' }, spec: { access_groups: ['dba'] } },
    { kind: 'Attribute', metadata: { name: 'cards' }, spec: { access_groups: ['sre'] } },
    { kind: 'Connection', metadata: { name: 'orders-db' }, spec: { ...spec, ...modes, attributes: ['cards', 'pci'] } },
  ],
  after: [
    other,
    { kind: 'Attribute', metadata: { name: 'cards' }, spec: { access_groups: ['sre'] } },
    { kind: 'Connection', metadata: { name: 'shop-db', replaces: 'orders-db' }, spec: { ...spec, ...modes } },
  ],
};

/** Replaces a connection and deletes one of its attributes, by an apply that may end early, and finishes it. */
async function replaceWithout(disturbance?: Disturbance): Promise<Omit<Replaced, 'writes'> & { readonly requests: number }> {
  const world = await disturbableHoop();
  try {
    const history = interruptedHistory(world, inheriting);
    expect(await history.apply('before')).toEqual([]);
    const begun = world.requests();
    const failed = await history.apply('after', disturbance);
    const requests = world.requests() - begun;
    expect({ disturbance, failed: disturbance === undefined ? failed : await history.apply('after') }).toEqual({ disturbance, failed: [] });
    return { requests, found: { state: world.state(), rest: [...(await history.findBlame('after')), ...(await history.rest('after'))] } };
  } finally {
    await world.close();
  }
}

test('a successor inherits its attributes without one that the same plan deletes, wherever its apply ends early', async () => {
  const { requests, found: whole } = await replaceWithout();
  expect(whole.rest).toEqual([]);
  expect(JSON.stringify(whole.state)).toContain('cards');
  expect(JSON.stringify(whole.state)).not.toContain('pci');
  for (const how of ['killed', 'from then on'] as const)
    for (let at = 1; at <= requests; at += 3) {
      const disturbance = { at, when: 'after', how } as const;
      const { found } = await replaceWithout(disturbance);
      expect({ disturbance, found }).toEqual({ disturbance, found: whole });
    }
});

const usual = { ...spec, ...modes, access_groups: ['dba', 'sre'], reviewers: ['dba'] };
const replacing = {
  before: [other, { kind: 'Connection', metadata: { name: 'orders-db' }, spec: usual }],
  after: [other, { kind: 'Connection', metadata: { name: 'shop-db', replaces: 'orders-db' }, spec: usual }],
};

/** What is after a replacement, and the numbers of its requests that wrote. */
type Replaced = { readonly writes: readonly number[]; readonly found: { readonly state: unknown; readonly rest: readonly string[] } };

/** Restricts a connection by hand, applies its replacement, which may end early, and finishes it. */
async function replaceRestricted(restrict: JsonObject, disturbance?: Disturbance): Promise<Replaced> {
  const world = await disturbableHoop();
  const put = async (path: string, body: unknown): Promise<void> => {
    expect((await world.model.send('PUT', path, scenarioToken, body)).status).toBe(200);
  };
  try {
    // An apply is disturbed when its plan is made, and no longer when it has ended.
    const marks: number[] = [];
    const disturb = (one: Disturbance | undefined): void => {
      marks.push(world.requests());
      world.disturb(one);
    };
    const history = interruptedHistory({ ...world, disturb }, replacing);
    expect(await history.apply('before')).toEqual([]);
    const { body } = await world.model.send('GET', '/connections/orders-db', scenarioToken);
    const { access_groups: config, ...edited } = { ...Object(body), ...restrict };
    await put('/connections/orders-db', edited);
    if (restrict['access_groups'] !== undefined) await put(`/plugins/access_control/conn/${edited.id}`, { config });
    const failed = await history.apply('after', disturbance);
    const writes = world.model.log.requests.slice(marks.at(-2)).flatMap(({ method }, index) => (method === 'GET' ? [] : [index + 1]));
    expect({ disturbance, failed: disturbance === undefined ? failed : await history.apply('after') }).toEqual({ disturbance, failed: [] });
    return { writes, found: { state: world.state(), rest: await history.rest('after') } };
  } finally {
    await world.close();
  }
}

test.each([
  [{ access_groups: [] }, '/access_groups/dba /access_groups/sre'],
  [{ access_groups: ['sre'] }, '/access_groups/dba'],
  [{ reviewers: ['dba', 'sre'], min_review_approvals: 2 }, '/reviewers/sre'],
  [{ access_mode_connect: 'disabled' }, '/access_mode_connect'],
  [shut, '/access_mode_connect /access_mode_exec /access_mode_runbooks'],
])('a successor keeps what its predecessor was restricted to by hand, wherever its replacement ends early: %j', async (restrict, held) => {
  const { writes, found: whole } = await replaceRestricted(restrict);
  expect(whole.rest).toEqual([`held Connection/shop-db ${held}`]);
  expect(writes.length).toBeGreaterThan(2);
  for (const how of ['killed', 'from then on'] as const)
    for (const at of [1, ...writes]) {
      const disturbance = { at, when: 'after', how } as const;
      const { found } = await replaceRestricted(restrict, disturbance);
      expect({ disturbance, found }).toEqual({ disturbance, found: whole });
    }
});
