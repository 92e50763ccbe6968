import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startPgliteServer } from '../../support/servers.ts';
import { useServer } from '../use-server.ts';

const gateway = useServer(startPgliteServer);

/** Sends lines as they are, and returns what the server answers until it closes the connection. */
function exchange(lines: readonly string[], body: string | Buffer = ''): Promise<string> {
  const { hostname, port } = new URL(gateway.server.url);
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect(Number(port), hostname, () =>
      socket.write(Buffer.concat([Buffer.from([...lines, '', ''].join('\r\n')), Buffer.from(body)])),
    );
    socket
      .on('data', (part) => void parts.push(part))
      .on('end', () => resolve(Buffer.concat(parts).toString()))
      .on('error', reject);
  });
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const close = 'Connection: close';

describe('the host', () => {
  test.each([
    ['/healthz', []],
    ['/readyz', []],
    ['/healthz', ['Host: gateway.example']],
    ['/healthz', ['Host:']],
    ['http://gateway.example/healthz', []],
    ['/openapi.json', []],
  ])('HTTP/1.0 reads %s with %j', async (target, headers) => {
    expect(statusOf(await exchange([`GET ${target} HTTP/1.0`, ...headers]))).toBe(200);
  });

  test('HTTP/1.0 without a host reads and writes with a key', async () => {
    const key = `Api-Key: ${gateway.server.key}`;
    expect(await exchange(['GET /connections HTTP/1.0', key])).toMatch(/\r\n\r\n\[\]$/);
    expect(statusOf(await exchange(['POST /guardrails HTTP/1.0', key, 'Content-Length: 12'], '{"name":"x"}'))).toBe(201);
    expect(statusOf(await exchange(['GET /connections HTTP/1.0']))).toBe(401);
  });

  test('HEAD with HTTP/1.0 has no body', async () => {
    const answer = await exchange(['HEAD /healthz HTTP/1.0']);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/);
  });

  test.each([
    ['two hosts', ['GET /healthz HTTP/1.1', 'Host: a', 'host: b']],
    ['two hosts of an absolute target', ['GET http://a/healthz HTTP/1.1', 'Host: a', 'Host: b']],
    ['no host in HTTP/1.1', ['GET /healthz HTTP/1.1']],
    ['an invalid host', ['GET /healthz HTTP/1.1', 'Host: a, b']],
  ])('%s is a 400 with the security headers', async (_case, lines) => {
    const answer = await exchange([...lines, close]);
    expect(statusOf(answer)).toBe(400);
    expect(answer).toMatch(/^X-Content-Type-Options: nosniff\r$/m);
    expect(answer).toMatch(/"message":"the request (?:has|target)/);
  });

  test('two hosts are refused before a write', async () => {
    const lines = ['POST /guardrails HTTP/1.1', 'Host: a', 'Host: b', `Api-Key: ${gateway.server.key}`, 'Content-Length: 14', close];
    expect(statusOf(await exchange(lines, '{"name":"two"}'))).toBe(400);
    expect((await gateway.call('GET', '/guardrails')).list.map(({ name }) => name)).not.toContain('two');
  });
});

test('an absolute target is served by its path, and the log shows only that', async () => {
  const target = 'HTTP://user:canary@elsewhere.example/healthz?canary=1';
  expect(statusOf(await exchange([`GET ${target} HTTP/1.1`, 'Host: x', close]))).toBe(200);
  expect(gateway.server.log.join('\n')).toMatch(/^GET \/healthz 200 /m);
  expect(gateway.server.log.join('\n')).not.toContain('canary');
});

test.each(['HTTP/1.0', 'HTTP/1.1'])('OPTIONS * is answered with the methods of the server, in %s', async (version) => {
  const answer = await exchange([`OPTIONS * ${version}`, ...(version === 'HTTP/1.1' ? ['Host: x'] : []), close]);
  expect(answer).toMatch(/^HTTP\/1\.1 204 /);
  expect(answer).toMatch(/^Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS\r$/m);
});

test.each(['GET *', 'POST *', 'GET healthz'])('%s is a 400', async (line) => {
  expect(statusOf(await exchange([`${line} HTTP/1.1`, 'Host: x', close]))).toBe(400);
});

test('such requests are counted without a route', async () => {
  await exchange(['GET * HTTP/1.1', 'Host: x', close]);
  await exchange(['nonsense']);
  const metrics = await fetch(`${gateway.server.url}/metrics`, { headers: { 'Api-Key': gateway.server.key } });
  const text = await metrics.text();
  expect(text).toMatch(/^ostiary_http_requests_total\{method="OPTIONS",route="none",status="204"\} [1-9]/m);
  expect(text).toMatch(/^ostiary_http_requests_total\{method="none",route="none",status="400"\} [2-9]/m);
});
