import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { adminToken, auditorToken, hoopProject, type CommandResult } from '../support/hoop-project.ts';
import type { HoopOptions } from '../support/hoop/options.ts';
import { type HoopRepository, useHoopRepositories } from '../support/hoop-repository.ts';
import { jitRule as jit, nightlyRule as nightly, writes } from './expectations.ts';

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

test.each([
  ['an admin', adminToken],
  ['an auditor', auditorToken],
])('a deletion names for %s what keeps the name of the connection', { timeout: 60_000 }, async (_, token) => {
  const { repository, run, post } = await applied();
  await post('/access-requests/rules', jit);
  await post('/runbooks/rules', nightly);
  await post('/runbooks/rules', { ...nightly, name: 'both', connections: ['orders-db', 'other-db'] });
  await post('/runbooks/rules', { ...nightly, name: 'elsewhere', connections: ['other-db'] });
  await post('/machineidentities', { name: 'ci', connection_names: ['orders-db'], attributes: [] });
  repository.remove('access/orders.yaml');
  repository.commit();
  const planned = await run('plan --prune --full', token);
  expect([planned.code, writes(planned)]).toEqual([0, []]);
  const text = oneLine(planned);
  for (const part of [
    'access-request rule "prod-jit" keeps naming Connection/orders-db after the deletion, and it applies to the next connection of that name',
    'after the apply, delete it on the gateway',
    'runbook rule "nightly" keeps naming Connection/orders-db',
    'delete it on the gateway: with an empty list it would apply to every connection',
    'runbook rule "both" keeps naming Connection/orders-db',
    'after the apply, remove the name from it on the gateway',
    'machine identity "ci" keeps naming Connection/orders-db after the deletion, and its credential opens the next connection of that name',
    'before the apply, remove the name from it on the gateway, which revokes the credential',
  ])
    expect(text).toContain(part);
  expect(text.match(/plan\/deletes-references/g)).toHaveLength(4);
  expect(text).not.toContain('rule "elsewhere" keeps naming');
  const kept = await run('plan', token);
  expect(oneLine(kept)).not.toContain('plan/deletes-references');
  expect(kept.requests).not.toContain('GET /api/event-routing/subscriptions');
});

test('a deletion that an event subscription prevents is refused before anything is written', { timeout: 60_000 }, async () => {
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

test(
  'a new connection is reported that a machine identity opens with an old credential, or a runbook rule permits',
  { timeout: 60_000 },
  async () => {
    const { project, repository, run, post } = await applied();
    await post('/machineidentities', { name: 'ci', connection_names: ['orders-db'], attributes: [] });
    await post('/runbooks/rules', { ...nightly, connections: ['orders-db', 'new-db', 'other-db'] });
    await post('/access-requests/rules', { ...jit, connection_names: ['new-db', 'orders-db'] });
    expect((await project.send('DELETE', '/connections/orders-db')).status).toBe(204);
    repository.save({ 'access/new.yaml': connection('new-db', { reviewers: ['sre'] }) });
    for (const token of [adminToken, auditorToken]) {
      const planned = await run('plan', token);
      const text = oneLine(planned);
      expect(planned.code).toBe(0);
      expect(text).toContain(
        'machine identity "ci" names the new Connection/orders-db already: its credential for a deleted connection of that name opens the new one',
      );
      expect(text).toContain(
        'runbook rule "nightly" names the new Connection/new-db, Connection/orders-db already: sre may run github.com/acme/runbooks:ops/ there',
      );
      expect(text).toContain(
        'access-request rule "prod-jit" names the new Connection/new-db, Connection/orders-db already: it decides about approval (1 of dba for jit), whatever reviewers the manifest states',
      );
      expect(text.match(/plan\/creates-references/g)).toHaveLength(3);
      expect(planned.requests.filter((request) => /event-routing|plugins$/.test(request))).toEqual([]);
    }
    expect(await run('apply --yes')).toMatchObject({ code: 0 });
    const again = await run('plan');
    expect(oneLine(again)).not.toContain('plan/creates-references');
  },
);

test('a deletion that fails because of an unseen event subscription says what may be the cause', { timeout: 60_000 }, async () => {
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

test(
  'a successor inherits attributes, and the plan names the rulepack and the profile that do not follow',
  { timeout: 60_000 },
  async () => {
    const { project, repository, run, post } = await applied({ rulepacks: 'default' });
    const [pack] = project.model.store.rulepacks.values();
    expect((await project.send('POST', `/rulepacks/${pack?.id}/apply`, { connection_names: ['orders-db'] })).status).toBe(204);
    await post('/attributes', { name: 'pci', connection_names: ['orders-db'] });
    expect((await project.send('PUT', '/orgs/protection-profile', { profile: 'protection-medium' })).status).toBe(200);
    repository.remove('access/orders.yaml');
    repository.save({ 'access/shop.yaml': connection('shop-db', {}, { replaces: 'orders-db' }) });
    const text = oneLine(await run('plan'));
    expect(text).toContain('attributes [pci]');
    expect(text).toContain(`rulepack "${pack?.displayName}" names Connection/orders-db, and does not move to shop-db`);
    expect(text).toContain('hoop/outside-profile');
  },
);

test('a replacement names machine identities and event subscriptions that do not move', { timeout: 60_000 }, async () => {
  const { project, repository, run, post } = await applied();
  const row = project.model.store.connections.get('orders-db');
  await post('/machineidentities', { name: 'ci', connection_names: ['orders-db'], attributes: [] });
  await post('/event-routing/subscriptions', subscription);
  await post('/plugins', { name: 'access_control', connections: [{ id: row?.id, config: ['payments', 'sre'] }] });
  await post('/attributes', { name: 'pci', access_control_group_names: ['sre', 'dba'], connection_names: ['orders-db'] });
  repository.remove('access/orders.yaml');
  repository.save({ 'access/shop.yaml': connection('shop-db', {}, { replaces: 'orders-db' }) });
  const ends = { id: 'Connection/shop-db', replaces: 'Connection/orders-db' };
  const known = [
    { ...ends, sort: 'event subscription', name: 'on-leak', how: 'it runs github.com/acme/runbooks:ops/lock at events' },
    { ...ends, sort: 'machine identity', name: 'ci', how: 'it has a credential for each connection that it names' },
  ];
  const planned = await run('plan --format json');
  expect([planned.code, JSON.parse(planned.stdout).plans[0].references]).toEqual([6, known]);
  const audited = await run('plan --format json', auditorToken);
  const hidden = { ...ends, sort: 'rulepack', how: 'the token cannot see them; admins may' };
  expect([audited.code, JSON.parse(audited.stdout).plans[0].references]).toEqual([6, [...known, hidden]]);
  const text = oneLine(await run('plan', auditorToken));
  expect(text).toContain('the token cannot see whether rulepacks name Connection/orders-db');
  expect(text).toContain('right after the apply; plan with the token of an admin to see the rest');

  const both = await run('plan --prune');
  expect(both.code).toBe(6);
  expect(oneLine(both).match(/event subscription "on-leak"/g)).toHaveLength(1);
  const allowed = await run('apply --yes --allow plan/replaces-references=tonight');
  expect(allowed.code).toBe(0);
});
