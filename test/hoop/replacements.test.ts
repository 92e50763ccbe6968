import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
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
