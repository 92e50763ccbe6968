import { expect, test } from 'vitest';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { auditorToken, hoopProject, standardToken } from '../support/hoop-project.ts';
import { applyAndExpectInSync } from './expectations.ts';

const denying = (words: readonly string[]): object => ({ name: 'no-drop', input: { rules: [{ type: 'deny_words_list', words }] } });

test('an object that was created again was changed by its creator, not by writes to its predecessor of that name', async () => {
  const project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { reviewers: ['dba'] }), 'access/b.yaml': guardrail('no-drop', ['DROP']) });
  await applyAndExpectInSync(project);
  const { body: made } = await project.send('GET', '/connections/orders-db');
  await project.send('PUT', '/connections/orders-db', { ...Object(made), reviewers: ['sre'] });
  await project.send('DELETE', '/connections/orders-db');
  await project.send('POST', '/connections', { ...Object(made), reviewers: ['sre'] });
  const { body: rules } = await project.send('GET', '/guardrails');
  const [{ id }] = Object(rules);
  await project.send('PUT', `/guardrails/${id}`, denying(['NONE']));
  await project.send('DELETE', `/guardrails/${id}`);
  await project.send('POST', '/guardrails', denying(['GRANT']));
  const { code, stdout } = await project.ostiary(['drift']);
  expect([code, stdout.match(/\((?:PUT|POST|DELETE) [^)]*\)/g)]).toEqual([2, ['(POST /api/connections)', '(POST /api/guardrails)']]);
});

test('an attachment through the list below a connection is a write to the connection', async () => {
  const project = await hoopProject();
  const entities = [{ name: 'PII', entity_types: ['EMAIL_ADDRESS'] }];
  const mask = manifest('DataMaskingRule', 'pii', { supported_entity_types: entities, connection_ids: ['sales-db'] });
  project.write({ 'access/a.yaml': connection('orders-db'), 'access/b.yaml': connection('sales-db'), 'access/c.yaml': mask });
  await applyAndExpectInSync(project);
  const { body: rules } = await project.send('GET', '/datamasking-rules');
  const [{ id: rule }] = Object(rules);
  const path = '/connections/orders-db/datamasking-rules';
  expect((await project.send('PUT', path, [{ rule_id: rule, status: 'active' }])).status).toBe(200);
  const { code, stdout } = await project.ostiary(['drift']);
  expect([code, stdout]).toEqual([2, expect.stringContaining(`(PUT /api${path})`)]);
});

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

  project.model.setFault(({ path }) =>
    path.includes('/audit/') ? { kind: 'answer', when: 'before', status: 403, message: 'access denied' } : undefined,
  );
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
