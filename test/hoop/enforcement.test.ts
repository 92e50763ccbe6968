import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { oneLine } from '../support/access-project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { type HoopRepository, useHoopRepositories } from '../support/hoop-repository.ts';

const repositories = useHoopRepositories();
const open = {
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  secret: { 'envvar:HOST': { value: 'example' } },
};

const ssh = 'experimental.ssh_guardrails';

/** A project on a gateway of this version, with a connection of each type. */
async function projectOn(server: JsonObject, more: Readonly<Record<string, string>> = {}): Promise<HoopRepository> {
  const project = await hoopProject({ provider: 'mspresidio' });
  project.model.settings.serverInfo = server;
  return repositories.apply(project, {
    'access/host.yaml': connection('host', { type: 'application', subtype: 'ssh', ...open }),
    'access/port.yaml': connection('port', { type: 'application', subtype: 'tcp', ...open }),
    'access/pages.yaml': connection('pages', { type: 'application', subtype: 'httpproxy', ...open }),
    'access/sales.yaml': connection('sales', { type: 'database', subtype: 'mssql', ...open }),
    'access/desk.yaml': connection('desk', { type: 'custom', subtype: 'rdp', ...open, access_mode_exec: 'disabled' }),
    ...more,
  });
}

const today = { version: '1.148.0' };

async function setFlag({ project }: HoopRepository, name: string, enabled: boolean): Promise<void> {
  expect((await project.send('PUT', `/feature-flags/${name}`, { enabled })).status).toBe(200);
}

const guarding = (...on: readonly string[]): string => guardrail('no-drop', ['DROP', 'drop'], { connection_ids: on });
const masking = (...on: readonly string[]): string =>
  manifest('DataMaskingRule', 'people', {
    connection_ids: on,
    supported_entity_types: [{ name: 'CONTACT', entity_types: ['PERSON'] }],
  });

/** Returns the headlines of a plan with the highest risk, one by line. */
async function planOf({ run }: HoopRepository, line = 'plan'): Promise<readonly string[]> {
  const { stdout } = await run(`${line} --format json`);
  const [plan] = JSON.parse(stdout).plans;
  return [
    ...plan.protection.headlines.map(({ direction, text }: Readonly<Record<string, string>>) => `${direction}: ${text}`),
    `risk: ${plan.maxRisk}`,
  ];
}

type Row = readonly [what: string, text: string, rule: string, there: string, risk?: string];

/** What a rule on one connection says when it begins and when it ends: the risk, what follows the rule, and the highest risk if it is another. */
const rows: readonly Row[] = [
  ['a guardrail on ssh', guarding('host'), 'guardrail no-drop', 'neutral, not enforced on native ssh'],
  ['masking on ssh', masking('host'), 'masking of PERSON', 'neutral, not enforced on native ssh'],
  ['a guardrail on tcp', guarding('port'), 'guardrail no-drop', 'strengthens, native tcp refuses sessions', 'availability'],
  ['a guardrail on httpproxy', guarding('pages'), 'guardrail no-drop', 'strengthens'],
  ['masking on mssql, which commands mask', masking('sales'), 'masking of PERSON', 'strengthens, not enforced on native mssql'],
  ['a guardrail on rdp', guarding('desk'), 'guardrail no-drop', 'neutral, not enforced on native rdp'],
  ['masking on rdp', masking('desk'), 'masking of PERSON', 'strengthens, enforced on native rdp for sessions in the browser alone'],
];

test('plans say where the gateway enforces a rule, and where it does not', async () => {
  const one = await projectOn(today);
  for (const [what, text, rule, there, risk] of rows) {
    const [direction = '', where] = there.split(/(?=,)/);
    const isNeutral = direction === 'neutral';
    const before = [`${direction}: 1 connection gains ${rule}${where ?? ''}`, `risk: ${risk ?? direction}`];
    const ended = isNeutral ? 'neutral' : 'weakens';
    const after = [`${ended}: 1 connection loses ${rule}${isNeutral ? (where ?? '') : ''}`, `risk: ${ended}`];
    one.commit({ 'access/rule.yaml': text });
    expect([what, await planOf(one)]).toEqual([what, before]);
    expect((await one.run('apply --yes')).code).toBe(0);
    one.commit({}, ['access/rule.yaml']);
    expect([what, await planOf(one, 'plan --prune')]).toEqual([what, after]);
    expect((await one.run('apply --yes --prune')).code).toBe(0);
  }
});

test('a flag that is switched off is a loss of every guardrail that it enforced, by drift and by plan', async () => {
  const one = await projectOn(today, { 'access/rule.yaml': guarding('host') });
  await setFlag(one, ssh, true);
  const on = await one.run('drift');
  expect(on.code).toBe(2);
  expect(oneLine(on.stdout)).toContain('host starts to enforce guardrails: before, not enforced on native ssh');
  expect((await one.run('apply --yes')).code).toBe(0);
  one.commit({ 'access/rule.yaml': guarding() });
  expect(await planOf(one)).toEqual(['weakens: 1 connection loses guardrail no-drop', 'risk: weakens']);
  await setFlag(one, ssh, false);
  const off = await one.run('drift');
  expect(off.code).toBe(2);
  expect(oneLine(off.stdout)).toContain('Drift on production: host no longer enforces guardrails: not enforced on native ssh.');
  const { stdout } = await one.run('plan');
  expect(oneLine(stdout)).toContain(
    '1 change outside Ostiary that manifests do not declare: host no longer enforces guardrails: not enforced on native ssh.',
  );
});

test('an older gateway enforces less, and what its version does not show is unclear', async () => {
  const expected = [
    ['1.108.0', 'neutral: 1 connection gains guardrail no-drop, not enforced on native tcp'],
    ['1.120.0', 'strengthens: 1 connection gains guardrail no-drop, native tcp refuses sessions'],
    ['unknown', 'unknown: 1 connection gains guardrail no-drop, not known whether enforced on native tcp'],
  ] as const;
  const one = await projectOn(today);
  one.commit({ 'access/rule.yaml': guarding('port') });
  for (const [version, headline] of expected) {
    one.project.model.settings.serverInfo = { version };
    expect([version, (await planOf(one))[0]]).toEqual([version, headline]);
  }
  expect((await one.run('plan --max-risk reroutes')).code).toBe(6);
});

const redacting = (...types: readonly string[]): string =>
  connection('sales', { type: 'database', subtype: 'postgres', ...open, redact_types: types });

test('can, access tests and policies answer by the same table', async () => {
  const tests = [
    'apiVersion: ostiary/v1',
    'kind: AccessTest',
    'metadata: { name: people }',
    'spec:',
    '  - { group: sre, on: [host], verb: connect, expect: allowed, blocked: [DROP] }',
    '  - { group: sre, on: [sales], verb: connect, expect: allowed, blocked: [DROP] }',
    '  - { group: sre, on: [sales], verb: exec, expect: allowed, masked: [PERSON] }',
    '  - { group: sre, on: [sales], verb: connect, expect: allowed, masked: [PERSON] }',
    '',
  ].join('\n');
  const policy = manifest('Policy', 'masked', {
    match: { subtype: 'mssql' },
    require: ['posture.masking.size() > 0'],
    message: 'mssql masks',
    severity: 'error',
  });
  const one = await projectOn(today, { 'access/rule.yaml': `${guarding('host', 'sales')}---\n${masking('host', 'sales')}` });
  const host = oneLine((await one.run('can sre connect host --live')).stdout);
  expect(host).toContain('input: not enforced on native ssh');
  expect(host).toContain('masking: not enforced on native ssh');
  expect(oneLine((await one.run('can sre connect sales --live')).stdout)).toContain('masking: not enforced on native mssql');
  expect(oneLine((await one.run('can sre exec sales --live')).stdout)).toMatch(/masked PERSON/);
  one.commit({ 'access/tests.yaml': tests, 'access/policy.yaml': policy });
  const { stdout, stderr } = await one.run('plan');
  const results = oneLine(`${stdout}${stderr}`);
  // The manifests fail already, and so does the gateway: that is a warning.
  expect(results).toContain('on host: connect: "DROP" not blocked decided by access/rule.yaml:1');
  expect(results).toContain('on sales: connect: PERSON not masked');
  expect(results).not.toContain('sales: exec');
  expect(results).not.toContain('on sales: connect: "DROP"');
  expect(results).toContain('mssql masks');
});

test('a policy about a rule that may not be enforced cannot be evaluated, and access tests do not pass', async () => {
  const output = { input: { rules: [] }, output: { rules: [{ type: 'deny_words_list', words: ['4111'] }] } };
  const policy = manifest('Policy', 'blocks', {
    match: { subtype: 'mssql' },
    require: ['posture.output.size() > 0'],
    message: 'mssql blocks',
  });
  const one = await projectOn(today, {
    'access/rule.yaml': manifest('GuardrailRule', 'cards', { connection_ids: ['sales'], ...output }),
  });
  one.commit({ 'access/policy.yaml': policy });
  const { stdout, stderr } = await one.run('plan');
  expect(oneLine(`${stdout}${stderr}`)).toContain('not known whether enforced on native mssql');
});

test('what the analyzer blocks in native HTTP requests depends on a flag, and is never certain', async () => {
  const one = await projectOn(today);
  const http = 'experimental.http_session_analyzer';
  const risk_evaluation = {
    low_risk_action: 'allow_execution',
    medium_risk_action: 'allow_execution',
    high_risk_action: 'block_execution',
  };
  const rule = { name: 'risky', connection_names: ['pages', 'sales'], risk_evaluation };
  expect((await one.project.send('POST', '/ai/session-analyzer/rules', rule)).status).toBe(201);
  expect((await one.run('apply --yes')).code).toBe(0);
  const facts = async (verb: string, name: string): Promise<string> => oneLine((await one.run(`can sre ${verb} ${name} --live`)).stdout);
  expect(await facts('connect', 'pages')).toContain('high risk is blocked: not known whether enforced on native httpproxy');
  expect(await facts('connect', 'sales')).not.toContain('high risk');
  await setFlag(one, http, false);
  expect(await facts('connect', 'pages')).toContain('high risk is blocked: not enforced on native httpproxy');
  const { code, stdout } = await one.run('drift');
  expect(code).toBe(2);
  expect(oneLine(stdout)).toContain('analyzer');
});

test('a masking provider that is gone is drift, and a loss of every mask', async () => {
  const one = await projectOn(today, { 'access/sales.yaml': redacting(), 'access/rule.yaml': masking('sales') });
  one.project.model.settings.serverInfo = { ...today, redact_provider: '', has_redact_credentials: false };
  const off = await one.run('drift');
  expect(off.code).toBe(2);
  expect(oneLine(off.stdout)).toContain('sales no longer enforces masking: not enforced on native postgres and commands');
  expect(oneLine(off.stdout)).toContain('OrganizationSetting/masking_provider: changed value mspresidio → ""');
  expect((await one.run('apply --yes')).code).toBe(0);
  expect((await one.run('drift')).code).toBe(0);
});
