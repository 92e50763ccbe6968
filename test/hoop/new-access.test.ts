import { expect, test } from 'vitest';
import { connection, manifest } from '../e2e/project.ts';
import { summaryOf } from './expectations.ts';
import { file, oneLine, open, useAccessProjects } from '../support/access-project.ts';

const accessProject = useAccessProjects();

const rule = { access_type: 'jit_command', connection_names: ['orders-db'], reviewers_groups: ['dba', 'security'], min_approvals: 2 };
const orders = { ...open, access_groups: ['payments'] };
const runbooks = (...files: readonly string[]): string =>
  manifest('RunbookRule', 'ops', {
    connections: ['orders-db'],
    user_groups: ['payments'],
    runbooks: files.map((name) => ({ repository: 'git.example.com/ops', name })),
  });

test('new access by runbooks is refused, and so is drift that the manifests accept', { timeout: 120_000 }, async () => {
  const start = {
    [file('orders-db')]: connection('orders-db', orders),
    'access/prod.yaml': manifest('AccessRequestRule', 'prod', rule),
    'access/ops.yaml': runbooks('ops/restart.sh'),
  };
  const access = await accessProject(start);
  await access.run('apply --yes --allow plan/access-control-on=test');
  expect(await access.run('plan --no-new-access --detailed-exitcode')).toMatchObject({ code: 0 });
  // What counts as new access: unit/reconcile/guard/new-access-refusals.
  access.commit({ 'access/ops.yaml': runbooks('ops/restart.sh', 'ops/drop.sh') });
  expect(await access.run('plan --no-new-access --full')).toMatchObject({
    code: 6,
    stdout: expect.stringContaining('git.example.com/ops:ops/drop.sh'),
  });
  access.commit(start);

  await access.grant('orders-db', ['payments', 'contractors']);
  access.commit({ [file('orders-db')]: connection('orders-db', { ...orders, access_groups: ['payments', 'contractors'] }) });
  const accepted = await access.run('plan --no-new-access --full');
  expect(accepted).toMatchObject({ code: 6 });
  expect(oneLine(accepted.stdout)).toContain('contractors: exec on orders-db: was no, will be yes after approval by dba and security');
});

function granted(...groups: readonly string[]): Readonly<Record<string, string>> {
  return { [file('orders-db')]: connection('orders-db', { ...open, access_groups: [...groups] }) };
}

// security: no-record
test('without a record, new access is more than the branch declares that the pull request started from', { timeout: 60_000 }, async () => {
  const access = await accessProject(granted('payments'));
  await access.run('apply --yes --allow plan/access-control-on=test');
  const { repository } = access;
  const deleteRecord = (): string => repository.git('update-ref', '-d', 'refs/ostiary/applied/production');
  deleteRecord();
  repository.git('checkout', '--quiet', '-b', 'change');

  // Who accepts what was granted by hand hides it from a comparison with the gateway.
  await access.grant('orders-db', ['payments', 'contractors']);
  access.commit(granted('payments', 'contractors'));
  const accepted = await access.run('plan --no-new-access --own main --full');
  expect([accepted.code, oneLine(accepted.stdout)]).toEqual([
    6,
    expect.stringContaining('contractors: exec on orders-db: was no, will be yes without approval'),
  ]);
  expect(await access.run('plan --own main')).toMatchObject({ code: 0 });

  // A first import declares nothing that was there before, and neither does a change that gives no access.
  repository.git('checkout', '--quiet', '--orphan', 'empty');
  repository.git('rm', '--quiet', '--cached', '-r', 'access');
  repository.git('commit', '--quiet', '-m', 'Begin');
  access.commit(granted('payments', 'contractors'));
  expect(await access.run('plan --no-new-access --own HEAD~1 --detailed-exitcode')).toMatchObject({ code: 0 });
  const tags = { connection_tags: { env: 'prod' } };
  access.commit({ [file('orders-db')]: connection('orders-db', { ...open, ...tags, access_groups: ['payments', 'contractors'] }) });
  const { refusals } = summaryOf(await access.run('plan --no-new-access --own HEAD~1 --format json'));
  expect(refusals).toEqual(['git/no-record']);
});
