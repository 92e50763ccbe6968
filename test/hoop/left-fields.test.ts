import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { connection } from '../e2e/project.ts';
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
