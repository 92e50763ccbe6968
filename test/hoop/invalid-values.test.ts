import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync, expectRefused } from './expectations.ts';

test('2 a type that a later gateway may have is a warning, and a type that is live is accepted', async () => {
  const project = await hoopProject({ version: '1.160.2' });
  project.write({ 'access/a.yaml': connection('orders-db', { type: 'application-v2' }) });
  const { code, stdout } = await project.ostiary(['plan']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('warning hoop/unknown-type')]);
  project.write({ 'access/a.yaml': connection('orders-db') });
  await applyAndExpectInSync(project);
  const row = project.model.store.findConnection('orders-db');
  if (row !== undefined) project.model.store.saveConnection({ ...row, type: 'application-v2' });
  project.write({
    'access/a.yaml': connection('orders-db', { type: 'application-v2', command: row?.command ?? null, reviewers: ['dba'] }),
  });
  const again = await project.ostiary(['plan']);
  expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining('hoop/unknown-type')]);
});

const template = '0d2f6f7e-2f6b-4a55-9c5b-6a1f3f0b9a11';

test('2 the gateway answers an unknown issue template with 500: preflight finds it, and a known one is written', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { issuetracker_issue_template_id: template }) });
  const { stderr } = await expectRefused(project, 'hoop/unknown-template');
  expect(stderr).toContain('the gateway has none');
  project.model.store.jiraTemplates.add(template);
  const { requests } = await applyAndExpectInSync(project);
  expect(requests.filter((request) => request.includes('issuetemplates'))).toHaveLength(1);
  expect(project.model.store.findConnection('orders-db')?.jiraTemplate).toBe(template);
  project.write({
    'access/a.yaml': connection('orders-db', { issuetracker_issue_template_id: template.toUpperCase(), reviewers: ['dba'] }),
  });
  const again = await project.ostiary(['plan']);
  expect([again.code, again.requests.some((request) => request.includes('issuetemplates'))]).toEqual([0, false]);
});
