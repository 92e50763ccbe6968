import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidOf } from '../../support/hoop/random.ts';
import type { RecordedResponse } from '../../support/hoop/send-request.ts';
import { connection, list, object, refusal, startGateway, word, type Gateway } from './gateway.ts';

const url = 'https://git.example.com/ops/runbooks.git';
const repository = 'git.example.com/ops/runbooks';
const configurations = '/runbooks/configurations';
const reachable = { commit: 'c', author: 'a', message: 'm', files: [{ name: 'ops/count.runbook.sql' }, { name: 'README.md' }] };
const key = ['-----BEGIN OPENSSH PRIVATE KEY-----', 'QUJD', '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway({ runbooks: 'none', repositories: { [url]: reachable } });
});

afterEach(() => gateway.close());

test('trap 24: an entry is known by the uuid of its url, which no answer shows', async () => {
  expect(uuidOf('https://github.com/hoophq/runbooks.git')).toBe('1aec0879-e90d-5374-80e4-cf286e9faeec');
  const made = await gateway.make(configurations, { git_url: url });
  expect(made).toMatchObject({ repository: 'git.example.com/ops/runbooks', git_url: url });
  expect(made).not.toHaveProperty('id');
  const put = async (id: string, body: Parameters<Gateway['send']>[2]): Promise<string> =>
    refusal(await gateway.send('PUT', `${configurations}/${id}`, body));
  const other = 'git@git.example.com:ops/runbooks';
  expect(await put(uuidOf(url), { git_url: other })).toBe('400 "git url in the path and body do not match"');
  expect((await gateway.send('PUT', `${configurations}/${uuidOf(other)}`, { git_url: other, git_user: 'x' })).status).toBe(200);
  expect(await gateway.get(configurations)).toMatchObject({ repositories: [{ git_url: other, git_user: 'x', git_password: '' }] });
  const elsewhere = 'https://git.example.com/ops/else';
  expect(await put(uuidOf(elsewhere), { git_url: elsewhere })).toBe('404 "resource not found"');
});

test('trap 25: auditors too receive secrets in plain text, and every body error is 422', async () => {
  await gateway.make(configurations, { git_url: url, git_password: 'p4ss', ssh_key: key, ssh_keypass: 'kp' });
  const seen = await gateway.get(configurations, { token: 'hpk_auditor' });
  expect(list(seen['repositories'])[0]).toMatchObject({ git_password: 'p4ss', ssh_key: key, ssh_keypass: 'kp' });
  expect((await gateway.send('GET', configurations, undefined, { token: 'hpk_standard' })).status).toBe(403);
  for (const sent of [
    '',
    '{nope',
    '{"git_url": 1}',
    '{"git_url": "ftp://x/y"}',
    '{"git_url": "https:///y"}',
    '{"git_url":"https://x/y","ssh_key":"KEY"}',
  ])
    expect((await gateway.send('POST', configurations, undefined, { sent })).status).toBe(422);
  const many = (urls: readonly string[]): ReturnType<Gateway['send']> =>
    gateway.send('PUT', configurations, { repositories: urls.map((git_url) => ({ git_url })) });
  expect(refusal(await many([url, url.replace(/\.git$/, '')]))).toBe('400 "duplicate git repository URLs are not allowed"');
  expect((await gateway.send('PUT', configurations, undefined, { sent: '{}' })).status).toBe(400);
  expect((await many(['file:///tmp/x', ''])).status).toBe(200);
});

test('trap 25: the list has no order', async () => {
  for (let index = 0; index < 8; index += 1) await gateway.make(configurations, { git_url: `https://git.example.com/r${index}` });
  const orders = new Set<string>();
  for (let index = 0; index < 10; index += 1) orders.add(JSON.stringify((await gateway.get(configurations))['repositories']));
  expect(orders.size).toBeGreaterThan(1);
});

test('trap 26: a refusal of the database is a 409 or a 404, and the branch is lost', async () => {
  expect((await gateway.send('GET', configurations)).status).toBe(404);
  expect((await gateway.send('DELETE', `${configurations}/no-uuid`)).status).toBe(404);
  const fresh = await startGateway();
  const demo = 'https://github.com/hoophq/demo-runbooks';
  const stored = (): unknown => fresh.model.store.runbooks?.repositories.get('github.com/hoophq/demo-runbooks')?.branch;
  expect(stored()).toBe('main');
  await fresh.send('PUT', `${configurations}/${uuidOf(demo)}`, { git_url: demo });
  expect(stored()).toBeUndefined();
  expect(refusal(await fresh.send('POST', configurations, { git_url: 'git@github.com:hoophq/demo-runbooks.git' }))).toBe(
    '409 "resource already exists"',
  );
  await fresh.send('DELETE', `${configurations}/${uuidOf(demo)}`);
  expect(await fresh.get(configurations)).toMatchObject({ repositories: [] });
  await fresh.close();
});

test('trap 27: there are no legacy templates', async () => {
  await gateway.make(configurations, { git_url: url });
  expect(refusal(await gateway.send('GET', '/plugins/runbooks/templates'))).toBe('404 "plugin runbooks not found"');
});

test('trap 30: a search is always 200, and one bad repository fails all runbooks', async () => {
  await gateway.make('/connections', connection('Orders'));
  expect(await gateway.get('/search?term=orders')).toMatchObject({
    errors: ['failed getting the runbooks plugin, reason=record not found'],
    connections: [{ name: 'Orders' }],
    resources: [],
    runbooks: null,
  });
  await gateway.make(configurations, { git_url: url });
  expect(await gateway.get('/search?term=COUNT')).toMatchObject({ errors: null, runbooks: [{ name: 'ops/count.runbook.sql' }] });
  expect(await gateway.get('/search?term=README')).toMatchObject({ errors: null, runbooks: [] });
  await gateway.make(configurations, { git_url: 'https://nowhere.example.com/x' });
  expect(await gateway.get('/search?term=count')).toMatchObject({ errors: [expect.stringContaining('no such host')], runbooks: null });
});

test('trap 33: names of runbook rules are not unique, and the answer to a PUT has a wrong created_at', async () => {
  const rule = {
    name: 'ops',
    connections: ['orders'],
    user_groups: [],
    runbooks: [{ repository: 'git.example.com/ops/runbooks', name: 'ops/' }],
  };
  const first = await gateway.make('/runbooks/rules', rule);
  await gateway.make('/runbooks/rules', rule);
  expect(list((await gateway.send('GET', '/runbooks/rules')).body)).toHaveLength(2);
  const path = `/runbooks/rules/${word(first['id'])}`;
  const answer = object((await gateway.send('PUT', path, { ...rule, name: 'other' })).body);
  expect(answer['created_at']).toBe(answer['updated_at']);
  expect(word(first['created_at'])).toContain(word((await gateway.get(path))['created_at']).slice(0, -1));
  expect(refusal(await gateway.send('POST', '/runbooks/rules', { ...rule, connections: null }))).toContain(
    '400 "invalid request body, reason=Key',
  );
});

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
