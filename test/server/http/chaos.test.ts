import { afterEach, expect, test } from 'vitest';
import { type Chaos, chaosFromSwitches } from '../../../src/server/http/chaos.ts';
import { startPgliteServer, type TestServer } from '../../support/servers.ts';
import { callerOf, type CallServer } from '../client.ts';

let server: TestServer | undefined;
afterEach(() => server?.close());

async function withChaos(chaos: Chaos): Promise<CallServer> {
  server = await startPgliteServer({ chaos });
  return callerOf(server);
}

test('each request gets the chosen chaos effect', async () => {
  const seen: number[] = [];
  const call = await withChaos(({ method, path, n }) => {
    seen.push(n);
    if (method !== 'POST') return undefined;
    if (path === '/connections') return { status: 429, retryAfter: 2 };
    return [{ dropBefore: true } as const, { dropAfter: true } as const, { status500AfterCommit: true } as const, { delayMs: 60 }][n - 2];
  });
  const throttled = await call('POST', '/connections', { body: {} });
  expect({ status: throttled.status, after: throttled.headers.get('Retry-After') }).toEqual({ status: 429, after: '2' });
  await expect(call('POST', '/guardrails', { body: { name: 'before' } })).rejects.toThrow('fetch failed');
  await expect(call('POST', '/guardrails', { body: { name: 'after' } })).rejects.toThrow('fetch failed');
  const failed = await call('POST', '/guardrails', { body: { name: 'failed' } });
  expect(failed).toMatchObject({ status: 500, list: [] });
  const started = performance.now();
  expect((await call('POST', '/guardrails', { body: { name: 'late' } })).status).toBe(201);
  expect(performance.now() - started).toBeGreaterThan(50);
  const { list } = await call('GET', '/guardrails');
  expect(list.map(({ name }) => name)).toEqual(['after', 'failed', 'late']);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
});

test('each request selects its own effects when the server was started with chaos', async () => {
  const call = await withChaos(chaosFromSwitches);
  const post = (name: string, switches: string): ReturnType<CallServer> =>
    call('POST', '/guardrails', { body: { name }, headers: { 'Ostiary-Chaos': switches } });
  const throttled = await post('throttled', 'status=429, retry-after=3');
  expect({ status: throttled.status, after: throttled.headers.get('Retry-After') }).toEqual({ status: 429, after: '3' });
  await expect(post('before', 'drop=before')).rejects.toThrow('fetch failed');
  await expect(post('after', 'drop=after')).rejects.toThrow('fetch failed');
  expect((await post('failed', 'fail=after-commit')).status).toBe(500);
  const started = performance.now();
  expect((await post('late', 'delay=60')).status).toBe(201);
  expect(performance.now() - started).toBeGreaterThan(50);
  const { list } = await call('GET', '/guardrails');
  expect(list.map(({ name }) => name)).toEqual(['after', 'failed', 'late']);
});

test('unknown switches are rejected', async () => {
  const call = await withChaos(chaosFromSwitches);
  const wrong = [
    '',
    'status=200',
    'status=429;retry-after=1',
    'delay=-1',
    'delay=60001',
    'drop=__proto__',
    '__proto__=1',
    'fail',
    'constructor',
  ];
  for (const switches of wrong) {
    const answer = await call('GET', '/connections', { headers: { 'Ostiary-Chaos': switches } });
    expect({ switches, ...answer }).toMatchObject({ switches, status: 400, body: { message: expect.stringContaining('delay=MS') } });
  }
});

test('a server without chaos rejects the switches', async () => {
  server = await startPgliteServer();
  const call = callerOf(server);
  const headers = { 'Ostiary-Chaos': 'fail=after-commit' };
  const refused = await call('POST', '/guardrails', { body: { name: 'none' }, headers });
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('without --chaos') } });
  expect((await call('GET', '/guardrails')).list).toEqual([]);
});

test('closing finishes the requests in flight', async () => {
  const call = await withChaos(({ method }) => (method === 'POST' ? { delayMs: 200 } : undefined));
  const late = call('POST', '/guardrails', { body: { name: 'late' } });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const closed = server?.close();
  expect(await late).toMatchObject({ status: 201 });
  expect((await late).headers.get('Connection')).toBe('close');
  await closed;
  await expect(call('GET', '/guardrails')).rejects.toThrow('fetch failed');
});
