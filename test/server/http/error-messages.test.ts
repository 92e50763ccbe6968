import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { connectionBody, databases, idOf, rowsOf } from '../client.ts';
import { useServer } from '../use-server.ts';

describe.each(databases)('error messages on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  test.each<readonly [string, JsonObject, string]>([
    ['a name', { name: 'a/b' }, '/name must have the form: no / and no control or invisible characters'],
    ['an agent', { agent_id: 'default' }, '/agent_id must have the form: an ID (UUID)'],
    [
      'the key of a tag',
      { connection_tags: { 'a/': 'b' } },
      '/connection_tags/a~1 has a name that must have the form: 1 to 64 letters, digits, - _ / . and not ending with - or /',
    ],
    [
      'a secret',
      { secret: { 'envvar:A': 'plain' } },
      '/secret/envvar:A must have the form: base64, _cloudsecrets:NAME:KEY or _envjson:NAME:KEY',
    ],
    ['a type', { type: 'x' }, '/type must be one of database, application, custom'],
  ])('%s is reported', async (_what, more, message) => {
    const answer = await call('POST', '/connections', { body: connectionBody('exact', gateway.agent, more) });
    expect([answer.status, answer.body['message']]).toEqual([422, message]);
  });

  test('a custom entity type without patterns is reported once', async () => {
    const body = { name: 'r', custom_entity_types: [{ name: 'X', deny_list: [] }] };
    expect((await call('POST', '/datamasking-rules', { body })).body['message']).toBe(
      '/custom_entity_types/0 must have the form: a regex, or a deny_list that is not empty',
    );
  });

  test('bytes that are not UTF-8 are rejected, and nothing is stored', async () => {
    const response = await fetch(`${gateway.server.url}/guardrails`, {
      method: 'POST',
      headers: { 'Api-Key': gateway.server.key },
      body: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    });
    expect([response.status, await response.json()]).toEqual([400, { message: 'the body is not UTF-8' }]);
    expect((await call('GET', '/guardrails')).list).toEqual([]);
  });

  test('a flag that is neither true nor false is rejected', async () => {
    expect(await call('GET', '/runbooks?list_connections=yes')).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'list_connections', reason: 'must be true or false' }] },
    });
  });

  test('a resource whose name no path can contain is addressed by its id', async () => {
    await call('POST', '/resources', { body: { name: '..', type: 'custom' } });
    const [found] = rowsOf(await call('GET', '/resources?name=..'));
    const path = `/resources/${idOf({ body: found ?? {} })}`;
    expect((await call('GET', path)).body).toEqual(found);
    expect((await call('DELETE', path)).status).toBe(204);
  });

  test('a revoked API key is reported', async () => {
    const path = `/api-keys/${idOf(await call('POST', '/api-keys', { body: { name: 'gone' } }))}`;
    await call('DELETE', path);
    expect(await call('PUT', path, { body: { name: 'gone' } })).toMatchObject({
      status: 409,
      body: { message: 'the API key gone is revoked and cannot change' },
    });
  });

  test.each(['a\nb', '\u0000', '\u009b'])('the name %j of a key or a group is rejected', async (text) => {
    for (const body of [{ name: text }, { name: 'k', groups: [text] }, { name: 'k', manager: text }]) {
      expect((await call('POST', '/api-keys', { body })).status).toBe(422);
    }
  });

  test('Api-Key takes precedence over Authorization', async () => {
    const wrong = await call('GET', '/userinfo', { headers: { 'Api-Key': 'wrong' } });
    const right = await call('GET', '/userinfo', { key: 'wrong', headers: { 'Api-Key': gateway.server.key } });
    expect([wrong.status, right.status]).toEqual([401, 200]);
  });
});
