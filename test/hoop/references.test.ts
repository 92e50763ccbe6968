import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { adminToken, auditorToken, hoopProject, type CommandResult } from '../support/hoop-project.ts';
import type { HoopOptions } from '../support/hoop/options.ts';
import { type HoopRepository, useHoopRepositories } from '../support/hoop-repository.ts';
import { writes } from './expectations.ts';

const repositories = useHoopRepositories();

const subscription = {
  name: 'on-leak',
  event_types: ['session.closed'],
  runbook_repository: 'github.com/acme/runbooks',
  runbook_file: 'ops/lock',
  connection_name: 'orders-db',
  parameter_mapping: {},
};

type Applied = HoopRepository & { readonly post: (path: string, body: object) => Promise<string> };

/** Applies two connections from a commit. */
async function applied(options: HoopOptions = {}): Promise<Applied> {
  const project = await hoopProject(options);
  project.model.settings.listeners = true;
  const files = { 'access/orders.yaml': connection('orders-db'), 'access/other.yaml': connection('other-db') };
  const repository = await repositories.apply(project, files);
  const post = async (path: string, body: object): Promise<string> => {
    const made = await project.send('POST', path, body);
    expect([path, made]).toEqual([path, expect.objectContaining({ status: 201 })]);
    return String(Object(made.body)['id']);
  };
  return { ...repository, post };
}

function oneLine({ stderr, stdout }: CommandResult): string {
  return `${stderr}${stdout}`.replaceAll(/\s+/g, ' ');
}

test('a deletion that an event subscription prevents is refused before anything is written', async () => {
  const { project, repository, run, post } = await applied();
  const id = await post('/event-routing/subscriptions', subscription);
  expect(await project.send('DELETE', '/connections/orders-db')).toEqual({ status: 500, body: { message: 'failed removing connection' } });
  repository.remove('access/orders.yaml');
  repository.commit();
  const before = project.model.dump();
  for (const [line, token] of [
    ['plan --prune', adminToken],
    ['plan --prune', auditorToken],
    ['apply --prune --yes', adminToken],
  ] as const) {
    const refused = await run(line, token);
    expect([refused.code, writes(refused)]).toEqual([6, []]);
    expect(oneLine(refused)).toContain(
      'event subscription "on-leak" runs github.com/acme/runbooks:ops/lock on Connection/orders-db, so the gateway cannot delete the connection',
    );
    expect(oneLine(refused)).not.toContain('override: --allow hoop/event-subscription');
  }
  expect(project.model.dump()).toEqual(before);

  expect((await project.send('DELETE', `/event-routing/subscriptions/${id}`)).status).toBe(204);
  expect(await run('apply --prune --yes')).toMatchObject({ code: 0 });
  expect([...project.model.store.connections.keys()]).toEqual(['other-db']);
});

test('a deletion that fails because of an unseen event subscription says what may be the cause', async () => {
  const { project, repository, run, post } = await applied();
  await post('/event-routing/subscriptions', subscription);
  repository.remove('access/orders.yaml');
  repository.commit();
  project.model.setFault(({ path }) => (path.includes('/event-routing/') ? { kind: 'answer', when: 'before', status: 403 } : undefined));
  const ended = await run('apply --prune --yes');
  expect([ended.code, oneLine(ended)]).toEqual([
    5,
    expect.stringContaining('an event subscription of the gateway may need the connection'),
  ]);
});
