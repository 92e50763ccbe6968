import { expect, test } from 'vitest';
import { json, startFlakyServer, type Reply } from '../../support/flaky-server.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();

const row = {
  type: 'database',
  subtype: 'postgres',
  agent_id: 'a1111111-1111-4111-8111-111111111111',
  access_mode_connect: 'enabled',
  access_mode_exec: 'enabled',
  access_mode_runbooks: 'enabled',
  access_schema: 'enabled',
};
const rows = ['orders-db', 'other-db'].map((name, index) => ({
  ...row,
  id: `${index}1111111-1111-4111-8111-111111111111`,
  name,
  secret: {},
}));
const agents = [{ id: row.agent_id, name: 'default' }];

/** A gateway of the interface that is not ours, with one listing of runbooks. */
function gateway(templates: Reply): Reply {
  const lists: Readonly<Record<string, unknown>> = { '/serverinfo': { role: 'admin' }, '/connections': rows, '/agents': agents };
  return (response, seen) => (seen.path === '/plugins/runbooks/templates' ? templates : json(200, lists[seen.path] ?? []))(response, seen);
}

const runbook = (name: string, connections: readonly string[]): unknown => ({ name, connections, error: '', metadata: {} });

test.each([
  [
    'a runbook that names it',
    json(200, { items: [runbook('reindex.sql', ['orders-db']), runbook('count.sql', ['other-db'])] }),
    ['reindex.sql'],
  ],
  ['runbooks that are on all connections', json(200, { items: [runbook('reindex.sql', ['other-db', 'orders-db'])] }), undefined],
  ['no runbooks', json(422, { message: 'no repository' }), undefined],
  ['no such listing', json(404, { message: 'not found' }), undefined],
  ['runbooks that this token may not see', json(403, { message: 'forbidden' }), [undefined]],
  ['a listing that is none', json(200, {}), [undefined]],
])('a connection of any gateway is replaced: %s', async (_, templates, named) => {
  const server = await startFlakyServer(gateway(templates));
  const cwd = makeProject({
    'ostiary.yaml': config(server.url).replace("' }", "', dialect: interface }"),
    'access/shop.yaml': connection('shop-db', { access_mode_runbooks: 'enabled' }, { replaces: 'orders-db' }),
  });
  const { code, stdout } = await ostiaryInProcess(['plan', '--format', 'json'], { cwd, env: { OSTIARY_TOKEN: 'token' } });
  await server.close();
  const [{ references, refusals }] = JSON.parse(stdout).plans;
  expect(references?.map(({ name }: { readonly name: string }) => name)).toEqual(named);
  expect(refusals.map((one: { readonly code: string }) => one.code)).toEqual(named === undefined ? [] : ['plan/replaces-references']);
  expect(code).toBe(named === undefined ? 0 : 6);
});
