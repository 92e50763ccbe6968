import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runInFolder } from '../../support/run-in-process.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, manifest, manyConnections, useProjects } from '../project.ts';

const gateway = useGateway();
const makeProject = useProjects();
const { make: makeRepository } = useRepositories();

const asked = manifest('Policy', 'reviewed', {
  require: ['size(connection.reviewers) > 0'],
  message: 'reviewers exist',
  waivers: [{ connection: 'waived', until: '2027-01-31', reason: 'agreed' }],
});

describe('plan and apply', () => {
  test('refuse a violation of a policy at its line, unless it is allowed', async () => {
    const cwd = makeProject({
      'ostiary.yaml': config(gateway.url()),
      'access/policy.yaml': asked,
      'access/orders.yaml': connection('policy-orders', { reviewers: [] }),
      'access/waived.yaml': connection('waived'),
    });
    const refused = await gateway.run('plan --today 2026-11-21 --format json', cwd);
    expect(refused.code).toBe(6);
    const [plan] = JSON.parse(refused.stdout).plans;
    expect(plan.refusals).toMatchObject([
      { code: 'policy/violated', resource: 'Connection/policy-orders', at: { file: 'access/orders.yaml' }, allowable: true },
    ]);
    expect(plan.policies).toMatchObject({
      today: '2026-11-21',
      policies: 1,
      connections: 2,
      waived: [{ connection: 'Connection/waived' }],
    });
    expect(readFileSync(join(cwd, 'access/orders.yaml'), 'utf8').split('\n')[plan.refusals[0].at.line - 1]).toContain('reviewers');
    expect(await gateway.run('apply --yes --today 2026-11-21', cwd)).toMatchObject({ code: 6 });
    const other = await gateway.run('plan --today 2026-11-21 --only Connection/policy-orders', cwd);
    expect(other).toMatchObject({ code: 6, stderr: expect.not.stringContaining('policy/waiver-unused') });
    expect((await gateway.run('validate --today 2026-11-21 --only Connection/policy-orders', cwd)).stderr).not.toContain('waiver-unused');
    const ended = await gateway.run('plan --today 2027-02-01', cwd);
    expect(ended).toMatchObject({ code: 6, stdout: expect.stringContaining('policy/waiver-ended') });
    const allowed = await gateway.run('apply --yes --today 2026-11-21 --allow policy/violated=incident-7', cwd);
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('Overridden: policy/violated: incident-7') });
    expect(allowed.stdout).toContain('1 policy on 2 connections as of 2026-11-21: 1 violated, 1 waived.');

    const explained = await gateway.run('explain Connection/policy-orders --today 2026-11-21', cwd);
    expect(explained.stdout).toMatch(
      /Policies\n {2}violated {2}reviewed {2}access\/policy\.yaml:1\n {4}policy "reviewed": reviewers exist\n/,
    );
    const waived = await gateway.run('explain Connection/waived --today 2026-11-21 --format json', cwd);
    expect(JSON.parse(waived.stdout).policies).toMatchObject([
      { policy: 'reviewed', result: 'waived', until: '2027-01-31', reason: 'agreed' },
    ]);
    const drifted = await gateway.run('drift --today 2026-11-21', cwd);
    expect(drifted).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('No drift on '),
      stderr: expect.stringContaining('policy/violated'),
    });
    writeFileSync(join(cwd, 'access/orders.yaml'), connection('policy-orders', { reviewers: ['dba'] }));
    expect((await gateway.run('apply --yes --today 2026-11-21', cwd)).code).toBe(0);
    expect((await gateway.run('drift --today 2026-11-21', cwd)).code).toBe(0);
    expect((await gateway.run('explain Connection/policy-orders --today 2026-11-21', cwd)).stdout).toContain('passes  reviewed');
  });

  test('read an empty map of secrets from a new connection without secrets, which validate cannot know', async () => {
    const policy = manifest('Policy', 'secretless', { require: ['size(connection.secret) == 0'] });
    const files = { 'ostiary.yaml': config(gateway.url()), 'access/policy.yaml': policy };
    const cwd = makeProject({ ...files, 'access/a.yaml': connection('secretless') });
    expect(await gateway.run('validate', cwd)).toMatchObject({ code: 0, stderr: expect.stringContaining('policy/deferred') });
    expect(await gateway.run('plan', cwd)).toMatchObject({ code: 0, stdout: expect.not.stringContaining('could not be evaluated') });
    const other = makeProject({ ...files, 'access/a.yaml': connection('secretful', { secret: { 'envvar:A': 'YQ==' } }) });
    expect(await gateway.run('plan', other)).toMatchObject({ code: 6, stdout: expect.stringContaining('policy/violated') });
  });

  test('print equal violations as one with its connections; JSON has each', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/policy.yaml': asked, ...manyConnections('equal', 12) });
    const text = (await gateway.run('plan', cwd)).stdout;
    expect(text.split('policy "reviewed": reviewers exist')).toHaveLength(2);
    expect(text).toMatch(/\): 12 connections\n/);
    expect(text).toMatch(/\n {6}Connection\/equal-10 {2}access\/equal-10\.yaml:1:1\n {6}and 2 more; --full prints them\n/);
    expect((await gateway.run('plan --full', cwd)).stdout).toContain('\n      Connection/equal-12  access/equal-12.yaml:1:1\n');
    const { refusals, policies } = JSON.parse((await gateway.run('plan --format json', cwd)).stdout).plans[0];
    expect([refusals.length, policies.findings.length]).toEqual([12, 12]);
    const list = '  - `Connection/equal-01` `access/equal-01.yaml:1`, ';
    const { stdout: refused } = await gateway.run('plan --format markdown', cwd);
    expect(refused).toMatch(/^- `policy\/violated` policy "reviewed": reviewers exist .*: 12 connections$/m);
    expect(refused).toContain(list);
    writeFileSync(join(cwd, 'access/policy.yaml'), manifest('Policy', 'p', { require: ['false', '!true'], severity: 'warning' }));
    const { stdout: warned, stderr } = await gateway.run('plan --format markdown', cwd);
    expect(warned).toContain('**2 policy warnings:**\n\n- `policy/violated` policy "p": violates p (false): 12 connections\n');
    expect(warned.split(list)).toHaveLength(3);
    expect(warned).toContain(', and 2 more\n');
    expect(stderr).toMatch(/^warning policy\/violated {2}policy "p": violates p \(false\): 12 connections$/m);
  });

  test('refuse a risk that is too high, unless it is allowed', async () => {
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('risky', { reviewers: ['dba'] }) });
    expect(await gateway.run('apply --yes --max-risk neutral', cwd)).toMatchObject({ code: 0 });
    writeFileSync(join(cwd, 'access/a.yaml'), connection('risky', { access_mode_runbooks: 'enabled' }));
    const refused = await gateway.run('plan --max-risk reroutes', cwd);
    expect(refused).toMatchObject({ code: 6, stdout: expect.stringContaining('--allow risk/access-opened=REASON') });
    const both = '--allow risk/access-opened=yes --allow risk/reviewer-removed=yes';
    expect(await gateway.run(`plan --max-risk reroutes ${both}`, cwd)).toMatchObject({ code: 0 });
    expect(await gateway.run('plan --max-risk weakens', cwd)).toMatchObject({ code: 0 });
    expect(await gateway.run('plan --max-risk low', cwd)).toMatchObject({ code: 3 });
  });

  test('check a proposal with the reviewed policies, and report the policies that it changes', async () => {
    const repository = makeRepository({
      'ostiary.yaml': config(gateway.url()),
      'access/policy.yaml': asked,
      'access/orders.yaml': connection('proposed', { reviewers: ['dba'] }),
    });
    const waiving = asked.replace('"connection": "waived"', '"connection": "proposed"');
    writeFileSync(join(repository.folder, 'access/policy.yaml'), waiving);
    writeFileSync(join(repository.folder, 'access/orders.yaml'), connection('proposed'));
    const here = (line: string): ReturnType<typeof gateway.run> =>
      gateway.run(`${line} --no-origin --today 2026-11-21`, repository.folder, gitEnv);
    expect(await here('plan')).toMatchObject({ code: 0 });
    const held = await here('plan --config-ref HEAD');
    expect(held.code).toBe(6);
    expect(held.stdout).toContain('policy "reviewed": reviewers exist');
    expect(held.stdout).toContain(
      'Changes its checks: waiver of policy reviewed for waived removed, waiver of policy reviewed for proposed added.',
    );
    rmSync(join(repository.folder, 'access/policy.yaml'));
    expect(await here('plan --config-ref HEAD')).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('Changes its checks: policy reviewed removed'),
    });
  });
});

describe('validate', () => {
  const prod = { connection_tags: { env: 'prod' } };
  const inPolicy = String.raw`access\/policy\.yaml:8:\d+`;
  test.each([
    [
      '1/0 > 0',
      3,
      String.raw`^${inPolicy} error policy\/expression {2}Connection\/db: policy "p": could not be evaluated: division by zero`,
    ],
    ['connection.connection_tags.team == "a"', 3, String.raw`^${inPolicy} error policy\/expression .* no value for team`],
    [
      'has(connection.connection_tags.team) && connection.connection_tags.team == "a"',
      3,
      String.raw`^access\/db\.yaml:\d+:\d+ error policy\/violated`,
    ],
    ['connection.connection_tags.env == "prod" || 1/0 > 0', 0, ''],
    ['size(posture.access) == 0', 3, String.raw`^access\/db\.yaml:10:\d+ error policy\/violated {2}Connection\/db: policy "p": a hint`],
    [
      'size(connection.guardrail_rules) > 0',
      3,
      String.raw`^access\/db\.yaml:1:1 error policy\/violated {2}Connection\/db: .*\n(?:.*\n)?.*\(${inPolicy}\)`,
    ],
  ])('names connection, line and requirement: %s', async (expression, code, message) => {
    const policy = `apiVersion: ostiary/v1\nkind: Policy\nmetadata:\n  name: p\nspec:\n  message: a hint\n  require:\n    - '${expression}'\n`;
    const files = { 'ostiary.yaml': config(gateway.url()), 'access/policy.yaml': policy };
    const cwd = makeProject({ ...files, 'access/db.yaml': connection('db', { ...prod, reviewers: [] }) });
    const { code: exit, stderr } = await gateway.run('validate', cwd);
    expect([exit, stderr]).toEqual([code, expect.stringMatching(new RegExp(message, 'm'))]);
    if (code === 0) return;
    const { diagnostics } = JSON.parse((await gateway.run('validate --format json', cwd)).stdout);
    const found = diagnostics.filter((one: { code: string }) => one.code.startsWith('policy/'));
    expect(found).toMatchObject([{ resource: 'Connection/db', message: expect.stringMatching(/^Connection\/db: policy "p": /) }]);
  });

  test('leaves to plan what only the gateway knows, which plan reports with its reason', async () => {
    const policy = manifest('Policy', 'p', {
      require: ['connection.secret.all(key, key != "envvar:A")', 'size(connection.secret) / 0 == 1'],
    });
    const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/policy.yaml': policy, 'access/a.yaml': connection('unseen') });
    expect(await gateway.run('validate', cwd)).toMatchObject({ code: 0, stderr: expect.stringContaining('policy/deferred') });
    const { code, stdout } = await gateway.run('plan --format json', cwd);
    const [{ refusals, policies }] = JSON.parse(stdout).plans;
    expect([code, refusals]).toMatchObject([
      6,
      [{ code: 'policy/expression', resource: 'Connection/unseen', at: { file: 'access/policy.yaml' } }],
    ]);
    expect(policies.findings).toMatchObject([{ result: 'unknown', error: refusals[0].at, requirement: { file: 'access/policy.yaml' } }]);
  });
});

describe('the starter policies', () => {
  const root = mkdtempSync(join(tmpdir(), 'ostiary-policies-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'acme');
  cpSync('examples/acme', folder, { recursive: true });
  for (const name of ['production', 'data', 'secrets']) cpSync(`examples/policies/${name}.yaml`, join(folder, `access/${name}.yaml`));
  const validate = (target: string, day: string): ReturnType<typeof runInFolder> =>
    runInFolder(folder, ['validate', '--target', target, '--today', day]);

  test.each(['production', 'staging'])('pass for acme in %s', async (target) => {
    const { code, stdout, stderr } = await validate(target, '2026-11-21');
    expect({ code, stderr: stderr.match(/policy\/[\w-]+/g) }).toEqual({ code: 0, stderr: null });
    expect(stdout).toContain('Valid.');
  });

  test('find violations', async () => {
    const path = join(folder, 'access/customer-data/consent.yaml');
    const text = readFileSync(path, 'utf8');
    const weak = text
      .replace('reviewers: [data-stewards, privacy-office]', 'reviewers: []')
      .replace('data: customer,', 'data: customer, x: y,');
    writeFileSync(path, weak.replace('{ valueFrom: { env: OSTIARY_SECRET_CUSTOMER_CONSENT_PASS } }', '{ value: hunter2 }'));
    const { code, stderr } = await validate('production', '2026-11-21');
    expect(code).toBe(3);
    expect(stderr.match(/^\S+ error policy\/.*$/gm)).toEqual([
      'access/customer-data/consent.yaml:17:14 error policy/violated  Connection/customer-consent: policy "production-has-a-reviewer": production data of customers needs at least one reviewing group (size(connection.reviewers) > 0)',
      expect.stringMatching(
        /^access\/customer-data\/consent\.yaml:1\d:\d+ error policy\/violated {2}Connection\/customer-consent: policy "no-inline-credentials"/,
      ),
    ]);
    expect(stderr).not.toContain('hunter2');
    writeFileSync(path, text);
  });
});
