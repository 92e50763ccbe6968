import { expect, test } from 'vitest';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { config, connection } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

const file = 'access/gated-db.yaml';
const grouped = (...groups: readonly string[]): string =>
  connection('gated-db', { access_groups: [...groups], connection_tags: { env: 'prod' }, reviewers: ['dba'] });

const limited = (limit: string): string => config(gateway.url()).replace("' }", `', limits: { new_access: ${limit} } }`);

test('new access is refused by the option and by the config, and can be allowed', { timeout: 60_000 }, async () => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), [file]: grouped('payments') });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  expect(await run('plan --no-new-access')).toMatchObject({ code: 0 });
  repository.save({ [file]: grouped('payments', 'contractors') });
  expect(await run('plan')).toMatchObject({ code: 0 });

  const refused = await run('plan --no-new-access --format json --out plan.json');
  const gains = ['connect', 'exec'].map((verb) => ({ connection: 'Connection/gated-db', groups: ['contractors'], verb }));
  expect(refused.code).toBe(6);
  const [{ refusals }] = JSON.parse(refused.stdout).plans;
  expect(refusals.flatMap(({ newAccess = [] }) => newAccess)).toEqual(gains);
  expect(refusals[0]).toMatchObject({ code: 'plan/new-access', allowable: true, at: { file, line: expect.any(Number) } });
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
  expect(await run('plan --config-ref main')).toMatchObject({ code: 6, stderr: expect.stringContaining('limits.new_access') });
  expect(await run('apply --yes --allow plan/new-access=approved')).toMatchObject({ code: 0 });
  expect(await run('plan --no-new-access')).toMatchObject({ code: 0 });
});
