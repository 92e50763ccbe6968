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
    expect(await run('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to write') });
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
});
