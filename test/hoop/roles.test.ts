import { expect, test } from 'vitest';
import { connection, guardrail } from '../e2e/project.ts';
import { gitEnv, useRepositories } from '../support/repository.ts';
import { auditorToken, hoopProject, organisationKey, standardToken, userToken } from '../support/hoop-project.ts';
import { applyAndExpectInSync, writes } from './expectations.ts';

const repositories = useRepositories();
const files = {
  'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'canary-value' } } }),
  'access/b.yaml': guardrail('no-drop', ['DROP'], { connection_ids: ['orders-db'] }),
};

// security: plan-token
test('an auditor can plan with unknown secrets, and is refused before the first write', async () => {
  const project = await hoopProject();
  project.write(files);
  await applyAndExpectInSync(project);
  const env = { OSTIARY_TOKEN: auditorToken };
  const same = await project.ostiary(['plan', '--detailed-exitcode'], env);
  expect([same.code, same.stdout]).toEqual([0, expect.stringContaining('No changes')]);
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: ['dba'], secret: { 'envvar:PASS': { value: 'other' } } }) });
  const planned = await project.ostiary(['plan'], env);
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining('+ dba')]);
  expect(planned.stdout).not.toContain('secret envvar');
  const applied = await project.ostiary(['apply', '--yes'], env);
  expect([applied.code, writes(applied), applied.stderr]).toEqual([4, [], expect.stringContaining('api/read-only-role')]);
  expect(project.model.store.findConnection('orders-db')).toMatchObject({ reviewers: [] });
});

// security: plan-token
test('an auditor writes to no target, whatever limits and overrides are stated, and writes no record', async () => {
  const project = await hoopProject();
  const { at, makeOrigin } = repositories;
  const repository = at(project.folder);
  repository.git('init', '--quiet', '--template=', '--initial-branch=main');
  const config = `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets:\n`;
  const target = (name: string, more: string): string => `  ${name}: { url: '${project.url}'${more} }\n`;
  const limited = target('prod', ', limits: { from: 1, updates: 10% }');
  repository.save({ ...files, 'ostiary.yaml': `${config}${limited}${target('open', '')}` });
  const origin = makeOrigin(repository);
  const apply = (line: string, more = {}): ReturnType<typeof project.ostiary> =>
    project.ostiary(['apply', '--yes', ...line.split(' ')], { ...gitEnv, ...more });
  expect(await apply('--target prod')).toMatchObject({ code: 0 });
  const refs = (): string => origin.git('for-each-ref');
  repository.save({ 'access/a.yaml': connection('orders-db', { reviewers: ['dba'] }) });
  repository.git('push', '--quiet', 'origin', 'main');
  const before = refs();
  expect(before).toContain('refs/ostiary/applied/prod');
  for (const line of [
    '--target prod',
    '--target prod --allow plan/too-many-updates=mine',
    '--target open',
    `--target open --url ${project.url}`,
  ]) {
    const applied = await apply(line, { OSTIARY_TOKEN: auditorToken });
    expect([line, applied.code, writes(applied)]).toEqual([line, expect.toBeOneOf([4, 6]), []]);
  }
  expect(refs()).toBe(before);
});

// security: gateway
test('a standard key sees a part of the lists: Ostiary concludes nothing from it', async () => {
  const project = await hoopProject();
  project.write(files);
  const { code, stderr, requests } = await project.ostiary(['plan'], { OSTIARY_TOKEN: standardToken });
  expect([code, stderr]).toEqual([4, expect.stringContaining('role standard cannot see all objects')]);
  expect(requests).toEqual(['GET /api/serverinfo', 'GET /api/userinfo']);
});

test.each([
  ['a key of the gateway', undefined, 'authorization'],
  ['a signed-in user', userToken, 'authorization'],
  ['the organisation’s key', organisationKey, 'api-key'],
])('%s goes into the header that it belongs to', async (_, token, header) => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db') });
  await applyAndExpectInSync(project, token === undefined ? {} : { OSTIARY_TOKEN: token });
  const last = project.model.log.requests.filter(({ path }) => !path.includes('/serverinfo'));
  const other = header === 'api-key' ? 'authorization' : 'api-key';
  expect(last.every(({ headers }) => headers[header] !== undefined && headers[other] === undefined)).toBe(true);
});

test('a protection that no manifest states is listed as unwatched', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['pci'], min_review_approvals: 2 }) });
  await applyAndExpectInSync(project);
  project.write({ 'access/a.yaml': connection('orders-db') });
  const { stdout } = await project.ostiary(['plan', '--format', 'json']);
  expect(JSON.parse(stdout).plans[0].unwatched).toEqual([
    { id: 'Connection/orders-db', path: '/attributes' },
    { id: 'Connection/orders-db', path: '/min_review_approvals' },
  ]);
});

test('attributes that the gateway manages are carried by every write', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['pci'] }) });
  await applyAndExpectInSync(project);
  await project.send('PUT', '/orgs/protection-profile', { profile: 'protection-permissive', source: 'settings' });
  const managed = 'hoop_protection_profile-protection_permissive';
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['sox'], reviewers: ['dba'] }) });
  await applyAndExpectInSync(project);
  expect(project.model.store.connectionAttributes.leftsOf('orders-db').toSorted()).toEqual([managed, 'sox']);
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: [] }) });
  await applyAndExpectInSync(project);
  expect(project.model.store.connectionAttributes.leftsOf('orders-db').toSorted()).toEqual([managed, 'sox']);
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: [managed] }) });
  expect((await project.ostiary(['plan'])).stderr).toContain('hoop/managed-attribute');
});

test('a new connection outside the protection profile, and a group without members, are warnings', async () => {
  const project = await hoopProject();
  await project.send('PUT', '/orgs/protection-profile', { profile: 'protection-permissive', source: 'settings' });
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: ['unknown'] }) });
  const { code, stdout } = await project.ostiary(['plan']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('hoop/outside-profile')]);
  expect(stdout).toContain('hoop/unknown-group');
});
