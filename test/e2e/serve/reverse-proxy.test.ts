import { afterAll, expect, test } from 'vitest';
import { hoopProject, organisationKey } from '../../support/hoop-project.ts';
import { startReverseProxy, type ReverseProxy } from '../../support/reverse-proxy.ts';
import { config, connection, guardrail, useProjects, writeFiles } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
const gateway = useGateway();
const proxies: ReverseProxy[] = [];
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

async function proxyBefore(url: string): Promise<string> {
  const proxy = await startReverseProxy(url);
  proxies.push(proxy);
  const { headers } = await fetch(proxy.url);
  expect(headers.get('server')).toMatch(/^nginx/);
  return proxy.url;
}

test('a proxy before ostiary serve changes nothing: detection, updates with If-Match, deletes', async () => {
  const url = await proxyBefore(gateway.url());
  const cwd = makeProject({ 'ostiary.yaml': config(url), 'access/a.yaml': connection('orders', { guardrail_rules: ['no-drop'] }) });
  writeFiles(cwd, { 'access/rule.yaml': guardrail('no-drop') });
  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  expect((await gateway.run('plan --detailed-exitcode', cwd)).code).toBe(0);
  const secrets = { 'envvar:PASS': { value: 'one' } };
  writeFiles(cwd, { 'access/a.yaml': connection('orders', { guardrail_rules: ['no-drop'], reviewers: ['dba'], secret: secrets }) });
  writeFiles(cwd, { 'access/rule.yaml': guardrail('no-drop', ['drop', 'truncate']) });
  const { code, stderr } = await gateway.run('apply --yes', cwd);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
  expect((await gateway.run('plan --detailed-exitcode', cwd)).code).toBe(0);
});

test.each([
  ['a bearer token', undefined],
  ['the organisation’s key, which needs another header', organisationKey],
])('a proxy before the public gateway does not hide its dialect from %s', async (_, token) => {
  const project = await hoopProject();
  const url = await proxyBefore(project.model.url);
  project.write({ 'ostiary.yaml': config(`${url}/api`), 'access/a.yaml': connection('orders-db') });
  const env = token === undefined ? {} : { OSTIARY_TOKEN: token };
  expect((await project.ostiary(['apply', '--yes'], env)).code).toBe(0);
  const same = await project.ostiary(['plan', '--detailed-exitcode', '--format', 'json'], env);
  expect([same.code, same.stdout]).toEqual([0, expect.stringContaining('"dialect": "hoop"')]);
});
