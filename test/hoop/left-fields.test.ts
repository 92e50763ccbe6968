import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { connection } from '../e2e/project.ts';
import { disturbableHoop } from '../support/disturbable-gateways.ts';
import { type Disturbance, interruptedHistory } from '../support/interrupted-apply.ts';
import { type AccessProject, file, oneLine, open, useAccessProjects } from '../support/access-project.ts';

const accessProject = useAccessProjects();

const orders = { ...open, connection_tags: { env: 'prod' } };
const stated = { access_groups: ['dba'], attributes: ['ledger'], min_review_approvals: 2, reviewers: ['dba', 'security'] };
type Field = keyof typeof stated;

function manifestWith(more: JsonObject): Readonly<Record<string, string>> {
  return { [file('orders-db')]: connection('orders-db', { ...orders, ...more }) };
}

function without(...left: readonly Field[]): JsonObject {
  return Object.fromEntries(Object.entries(stated).filter(([name]) => !left.some((one) => one === name)));
}

/** Applies a connection with all fields, and then without one of them. */
async function leftProject(field: Field): Promise<AccessProject> {
  const access = await accessProject(manifestWith(stated));
  await access.run('apply --yes --allow plan/access-control-on=test');
  access.commit(manifestWith(without(field)));
  expect(await access.run('apply --yes')).toMatchObject({ code: 0 });
  expect((await access.run('plan --no-new-access')).stdout).toContain('No changes.');
  return access;
}

/** Changes a connection by hand. */
async function edit({ project }: AccessProject, body: JsonObject): Promise<void> {
  const { body: found } = await project.send('GET', '/connections/orders-db');
  expect((await project.send('PUT', '/connections/orders-db', { ...Object(found), ...body })).status).toBe(200);
}

const another = { [file('notes')]: connection('notes', { ...open, access_mode_exec: 'disabled' }) };
const retagged = (field: Field): Readonly<Record<string, string>> =>
  manifestWith({ ...without(field), connection_tags: { env: 'prod', team: 'a' } });

const changes: readonly (readonly [Field, (access: AccessProject) => Promise<void>, RegExp, boolean])[] = [
  [
    'access_groups',
    async (access) => access.grant('orders-db', ['dba', 'contractors']),
    /risk: weakens \(who\) access_groups \+ contractors/,
    true,
  ],
  ['attributes', async (access) => edit(access, { attributes: ['ledger', 'open'] }), /attributes \+ open/, false],
];

describe.each(changes)('%s that the manifest leaves to the gateway, and that was changed by hand', (field, change, text, isNewAccess) => {
  test('is accepted drift of each plan until one is applied, and new access', async () => {
    const access = await leftProject(field);
    await change(access);
    for (const edited of [{}, another, retagged(field)]) {
      access.commit(edited);
      const planned = oneLine((await access.run('plan --full')).stdout);
      expect(planned).toMatch(text);
      expect(planned).toContain('1 drift accepted in the manifests');
      expect(planned).not.toContain('Changed outside Ostiary, in no manifest');
      const limited = await access.run('plan --no-new-access');
      expect([limited.code, limited.stdout.includes('plan/new-access')]).toEqual([isNewAccess ? 6 : 0, isNewAccess]);
    }
    expect((await access.run('apply --yes')).code).toBe(0);
    expect((await access.run('plan --no-new-access')).stdout).toContain('No changes.');
  });
});

test('a field that the manifest states again is reverted to what was recorded', async () => {
  const access = await leftProject('access_groups');
  await access.grant('orders-db', ['dba', 'contractors']);
  access.commit(manifestWith(stated));
  const planned = oneLine((await access.run('plan --full')).stdout);
  expect(planned).toMatch(/access_groups - contractors \(drift\)/);
});

const spec = { type: 'database', subtype: 'postgres', agent_id: 'default', access_schema: 'disabled', ...open };
const words = { input: { rules: [{ type: 'deny_words_list', words: ['DROP'] }] } };
const deleting = {
  before: [
    { kind: 'Attribute', metadata: { name: 'pci' }, spec: {} },
    { kind: 'Connection', metadata: { name: 'orders-db' }, spec: { ...spec, attributes: ['pci'] } },
    { kind: 'GuardrailRule', metadata: { name: 'words' }, spec: { ...words, attributes: ['pci'] } },
  ],
  after: [
    { kind: 'Connection', metadata: { name: 'orders-db' }, spec },
    { kind: 'GuardrailRule', metadata: { name: 'words' }, spec: words },
  ],
};

/** Deletes an attribute by an apply that may end early, and finishes it; returns what plans say of others, and the number of requests. */
async function deleteAttribute(disturbance?: Disturbance): Promise<{ readonly said: readonly string[]; readonly requests: number }> {
  const world = await disturbableHoop();
  try {
    const history = interruptedHistory(world, deleting);
    expect(await history.apply('before')).toEqual([]);
    const begun = world.requests();
    const failed = await history.apply('after', disturbance);
    const requests = world.requests() - begun;
    const said = disturbance === undefined ? failed : [...(await history.findBlame('after')), ...(await history.apply('after'))];
    return { requests, said: [...said, ...(await history.findBlame('after')), ...(await history.rest('after'))] };
  } finally {
    await world.close();
  }
}

test('an attribute that an apply deletes is no change outside Ostiary of what had it, wherever the apply ends', async () => {
  const { requests, said: whole } = await deleteAttribute();
  expect(whole).toEqual([]);
  for (const how of ['killed', 'from then on'] as const)
    for (let at = 1; at <= requests; at += 1) {
      const disturbance = { at, when: 'after', how } as const;
      const { said } = await deleteAttribute(disturbance);
      expect({ disturbance, said }).toEqual({ disturbance, said: [] });
    }
});
