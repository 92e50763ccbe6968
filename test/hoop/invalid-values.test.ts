import { expect, test } from 'vitest';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { applyAndExpectInSync, expectRefused } from './expectations.ts';

test('2 the gateway answers invalid enums and uuids with 500: they are errors at their line', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { type: 'nonsense', issuetracker_issue_template_id: 'seven' }) });
  const { stderr } = await expectRefused(project, 'hoop/unknown-type');
  expect(stderr).toMatch(/access\/a\.yaml:8:13 error hoop\/unknown-type/);
  expect(stderr).toContain('hoop/not-a-uuid');
});

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

test('2 preflight reports texts that no database stores, and reviewer groups for which no review can be opened', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { command: ['psql', 'a\0b'] }) });
  expect((await expectRefused(project, 'hoop/nul')).stderr).toMatch(/access\/a\.yaml:\d+:\d+ error hoop\/nul/);
  project.write({ 'access/a.yaml': guardrail('no-drop', ['\uD800']) });
  expect((await expectRefused(project, 'hoop/nul')).stderr).toContain('half of a surrogate pair');
  const password = { git_url: 'https://git.example.com/ops.git', git_password: { value: 'canary\0' } };
  project.write({ 'access/a.yaml': manifest('RunbookConfiguration', 'ops', password) });
  expect((await expectRefused(project, 'hoop/nul')).stderr).not.toContain('canary');
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['a'.repeat(256)] }) });
  await expectRefused(project, 'hoop/too-long');
  project.write({ 'access/a.yaml': connection('orders-db', { tags: [Array.from({ length: 130 }, () => 'a').join('-')] }) });
  await expectRefused(project, 'hoop/tag');
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: ['g'.repeat(101)] }) });
  const { code, stdout } = await project.ostiary(['plan']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('warning hoop/long-group')]);
});
