import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { config, connection } from '../e2e/project.ts';
import { open, switchOn } from '../support/access-project.ts';
import { auditorToken, type CommandResult, hoopProject } from '../support/hoop-project.ts';
import { type HoopRepository, useHoopRepositories } from '../support/hoop-repository.ts';

const repositories = useHoopRepositories();

const canary = 'canary-of-a-key';

type WatchedProject = HoopRepository & {
  /** Sends a request of another admin, which has to succeed. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<void>;
};

async function appliedProject(): Promise<WatchedProject> {
  const project = await hoopProject();
  project.model.settings.apiKey = `org|${canary}`;
  project.model.settings.mcpAuth = { client_secret: canary };
  const repository = await repositories.apply(project, {
    'ostiary.yaml': config(project.url),
    'access/orders-db.yaml': connection('orders-db', open),
  });
  const send: WatchedProject['send'] = async (method, path, body) => {
    const { status, body: answer } = await project.send(method, path, body);
    expect([method, path, answer, status < 300]).toEqual([method, path, answer, true]);
  };
  return { ...repository, send };
}

function oneLine({ stdout }: CommandResult): string {
  return stdout.replaceAll(/\s+/g, ' ');
}

const user = '/users/ana@orders.example';
const ana = { email: 'ana@orders.example', name: 'Ana', status: 'active' };
const account = { subject: 'deployer', name: 'Deployer', status: 'active' };
const mapping = { trust_domain: 'orders.example', spiffe_id: 'spiffe://orders.example/agent', agent_id: 'a', groups: ['agents'] };
const signIn = { auth_method: 'local', webapp_users_management_status: 'active' };

describe('a change by hand of who is an admin is drift, and no longer after an apply', () => {
  let watched: WatchedProject;
  beforeAll(async () => {
    watched = await appliedProject();
  });

  type Step = readonly [title: string, request: Parameters<WatchedProject['send']>, says: readonly string[]];

  test.each<Step>([
    ['a new user in no such group', ['POST', '/users', { ...ana, groups: ['dev'], password: 'x' }], []],
    [
      'the user becomes an admin',
      ['PUT', user, { ...ana, groups: ['dev', 'admin'] }],
      ['~ User/ana@orders.example: changed roles + admin', 'makes ana@orders.example an admin, who reaches every connection'],
    ],
    ['other groups of an admin', ['PUT', user, { ...ana, groups: ['admin', 'sre'] }], []],
    ['an admin becomes an auditor, too', ['PUT', user, { ...ana, groups: ['admin', 'auditor'] }], ['roles + auditor']],
    [
      'an auditor alone',
      ['PUT', user, { ...ana, groups: ['auditor'] }],
      ['~ User/ana@orders.example: changed roles - admin', 'ana@orders.example is no longer an admin'],
    ],
    ['may not sign in', ['PUT', user, { ...ana, groups: ['auditor'], status: 'inactive' }], ['roles - auditor']],
    ['may sign in again', ['PUT', user, { ...ana, groups: ['auditor'] }], ['roles + auditor']],
    ['is deleted', ['DELETE', user], ['~ User/ana@orders.example: changed roles - auditor']],
    [
      'a key of an admin',
      ['POST', '/api-keys', { name: 'nightly', groups: ['admin'] }],
      ['~ ApiKey/nightly: changed roles + admin', 'makes nightly an admin, who reaches every connection'],
    ],
    ['it is revoked', ['DELETE', '/api-keys/nightly'], ['~ ApiKey/nightly: changed roles - admin']],
    ['it is used again', ['POST', '/api-keys/nightly/reactivate'], ['~ ApiKey/nightly: changed roles + admin']],
    ['a key of other people', ['POST', '/api-keys', { name: 'reports', groups: ['dev'] }], []],
    [
      'an agent that audits',
      ['POST', '/ai-agents', { name: 'assistant', groups: ['auditor'] }],
      ['~ AiAgent/assistant: changed roles + auditor', 'makes assistant an auditor, who sees every connection'],
    ],
    [
      'a service account',
      ['POST', '/serviceaccounts', { ...account, groups: ['admin'] }],
      ['~ ServiceAccount/deployer: changed roles + admin'],
    ],
    [
      'it is nothing any more',
      ['PUT', '/serviceaccounts/deployer', { ...account, groups: [] }],
      ['~ ServiceAccount/deployer: changed roles - admin'],
    ],
    [
      'a workload is an agent',
      ['POST', '/spiffe-mappings', mapping],
      ['+ SpiffeMapping/spiffe://orders.example/agent: created', 'trust_domain orders.example'],
    ],
    [
      'secrets are hidden',
      ['PUT', '/orgs/hide-role-info', { hide_role_info: true }],
      ['~ OrganizationSetting/hide_role_info: changed value "false" → "true"'],
    ],
    [
      'the groups have other names',
      ['PUT', '/serverconfig/auth', { ...signIn, admin_role_name: 'root', auditor_role_name: 'readers' }],
      ['~ AuthSetting/admin_role_name: changed value admin → root', '~ AuthSetting/auditor_role_name: changed value auditor → readers'],
    ],
    [
      'an admin by the other name',
      ['POST', '/users', { ...ana, groups: ['root'], password: 'x' }],
      ['~ User/ana@orders.example: changed roles + admin'],
    ],
    ['the former name means nothing', ['PUT', '/api-keys/reports', { groups: ['admin'] }], []],
  ])('%s', async (_, request, says) => {
    const { run, repository, send } = watched;
    await send(...request);
    const [drift, plan] = [await run('drift'), await run('plan --report json=plan.json')];
    expect([drift.code, plan.code]).toEqual([says.length === 0 ? 0 : 2, 0]);
    for (const text of says) for (const command of [drift, plan]) expect(oneLine(command)).toContain(text);
    const isNamed = oneLine(plan).includes('Changed outside Ostiary, in no manifest');
    // A renaming of the groups changes nobody's role.
    const people = oneLine(drift).match(/ (?:User|ApiKey|AiAgent)\//g) ?? [];
    expect([isNamed, people.length <= 1]).toEqual([says.length > 0, true]);
    expect(await run('apply --yes')).toMatchObject({ code: 0 });
    expect(await run('drift')).toMatchObject({ code: 0 });
    const record = repository.git('log', '-1', '--format=%B', 'refs/ostiary/applied/production');
    expect(drift.stdout + plan.stdout + readFileSync(join(repository.folder, 'plan.json'), 'utf8') + record).not.toContain(canary);
  });
});

test('a mapping of workloads that changes or goes is drift', async () => {
  const { run, send, project } = await appliedProject();
  await send('POST', '/spiffe-mappings', mapping);
  await run('apply --yes');
  const [id = ''] = project.model.store.spiffeMappings.keys();
  await send('PUT', `/spiffe-mappings/${id}`, { ...mapping, groups: ['agents', 'admin'] });
  expect(oneLine(await run('drift'))).toContain('~ SpiffeMapping/spiffe://orders.example/agent: changed groups + admin');
  await send('DELETE', `/spiffe-mappings/${id}`);
  const gone = await run('drift');
  expect([gone.code, oneLine(gone)]).toEqual([2, expect.stringContaining('- SpiffeMapping/spiffe://orders.example/agent: deleted')]);
});

test('an auditor reads who is an admin among users, and is told what it cannot read', async () => {
  const { run, send } = await appliedProject();
  await send('POST', '/users', { ...ana, groups: ['admin'], password: 'x' });
  await send('POST', '/api-keys', { name: 'nightly', groups: ['admin'] });
  const drift = await run('drift', auditorToken);
  expect([drift.code, oneLine(drift)]).toEqual([2, expect.stringContaining('User/ana@orders.example: changed roles + admin')]);
  expect(oneLine(drift)).toContain('cannot read Rulepack, ApiKey, AiAgent, OrganizationSetting, only admin can');
  expect(oneLine(drift)).not.toContain('nightly');
});

test('what is watched can be listed, without secrets', async () => {
  const { run, send, repository } = await appliedProject();
  await send('POST', '/api-keys', { name: 'nightly', groups: ['admin'] });
  await send('POST', '/spiffe-mappings', mapping);
  writeFileSync(join(repository.folder, '.gitignore'), '*.json\n');
  for (const [what, text] of [
    ['api-keys', /nightly\s+admin\s+yes/],
    ['spiffe-mappings', /spiffe:\/\/orders\.example\/agent\s+orders\.example\s+a\s+agents/],
    ['auth-settings', /organization_key\s+true/],
    ['organization-settings', /hide_role_info\s+false/],
    ['service-accounts', /ACCOUNT\s+GROUPS/],
    ['ai-agents', /AGENT\s+GROUPS/],
  ] as const) {
    const listed = await run(`get ${what}`);
    expect([what, listed.code, listed.stdout]).toEqual([what, 0, expect.stringMatching(text)]);
    expect(listed.stdout).not.toContain(canary);
  }
});

test('people are admins by the names that the gateway gives the groups', async () => {
  const { run, send } = await appliedProject();
  await send('POST', '/plugins', { name: 'access_control', connections: [] });
  await send('PUT', '/serverconfig/auth', { ...signIn, admin_role_name: 'root', auditor_role_name: 'readers' });
  const answers = await Promise.all(
    ['root exec', 'readers connect', 'readers runbooks', 'admin exec', 'auditor connect'].map(async (asked) => {
      const { code } = await run(`can ${asked} orders-db --live`);
      return [asked, code];
    }),
  );
  expect(answers).toEqual([
    ['root exec', 0],
    ['readers connect', 0],
    ['readers runbooks', 2],
    ['admin exec', 2],
    ['auditor connect', 2],
  ]);
  const who = oneLine(await run('who orders-db --live'));
  expect(who).toContain('root');
  expect(who).not.toMatch(/\badmin\b/);
});

const granting = (...groups: readonly string[]): string => connection('orders-db', { ...open, access_groups: groups });

/** Why a gateway does not show its sign-in settings. */
test.each([
  ['a multi-tenant gateway', 403],
  ['one without the route', 404],
])('names of roles that are not shown are no default names: %s', async (_, status) => {
  const project = await hoopProject();
  await switchOn({ project });
  const one = await repositories.apply(project, { 'ostiary.yaml': config(project.url), 'access/orders-db.yaml': granting('dba') });
  const hiding = ({ path }: { readonly path: string }): ReturnType<Parameters<typeof project.model.setFault>[0] & {}> =>
    path.endsWith('/serverconfig/auth') ? { kind: 'answer', when: 'before', status } : undefined;
  project.model.setFault(hiding);
  one.commit({ 'access/orders-db.yaml': granting('dba', 'auditor') });
  const plan = await one.run('plan --max-risk reroutes');
  expect(plan.code).toBe(6);
  const text = oneLine(plan);
  expect(text.split('does not show its sign-in settings').length).toBe(2);
  expect(text).not.toContain('did not show all of');
  expect(text).toContain('orders-db changes access groups in a way that cannot be compared');
  one.commit({ 'access/orders-db.yaml': granting('dba', 'sre') });
  expect(oneLine(await one.run('plan'))).toContain('sre can reach orders-db');
  const can = await one.run('can auditor connect orders-db --live');
  expect(can.code).toBe(4);
  expect(oneLine(can)).toContain('Cannot be known: whether auditor can use connect on orders-db.');
  expect(oneLine(await one.run('can sec connect orders-db --live'))).toContain('groups that are not known');
});
