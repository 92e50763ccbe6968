import { expect, test } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { connection, manifest } from '../e2e/project.ts';
import { file, grouped, oneLine, open, useAccessProjects, type AccessProject } from '../support/access-project.ts';

const accessProject = useAccessProjects();

/** Returns the lines of a plan about who can do what; a single one has no heading. */
async function blockOf({ run }: AccessProject, command = 'plan'): Promise<readonly string[]> {
  const { stdout } = await run(command);
  const lines = stdout.split('\n').map((text) => oneLine(text.trim()));
  return lines.filter((text) => / on [^:]+: was .*, will be /.test(text));
}

const rule = (change: Readonly<Record<string, Json>> = {}): string =>
  manifest('AccessRequestRule', 'prod', {
    access_type: 'jit_command',
    connection_names: ['orders-db'],
    approval_required_groups: [],
    reviewers_groups: ['dba', 'security'],
    min_approvals: 1,
    access_max_duration: 3600,
    ...change,
  });

const orders = (until?: string): string =>
  grouped('orders-db', ['payments', until === undefined ? 'sre' : { group: 'sre', until, reason: 'the migration' }]);

test('an end that a manifest moves, adds or removes is in the block', async () => {
  const access = await accessProject({ [file('orders-db')]: orders('2099-01-01') });
  expect(await blockOf(access, 'apply --yes --allow plan/access-control-on=test')).toEqual([
    expect.stringMatching(/^payments: .* will be yes, without approval access/),
    expect.stringMatching(/^sre: .* will be yes, without approval, until 2099-01-01 \(the migration\) access\/orders-db\.yaml:\d+$/),
  ]);
  for (const [until, text] of [
    ['2099-03-01', 'until 2099-03-01 (the migration)'],
    ['2098-03-01', 'until 2098-03-01 (the migration)'],
    [undefined, 'without an end'],
  ] as const) {
    access.repository.write({ [file('orders-db')]: orders(until) });
    const line = `sre: connect, exec, runbooks on orders-db: was until 2099-01-01 (the migration), will be ${text} access/orders-db.yaml:`;
    expect(await blockOf(access)).toEqual([expect.stringContaining(line)]);
  }
});

test('what changes for those who see every connection is in the block, after the groups, and once', async () => {
  const asked = rule({ approval_required_groups: ['payments', 'admin'] });
  const access = await accessProject({ [file('orders-db')]: grouped('orders-db', ['payments']), 'access/prod.yaml': asked });
  expect((await access.run('apply --yes --allow plan/access-control-on=test')).code).toBe(0);
  const who = async (change: Readonly<Record<string, Json>>): Promise<readonly string[]> => {
    access.repository.write({ 'access/prod.yaml': rule({ approval_required_groups: ['payments', 'admin'], ...change }) });
    return (await blockOf(access)).map((line) => line.slice(0, line.indexOf(':', line.indexOf(':') + 1)));
  };
  expect(await who({ approval_required_groups: [] })).toEqual(['auditor: connect, exec on orders-db']);
  expect(await who({ reviewers_groups: ['dba'] })).toEqual(['admin, payments: connect, exec, runbooks on orders-db']);
  expect(await who({ approval_required_groups: ['payments', 'dev'] })).toEqual(['admin: connect, exec, runbooks on orders-db']);
  access.repository.write({ [file('orders-db')]: grouped('orders-db', ['payments'], { access_mode_exec: 'disabled' }) });
  access.repository.write({ [file('new-db')]: grouped('new-db', ['payments']) });
  expect(await who({})).toEqual(['payments: connect, exec, runbooks on new-db']);
});

test('the first and the last runbook rule are the cause of what they do not name', async () => {
  const access = await accessProject({
    [file('orders-db')]: connection('orders-db', open),
    [file('other-db')]: connection('other-db', open),
  });
  expect((await access.run('apply --yes')).code).toBe(0);
  access.repository.save({
    'access/books.yaml': manifest('RunbookRule', 'books', {
      connections: ['orders-db'],
      runbooks: [{ repository: 'github.com/acme/books', name: 'ops/' }],
      user_groups: ['payments'],
    }),
  });
  expect(await blockOf(access)).toContainEqual(
    'everybody but admin, auditors: runbooks on other-db: was yes, will be no access/books.yaml:1',
  );
  expect((await access.run('apply --yes')).code).toBe(0);
  access.repository.remove('access/books.yaml');
  access.repository.commit();
  expect(await blockOf(access, 'plan --prune')).toContainEqual(
    'everybody but admin, auditors: runbooks on other-db: was no, will be yes, without approval RunbookRule/books',
  );
});
