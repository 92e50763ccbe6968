import { expect, test } from 'vitest';
import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import { connection } from '../e2e/project.ts';
import { adminToken, hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync } from './expectations.ts';

/** Runs an action once, at the first request of a route. */
function whenAsked(project: HoopProject, route: string, what: () => void): void {
  let done = false;
  project.model.setFault((request) => {
    if (!done && request.path.includes(route)) {
      done = true;
      what();
    }
    return undefined;
  });
}

async function prepared(count = 3): Promise<HoopProject> {
  const project = await hoopProject();
  const names = Array.from({ length: count }, (_, index) => `connection-${index}`);
  project.write(Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { access_max_duration: 60 })])));
  await applyAndExpectInSync(project);
  return project;
}

test('a connection that is written between the two bulk reads is read separately', async () => {
  const project = await prepared();
  const { store } = project.model;
  whenAsked(project, '/resources', () => {
    const row = store.findConnection('connection-1');
    if (row !== undefined) store.saveConnection({ ...row, exec: 'disabled', accessMaxDuration: 30 });
  });
  const { stdout, requests } = await project.ostiary(['plan']);
  expect(requests.filter((request) => request.startsWith('GET /api/connections/'))).toHaveLength(1);
  expect(stdout).toMatch(/access_mode_exec +disabled → enabled/);
  expect(stdout).toMatch(/access_max_duration +30 s → 1 min/);
});

test('a connection that is created or deleted between the two bulk reads is read correctly', async () => {
  const project = await prepared();
  const { store } = project.model;
  const row = store.findConnection('connection-1');
  whenAsked(project, '/resources', () => {
    if (row !== undefined) store.dropConnection(row);
  });
  const gone = await project.ostiary(['plan']);
  expect([gone.code, gone.stdout]).toEqual([0, expect.stringContaining('+ Connection/connection-1')]);
  whenAsked(project, '/resources', () => {
    if (row !== undefined) store.saveConnection(row);
  });
  const late = await project.ostiary(['plan']);
  expect([late.code, late.stdout]).toEqual([0, expect.stringContaining('+ Connection/connection-1')]);
  project.model.setFault(undefined);
  expect((await project.ostiary(['plan'])).stdout).toContain('No changes');
});

test('pages that change while they are read are read again; if they change again, Ostiary concludes nothing', async () => {
  const project = await prepared(105);
  const { store } = project.model;
  let count = 0;
  const add = (): void => {
    const resource = store.resources.get('connection-0');
    count += 1;
    if (resource !== undefined) store.resources.set(`another-${count}`, { ...resource, id: crypto.randomUUID(), name: `another-${count}` });
  };
  whenAsked(project, '/resources?page=2', add);
  expect((await project.ostiary(['plan'])).stdout).toContain('No changes');
  project.model.setFault(({ path }) => {
    if (path.includes('/resources?page=2')) add();
    return undefined;
  });
  const { code, stderr } = await project.ostiary(['apply', '--yes']);
  expect([code, stderr]).toEqual([4, expect.stringContaining('api/list-not-whole')]);
});

test('an update that cannot carry the secrets is refused before it is sent', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'one' } } }) });
  await applyAndExpectInSync(project);
  const gateway = await openGateway({ url: project.url, token: adminToken, auth: 'auto', dialect: 'auto', registry });
  const { value } = await gateway.readAll([...registry.keys()]);
  const [bulk] = value?.resources ?? [];
  if (bulk === undefined) throw new Error('it is not there');
  const count = project.model.log.count();
  const request = { id: bulk.id, spec: { ...bulk.spec, reviewers: ['dba'] }, secrets: {}, dropped: [], edges: bulk.edges };
  await expect(gateway.update(bulk, request)).rejects.toMatchObject({ code: 'plan/would-lose-secret', exitCode: 6 });
  expect(project.model.log.count()).toBe(count);
  await gateway.close();
});

test('a secret that the gateway accepts and does not keep is reported', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db') });
  await applyAndExpectInSync(project);
  const { store } = project.model;
  project.write({ 'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'one' } } }) });
  let written = false;
  project.model.setFault(({ method }) => {
    const row = store.findConnection('orders-db');
    if (written && row !== undefined) store.saveConnection({ ...row, secret: { 'envvar:PASS': 'b3RoZXI=' } });
    written ||= method === 'PUT';
    return undefined;
  });
  const { code, stdout } = await project.ostiary(['apply', '--yes']);
  expect([code, stdout]).toEqual([5, expect.stringContaining('apply/not-kept')]);
});
