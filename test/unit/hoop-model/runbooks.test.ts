import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RecordedResponse } from '../../support/hoop/send-request.ts';
import { connection, refusal, startGateway, word, type Gateway } from './gateway.ts';

const url = 'https://git.example.com/ops/runbooks.git';
const repository = 'git.example.com/ops/runbooks';
const configurations = '/runbooks/configurations';
const reachable = { commit: 'c', author: 'a', message: 'm', files: [{ name: 'ops/count.runbook.sql' }, { name: 'README.md' }] };
let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway({ runbooks: 'none', repositories: { [url]: reachable } });
});

afterEach(() => gateway.close());

test('runbook rules limit the runbooks of callers who are not admins', async () => {
  await gateway.make(configurations, { git_url: url });
  await gateway.make('/connections', connection('orders'));
  await gateway.make('/connections', connection('ledger'));
  await gateway.make('/runbooks/rules', { name: 'dev', connections: ['orders'], user_groups: ['developers'], runbooks: [] });
  const items = async (token: string): Promise<unknown> => (await gateway.get('/runbooks?list_connections=true', { token }))['items'];
  expect(await items('hpk_standard')).toMatchObject([{ name: 'ops/count.runbook.sql', connections: ['orders'] }]);
  expect(await items('hpk_admin')).toMatchObject([{ connections: expect.arrayContaining(['orders', 'ledger']) }]);
});

test('a runbook is run as a command, after the rules about runbooks and before what else decides', async () => {
  const sent = { connection_name: 'orders', repository, file_name: 'ops/count.runbook.sql' };
  const ask = (token = 'hpk_standard', more = {}): Promise<RecordedResponse> =>
    gateway.send('POST', '/runbooks/exec', { ...sent, ...more }, { token });
  expect(refusal(await ask('hpk_auditor'))).toBe('403 "access denied"');
  expect(refusal(await ask())).toBe('404 "connection not found"');
  await gateway.make('/connections', connection('orders', { reviewers: ['dba'] }));
  expect(refusal(await ask())).toBe('404 "runbook configuration not found"');
  await gateway.make(configurations, { git_url: url });
  expect(refusal(await ask('hpk_standard', { repository: 'git.example.com/other' }))).toContain('400 "runbook repository config');
  expect(refusal(await ask('hpk_standard', { file_name: 'gone' }))).toBe('404 "runbook file gone not found on git repo"');
  expect((await ask()).body).toMatchObject({ has_review: true });
  await gateway.make('/runbooks/rules', { name: 'dev', connections: [], user_groups: ['sre'], runbooks: [] });
  expect(refusal(await ask())).toBe('403 "user is not allowed to run this runbook on this connection"');
  await gateway.send('PUT', '/connections/orders', connection('orders', { access_mode_runbooks: 'disabled' }));
  expect((await ask('hpk_admin')).body).toMatchObject({ has_review: false, output: 'runbooks is disabled for this connection' });
});

test('the first runbook rule closes every other runbook, an empty list means all, and the last one that is deleted opens all', async () => {
  await gateway.make(configurations, { git_url: url });
  await gateway.make('/connections', connection('orders'));
  const items = async (): Promise<unknown> => (await gateway.get('/runbooks?list_connections=true', { token: 'hpk_standard' }))['items'];
  const whole = [{ name: 'ops/count.runbook.sql', connections: ['orders'] }];
  expect(await items()).toMatchObject(whole);
  const rule = { name: 'sre', connections: ['gone'], user_groups: ['sre'], runbooks: [] };
  const { id } = await gateway.make('/runbooks/rules', rule);
  const path = `/runbooks/rules/${word(id)}`;
  expect(await items()).toEqual([]);
  for (const [name, found] of [
    ['OPS/', whole],
    ['%count', whole],
    ['o_s', whole],
    ['', whole],
    ['count', []],
  ] as const) {
    await gateway.send('PUT', path, { ...rule, connections: [], user_groups: [], runbooks: [{ repository, name }] });
    expect([name, await items()]).toMatchObject([name, found]);
  }
  await gateway.send('DELETE', path);
  expect(await items()).toMatchObject(whole);
});
