import { expect, test } from 'vitest';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, guardrail } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const { make } = useRepositories();

test('list names every managed object with its manifest and its state, also an orphan', async () => {
  const repository = make({
    'ostiary.yaml': config(gateway.url()),
    'access/orders.yaml': connection('orders', { reviewers: ['dba'] }),
    'access/reports.yaml': connection('reports'),
    'access/rule.yaml': guardrail('no-drop'),
  });
  const run = (line: string): ReturnType<typeof ostiaryInProcess> =>
    ostiaryInProcess(line.split(' '), { cwd: repository.folder, env: { ...gateway.env(), ...gitEnv } });
  const rows = async (line: string): Promise<readonly string[]> => (await run(line)).stdout.trimEnd().split(/\n/);

  expect(await rows('list')).toEqual([
    'KIND           NAME     MANIFEST               STATE',
    'Connection     orders   access/orders.yaml:1   to create',
    'Connection     reports  access/reports.yaml:1  to create',
    'GuardrailRule  no-drop  access/rule.yaml:1     to create',
  ]);
  expect((await run('apply --yes')).code).toBe(0);
  const { body } = await gateway.call('GET', '/connections/orders');
  expect(await gateway.call('PUT', '/connections/orders', { body: { ...body, reviewers: [] } })).toMatchObject({ status: 200 });
  repository.git('rm', '--quiet', 'access/reports.yaml');
  repository.save({ 'access/rule.yaml': guardrail('no-drop', ['TRUNCATE']) });
  expect((await rows('list')).map((row) => row.replaceAll(/ {2,}/g, ' | '))).toEqual([
    'KIND | NAME | MANIFEST | STATE',
    'Connection | orders | access/orders.yaml:1 | drift, to revert',
    'Connection | reports | orphaned, still live and accessible',
    'GuardrailRule | no-drop | access/rule.yaml:1 | to update',
  ]);
  expect(JSON.parse((await run('list --only Connection/orders --format json')).stdout)).toEqual({
    objects: [{ kind: 'Connection', name: 'orders', place: 'access/orders.yaml:1', state: 'drift, to revert' }],
  });
  const inState = async (...states: readonly string[]): Promise<readonly string[]> =>
    (await rows(`list ${states.map((state) => `--state ${state}`).join(' ')}`)).slice(1).map((row) => row.split(/ +/)[1] ?? '');
  expect(await inState('drifted')).toEqual(['orders']);
  expect(await inState('orphan', 'update')).toEqual(['reports', 'no-drop']);
  expect(await inState('in-sync')).toEqual([]);
  expect(await run('list --state drift')).toMatchObject({ code: 3, stderr: expect.stringContaining('expected one of: in-sync, create, ') });
  expect(await run('list --only Connection/order')).toMatchObject({ code: 3, stderr: expect.stringContaining('did you mean') });
});
