import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { defaultRetryLimits } from '../../../../src/gateway/http/transport.ts';
import { cut, json, packed, reset, silence, stall, text } from '../../../support/flaky-server.ts';
import { get, open, post, put, secret, serve, token } from '../../../support/flaky-client.ts';

describe('a request', () => {
  it('carries token, version and body, and no event contains them', async () => {
    const server = await serve(json(200, { fine: true }));
    const { send, events } = open(`${server.url}/api`);
    expect(await send(put)).toEqual({ fine: true });
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'PUT', path: '/api/things/1', body: JSON.stringify({ secret }) });
    expect(seen?.headers).toMatchObject({ authorization: `Bearer ${token}`, 'if-match': '"1"', 'content-type': 'application/json' });
    expect(events).toEqual([{ method: 'PUT', path: '/things/1', attempt: 1, elapsedMs: expect.any(Number), status: 200 }]);
  });

  it('accepts the statuses that the request lists', async () => {
    const server = await serve(text(404, '404 page not found'));
    expect(await open(server.url).send({ ...get, accept: [404] })).toBeUndefined();
  });

  it('accepts an empty response to a write', async () => {
    const server = await serve(text(204, ''));
    expect(await open(server.url).send({ method: 'DELETE', path: '/things/1' })).toBeUndefined();
  });

  it('reads a body after a byte order mark', async () => {
    const server = await serve(text(200, '\uFEFF[1]'));
    expect(await open(server.url).send(get)).toEqual([1]);
  });
});

describe('a response that a proxy compressed', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is unpacked: %s', async (encoding, pack) => {
    const server = await serve(packed(encoding, pack(JSON.stringify({ fine: true }))));
    expect(await open(server.url).send(get)).toEqual({ fine: true });
  });

  it('is not JSON if its compression differs from its header', async () => {
    const server = await serve(packed('gzip', Buffer.from('[1]x')));
    expect((await open(server.url).fail(get)).code).toBe('api/not-json');
  });

  it('is not decompressed beyond the largest response', async () => {
    const server = await serve(packed('gzip', gzipSync(JSON.stringify('x'.repeat(50_000)))));
    expect((await open(server.url, { maxBytes: 10_000 }).fail(get)).message).toContain('too large');
  });
});

test('the clock of the gateway is that of its last answer, unless both differ by less than a minute', async () => {
  const server = await serve(json(200, {}));
  for (const [minutes, expected] of [
    [30, 30],
    [-20, -20],
    [0.5, 0],
  ] as const) {
    const { send, clockAheadMs } = open(server.url, { now: () => Date.now() - minutes * 60_000 });
    expect(clockAheadMs()).toBe(0);
    await send(get);
    expect(Math.abs(clockAheadMs() - expected * 60_000)).toBeLessThan(10_000);
  }
});

test('an answer is taken from the share of the request', async () => {
  const taken: string[] = [];
  const share = { take: (body: string) => taken.push(body) < 3, release: () => undefined };
  const server = await serve(text(200, '[{},{}]'));
  const { send, fail } = open(server.url);
  expect(await send({ ...get, share })).toHaveLength(2);
  expect(await send({ ...get, share })).toHaveLength(2);
  expect((await fail({ ...get, share })).code).toBe('api/too-large');
  expect(taken).toEqual(['[{},{}]', '[{},{}]', '[{},{}]']);
});

describe('retrying', () => {
  it.each([429, 502, 503, 504])('repeats a GET after %d with growing pauses', async (status) => {
    const server = await serve([json(status, {}), json(status, {}), json(200, [])]);
    const { send, pauses, events } = open(server.url);
    expect(await send(get)).toEqual([]);
    expect(pauses).toEqual([200, 400]);
    expect(events.map(({ attempt, status: seen }) => [attempt, seen])).toEqual([
      [1, status],
      [2, status],
      [3, 200],
    ]);
  });

  it.each([
    ['a reset', reset],
    ['a body that ends too early', cut('[1')],
    ['silence', silence],
    ['a body that stalls', stall('[1')],
  ])('repeats a GET after %s', async (_, reply) => {
    const server = await serve([reply, json(200, [])]);
    expect(await open(server.url, { idleMs: 1000 }).send(get)).toEqual([]);
  });

  it('gives up after five attempts and reports their number', async () => {
    const server = await serve(json(503, { message: 'busy' }));
    const { fail, pauses } = open(server.url);
    const error = await fail(get);
    expect(error.message).toBe(`GET ${server.url}/things?page=1: the gateway failed (503, "busy"); tried 5 times`);
    expect(error.failure).toMatchObject({ code: 'api/server-error', status: 503, ambiguous: false });
    expect(pauses).toHaveLength(4);
    expect(server.seen).toHaveLength(5);
  });

  it('waits as Retry-After requests, in seconds or until a date, within bounds', async () => {
    const later = { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' };
    const replies = [json(429, {}, { 'retry-after': '2' }), json(503, {}, later), json(503, {}, { 'retry-after': '9999' }), json(200, [])];
    const { send, pauses } = open((await serve(replies)).url, { random: () => 0 });
    await send(get);
    expect(pauses).toEqual([2000, 7000, 30_000]);
  });

  it('begins no attempt after the total time', async () => {
    const server = await serve(json(503, {}, { 'retry-after': '30' }));
    const { fail, pauses } = open(server.url, { random: () => 0, limits: { ...defaultRetryLimits, totalMs: 70_000 } });
    await fail(get);
    expect(pauses).toEqual([30_000, 30_000]);
  });

  it.each([400, 401, 403, 404, 409, 412, 422])('does not repeat after %d', async (status) => {
    const server = await serve(json(status, {}));
    await open(server.url).fail(get);
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ['a reset', reset],
    ['silence', silence],
    ['502', json(502, {})],
    ['503', json(503, {})],
    ['504', json(504, {})],
    ['500', json(500, {})],
  ])('never repeats a POST after %s, and calls it uncertain', async (_, reply) => {
    const server = await serve([reply, json(201, {})]);
    const error = await open(server.url, { idleMs: 1000 }).fail(post);
    expect(error.failure.ambiguous).toBe(true);
    expect(server.seen).toHaveLength(1);
  });

  it('repeats a POST that the gateway cannot have carried out', async () => {
    const server = await serve([json(429, {}), json(201, { id: 1 })]);
    expect(await open(server.url).send(post)).toEqual({ id: 1 });
  });

  it('calls a write uncertain when its first response was lost, whatever the next response is', async () => {
    const server = await serve([reset, json(412, { message: 'moved' })]);
    const error = await open(server.url).fail(put);
    expect(error.failure).toMatchObject({ code: 'api/moved', ambiguous: true });
  });

  it('calls no write uncertain when nothing was sent', async () => {
    const server = await serve(json(200, []));
    const { url } = server;
    await server.close();
    const { fail, pauses } = open(url);
    const error = await fail(post);
    expect(error.failure).toMatchObject({ code: 'api/unreachable', ambiguous: false });
    expect(error.message).toMatch(/connection refused by 127\.0\.0\.1:\d+; tried 5 times$/);
    expect(pauses).toHaveLength(4);
  });

  it('stops immediately when it is interrupted', async () => {
    const server = await serve(silence);
    const controller = new AbortController();
    const { fail } = open(server.url, { signal: controller.signal });
    const failing = fail(put);
    await expect.poll(() => server.seen).toHaveLength(1);
    controller.abort();
    expect((await failing).failure).toMatchObject({ code: 'api/aborted', ambiguous: true });
    expect(server.seen).toHaveLength(1);
  });
});
