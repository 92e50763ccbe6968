import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { disturbableHoop } from '../support/disturbable-gateways.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { interruptedHistory } from '../support/interrupted-apply.ts';
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

test('a successor gets the attribute that the same plan renames', async () => {
  const world = await disturbableHoop();
  const spec = { type: 'database', subtype: 'postgres', agent_id: 'default', access_schema: 'disabled' };
  const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };
  const other = { kind: 'Connection', metadata: { name: 'ledger-db' }, spec: { ...spec, ...modes, access_groups: ['dba'] } };
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
