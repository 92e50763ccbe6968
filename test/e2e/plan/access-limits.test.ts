import { describe, expect, test } from 'vitest';
import { referenceText } from '../../support/access-reference.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { oneLine } from '../../support/access-project.ts';
import { config, connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

const fileOf = (name: string): string => `access/${name}.yaml`;
const grouped = (name: string, ...groups: readonly string[]): string =>
  connection(name, { access_groups: [...groups], connection_tags: { env: 'prod' }, reviewers: ['dba'] });

const prod = { match_tags: { env: 'prod' } };
const bound = { group: 'contractors', on: prod, most: 'denied' };
const reference = referenceText({ name: 'production', entries: [bound] });
const most = 'security/most.yaml';
const referenced = (): string => `${config(gateway.url()).trimEnd()}\nreference: [security/]\n`;

const files = (name: string): Readonly<Record<string, string>> => ({
  'ostiary.yaml': referenced(),
  [fileOf(name)]: grouped(name, 'payments'),
  [most]: reference,
});

type Run = (line: string) => ReturnType<typeof gateway.run>;

/** Applies a project whose connection has this name, which no other test uses. */
async function applied(name: string): Promise<{ readonly repository: ReturnType<typeof make>; readonly run: Run }> {
  const repository = make(files(name));
  const run: Run = (line) => gateway.run(line, repository.folder, gitEnv);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  return { repository, run };
}

describe('a reference', () => {
  test('refuses a plan that grants more, names both lines, and can be overridden', async () => {
    const { repository, run } = await applied('bounded-db');
    expect(await run('validate')).toMatchObject({ code: 0 });
    repository.save({ [fileOf('bounded-db')]: grouped('bounded-db', 'payments', 'contractors') });
    const message = `contractors: exec on bounded-db: yes after approval by dba, but reference production allows at most: denied (${most}:7)`;
    const validated = await run('validate');
    expect(validated.code).toBe(3);
    expect(oneLine(validated.stdout + validated.stderr)).toContain(message);
    const planned = await run('plan --format json --out plan.json');
    expect(planned.code).toBe(6);
    const [{ refusals }] = JSON.parse(planned.stdout).plans;
    expect(refusals[0]).toMatchObject({
      code: 'plan/access-reference',
      allowable: true,
      at: { file: fileOf('bounded-db'), line: expect.any(Number) },
      hint: expect.stringContaining(`decided by ${fileOf('bounded-db')}:`),
    });
    const access = ['connect', 'exec'].map((verb) => ({ connection: 'Connection/bounded-db', groups: ['contractors'], verb }));
    expect(refusals.flatMap(({ newAccess = [] }) => newAccess)).toEqual(access);
    expect(await run('apply --yes --plan plan.json')).toMatchObject({ code: 6 });
    expect(await run('apply --yes')).toMatchObject({ code: 6 });
    expect(await run('apply --yes --allow plan/access-reference=agreed')).toMatchObject({ code: 0 });
    // What the manifests grant stays refused, also when the gateway has it.
    expect(await run('plan')).toMatchObject({ code: 6, stdout: expect.stringContaining('plan/access-reference') });
  });

  test('of the reviewed commit counts, and a weaker one says so first', async () => {
    const { repository, run } = await applied('reviewed-db');
    const digestOf = async (): Promise<unknown> => JSON.parse((await run('plan --format json')).stdout).plans[0].digest;
    const digest = await digestOf();
    repository.git('checkout', '-q', '-b', 'proposal');
    const weaker = referenceText({ name: 'production', entries: [{ ...bound, most: { approval: {} } }] });
    repository.save({ [most]: weaker, [fileOf('reviewed-db')]: grouped('reviewed-db', 'payments', 'contractors') });
    const line =
      'access reference production lets contractors have more by connect, exec, runbooks: was denied, will be approval by at least 1';
    const own = await run('plan');
    expect([own.code, oneLine(own.stdout)]).toEqual([0, expect.stringMatching(new RegExp(`^.{0,300}${line}`))]);
    const reviewed = await run('plan --config-ref main');
    expect([reviewed.code, oneLine(reviewed.stdout)]).toEqual([6, expect.stringContaining('reference production allows at most: denied')]);
    expect(oneLine(reviewed.stdout)).toContain(line);
    expect((await run('plan --max-risk strengthens')).code).toBe(6);

    repository.save({ 'ostiary.yaml': config(gateway.url()), [fileOf('reviewed-db')]: grouped('reviewed-db', 'payments') });
    repository.git('rm', '-q', most);
    repository.git('commit', '-q', '-m', 'no reference');
    const removed = await run('plan --config-ref main');
    expect(oneLine(removed.stdout)).toMatch(/^.{0,600}access reference production is removed/);
    expect(await digestOf()).not.toEqual(digest);
  });

  test('binds a connection whose tag is removed with it', async () => {
    const { repository, run } = await applied('tagged-db');
    repository.save({ [fileOf('tagged-db')]: grouped('tagged-db', 'payments', 'contractors').replace('prod', 'dev') });
    const planned = await run('plan');
    expect([planned.code, oneLine(planned.stdout)]).toEqual([6, expect.stringContaining('plan/access-reference')]);
    expect(oneLine(planned.stdout)).toContain('lets contractors have more by connect, exec, runbooks: was denied, will be unrestricted');
  });
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

test('an entry about no connection is a warning, and no reference where the config names some is an error', async () => {
  const entries = [{ ...bound, on: { match_tags: { env: 'prd' } } }];
  const misspelt = make({ ...files('series-db'), [most]: referenceText({ entries }) });
  const warned = await gateway.run('validate', misspelt.folder, gitEnv);
  expect([warned.code, warned.stderr]).toEqual([0, expect.stringMatching(/manifest\/no-connection[\s\S]*did you mean "env=prod"\?/)]);
  const none = make({ ...files('none-db'), [most]: '# nothing\n' });
  expect(await gateway.run('validate', none.folder, gitEnv)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('manifest/no-access-reference'),
  });
});
