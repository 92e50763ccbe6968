import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { config, connection, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();
const makeFolder = useProjects();

const grouped = (groups: Json | undefined): string => connection('payments-db', groups === undefined ? {} : { access_groups: groups });
const file = 'access/payments-db.yaml';

async function served(): Promise<unknown> {
  return (await gateway.call('GET', '/connections/payments-db')).body['access_groups'];
}

async function serve(groups: readonly string[]): Promise<void> {
  const { body } = await gateway.call('GET', '/connections/payments-db');
  const { status } = await gateway.call('PUT', '/connections/payments-db', { body: { ...body, access_groups: [...groups] } });
  expect(status).toBe(200);
}

test('access groups are planned, applied, compared, reverted, held and pulled', async () => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), [file]: grouped(undefined) });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  const plan = async (groups: Json): Promise<string> => {
    repository.save({ [file]: grouped(groups) });
    return (await run('plan')).stdout;
  };
  const created = await run('apply --yes');
  expect(created).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/reach|who/) });
  expect(await served()).toEqual([]);

  const states: readonly (readonly [Json, readonly string[], string])[] = [
    [['payments', 'sre'], ['payments', 'sre'], 'only payments and sre can reach payments-db'],
    [['sre', 'payments'], ['payments', 'sre'], 'No changes.'],
    [[], ['admin'], '1 connection is visible to no group: payments and sre lose access (payments-db)'],
    [['payments'], ['payments'], 'payments can reach payments-db'],
    [null, [], 'everybody can reach payments-db'],
    [[], ['admin'], '1 connection is visible to no group: everybody loses access (payments-db)'],
    [['payments', 'sre'], ['payments', 'sre'], 'payments and sre can reach payments-db'],
  ];
  for (const [groups, wire, headline] of states) {
    expect(await plan(groups)).toContain(headline);
    expect((await run('apply --yes')).code).toBe(0);
    expect(await served()).toEqual(wire);
    expect((await run('plan')).stdout).toContain('No changes.');
  }
  // The gateway always includes admins, so a list with them is the same.
  await serve(['admin', 'sre', 'payments']);
  expect((await run('drift')).code).toBe(0);
  await serve(['payments']);
  expect(await run('drift')).toMatchObject({ code: 2, stdout: expect.stringMatching(/access_groups {2}- sre {2}\(held\)/) });
  await serve(['admin']);
  expect((await run('explain Connection/payments-db')).stdout).toMatch(/access_groups[\s\S]*\[payments, sre\]/);
  expect(await run('drift')).toMatchObject({ code: 2, stdout: expect.stringMatching(/access_groups[^+]*\(held\)/) });
  for (const [wider, who, undone] of [
    [[], 'everybody', 'only payments and sre can reach payments-db'],
    [['payments', 'sre', 'staff'], 'staff', 'staff can no longer reach payments-db'],
  ] as const) {
    await serve(wider);
    expect(await run('drift')).toMatchObject({ code: 2, stdout: expect.stringContaining(`${who} can reach payments-db`) });
    expect(await run('apply --yes')).toMatchObject({ code: 0, stdout: expect.stringContaining(undone) });
    expect(await served()).toEqual(['payments', 'sre']);
  }
  repository.save({ [file]: grouped(null) });
  expect(await run('plan --max-risk neutral')).toMatchObject({ code: 6, stdout: expect.stringContaining('risk/who') });

  // Omitted groups are kept.
  repository.save({ [file]: connection('payments-db', { reviewers: ['dba'] }) });
  expect((await run('apply --yes')).code).toBe(0);
  expect(await served()).toEqual(['payments', 'sre']);
  for (const [wire, text] of [
    [['sre', 'payments'], 'access_groups: [payments, sre]'],
    [['admin'], 'access_groups: []'],
    [[], undefined],
  ] as const) {
    await serve(wire);
    const folder = makeFolder({});
    expect((await gateway.run(`pull project --url ${gateway.url()}`, folder)).code).toBe(0);
    const pulled = readFileSync(join(folder, 'project/access/connections/payments-db.yaml'), 'utf8');
    expect(/access_groups: .*/.exec(pulled)?.[0]).toBe(text);
    expect((await gateway.run('plan', join(folder, 'project'))).stdout).toContain('No changes.');
  }
});
