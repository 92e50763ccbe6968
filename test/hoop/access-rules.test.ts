import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';

test.each([
  ['a rule for all access', {}, 0, ''],
  [
    'a rule for native access',
    { access_type: 'jit' },
    6,
    'becomes accessible by exec without review, mitigated by access-request rule new-access',
  ],
  ['a rule that asks one group', { approval_required_groups: ['dba'] }, 6, 'becomes accessible without review, mitigated by'],
])('%s decides whether a new connection is accessible without review', async (_, more, code, headline) => {
  const project = await hoopProject();
  const rule = {
    name: 'new-access',
    access_type: 'jit_command',
    connection_names: ['orders'],
    attributes: [],
    approval_required_groups: [],
  };
  const sent = { ...rule, reviewers_groups: ['security'], force_approval_groups: [], min_approvals: 1, access_max_duration: 900, ...more };
  expect((await project.send('POST', '/access-requests/rules', sent)).status).toBe(201);
  project.write({ 'access/a.yaml': connection('orders') });
  const plan = await project.ostiary(['plan', '--max-risk', 'availability']);
  expect([plan.code, plan.stdout]).toEqual([code, expect.stringContaining(headline)]);
});
