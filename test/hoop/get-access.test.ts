import { beforeAll, expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { auditorToken, hoopProject, standardToken, type HoopProject } from '../support/hoop-project.ts';

let project: HoopProject;

beforeAll(async () => {
  project = await hoopProject();
  project.write({ 'access/a.yaml': connection('orders-db', { attributes: ['pci'] }), 'access/b.yaml': connection('billing-db') });
  await project.ostiary(['apply', '--yes', '--quiet']);
  const bodies: readonly (readonly [string, unknown])[] = [
    [
      '/access-requests/rules',
      {
        name: 'prod-jit',
        access_type: 'jit',
        connection_names: ['orders-db'],
        attributes: [],
        approval_required_groups: ['dev'],
        reviewers_groups: ['dba', 'sre'],
        force_approval_groups: ['security'],
        skip_review_groups: [],
        all_groups_must_approve: true,
        access_max_duration: 3600,
      },
    ],
    [
      '/runbooks/rules',
      { name: 'nightly', runbooks: [{ repository: 'git.example.com/ops', name: 'ops/' }], connections: ['orders-db'], user_groups: [] },
    ],
    [
      '/ai/session-analyzer/rules',
      {
        name: 'risky',
        connection_names: ['orders-db'],
        risk_evaluation: {
          low_risk: { action: 'allow_execution' },
          medium_risk: { action: 'block_execution' },
          high_risk: { action: 'block_execution' },
        },
      },
    ],
    [
      '/rulepacks',
      {
        display_name: 'Mine',
        tags: [],
        guardrail_rules: [{ name: 'g1', input: { rules: [{ type: 'deny_words_list', words: ['DROP'] }] } }],
      },
    ],
  ];
  for (const [path, body] of bodies) await project.send('POST', path, body);
});

async function get(line: string, token?: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return project.ostiary(['get', ...line.split(' ')], token === undefined ? {} : { OSTIARY_TOKEN: token });
}

test.each([
  [
    'access-request-rules',
    /^RULE +ACCESS +APPLIES TO +ASKED OF +APPROVAL +FORCED BY +SKIPPED BY +AT MOST +MANAGED BY\nprod-jit +jit +orders-db +dev +2 of dba sre +security +1 h *\n$/,
  ],
  [
    'runbook-rules',
    /^RULE +RUNBOOKS +CONNECTIONS +GROUPS +ID\nnightly +git\.example\.com\/ops:ops\/ +orders-db +everybody +[0-9a-f-]{36}\n$/,
  ],
  ['rulepacks Mine', /^RULEPACK .*\nMine +g1\n$/],
])('get %s', async (line, expected) => {
  expect(await get(line)).toMatchObject({ code: 0, stdout: expect.stringMatching(expected), stderr: '' });
});

test('a name selects one entry of any list, and an unknown one is an error', async () => {
  const one = await get('connection orders-db --format json');
  expect(JSON.parse(one.stdout)).toMatchObject([{ name: 'orders-db' }]);
  expect(await get('connections order-db')).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('did you mean "orders-db"?'),
  });
  expect(await get('rulepack x')).toMatchObject({ code: 3, stderr: expect.stringContaining('the gateway has no rulepack "x"') });
});

test('a token that may not read a list is refused with the role that may', async () => {
  for (const [line, token] of [
    ['access-request-rules', standardToken],
    ['rulepacks', auditorToken],
  ] as const)
    expect(await get(line, token)).toMatchObject({ code: 4, stdout: '', stderr: expect.stringMatching(/api\/forbidden.*\n.*role admin/) });
});

test('access control is off, or gives connections to groups', async () => {
  expect(await get('access-control')).toMatchObject({
    code: 0,
    stdout: 'CONNECTION  GROUPS\n',
    stderr: expect.stringContaining('access control is off'),
  });
  const [orders] = JSON.parse((await get('connection orders-db --format json')).stdout);
  const rows = [{ id: orders.id, config: ['dba', 'sre'] }];
  expect((await project.send('POST', '/plugins', { name: 'access_control', connections: rows })).status).toBe(201);
  expect(await get('access-control')).toMatchObject({ code: 0, stdout: expect.stringMatching(/\norders-db +dba sre\n$/), stderr: '' });
});
