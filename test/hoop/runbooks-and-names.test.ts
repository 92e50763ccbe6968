import { expect, test } from 'vitest';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync, expectRefused, writes } from './expectations.ts';

const ops = { git_url: 'https://git.example.com/ops/runbooks.git', git_user: 'oauth2' };

test('24 a configuration’s id follows from its address, and the gateway never sends it', async () => {
  const project = await hoopProject({ runbooks: 'demo' });
  project.write({ 'access/a.yaml': manifest('RunbookConfiguration', 'demo', { git_url: 'https://github.com/hoophq/runbooks.git' }) });
  await applyAndExpectInSync(project);
  project.write({
    'access/a.yaml': manifest('RunbookConfiguration', 'demo', { git_url: 'https://github.com/hoophq/runbooks.git', git_hook_ttl: 60 }),
  });
  const applied = await applyAndExpectInSync(project);
  expect(writes(applied)).toEqual(['PUT /api/runbooks/configurations/1aec0879-e90d-5374-80e4-cf286e9faeec']);
  project.write({
    'access/a.yaml': manifest('RunbookConfiguration', 'demo', { git_url: 'git@github.com:hoophq/runbooks.git', git_hook_ttl: 60 }),
  });
  await applyAndExpectInSync(project);
  expect([...(project.model.store.runbooks?.repositories.values() ?? [])].map(({ gitUrl }) => gitUrl).toSorted()).toEqual([
    'git@github.com:hoophq/runbooks.git',
    'https://github.com/hoophq/demo-runbooks',
  ]);
});

test('25 the gateway sends the secrets of configurations in plain text: none is shown, and omitted ones are kept', async () => {
  const project = await hoopProject();
  await project.send('POST', '/runbooks/configurations', { ...ops, git_password: 'canary-password', ssh_known_hosts: 'canary-hosts' });
  project.write({ 'access/a.yaml': manifest('RunbookConfiguration', 'ops', { ...ops, git_hook_ttl: 5 }) });
  const { stdout, stderr } = await applyAndExpectInSync(project);
  expect(`${stdout}${stderr}`).not.toContain('canary-password');
  const [stored] = project.model.store.runbooks?.repositories.values() ?? [];
  expect(stored).toMatchObject({ gitPassword: 'canary-password', sshKnownHosts: 'canary-hosts', gitHookTtl: 5 });
  project.write({ 'access/a.yaml': manifest('RunbookConfiguration', 'ops', { ...ops, git_password: null, ssh_known_hosts: null }) });
  await applyAndExpectInSync(project);
  const [emptied] = project.model.store.runbooks?.repositories.values() ?? [];
  expect(emptied).toMatchObject({ gitPassword: '', sshKnownHosts: '' });
});

test('8.3 an entry without an address, which cannot be named or written alone, does not affect a plan', async () => {
  const project = await hoopProject();
  const { status } = await project.send('PUT', '/runbooks/configurations', {
    repositories: [{ git_url: '' }, { git_url: 'file:///srv/x' }, ops],
  });
  expect(status).toBe(200);
  project.model.store.groups.add('');
  project.write({
    'access/a.yaml': manifest('RunbookConfiguration', 'ops', { ...ops, git_hook_ttl: 5 }),
    'access/b.yaml': connection('orders-db'),
  });
  await applyAndExpectInSync(project);
  const urls = [...(project.model.store.runbooks?.repositories.values() ?? [])].map(({ gitUrl }) => gitUrl);
  expect(urls.toSorted()).toEqual(['', 'file:///srv/x', ops.git_url]);
});

test('24 a host in another case is another repository to the gateway: preflight reports it', async () => {
  const project = await hoopProject();
  await project.send('POST', '/runbooks/configurations', ops);
  const spelled = ops.git_url.replace('git.example.com', 'Git.Example.com');
  project.write({ 'access/a.yaml': manifest('RunbookConfiguration', 'ops', { ...ops, git_url: spelled }) });
  await expectRefused(project, 'hoop/git-host');
  expect((await project.ostiary(['drift'])).stdout).toContain('git_url');
  expect((await project.ostiary(['drift', '--revert', '--yes'])).code).toBe(3);
  project.write({
    'access/a.yaml': manifest('RunbookConfiguration', 'ops', { ...ops, git_url: `${ops.git_url.replace(/\.git$/, '')}?x=1` }),
  });
  await applyAndExpectInSync(project);
  expect(project.model.store.runbooks?.repositories.size).toBe(1);
});

test('26 every write of a configuration drops its branch: preflight warns', async () => {
  const project = await hoopProject();
  await project.send('POST', '/runbooks/configurations', ops);
  project.write({ 'access/a.yaml': manifest('RunbookConfiguration', 'ops', { ...ops, git_hook_ttl: 5 }) });
  const { stderr, code } = await project.ostiary(['plan']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('warning hoop/git-branch')]);
  const looked = await project.ostiary(['drift']);
  expect([looked.code, looked.stdout, looked.stderr]).toEqual([2, expect.stringContaining('git_hook_ttl'), '']);
  expect((await project.ostiary(['drift', '--revert', '--yes'])).stderr).toContain('warning hoop/git-branch');
});

test('28 resources without a page are cut at 50 rows: they are read by page, and not beyond the last one', async () => {
  const project = await hoopProject();
  for (let index = 0; index < 130; index += 1) await create(project, `connection-${index}`, { access_max_duration: 60 });
  project.write({ 'access/a.yaml': connection('connection-129', { access_max_duration: 60 }) });
  const { stdout, requests } = await project.ostiary(['plan']);
  expect(stdout).toContain('No changes');
  expect(requests.filter((request) => request.includes('/resources'))).toEqual([
    'GET /api/resources?page=1&page_size=100',
    'GET /api/resources?page=2&page_size=100',
  ]);
});

test('29 filters match _ with any character: Ostiary uses none', async () => {
  const project = await hoopProject();
  await create(project, 'orders-db');
  project.write({ 'access/a.yaml': connection('orders_db'), 'access/b.yaml': guardrail('no_drop') });
  const { requests } = await applyAndExpectInSync(project);
  expect(requests.filter((request) => /\?(?!page=)/.test(request))).toEqual([]);
  expect([...project.model.store.connections.keys()].toSorted()).toEqual(['orders-db', 'orders_db']);
});

test('36 the gateway answers a wrong path in plain text: the hint names the root of the API', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db') });
  const { code, stderr } = await project.ostiary(['plan', '--url', project.model.url]);
  expect([code, stderr]).toEqual([4, expect.stringContaining('/api')]);
});

test('38 a connection that another route created is not replaced under a name that the gateway rejects', async () => {
  const project = await hoopProject();
  const agent = project.model.store.agentNamed('default')?.id;
  const role = { name: 'a-b', type: 'database', subtype: 'postgres', agent_id: agent, secret: {} };
  const { status } = await project.send('POST', '/resources', { ...role, name: 'orders', env_vars: {}, roles: [role] });
  expect(status).toBe(201);
  project.write({ 'access/a.yaml': connection('a-b', { reviewers: ['dba'] }) });
  await expectRefused(project, 'hoop/name');
});

async function create(project: Awaited<ReturnType<typeof hoopProject>>, name: string, more: object = {}): Promise<void> {
  const modes = { access_mode_connect: 'enabled', access_mode_exec: 'enabled', access_mode_runbooks: 'disabled', access_schema: 'enabled' };
  const agent = project.model.store.agentNamed('default')?.id;
  const { status } = await project.send('POST', '/connections', {
    name,
    type: 'database',
    subtype: 'postgres',
    agent_id: agent,
    ...modes,
    ...more,
  });
  expect(status).toBe(201);
}
