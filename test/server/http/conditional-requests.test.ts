import { describe, expect, test } from 'vitest';
import { type ApiAnswer, connectionBody, databases, idOf } from '../client.ts';
import { useServer } from '../use-server.ts';

const tagOf = ({ headers }: Pick<ApiAnswer, 'headers'>): string => headers.get('ETag') ?? '';

describe.each(databases)('conditional requests on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  test.each<readonly [string, (tag: string) => string, number]>([
    ['its tag', (tag) => tag, 304],
    ['its weak tag', (tag) => `W/${tag}`, 304],
    ['a list with its tag', (tag) => `"other", "with, comma" ,W/${tag},"x"`, 304],
    ['*', () => '*', 304],
    ['another tag', () => '"other"', 200],
    ['its tag inside another', (tag) => `"x${tag.slice(1)}`, 200],
    ['nothing', () => '', 200],
  ])('a read with %s in If-None-Match', async (what, headerOf, expected) => {
    const name = `read-${what.replaceAll(/\W/g, '-')}-x`;
    const created = await call('POST', '/connections', { body: connectionBody(name, gateway.agent) });
    const headers = { 'If-None-Match': headerOf(tagOf(created)) };
    for (const method of ['GET', 'HEAD']) {
      const answer = await call(method, `/connections/${name}`, { headers });
      expect([method, answer.status]).toEqual([method, expected]);
      expect(tagOf(answer)).toBe(tagOf(created));
      expect(answer.body['name']).toBe(method === 'GET' && expected === 200 ? name : undefined);
    }
    // A write is answered the other way around.
    const write = await call('PUT', `/connections/${name}`, { body: connectionBody(name, gateway.agent), headers });
    expect(write.status).toBe(expected === 304 ? 412 : 200);
  });

  test.each<readonly [string, string | undefined, string | undefined, number, number]>([
    ['both conditions hold', 'own', '"other"', 200, 200],
    ['If-Match fails first', '"other"', 'own', 412, 412],
    ['If-None-Match fails', 'own', 'own', 304, 412],
    ['every version is required and excluded', '*', '*', 304, 412],
    ['a weak tag in If-Match', 'weak', undefined, 412, 412],
  ])('%s', async (what, ifMatch, ifNoneMatch, read, written) => {
    const name = what.replaceAll(/\W/g, '-');
    const created = await call('POST', '/guardrails', { body: { name } });
    const path = `/guardrails/${idOf(created)}`;
    const textOf = (given: string): string => given.replace('own', tagOf(created)).replace('weak', `W/${tagOf(created)}`);
    const headers = Object.fromEntries(
      Object.entries({ 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch }).flatMap(([header, given]) =>
        given === undefined ? [] : [[header, textOf(given)]],
      ),
    );
    expect((await call('GET', path, { headers })).status).toBe(read);
    expect((await call('PUT', path, { body: { name }, headers })).status).toBe(written);
  });

  test('If-None-Match: * protects what exists from PUT and DELETE, and hides nothing else', async () => {
    const headers = { 'If-None-Match': '*' };
    const guardrail = await call('POST', '/guardrails', { body: { name: 'kept' }, headers });
    expect(guardrail.status).toBe(201);
    const path = `/guardrails/${idOf(guardrail)}`;
    expect((await call('PUT', path, { body: { name: 'kept', description: 'new' }, headers })).body['message']).toBe(
      'GuardrailRule kept exists, and If-None-Match excludes its version',
    );
    expect((await call('DELETE', path, { headers })).status).toBe(412);
    expect((await call('GET', path)).body).toEqual(guardrail.body);
    expect((await call('GET', '/guardrails/none', { headers })).status).toBe(404);
    expect((await call('GET', '/guardrails', { headers })).status).toBe(200);
    expect((await call('GET', path, { headers, key: null })).status).toBe(401);
  });

  test('resources, agents and keys have conditional reads and writes, too', async () => {
    const resource = await call('POST', '/resources', { body: { name: 'r', type: 'database' } });
    const agent = await call('POST', '/agents', { body: { name: 'conditional' } });
    const key = await call('POST', '/api-keys', { body: { name: 'conditional' } });
    for (const [path, created] of [
      ['/resources/r', resource],
      ['/agents/conditional', agent],
      [`/api-keys/${idOf(key)}`, key],
    ] as const) {
      const answer = await call('GET', path, { headers: { 'If-None-Match': tagOf(created) } });
      expect([path, answer.status, tagOf(answer)]).toEqual([path, 304, tagOf(created)]);
      expect((await call('GET', path, { headers: { 'If-Match': '"other"' } })).status).toBe(412);
      expect((await call('DELETE', path, { headers: { 'If-None-Match': '*' } })).status).toBe(412);
      expect((await call('DELETE', path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(204);
    }
  });
});
