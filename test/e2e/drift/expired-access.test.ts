import { expect, test } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import { open } from '../../support/access-project.ts';
import { expectValid } from '../../support/documents.ts';
import { gitEnv, type TestRepository, useRepositories } from '../../support/repository.ts';
import { runInFolder } from '../../support/run-in-process.ts';
import { type DialectSide, useBothDialects } from '../both-dialects.ts';
import { config, connection, type Files } from '../project.ts';

const dialects = useBothDialects();
const { make } = useRepositories();

const contractors = { group: 'contractors', until: '2026-12-31', reason: 'migration' };

/** A connection with these groups, which two groups review. */
function grouped(name: string, groups: Json): Files {
  return { [`access/${name}.yaml`]: connection(name, { ...open, access_groups: groups, reviewers: ['dba', 'sre'] }) };
}

const sides = new Map<string, Promise<DialectSide>>();

/** Returns the gateway of a dialect; all tests share that of `serve`, without the connections of the test before. */
function sideOf(dialect: string): Promise<DialectSide> {
  const side = sides.get(dialect) ?? dialects[dialect]?.() ?? Promise.reject(new Error(`there is no ${dialect}`));
  sides.set(dialect, side);
  return side;
}

type Run = (line: string) => ReturnType<typeof runInFolder>;
type AppliedProject = { readonly side: DialectSide; readonly repository: TestRepository; readonly run: Run };

/** Applies one connection that also another group can reach, and one that only contractors can. */
async function appliedProject(dialect: string, expire = 'expire: apply\n'): Promise<AppliedProject> {
  const side = await sideOf(dialect);
  for (const name of ['orders-db', 'only-db']) await side.send('DELETE', `/connections/${name}`);
  const repository = make({
    'ostiary.yaml': `${config(side.url)}${expire}`,
    ...grouped('orders-db', ['sre', contractors]),
    ...grouped('only-db', [contractors]),
  });
  const run: Run = (line) => runInFolder(repository.folder, line.split(' '), { ...gitEnv, OSTIARY_TOKEN: side.admin });
  const applied = await run('apply --yes --today 2026-11-01 --allow plan/access-control-on=all');
  expect(applied).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('access_groups         [contractors until 2026-12-31 (migration), sre]'),
  });
  return { side, repository, run };
}

/** Returns what the gateway has of both connections: on the public gateway their rows of access control, where no group is only admins. */
async function liveGroups({ send }: DialectSide, dialect: string): Promise<unknown> {
  const names = ['orders-db', 'only-db'];
  if (dialect === 'hoop') {
    const { body } = await send('GET', '/plugins/access_control');
    const rows: readonly { readonly name: string; readonly config: Json }[] = Object(body)['connections'];
    return Object.fromEntries(rows.map((row) => [row.name, row.config]));
  }
  const found = await Promise.all(
    names.map(async (name) => [name, Object((await send('GET', `/connections/${name}`)).body)['access_groups']]),
  );
  return Object.fromEntries(found);
}

const closed: Readonly<Record<string, unknown>> = {
  interface: { 'orders-db': ['sre'], 'only-db': ['admin'] },
  hoop: { 'orders-db': ['sre'], 'only-db': [] },
};

test.each(Object.keys(dialects))('on %s a drift run removes the access that has ended, and nothing else', async (dialect) => {
  const { side, repository, run } = await appliedProject(dialect);
  expect((await run('plan --today 2026-12-31')).stdout).toContain('No changes.');
  expect((await run('drift --today 2026-12-31')).code).toBe(0);
  expect((await run('explain Connection/orders-db access_groups --today 2026-12-20')).stdout).toContain(
    'declared in the manifest; contractors until 2026-12-31 (migration)',
  );

  const refused = await run('plan --today 2027-01-01');
  expect([refused.code, refused.stderr]).toEqual([
    3,
    expect.stringMatching(
      /orders-db\.yaml:\d+:\d+ error manifest\/grant-ended {2}the access of contractors ended on 2026-12-31 \(today is 2027-01-01\)[\s\S]*remove the entry, or move its end/,
    ),
  ]);
  const found = await run('drift --today 2027-01-01');
  expect([found.code, found.stdout]).toEqual([
    2,
    expect.stringMatching(
      /2 groups still have expired access\.[\s\S]*contractors on only-db: expired on 2026-12-31\n {2}contractors on orders-db: expired on 2026-12-31\n/,
    ),
  ]);
  expect(found.stdout).not.toContain('outside Ostiary');
  const json = await run('drift --today 2027-01-01 --format json --quiet');
  expectValid('drift', json.stdout);
  expect(json.stdout).toContain('"ended": true');

  await side.tamper('/connections/orders-db', { reviewers: ['dba'] });
  const removed = await run('drift --expire --yes --today 2027-01-01');
  expect(removed).toMatchObject({ code: 2, stdout: expect.stringContaining('1 object changed outside Ostiary') });
  expect(removed.stdout).not.toContain('expired');
  expect(removed.stderr).toMatch(/- contractors {2}\(expired on 2026-12-31\)[\s\S]*2 updated\./);
  expect(await liveGroups(side, dialect)).toEqual(closed[dialect]);
  expect(Object((await side.send('GET', '/connections/orders-db')).body)['reviewers']).toEqual(['dba']);
  expect((await run('drift --expire --yes --today 2027-01-02')).stderr).not.toContain('updated');

  repository.save({ ...grouped('orders-db', ['sre', { ...contractors, until: '2027-06-30' }]), ...grouped('only-db', []) });
  const later = (await run('plan --today 2027-01-02')).stdout;
  expect(later).toContain('contractors can reach orders-db');
  expect(later).toContain('access_groups  + contractors until 2027-06-30 (migration)');
  expect(later).toContain('1 manifest that changes nothing on the gateway\n    Connection/only-db');
});

test('neither access tests nor policies nor limits keep access that has ended', async () => {
  const names = Array.from({ length: 21 }, (_, index) => `ended-${index}`);
  const side = await sideOf('interface');
  const policy = { metadata: { name: 'seen' }, spec: { require: ['size(connection.access_groups) > 0'], message: 'nobody sees it' } };
  const wanted = { metadata: { name: 'people' }, spec: [{ group: 'contractors', on: ['ended-*'], expect: 'allowed' }] };
  const repository = make({
    'ostiary.yaml': `${config(side.url)}expire: apply\n`,
    'access/policy.yaml': JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'Policy', ...policy }),
    'access/people.yaml': JSON.stringify({ apiVersion: 'ostiary/v1', kind: 'AccessTest', ...wanted }),
    ...Object.assign({}, ...names.map((name) => grouped(name, [contractors]))),
  });
  const run: Run = (line) => runInFolder(repository.folder, line.split(' '), { ...gitEnv, OSTIARY_TOKEN: side.admin });
  expect((await run('apply --yes --today 2026-11-01')).code).toBe(0);
  const removed = await run('drift --expire --yes --today 2027-01-01');
  expect(removed).toMatchObject({ code: 2, stderr: expect.stringContaining('21 updated.') });
  expect(removed.stderr).toMatch(/Overridden: [^\n]*\n?[^\n]*the access has ended/);
  expect(removed.stderr).not.toContain('allow-unused');
  expect(removed.stderr).toContain('policy/violated');
  for (const name of names) {
    expect(Object((await side.send('GET', `/connections/${name}`)).body)['access_groups']).toEqual(['admin']);
    await side.send('DELETE', `/connections/${name}`);
  }
});
