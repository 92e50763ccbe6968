import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { TestServer } from '../../support/servers.ts';
import { connectionBody, databases } from '../client.ts';
import { useServer } from '../use-server.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';
const roots = ['/connections', '/datamasking-rules', '/guardrails', '/runbooks/configurations'] as const;

describe.each(databases)('the gateway over HTTP on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  test('reports its name, version and role', async () => {
    const { status, body, headers } = await call('GET', '/serverinfo');
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        name: 'ostiary',
        version: '0.0.0-test',
        role: 'admin',
        organisation: 'default',
        borrowed_fields: ['Connection.access_groups', 'Connection.min_review_approvals'],
        longest_access_duration: 172_800,
      },
    });
    expect(headers.get('Server')).toBe('ostiary/0.0.0-test');
    expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['no key', { key: null }],
    ['an unknown key', { key: 'admin-key-of-the-testS' }],
    ['an empty key', { key: null, headers: { Authorization: 'Bearer ' } }],
    ['another scheme', { key: null, headers: { Authorization: 'Basic YTpi' } }],
  ])('rejects %s with 401', async (_case, request) => {
    const answer = await call('GET', '/connections', request);
    expect(answer.status).toBe(401);
    expect(answer.body['message']).toBeTypeOf('string');
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(answer.headers.get('Server')).toBe('ostiary/0.0.0-test');
  });

  test.each([
    ['the key as a bearer', {}],
    ['the key as Api-Key', { key: null, headers: { 'Api-Key': 'admin-key-of-the-tests' } }],
    ['the manager key', { key: 'manager-key-of-the-tests' }],
  ])('accepts %s', async (_case, request) => {
    expect((await call('GET', '/connections', request)).status).toBe(200);
  });

  test('Api-Key takes precedence over Authorization', async () => {
    const wrong = await call('GET', '/userinfo', { headers: { 'Api-Key': 'wrong' } });
    const right = await call('GET', '/userinfo', { key: 'wrong', headers: { 'Api-Key': gateway.server.key } });
    expect([wrong.status, right.status]).toEqual([401, 200]);
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

  test.each([
    ['GET', '/nothing', 404],
    ['GET', '/connections/none', 404],
    ['GET', '/connections/a%00b', 404],
    ['GET', '/connections/%E0%A4%A', 404],
    ['DELETE', '/connections/none', 404],
    ['PUT', `/connections/${unknownId}`, 400],
  ])('returns a message for %s %s with status %d', async (method, path, status) => {
    const answer = await call(method, path);
    expect(answer.status).toBe(status);
    expect(answer.body['message']).toBeTypeOf('string');
  });

  test.each([
    ['PATCH', `/connections/${unknownId}`, 'GET, HEAD, PUT, DELETE'],
    ['PUT', '/guardrails', 'GET, HEAD, POST'],
    ['PUT', '/agents', 'GET, HEAD, POST'],
    ['PATCH', '/agents/heartbeat', 'POST'],
    ['DELETE', '/serverinfo', 'GET, HEAD'],
  ])('returns 405 with the allowed methods for %s %s', async (method, path, allowed) => {
    const answer = await call(method, path);
    expect({ status: answer.status, allow: answer.headers.get('Allow') }).toEqual({ status: 405, allow: allowed });
  });

  test.each([
    ['half an object', '{"name":"canary-hunter2'],
    ['an array', '[]'],
    ['null', 'null'],
    ['nothing', ''],
  ])('rejects a body of %s with 400 without quoting it', async (_case, text) => {
    for (const root of roots) {
      const { status, body } = await call('POST', root, { text });
      expect({ status, body }).toEqual({ status: 400, body: { message: 'the body is not a JSON object' } });
    }
  });

  test('rejects a large body without Content-Length with 413', async () => {
    expect(await sendChunks(gateway.server, 3)).toContain(' 413 ');
  });

  test('pages a list with the same total on every page', async () => {
    for (const name of ['p-c', 'p-a', 'p-b']) await call('POST', '/connections', { body: connectionBody(name, gateway.agent) });
    const whole = await call('GET', '/connections');
    expect(whole.list.map(({ name }) => name)).toEqual(['p-a', 'p-b', 'p-c']);
    const second = await call('GET', '/connections?page=2&page_size=2');
    expect(second.body['data']).toEqual(whole.list.slice(2));
    expect(second.body['pages']).toEqual({ page: 2, size: 2, total: 3 });
    expect((await call('GET', '/connections?page=9')).body).toEqual({ data: [], pages: { page: 9, size: 50, total: 3 } });
    expect((await call('GET', '/connections?page_size=1')).body['pages']).toEqual({ page: 1, size: 1, total: 3 });
  });

  test.each(['page=0', 'page=-1', 'page=x', 'page=', 'page_size=0', 'page_size=101', 'page_size=1.5', 'page=99999999999999999999'])(
    'answers ?%s with 422',
    async (query) => {
      expect((await call('GET', `/connections?${query}`)).status).toBe(422);
    },
  );

  test('logs requests without query, key and body', async () => {
    await call('GET', '/connections?page=1&canary-query=1');
    await call('POST', '/guardrails', { body: { name: 'canary-name' }, headers: { 'X-Canary': 'canary-header' } });
    const log = gateway.server.log.join('\n');
    expect(log).toMatch(/^GET \/connections 200 [\d.]+ms [0-9a-f-]{36}$/m);
    expect(log).not.toMatch(/canary|page=|of-the-tests/);
  });
});

/** Sends mebibytes in chunks, like a client that does not know the length yet. */
function sendChunks({ url, key }: TestServer, mebibytes: number): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString());
    });
    socket.once('error', reject);
    socket.write(`POST /guardrails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = 'x'.repeat(64 * 1024);
    for (let sent = 0; sent < mebibytes * 16; sent += 1) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  });
}
