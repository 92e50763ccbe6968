import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGate } from '../../support/chaos.ts';
import { startPgliteServer, type TestServer } from '../../support/servers.ts';
import { callerOf, databases } from '../client.ts';
import { useServer } from '../use-server.ts';

const guards = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

describe.each(databases)('operations on %s', (_name, start) => {
  const gateway = useServer(start, {
    logForm: 'json',
    now: () => new Date('2026-01-01T00:00:00.000Z'),
    searchRunbooks: () => Promise.reject(new Error('cause')),
  });
  const { call } = gateway;

  test.each([
    ['GET', '/healthz', 200],
    ['GET', '/connections', 200],
    ['POST', '/guardrails', 400],
    ['GET', '/connections/none', 404],
    ['GET', '/nothing', 404],
    ['PUT', '/agents', 405],
  ])('%s %s with status %d has the security headers', async (method, path, status) => {
    const answer = await call(method, path);
    expect(answer.status).toBe(status);
    expect(Object.fromEntries(answer.headers)).toMatchObject(guards);
    const locked = await call(method, path, { key: null });
    expect(Object.fromEntries(locked.headers)).toMatchObject(guards);
  });

  test('a request is one JSON line with the caller and the address, without query, headers and body', async () => {
    await call('POST', '/agents', { body: { name: 'logged' } });
    const token = JSON.stringify((await call('POST', '/agents/logged/token')).body['token']).slice(1, -1);
    const asked = [
      await call('GET', '/connections?canary=1'),
      await call('POST', '/guardrails', { body: { name: 'canary' }, key: gateway.server.managerKey }),
      await call('GET', '/a%0Ab%1B/canary-path', { key: null, headers: { 'X-Canary': 'canary' } }),
      await call('POST', '/agents/heartbeat', { key: token }),
    ];
    const lines = gateway.server.log.map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
    const logged = asked.map(({ headers }) => lines.find((line) => line['request_id'] === headers.get('X-Request-Id')));
    const every = {
      time: '2026-01-01T00:00:00.000Z',
      level: 'info',
      message: expect.stringMatching(/^(?:GET|POST) \/\S+ \d{3} [\d.]+ms$/),
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ms: expect.any(Number),
      address: expect.stringMatching(/127\.0\.0\.1$/),
    };
    expect(logged).toEqual([
      { ...every, method: 'GET', path: '/connections', status: 200, who: expect.any(String) },
      { ...every, method: 'POST', path: '/guardrails', status: 201, who: expect.any(String) },
      { ...every, method: 'GET', path: '/a%0Ab%1B/canary-path', status: 401, who: null },
      { ...every, method: 'POST', path: '/agents/heartbeat', status: 200, who: 'agent logged' },
    ]);
    expect(gateway.server.log.join('\n').replaceAll('canary-path', '')).not.toMatch(new RegExp(`canary|of-the-tests|${token}`));
  });

  test('a failure is one JSON line with the stack', async () => {
    const { headers } = await call('GET', '/search?term=x');
    const lines = gateway.server.log.map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
    expect(lines.find((line) => line['level'] === 'error' && line['request_id'] === headers.get('X-Request-Id'))).toEqual({
      time: '2026-01-01T00:00:00.000Z',
      level: 'error',
      message: 'runbooks could not be searched',
      request_id: headers.get('X-Request-Id'),
      stack: expect.stringContaining('Error: cause\n'),
    });
  });
});

describe('slow callers', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPgliteServer({ timeouts: { headers: 150, request: 400, keepAlive: 200 } });
  });
  afterAll(() => server.close());

  // By the usual limits, these callers would stay for a minute.
  test.each([
    ['says nothing', '', '', ' 408 '],
    ['never ends its headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\n', 'X: y\r\n', ' 408 '],
    [
      'never ends its body',
      'POST /guardrails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-key-of-the-tests\r\nContent-Length: 9999\r\n\r\n',
      ' ',
      ' 408 ',
    ],
    ['asks once and stays', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', '', ' 200 '],
  ])('a caller that %s is cut off, while others are served', async (_text, first, more, answered) => {
    const call = callerOf(server);
    const slow = await send(server, first, more);
    // A busy machine may cut off a quick caller, too.
    await expect.poll(async () => (await call('GET', '/connections')).status).toBe(200);
    expect(await slow.ended).toContain(answered);
  });

  test.each([
    [' 431 ', `GET /healthz HTTP/1.1\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`],
    [' 400 ', 'nonsense\r\n\r\n'],
    [' 400 ', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [' 417 ', 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: more\r\nConnection: close\r\n\r\n'],
    [' 400 ', 'GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ])('a request that is not valid HTTP is answered with%sand closed', async (status, request) => {
    const { ended } = await send(server, request);
    expect(await ended).toContain(status);
  });
});

test('a draining server keeps serving, reports not ready, and then stops', async () => {
  const gate = createGate();
  const server = await startPgliteServer({ drain: () => gate.passed });
  const call = callerOf(server);
  const closed = server.close();
  expect(await call('GET', '/readyz', { key: null })).toMatchObject({ status: 503, body: { message: 'the server is stopping' } });
  const served = await call('POST', '/guardrails', { body: { name: 'late' } });
  expect(served.status).toBe(201);
  expect(served.headers.get('Connection')).toBe('close');
  expect((await call('GET', '/healthz', { key: null })).status).toBe(200);
  gate.open();
  await closed;
  await expect(call('GET', '/healthz', { key: null })).rejects.toThrow('fetch failed');
});

/** Sends a text, and then more of it again and again; `ended` is everything received before the server closed the connection. */
async function send({ url }: TestServer, first: string, more = ''): Promise<{ readonly ended: Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket = await new Promise<Socket>((resolve) => {
    const opened = connect(Number(port), hostname, () => resolve(opened));
  });
  const timer = setInterval(() => socket.write(more), 50);
  const ended = new Promise<string>((resolve) => {
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(timer);
      resolve(received);
    });
  });
  socket.write(first);
  return { ended };
}
