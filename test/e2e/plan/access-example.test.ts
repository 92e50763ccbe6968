import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { PolicyFinding } from '../../../src/model/protection/policy.ts';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { gitEnv, type TestRepository, useRepositories } from '../../support/repository.ts';
import { runInFolder } from '../../support/run-in-process.ts';
import { filesBelow } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const example = join('examples', 'access');
const served = useGateway();
const { make } = useRepositories();

type Target = 'serve' | 'hoop';

type Sources = Readonly<Record<string, string>>;

/** A change of the example: how its files are edited, and what the plan says first; a gateway without lines skips it. */
type Change = {
  readonly edit: (files: Sources) => Sources;
  readonly both?: readonly string[];
  readonly hoop?: readonly string[];
  readonly serve?: readonly string[];
  /** What the plan refuses. */
  readonly allow?: string;
};

/** Replaces a text, which has to be there, everywhere in one file. */
function replace(path: string, from: string, to: string): Change['edit'] {
  return (files) => {
    const text = files[path] ?? '';
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
    return { ...files, [path]: text.replaceAll(from, to) };
  };
}

/** Removes the document of a name from a file. */
function removeDocument(path: string, name: string): Change['edit'] {
  return (files) => {
    const kept = (files[path] ?? '').split('---\n').filter((one) => !one.includes(`  name: ${name}\n`));
    return { ...files, [path]: kept.join('---\n') };
  };
}

const inTurn =
  (...edits: readonly Change['edit'][]): Change['edit'] =>
  (files) =>
    edits.reduce((all, edit) => edit(all), files);

const replica = `---
apiVersion: ostiary/v1
kind: Connection
metadata:
  name: orders-replica-db
spec:
  type: database
  subtype: postgres
  agent_id: default
  access_mode_connect: enabled
  access_mode_exec: enabled
  access_mode_runbooks: disabled
  access_schema: enabled
  access_groups: [orders, contractors]
  connection_tags: { env: prod, team: orders }
`;

const groups = '[orders, contractors]';
const orders = 'access/orders.yaml';
const approval = 'rules/approval.yaml';
const reviewers = 'overlays/serve/approval.yaml';
const othersFiles = { serve: 'access/others.yaml', hoop: 'rules/others.yaml' } as const;

const changes: Readonly<Record<string, Change>> = {
  'a team gets access': {
    edit: replace('access/data.yaml', '[data, orders]', '[data, orders, payments]'),
    both: [
      'Weakens protection of 1 connection. 1 to update.',
      'payments can reach warehouse-db (env=prod, team=data)  access/data.yaml:14',
    ],
  },
  'a selector grows': {
    edit: replace(approval, '{ env: prod, team: orders }', '{ team: orders }'),
    hoop: [
      '1 to update. Strengthens protection of 1 connection.',
      'people in contractors now need approval on orders-test-db (env=test, team=orders)  rules/approval.yaml:24',
    ],
  },
  'contractors lose review': {
    edit: inTurn(
      replace(approval, 'approval_required_groups: [contractors]', 'approval_required_groups: [trainees]'),
      removeDocument(reviewers, 'orders-db'),
    ),
    hoop: [
      'Weakens protection of 2 connections. 1 to update.',
      'people in contractors no longer need approval for exec and runbooks on orders-db (env=prod, team=orders)  rules/approval.yaml:25',
      'people in contractors no longer need approval on orders-test-db (env=test, team=orders)  rules/approval.yaml:25',
      'people in both orders and trainees now need approval for exec and runbooks on orders-db (env=prod, team=orders)  rules/approval.yaml:25',
      'people in both orders and trainees now need approval on orders-test-db (env=test, team=orders)  rules/approval.yaml:25',
    ],
    serve: [
      'Weakens protection of 1 connection. 1 to update.',
      '1 connection loses review (orders-db; env=prod, team=orders)  access/orders.yaml:7',
      '1 connection allows longer access: 2 d (was 1 h) (orders-db; env=prod, team=orders)  access/orders.yaml:7',
    ],
  },
  'the break-glass group is removed': {
    edit: inTurn(
      replace(approval, '  force_approval_groups: [oncall-leads]\n', ''),
      replace(reviewers, '  force_approve_groups: [oncall-leads]\n', ''),
    ),
    hoop: [
      '1 to update. Strengthens protection of 3 connections.',
      '3 connections can no longer be force-approved by group oncall-leads (ledger-db, orders-db, warehouse-db; all env=prod)  rules/approval.yaml:7',
    ],
    serve: [
      '2 to update. Strengthens protection of 2 connections.',
      '2 connections can no longer be force-approved by group oncall-leads (ledger-db, warehouse-db; all env=prod)  overlays/serve/approval.yaml:6, overlays/serve/approval.yaml:15',
    ],
  },
  'fewer approvals': {
    edit: inTurn(
      replace(approval, 'min_approvals: 2', 'min_approvals: 1'),
      replace(reviewers, 'min_review_approvals: 2', 'min_review_approvals: 1'),
    ),
    hoop: [
      'Weakens protection of 3 connections. 1 to update.',
      '3 connections can be approved by any 1 of 2 groups (was 2 of 2) (ledger-db, orders-db, warehouse-db; all env=prod)  rules/approval.yaml:12',
    ],
    serve: [
      'Weakens protection of 2 connections. 2 to update.',
      '2 connections can be approved by any 1 of 2 groups (was 2 of 2) (ledger-db, warehouse-db; all env=prod)  overlays/serve/approval.yaml:8, overlays/serve/approval.yaml:17',
    ],
  },
  'a new connection': {
    edit: (files) => ({ ...files, [orders]: `${files[orders]}${replica}` }),
    hoop: [
      'Gives access without review to 1 connection. 1 to create, 3 to update.',
      '1 connection becomes accessible to contractors and orders by exec without review, mitigated by access-request rules prod-approval, contractor-commands (orders-replica-db; env=prod, team=orders)  access/orders.yaml:36',
    ],
    serve: [
      'Gives access without review to 1 connection. 1 to create.',
      '1 connection becomes accessible to contractors and orders without reviewers, guardrails or masking (orders-replica-db; env=prod, team=orders)  access/orders.yaml:36',
    ],
  },
  'an attribute grants another group': {
    edit: replace('rules/attributes.yaml', '[pci-auditors]', '[payments-support, pci-auditors]'),
    hoop: [
      'Weakens protection of 1 connection. 1 to update.',
      'payments-support can reach ledger-db (env=prod, team=payments)  rules/attributes.yaml:8',
    ],
  },
  'everybody may reach the test database': {
    edit: replace(orders, `${groups}\n  connection_tags: { env: test`, 'null\n  connection_tags: { env: test'),
    serve: [
      'Weakens protection of 1 connection. 1 to update.',
      'everybody can reach orders-test-db (env=test, team=orders)  access/orders.yaml:33',
    ],
    hoop: ['access/orders.yaml:33:18 error hoop/unrestricted  access_groups: null is not possible while access control is on'],
  },
  'a rule is deleted': {
    edit: removeDocument(approval, 'prod-approval'),
    hoop: [
      'Weakens protection of 4 connections. 1 to delete.',
      '2 connections lose approval (ledger-db, warehouse-db; all env=prod)  AccessRequestRule/prod-approval removed in COMMIT "a rule is deleted"',
      '2 connections lose approval for native access (orders-db, orders-replica-db; all env=prod, team=orders)  AccessRequestRule/prod-approval removed in COMMIT "a rule is deleted"',
    ],
  },
  'the last runbook rule is deleted': {
    edit: removeDocument('rules/runbooks.yaml', 'nightly'),
    hoop: [
      'Refused. Weakens protection of 3 connections. 1 to delete.',
      'Apply rejects this plan:',
      'plan/last-runbook-rule  RunbookRule/nightly: no runbook rule would be left, so everybody could run every runbook on every connection that they see',
      'keep a rule, such as one for a group without members, or close access_mode_runbooks of the connections first',
      'override: --allow plan/last-runbook-rule=REASON',
      '3 connections let everybody with access run every runbook: no runbook rule is left (orders-db, orders-test-db, warehouse-db)  RunbookRule/nightly removed in COMMIT "the last runbook rule is deleted"',
    ],
    allow: 'plan/last-runbook-rule',
  },
};

/** The address of each gateway in the example. */
const addresses: Readonly<Record<Target, string>> = { serve: 'http://127.0.0.1:8009', hoop: 'https://gateway.example.com/api' };

const gateways: Readonly<Record<Target, () => Promise<{ readonly url: string; readonly token: string }>>> = {
  serve: async () => ({ url: served.url(), token: served.server().key }),
  hoop: async () => {
    const { url, model } = await hoopProject();
    for (const group of ['orders', 'payments', 'data', 'contractors', 'oncall-leads', 'pci-auditors']) model.store.groups.add(group);
    return { url, token: adminToken };
  },
};

type Example = {
  readonly files: Sources;
  readonly repository: TestRepository;
  readonly run: (line: string, day?: string) => ReturnType<typeof runInFolder>;
  /** Applies what is committed, and expects that nothing is left to do. */
  readonly apply: (allow?: string) => Promise<void>;
};

/** Applies the example to a gateway. */
async function applyExample(target: Target): Promise<Example> {
  const { url, token } = await gateways[target]();
  // Without its access tests, which refuse some of the changes.
  const paths = filesBelow(example).filter((path) => !/\/(?:tests|others)\.yaml$/.test(path));
  const read = paths.map((path) => [path, readFileSync(join(example, path), 'utf8')] as const);
  const files = Object.fromEntries(read.map(([path, text]) => [path, text.replace(addresses[target], url)]));
  const repository = make(files);
  const run: Example['run'] = async (line, day = '2026-11-27') =>
    runInFolder(repository.folder, `${line} --target ${target} --today ${day}`.split(' '), { ...gitEnv, OSTIARY_TOKEN: token });
  const apply: Example['apply'] = async (allow) => {
    const done = await run(`apply --yes${allow === undefined ? '' : ` --allow ${allow}=agreed`}`);
    if (done.code !== 0) throw new Error(`${done.stdout}${done.stderr}`);
    expect(await run('plan --detailed-exitcode')).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
  };
  await apply(target === 'hoop' ? 'plan/access-control-on' : undefined);
  return { files, repository, run, apply };
}

const policies = { 'access/policies.yaml': readFileSync('examples/policies/access.yaml', 'utf8') };

describe.each<readonly [Target, Readonly<Record<'deferred' | 'violated', readonly string[]>>]>([
  ['serve', { deferred: [], violated: ['contractors-need-approval', 'native-access-is-approved'] }],
  ['hoop', { deferred: ['policy/deferred'], violated: ['contractors-need-approval'] }],
])('the example for access, on %s', (target, { deferred, violated }) => {
  let applied: Example;

  beforeAll(async () => {
    applied = await applyExample(target);
  });

  test('passes the policies about access, which find what a change breaks', async () => {
    const { files, repository, run } = applied;
    repository.save(policies);
    expect(await run('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
    const valid = await run('validate');
    expect([valid.code, valid.stderr.match(/policy\/[\w-]+/g) ?? []]).toEqual([0, deferred]);
    repository.save(changes['contractors lose review']?.edit(files) ?? {});
    const { code, stdout } = await run('plan --format json');
    const findings: readonly PolicyFinding[] = JSON.parse(stdout).plans[0].policies.findings;
    expect([code, ...new Set(findings.map(({ result }) => result))]).toEqual([6, 'violated']);
    expect([...new Set(findings.map(({ policy }) => policy))].toSorted()).toEqual(violated);
    repository.remove(...Object.keys(policies));
    repository.save(files);
  });

  test('refuses what it denies to others, and names the line that grants it', async () => {
    const { files, repository, run } = applied;
    const path = othersFiles[target];
    const tested = { [path]: readFileSync(join(example, path), 'utf8') };
    repository.save(tested);
    const clean = await run('plan');
    expect([clean.code, clean.stdout, clean.stderr]).toEqual([
      0,
      expect.stringContaining('No changes'),
      expect.not.stringContaining('plan/unknown-group'),
    ]);
    repository.save(replace('access/payments.yaml', '[payments]', '[payments, contractors]')(files));
    const failing = /others\s+on\s+team=payments:\s+denied,\s+but\s+contractors\s+on\s+ledger-db:\s+connect,\s+exec\s+allowed/;
    const validated = await run('validate');
    expect(validated).toMatchObject({ code: 3, stderr: expect.stringMatching(failing) });
    const line = tested[path]?.split('\n').findIndex((one) => one.includes('others, on: { match_tags: { team: payments }')) ?? -1;
    expect(validated.stderr).toContain(`${path}:${line + 1}:5 error manifest/access-test`);
    expect(validated.stderr).toContain('decided by access/payments.yaml:14');
    const planned = await run('plan');
    expect(planned).toMatchObject({ code: 6, stdout: expect.stringMatching(failing) });
    expect(planned.stdout).toContain('plan/access-test');
    repository.remove(path);
    repository.save(files);
  });

  test('ends the access of contractors with its last day', async () => {
    const { run } = applied;
    expect(await run('validate', '2030-06-16')).toMatchObject({ code: 0, stderr: expect.stringContaining('manifest/grant-ending') });
    const ended = { code: 3, stderr: expect.stringContaining('the access of contractors ended on 2030-06-30 (today is 2030-07-01)') };
    expect(await run('validate', '2030-07-01')).toMatchObject(ended);
    expect(await run('plan', '2030-07-01')).toMatchObject(ended);
    const drifted = await run('drift', '2030-07-01');
    expect(drifted).toMatchObject({ code: 2, stdout: expect.stringContaining('contractors on orders-db: expired on 2030-06-30') });
  });
});
