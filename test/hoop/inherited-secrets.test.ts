import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { auditorToken, hoopProject } from '../support/hoop-project.ts';
import { commitAll } from '../support/workflow.ts';
import type { JsonObject } from '../../src/model/json.ts';

const own = { resource_name: 'shared-db', reviewers: ['dba'], command: ['psql'] };

const rows: readonly (readonly [what: string, spec: JsonObject, name: string, headline: string])[] = [
  ['an own host', { secret: { 'envvar:HOST': { value: 'evil.example.com' } } }, 'orders', 'sends a kept credential to another endpoint'],
  ['another agent', { agent_id: 'other' }, 'orders', 'sends a kept credential to another agent'],
  ['another command', { command: ['sh', '-c', 'env'] }, 'orders', 'passes a kept credential to another command or type'],
  ['a new connection', {}, 'joins', 'joins another resource, whose secrets the sessions inherit'],
];

test('an inherited password that is sent elsewhere is a risk, from the lists that every plan reads', async () => {
  const project = await hoopProject();
  project.write({ 'access/orders.yaml': connection('orders', own) });
  expect((await project.ostiary(['apply', '--yes', '--quiet'])).code).toBe(0);
  const body = { name: 'shared-db', type: 'database', subtype: 'postgres', env_vars: { 'envvar:HOST': 'aA==', 'envvar:PASS': 'cA==' } };
  expect((await project.send('PUT', '/resources/shared-db', body)).status).toBe(200);
  for (const [what, spec, name, headline] of rows) {
    project.write({ 'access/orders.yaml': connection('orders', own), [`access/${name}.yaml`]: connection(name, { ...own, ...spec }) });
    for (const token of [undefined, auditorToken]) {
      const plan = await project.ostiary(['plan', '--max-risk', 'neutral'], token === undefined ? {} : { OSTIARY_TOKEN: token });
      expect([what, plan.code, plan.stdout]).toEqual([what, 6, expect.stringContaining(headline)]);
      expect(plan.requests.filter((line) => line.startsWith('GET /api/resources'))).toEqual(['GET /api/resources?page=1&page_size=100']);
    }
  }
});

test('an inherited password that was sent elsewhere by hand is a risk where the manifests accept it', async () => {
  const project = await hoopProject();
  project.write({ 'access/orders.yaml': connection('orders', own) });
  commitAll(project.folder);
  expect((await project.ostiary(['apply', '--yes', '--quiet'])).code).toBe(0);
  const body = { name: 'shared-db', type: 'database', subtype: 'postgres', env_vars: { 'envvar:HOST': 'aA==', 'envvar:PASS': 'cA==' } };
  expect((await project.send('PUT', '/resources/shared-db', body)).status).toBe(200);
  const { body: there } = await project.send('GET', '/connections/orders');
  const { secret: _, ...rest } = { ...Object(there) };
  expect((await project.send('PUT', '/connections/orders', { ...rest, command: ['sh', '-c', 'env'] })).status).toBe(200);
  project.write({ 'access/orders.yaml': connection('orders', { ...own, command: ['sh', '-c', 'env'] }) });
  commitAll(project.folder);
  for (const token of [undefined, auditorToken]) {
    const plan = await project.ostiary(['plan', '--max-risk', 'neutral'], token === undefined ? {} : { OSTIARY_TOKEN: token });
    expect([plan.code, plan.stdout]).toEqual([
      6,
      expect.stringContaining('passes a kept credential to another command or type in the manifests'),
    ]);
    expect(plan.stdout).toContain('Nothing to write: 1 drift accepted in the manifests');
  }
});
