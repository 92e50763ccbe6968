import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { auditorToken, hoopProject, standardToken } from '../support/hoop-project.ts';
import { applyAndExpectInSync, refuse } from './expectations.ts';

test('the audit log names who changed what; without the log, the drift is still reported', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: ['dba', 'sre'] }) });
  await applyAndExpectInSync(project);
  const { body } = await project.send('GET', '/connections/orders-db');
  const other = await project.send('PUT', '/connections/orders-db', { ...Object(body), reviewers: ['dba'] });
  expect(other.status).toBe(200);

  const reported = await project.ostiary(['drift', '--since', '1d']);
  expect([reported.code, reported.stdout]).toEqual([2, expect.stringContaining('reviewers  - sre')]);
  expect(reported.stdout).toMatch(/by \S+, \d{4}-\d\d-\d\d \d\d:\d\d UTC, from \S+ \(PUT \/api\/connections\/orders-db\)/);
  expect(reported.requests.some((request) => request.includes('created_after='))).toBe(true);

  refuse(project, '/audit/', 403);
  const untold = await project.ostiary(['drift']);
  expect([untold.code, untold.stdout]).toEqual([2, expect.stringContaining('reviewers  - sre')]);
  expect(untold.stdout).not.toContain('UTC');
  project.model.setFault(() => undefined);
  expect((await project.ostiary(['drift'], { OSTIARY_TOKEN: auditorToken })).code).toBe(2);
  expect((await project.ostiary(['drift', '--revert', '--yes'], { OSTIARY_TOKEN: auditorToken })).code).toBe(4);
  expect((await project.ostiary(['drift'], { OSTIARY_TOKEN: standardToken })).code).toBe(4);
  expect((await project.ostiary(['drift', '--revert', '--yes'])).code).toBe(0);
  expect(await project.ostiary(['drift'])).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });
});
