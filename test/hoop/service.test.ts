import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/program.ts';
import { connection } from '../e2e/project.ts';
import { adminToken, auditorToken, hoopProject, standardToken, type HoopProject } from '../support/hoop-project.ts';
import { createTestContext } from '../support/cli-context.ts';

const dba = { OSTIARY_TOKEN: standardToken };
const id = '1e625499-34c9-4b26-a9c3-17c7fa662bdf';

/** A gateway with one connection that dba and security review. */
async function reviewed(): Promise<HoopProject> {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: ['dba', 'security'], force_approve_groups: ['dba'] }) });
  expect((await project.ostiary(['apply', '--yes'])).code).toBe(0);
  return project;
}

describe('a review on the public gateway', () => {
  test('is listed and shown with the names of the interface, in every format', async () => {
    const { model, ostiary } = await reviewed();
    model.openReview({ id, connection: 'orders-db', groups: ['dba', 'security'] });
    expect((await ostiary(['review', 'approve', id, '--window', '09:00-18:00'], dba)).code).toBe(0);
    const listed = await ostiary(['get', 'reviews', '--format', 'json'], dba);
    const [row] = JSON.parse(listed.stdout);
    expect(row).toMatchObject({
      id,
      type: 'jit',
      status: 'PENDING',
      access_duration: 1_800_000_000_000,
      revoke_at: '',
      review_groups_data: [
        { group: 'dba', status: 'APPROVED', reviewed_by: { name: 'standard', email: 'standard', chat_id: '' } },
        { group: 'security', status: 'PENDING', reviewed_by: null, review_date: null },
      ],
    });
    // Lists of this gateway omit the window, so none is shown.
    expect(row).not.toHaveProperty('time_window');
    expect(parse((await ostiary(['get', 'reviews', '--format', 'yaml'], dba)).stdout)).toEqual([row]);
    expect((await ostiary(['get', 'reviews'], dba)).stdout).toMatch(
      new RegExp(
        `^REVIEW +STATUS +ACCESS +CONNECTION\n${id} {2}PENDING {2}30 min {2}orders-db\n {2}requested \\d+ s ago by otto@example.com; dba APPROVED, waits for security\n$`,
      ),
    );
  });

  test('shows the connection, the requester, the whole input and the rest of the access', async () => {
    const { model, ostiary } = await reviewed();
    const input = 'delete from orders\n\u001b[1Awhere id = 1';
    model.openReview({ id, connection: 'orders-db', groups: ['dba'], ownerEmail: 'ada@example.com', input });
    const approved = await ostiary(['review', 'approve', id], dba);
    expect(approved.stderr).toContain(String.raw`  input       delete from orders\n\u001b[1Awhere id = 1`);
    const listed = await ostiary(['get', 'reviews'], dba);
    expect(listed.stdout).toMatch(
      /APPROVED {2}(?:29|30) min left {2}orders-db\n.*by ada@example\.com; dba APPROVED\n {2}input: delete from orders\\n/,
    );
    const [row] = JSON.parse((await ostiary(['get', 'reviews', '--format', 'json'], dba)).stdout);
    expect(row).toMatchObject({ connection: 'orders-db', requester: 'ada@example.com', input });
    expect(row.remaining_seconds).toBeGreaterThan(1700);
    expect(row.remaining_seconds).toBeLessThanOrEqual(1800);
  });

  test('is listed and decided without its session if the token cannot read it', async () => {
    const { model, ostiary } = await reviewed();
    model.openReview({ id, connection: 'orders-db', groups: ['security'] });
    expect((await ostiary(['get', 'reviews'], dba)).stdout).toMatch(/PENDING {2}30 min\n {2}requested \d+ s ago; waits for security\n/);
    const listed = await ostiary(['get', 'reviews', '--format', 'json'], dba);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ connection: null, requester: null, input: null, remaining_seconds: null }]);
    const forced = await ostiary(['review', 'approve', id, '--force'], dba);
    expect([forced.code, forced.stderr]).toEqual([0, expect.stringContaining('(the token cannot read it)')]);
  });

  test('is approved with the window that it has; another window is refused without a request', async () => {
    const { model, ostiary } = await reviewed();
    model.openReview({ id, connection: 'orders-db', groups: ['dba', 'security'] });
    await ostiary(['review', 'approve', id, '--window', '09:00-18:00'], dba);
    const other = await ostiary(['review', 'approve', id, '--window', '10:00-18:00'], dba);
    expect([other.code, other.stderr]).toEqual([6, expect.stringContaining('its time window is already set to 09:00-18:00')]);
    expect(other.requests.filter((request) => request.startsWith('PUT'))).toEqual([]);
    const same = await ostiary(['review', 'approve', id, '--window', '09:00-18:00', '--force', '--format', 'json'], dba);
    expect(JSON.parse(same.stdout)).toMatchObject({ status: 'APPROVED', time_window: { configuration: { start_time: '09:00' } } });
  });

  test('is refused with a reason if the gateway would fail', async () => {
    const { model, ostiary } = await reviewed();
    const { stderr: unknown, code } = await ostiary(['review', 'approve', id], dba);
    expect([code, unknown]).toEqual([
      3,
      expect.stringMatching(/review\/unknown {2}GET http:.*\/api\/reviews\/.*the review does not exist/),
    ]);
    model.openReview({ id, connection: 'orders-db', groups: ['security'], type: 'onetime', status: 'APPROVED' });
    const once = await ostiary(['review', 'revoke', id]);
    expect([once.code, once.stderr]).toEqual([6, expect.stringContaining('this gateway can revoke only jit reviews')]);
    const pending = '2e625499-34c9-4b26-a9c3-17c7fa662bdf';
    model.openReview({ id: pending, connection: 'orders-db', groups: ['security'] });
    const admin = await ostiary(['review', 'approve', pending]);
    expect([admin.code, admin.stderr]).toEqual([6, expect.stringContaining('changed nothing: none of your groups reviews this')]);
  });

  test('exits with 6 if the decision is not allowed, with 4 for an auditor, and reports the gateway’s reason', async () => {
    const { model, ostiary } = await reviewed();
    model.openReview({ id, connection: 'orders-db', groups: ['security'] });
    const refused = await ostiary(['review', 'approve', id], dba);
    expect([refused.code, refused.stderr]).toEqual([
      6,
      expect.stringMatching(/error review\/refused {2}PUT http:.*\/api\/reviews\/.*\(400, "not eligible for review"\)\n {2}hint: /),
    ]);
    const auditor = await ostiary(['review', 'reject', id], { OSTIARY_TOKEN: auditorToken });
    expect([auditor.code, auditor.stderr]).toEqual([4, expect.stringContaining('api/read-only-role')]);
    expect(auditor.requests.filter((request) => request.startsWith('PUT'))).toEqual([]);
    model.openReview({ id: '2e625499-34c9-4b26-a9c3-17c7fa662bdf', connection: 'orders-db', groups: ['dba'], status: 'EXECUTED' });
    const final = await ostiary(['review', 'approve', '2e625499-34c9-4b26-a9c3-17c7fa662bdf'], dba);
    expect([final.code, final.stderr]).toEqual([6, expect.stringContaining('review is in wrong state')]);
  });
});

test('resources, agents and runbooks are listed with the names of the interface; secrets are not listed', async () => {
  const project = await hoopProject();
  const { model, ostiary } = project;
  await project.send('POST', '/resources', {
    name: 'ledger',
    type: 'custom',
    subtype: 'dynamodb',
    env_vars: { 'envvar:PASS': btoa('canary-value') },
  });
  model.setAgentOnline('other', true);
  const agents = await ostiary(['get', 'agents', '--format', 'json']);
  expect(JSON.parse(agents.stdout)).toMatchObject([
    { name: 'default', status: 'offline' },
    { name: 'other', status: 'online' },
  ]);
  const resources = await ostiary(['get', 'resources', '--format', 'yaml']);
  expect(parse(resources.stdout)).toMatchObject([{ name: 'ledger', subtype: 'keyvaluedb', env_vars: { 'envvar:PASS': '***' } }]);
  const table = await ostiary(['get', 'resources']);
  expect(table.stdout).toContain('ledger  custom/keyvaluedb');
  for (const { stdout, stderr } of [agents, resources, table]) {
    for (const secret of ['canary-value', btoa('canary-value'), adminToken]) expect(stdout + stderr).not.toContain(secret);
  }
  expect(JSON.parse((await ostiary(['get', 'templates', '--format', 'json'])).stdout)).toEqual([]);
});

test('runbooks are listed with their repositories; one that cannot be read is a warning', async () => {
  const project = await hoopProject();
  const { model, ostiary } = project;
  const files = [{ name: 'ops/restart.runbook.sh', metadata: { host: { type: 'text' } } }];
  model.repositories.set('git.example.com/ops', { commit: 'a'.repeat(40), author: 'ada', message: 'first', files });
  for (const name of ['ops', 'gone'])
    await project.send('POST', '/runbooks/configurations', { git_url: `https://git.example.com/${name}.git` });
  project.write({ 'access/a.yaml': connection('orders-db', { access_mode_runbooks: 'enabled' }) });
  await ostiary(['apply', '--yes']);
  const { code, stdout, stderr } = await ostiary(['get', 'templates', '--format', 'json']);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/warning api\/partial .*gone\.git/)]);
  expect(JSON.parse(stdout)).toMatchObject([
    { name: 'ops/restart.runbook.sh', repository: 'git.example.com/ops', connections: ['orders-db'], commit_author: 'ada' },
  ]);
  const searched = await ostiary(['search', 'RESTART', '--format', 'json']);
  expect(searched.code).toBe(0);
  expect(JSON.parse(searched.stdout)).toMatchObject({ connections: [], resources: [], runbooks: [], errors: [expect.any(String)] });
  expect(searched.stderr).toContain('warning api/partial');
  const terminal = createTestContext({ cwd: project.folder, env: { OSTIARY_TOKEN: adminToken }, columns: 60 });
  await run(['search', 'RESTART'], terminal.context);
  for (const line of terminal.printed().both.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
});
