import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runInFolder } from '../../support/run-in-process.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, manifest, useProjects } from '../project.ts';

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
    expect(allowed.stdout).toContain('1 waived: violations accepted for a limited time');

    const explained = await gateway.run('explain Connection/policy-orders --today 2026-11-21', cwd);
    expect(explained.stdout).toMatch(
      /Policies\n {2}violated {2}reviewed {2}access\/policy\.yaml:1\n {6}policy "reviewed": reviewers exist\n/,
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
    const unrelated = await gateway.run('apply --yes --today 2026-11-21', cwd);
    expect(unrelated).toMatchObject({ code: 0, stdout: expect.not.stringContaining('accepted for a limited time') });
    expect((await gateway.run('drift --today 2026-11-21', cwd)).code).toBe(0);
    expect((await gateway.run('explain Connection/policy-orders --today 2026-11-21', cwd)).stdout).toContain('passes  reviewed');
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
