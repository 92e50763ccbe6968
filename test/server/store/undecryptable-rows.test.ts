import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGateway } from '../../../src/gateway/open-gateway.ts';
import { registry } from '../../../src/kinds/index.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { openDatabases, type OpenedServer } from '../open-databases.ts';
import { validatorsOf } from '../api/response-validators.ts';
import { agentId, base64, callerOf, type CallServer, connectionBody, idOf, rowsOf } from '../client.ts';

const damaged = (table: string, column: string, named: string): string =>
  `update ${table} set ${column} = overlay(${column} placing 'AAAAAAAAAAAA' from 30) where ${named}`;
const lost = (what: string): string => `${what}: its secrets cannot be decrypted; replace it with all of its secrets, or delete it`;

describe.each(openDatabases)('rows that cannot be decrypted on %s', (_name, start) => {
  let place: OpenedServer;
  let call: CallServer;
  let body: (name: string, more?: JsonObject) => JsonObject;
  const secret = { 'envvar:DB': base64('orders'), 'envvar:PASS': base64('canary') };
  const git = { git_url: 'https://git.example.com/bad', git_password: 'canary' };

  beforeAll(async () => {
    place = await start();
    call = callerOf(place.server);
    const agent = await agentId(call);
    body = (name, more = {}) => connectionBody(name, agent, { secret, ...more });
    for (const name of ['a', 'bad', 'c', 'swapped', 'with']) await call('POST', '/connections', { body: body(name) });
    await call('POST', '/runbooks/configurations', { body: git });
    await call('POST', '/runbooks/configurations', { body: { ...git, git_url: 'https://git.example.com/good' } });
    await call('PUT', '/resources/bad', { body: { name: 'bad', type: 'database', env_vars: secret } });
    await place.run(damaged('connections', 'secrets', "name = 'bad'"));
    await place.run("update connections set secrets = (select secrets from connections where name = 'with') where name = 'swapped'");
    await place.run(damaged('runbook_configurations', 'secrets', "spec ->> 'git_url' like '%bad'"));
    await place.run(damaged('resources', 'secrets', "name = 'bad'"));
  });
  afterAll(() => place.close());

  test('a list has every object, and names the error of each of these rows', async () => {
    for (const path of ['/connections', '/connections?page=1']) {
      const answer = await call('GET', path);
      const rows = answer.list.length > 0 ? answer.list : rowsOf(answer);
      expect(rows.map(({ name, secret: shown, error }) => [name, shown, error])).toEqual([
        ['a', secret, undefined],
        ['bad', undefined, lost('Connection bad')],
        ['c', secret, undefined],
        ['swapped', undefined, lost('Connection swapped')],
        ['with', secret, undefined],
      ]);
      expect(rows[1]).toMatchObject({ type: 'database', revision: 1, managed_by: '' });
      expect(rows[1]).not.toHaveProperty('default_database');
    }
    const log = place.server.log.join('\n');
    expect(log).toContain(`${lost('Connection bad')} (and 1 more like it)`);
    expect(log).toContain('unable to authenticate data');
  });

  test('the document describes these rows', async () => {
    const { body: document } = await call('GET', '/openapi.json');
    for (const path of ['/connections', '/resources', '/runbooks/configurations']) {
      const response = await fetch(`${place.server.url}${path}`, { headers: { 'Api-Key': place.server.key } });
      const received = { place: `/paths/${path.replaceAll('/', '~1')}/get`, status: response.status, headers: response.headers };
      expect(validatorsOf(document).problemsOf({ ...received, text: await response.text() })).toEqual([]);
    }
  });

  test('a read of one of them is an error with its name, and the others are read', async () => {
    for (const path of ['/connections/bad', '/resources/bad']) {
      const { status, body: answer } = await call('GET', path);
      expect([status, answer['message'], answer['request_id']]).toEqual([
        500,
        lost(path.includes('resources') ? 'Resource bad' : 'Connection bad'),
        expect.any(String),
      ]);
    }
    expect((await call('GET', '/connections/a')).body).toMatchObject({ secret });
    expect((await call('GET', '/resources')).body['data']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'a', env_vars: {} }),
        expect.objectContaining({ name: 'bad', error: lost('Resource bad') }),
      ]),
    );
  });

  test('Ostiary sees the object, and that its secrets are unknown', async () => {
    const gateway = await openGateway({ url: place.server.url, token: place.server.key, auth: 'auto', dialect: 'auto', registry });
    const { value } = await gateway.readAll(['Connection']);
    const found = value?.resources.find(({ id }) => id === 'Connection/bad');
    expect([found?.secrets, found?.unknown]).toEqual([{}, ['/secret']]);
    await gateway.close();
  });

  test('a listing of runbooks names the repository that cannot be read for it', async () => {
    const { status, body: answer } = await call('GET', '/plugins/runbooks/templates');
    expect(status).toBe(200);
    const repository = 'failed listing runbooks for repo https://git.example.com';
    expect(answer['errors']).toEqual([
      expect.stringMatching(`^${repository}/bad, err=`),
      `${repository}/good, err=this server was started without git`,
    ]);
    expect((await call('GET', '/search?term=a')).status).toBe(200);
  });

  test('a replacement needs all secrets, and repairs the row', async () => {
    const kept = await call('PUT', '/connections/bad', { body: body('bad', { secret: { ...secret, 'envvar:PASS': null } }) });
    expect([kept.status, kept.body['errors']]).toEqual([
      422,
      [{ field: '/secret/envvar:PASS', reason: 'is null, which keeps the stored value, but that cannot be decrypted' }],
    ]);
    const repaired = await call('PUT', '/connections/bad', { body: body('bad') });
    expect([repaired.status, repaired.body['secret'], repaired.body['revision']]).toEqual([200, secret, 2]);
    expect((await call('GET', '/connections/bad')).body).toEqual(repaired.body);
    const [entry] = rowsOf(await call('GET', '/audit/logs?page_size=1'));
    expect(entry).toMatchObject({ resource_name: 'bad', changed_fields: ['secret'] });

    const [configuration] = (await call('GET', '/runbooks/configurations')).list.filter(({ error }) => error !== undefined);
    const path = `/runbooks/configurations/${idOf({ body: configuration ?? {} })}`;
    expect((await call('PUT', path, { body: { ...git, git_password: null } })).status).toBe(422);
    expect((await call('PUT', path, { body: git })).body['git_password']).toBe('canary');
    expect((await call('PUT', '/resources/bad', { body: { name: 'bad', type: 'database', env_vars: {} } })).status).toBe(200);
    expect((await call('GET', '/resources/bad')).body['env_vars']).toEqual({});
  });

  test('no log entry shows a secret', () => {
    expect(place.server.log.join('\n')).not.toContain('canary');
  });
});
