import { connect } from 'node:net';
import { expect, test } from 'vitest';
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

test('two hosts are refused before a write', async () => {
  const lines = ['POST /guardrails HTTP/1.1', 'Host: a', 'Host: b', `Api-Key: ${gateway.server.key}`, 'Content-Length: 14', close];
  expect(statusOf(await exchange(lines, '{"name":"two"}'))).toBe(400);
  expect((await gateway.call('GET', '/guardrails')).list.map(({ name }) => name)).not.toContain('two');
});

test('an absolute target is served by its path, and the log shows only that', async () => {
  const target = 'http://elsewhere.example/healthz?canary=1';
  expect(statusOf(await exchange([`GET ${target} HTTP/1.1`, 'Host: x', close]))).toBe(200);
  expect(gateway.server.log.join('\n')).toMatch(/^GET \/healthz 200 /m);
  expect(gateway.server.log.join('\n')).not.toContain('canary');
});

test('an expectation other than 100-continue is a 417 before a write', async () => {
  const lines = ['POST /guardrails HTTP/1.1', 'Host: x', `Api-Key: ${gateway.server.key}`, 'Content-Length: 19', close];
  expect(statusOf(await exchange([...lines, 'Expect: 200-ok'], '{"name":"expected"}'))).toBe(417);
  expect((await gateway.call('GET', '/guardrails')).list.map(({ name }) => name)).not.toContain('expected');
});

test.each(['GET *', 'POST *', 'GET healthz'])('%s is a 400', async (line) => {
  expect(statusOf(await exchange([`${line} HTTP/1.1`, 'Host: x', close]))).toBe(400);
});
