import { describe, expect, test } from 'vitest';
import { accessTestText } from '../../support/access-test.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { oneLine } from '../../support/access-project.ts';
import { config, connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

const fileOf = (name: string): string => `access/${name}.yaml`;
const grouped = (name: string, ...groups: readonly string[]): string =>
  connection(name, { access_groups: [...groups], connection_tags: { env: 'prod' }, reviewers: ['dba'] });

const tests = 'access/tests.yaml';
const others = { group: 'others', on: { match_tags: { env: 'prod' } }, expect: 'denied' };
const named = { group: 'payments', on: '*', verb: 'exec', expect: { approval: { from: ['dba'] } } };
const files = (name: string): Readonly<Record<string, string>> => ({
  'ostiary.yaml': config(gateway.url()),
  [fileOf(name)]: grouped(name, 'payments'),
  [tests]: accessTestText('production', [others, named]),
});

type Run = (line: string) => ReturnType<typeof gateway.run>;

/** Applies a project whose connection has this name, which no other test uses. */
async function applied(name: string): Promise<{ readonly repository: ReturnType<typeof make>; readonly run: Run }> {
  const repository = make(files(name));
  const run: Run = (line) => gateway.run(line, repository.folder, gitEnv);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  return { repository, run };
}

describe('others of an access test', () => {
  test('refuse a plan that lets another group in, name both lines, and can be overridden', async () => {
    const { repository, run } = await applied('bounded-db');
    expect(await run('validate')).toMatchObject({ code: 0 });
    repository.save({ [fileOf('bounded-db')]: grouped('bounded-db', 'payments', 'contractors') });
    const message = 'others on env=prod: denied, but contractors on bounded-db: connect, exec allowed';
    const validated = await run('validate');
    expect(validated.code).toBe(3);
    expect(oneLine(validated.stdout + validated.stderr)).toContain(message);
    const planned = await run('plan --format json --out plan.json');
    expect(planned.code).toBe(6);
    const [{ refusals }] = JSON.parse(planned.stdout).plans;
    expect(refusals).toMatchObject([
      {
        code: 'plan/access-test',
        message,
        allowable: true,
        at: { file: tests, line: 5 },
        hint: expect.stringContaining(`decided by ${fileOf('bounded-db')}:`),
      },
    ]);
    expect(await run('apply --yes --plan plan.json')).toMatchObject({ code: 6 });
    expect(await run('apply --yes')).toMatchObject({ code: 6 });
    expect(await run('apply --yes --allow plan/access-test=agreed')).toMatchObject({ code: 0 });
    // Who gets in already is a warning.
    expect(await run('plan')).toMatchObject({ code: 0, stderr: expect.stringContaining('plan/access-test-failing') });
  });

  test('of the reviewed commit are named first where they are fewer, denied less, or gone', async () => {
    const { repository, run } = await applied('reviewed-db');
    const digestOf = async (): Promise<unknown> => JSON.parse((await run('plan --format json')).stdout).plans[0].digest;
    const digest = await digestOf();
    repository.git('checkout', '-q', '-b', 'proposal');
    const contractors = { group: 'contractors', on: '*', verb: 'exec', expect: { approval: {} } };
    repository.save({
      [tests]: accessTestText('production', [others, named, contractors]),
      [fileOf('reviewed-db')]: grouped('reviewed-db', 'payments', 'contractors'),
    });
    const fewer = String.raw`Changes its checks: access test production \(contractors on env=prod: denied\) removed \(covered .{0,400}Check removed \(covered [a-z, -]*reviewed-db\): access test`;
    for (const line of ['plan', 'plan --config-ref main']) {
      const planned = await run(line);
      expect([planned.code, oneLine(planned.stdout)]).toEqual([0, expect.stringMatching(new RegExp(`^.{0,60}${fewer}`))]);
    }
    expect((await run('plan --max-risk strengthens')).code).toBe(6);

    repository.save({ [fileOf('reviewed-db')]: grouped('reviewed-db', 'payments') });
    repository.git('rm', '-q', tests);
    repository.git('commit', '-q', '-m', 'no test');
    const removed = await run('plan --config-ref main');
    expect(oneLine(removed.stdout)).toMatch(
      /^.{0,300}access test production \(others on env=prod: denied\) removed \(covered .{0,400}Check removed \(covered [a-z, -]*reviewed-db\): access test/,
    );
    expect(await digestOf()).not.toEqual(digest);
  });
});

test('without a list of groups, a misspelled group of an access test is one that no object names', async () => {
  const { repository, run } = await applied('spelled-db');
  expect(await run('plan')).toMatchObject({ code: 0, stderr: expect.not.stringContaining('plan/unknown-group') });
  repository.save({ [tests]: accessTestText('production', [others, { ...named, group: 'paymets', expect: 'denied' }, named]) });
  const { code, stderr } = await run('plan');
  expect([code, oneLine(stderr)]).toEqual([
    0,
    expect.stringMatching(/access\/tests\.yaml:6:\d+ warning plan\/unknown-group .*did you mean "payments"\?/),
  ]);
});

const gated = 'access/gated-db.yaml';
const inGroups = (...groups: readonly string[]): string =>
  connection('gated-db', { access_groups: [...groups], connection_tags: { env: 'prod' }, reviewers: ['dba'] });

const limited = (limit: string): string => config(gateway.url()).replace("' }", `', limits: { new_access: ${limit} } }`);

test('new access is refused by the option and by the config, and can be allowed', async () => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), [gated]: inGroups('payments') });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await run('plan --no-new-access')).toMatchObject({ code: 0 });
  repository.save({ [gated]: inGroups('payments', 'contractors') });
  expect(await run('plan')).toMatchObject({ code: 0 });

  const refused = await run('plan --no-new-access --format json --out plan.json');
  const gains = ['connect', 'exec'].map((verb) => ({ connection: 'Connection/gated-db', groups: ['contractors'], verb }));
  expect(refused.code).toBe(6);
  const [{ refusals }] = JSON.parse(refused.stdout).plans;
  expect(refusals.flatMap(({ newAccess = [] }) => newAccess)).toEqual(gains);
  expect(refusals[0]).toMatchObject({ code: 'plan/new-access', allowable: true, at: { file: gated, line: expect.any(Number) } });
  expect(await run('apply --yes --plan plan.json')).toMatchObject({ code: 6 });
  expect(await run('apply --yes --no-new-access --plan plan.json')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('--no-new-access cannot be combined with --plan'),
  });

  repository.save({ 'ostiary.yaml': limited('{ match_tags: { env: dev } }') });
  expect(await run('plan')).toMatchObject({ code: 0 });
  for (const limit of ['{ match_tags: { env: prod } }', 'refuse']) {
    repository.save({ 'ostiary.yaml': limited(limit) });
    expect(await run('plan')).toMatchObject({
      code: 6,
      stdout: expect.stringMatching(/plan\/new-access {2}access\/gated-db\.yaml:\d+:\d+[\s\S]*contractors: connect on gated-db: was no/),
    });
  }
  // Who changes the limit in the same pull request is limited by the reviewed one.
  repository.git('checkout', '-q', '-b', 'proposal');
  repository.save({ 'ostiary.yaml': limited('allow') });
  expect(await run('plan --config-ref main')).toMatchObject({ code: 6, stdout: expect.stringContaining('limits.new_access') });
  expect(await run('apply --yes --allow plan/new-access=approved')).toMatchObject({ code: 0 });
  expect(await run('plan --no-new-access')).toMatchObject({ code: 0 });
});
