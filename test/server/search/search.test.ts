import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import { createDatabase, startTestServer, type TestServer, type TestServerOptions } from '../../support/servers.ts';
import { agentId, callerOf, connectionBody, databases, type ApiAnswer, type CallServer } from '../client.ts';

const runbooks = [{ name: 'ops/Restart.runbook.sh', repository: 'git.example.com/ops/runbooks' }];

/** A source that finds these runbooks. */
const searchRunbooks: TestServerOptions['searchRunbooks'] = async (term) => {
  if (term === 'fail') throw new Error('canary-cause');
  const found = runbooks.filter(({ name, repository }) => `${repository}/${name}`.toLowerCase().includes(term.toLowerCase()));
  return { runbooks: found, errors: term === 'half' ? ['git.example.com/other cannot be read'] : [] };
};

function namesIn({ body }: ApiAnswer, part: string): readonly Json[] {
  const found = body[part];
  return Array.isArray(found) ? found.map((entry: Readonly<Record<string, Json>>) => entry['name'] ?? null) : [];
}

describe.each(databases)('search on %s', (_name, start) => {
  let server: TestServer;
  let call: CallServer;
  let agent: string;

  beforeAll(async () => {
    server = await start({ searchRunbooks });
    call = callerOf(server);
    agent = await agentId(call);
    const bodies = [
      connectionBody('Orders-db', agent, { subtype: 'postgres', resource_name: 'shop' }),
      connectionBody('100%_sure', agent, { subtype: 'mysql' }),
      connectionBody('back\\slash', agent),
      connectionBody('Übersee', agent, { resource_name: 'far away' }),
    ];
    for (const body of bodies) await call('POST', '/connections', { body });
  });
  afterAll(() => server.close());

  const search = (term: string): Promise<ApiAnswer> => call('GET', `/search?term=${encodeURIComponent(term)}`);

  test('finds connections, resources and runbooks with their identifying fields', async () => {
    expect(await search('shop')).toMatchObject({ status: 200, body: { connections: [], runbooks: [], errors: [] } });
    const { body } = await search('postgres');
    const connection = (await call('GET', '/connections/Orders-db')).body;
    const resource = (await call('GET', '/resources/shop')).body;
    const pick = (from: typeof body, fields: readonly string[]): unknown => Object.fromEntries(fields.map((field) => [field, from[field]]));
    expect(body).toEqual({
      connections: [
        pick(connection, 'id name type subtype resource_name status access_mode_runbooks access_mode_exec access_mode_connect'.split(' ')),
      ],
      resources: [pick(resource, ['id', 'name', 'type', 'subtype'])],
      runbooks: [],
      errors: [],
    });
    expect((await search('restart')).body).toEqual({ connections: [], resources: [], runbooks, errors: [] });
  });

  test.each([
    ['orders', ['Orders-db']],
    ['ORDERS-DB', ['Orders-db']],
    ['%', ['100%_sure']],
    ['\\', ['back\\slash']],
    ['übersee', ['Übersee']],
    ['database', ['100%_sure', 'Orders-db', 'back\\slash', 'Übersee']],
    [' ', []],
    ["'; drop table connections; --", []],
    ['none', []],
  ])('the term %j finds %j', async (term, names) => {
    const answer = await search(term);
    expect(answer.status).toBe(200);
    expect(namesIn(answer, 'connections')).toEqual(names);
  });

  test('a failed part is reported, and the others answer', async () => {
    expect((await search('half')).body).toMatchObject({ errors: ['git.example.com/other cannot be read'] });
    const failed = await search('fail');
    expect(failed).toMatchObject({
      status: 200,
      body: { runbooks: [], errors: [expect.stringContaining('runbooks could not be searched')] },
    });
    expect(JSON.stringify(failed.body)).not.toContain('canary');
    expect(server.log.join('\n')).toContain(`runbooks could not be searched ${failed.headers.get('X-Request-Id')} Error: canary-cause`);
  });
});

test('a missing table fails only its part of the search', async () => {
  const { url, drop } = await createDatabase();
  const server = await startTestServer({ database: { url } });
  const call = callerOf(server);
  await call('POST', '/connections', { body: connectionBody('left', await agentId(call)) });
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('alter table resources rename to elsewhere');
  const answer = await call('GET', '/search?term=left');
  expect(answer.status).toBe(200);
  expect(namesIn(answer, 'connections')).toEqual(['left']);
  expect(answer.body).toMatchObject({ resources: [], runbooks: [], errors: [expect.stringMatching(/^resources could not be searched/)] });
  expect(JSON.stringify(answer.body)).not.toContain('relation');
  await client.end();
  await server.close();
  await drop();
});
