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

type Edit = (files: Sources) => Sources;

/** Replaces a text, which has to be there, everywhere in one file. */
function replace(path: string, from: string, to: string): Edit {
  return (files) => {
    const text = files[path] ?? '';
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`);
    return { ...files, [path]: text.replaceAll(from, to) };
  };
}

/** Removes the document of a name from a file. */
function removeDocument(path: string, name: string): Edit {
  return (files) => {
    const kept = (files[path] ?? '').split('---\n').filter((one) => !one.includes(`  name: ${name}\n`));
    return { ...files, [path]: kept.join('---\n') };
  };
}

const inTurn =
  (...edits: readonly Edit[]): Edit =>
  (files) =>
    edits.reduce((all, edit) => edit(all), files);

const othersFiles = { serve: 'access/others.yaml', hoop: 'rules/others.yaml' } as const;

/** The contractors need no approval any more. */
const withoutReview = inTurn(
  replace('rules/approval.yaml', 'approval_required_groups: [contractors]', 'approval_required_groups: [trainees]'),
  removeDocument('overlays/serve/approval.yaml', 'orders-db'),
);

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
    repository.save(withoutReview(files));
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
