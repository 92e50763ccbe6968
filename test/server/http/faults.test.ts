import { afterEach, expect, test } from 'vitest';
import { type Chaos, createGate } from '../../support/chaos.ts';
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
  const gate = createGate();
  const call = await withChaos(({ method, path, n }) => {
    seen.push(n);
    if (method !== 'POST') return undefined;
    if (path === '/connections') return { status: 429, retryAfter: 2 };
    return [{ dropBefore: true } as const, { dropAfter: true } as const, { status500AfterCommit: true } as const, { until: gate.passed }][
      n - 2
    ];
  });
  const throttled = await call('POST', '/connections', { body: {} });
  expect({ status: throttled.status, after: throttled.headers.get('Retry-After') }).toEqual({ status: 429, after: '2' });
  await expect(call('POST', '/guardrails', { body: { name: 'before' } })).rejects.toThrow('fetch failed');
  await expect(call('POST', '/guardrails', { body: { name: 'after' } })).rejects.toThrow('fetch failed');
  const failed = await call('POST', '/guardrails', { body: { name: 'failed' } });
  expect(failed).toMatchObject({ status: 500, list: [] });
  const late = call('POST', '/guardrails', { body: { name: 'late' } });
  await expect.poll(() => seen).toHaveLength(5);
  expect((await call('GET', '/guardrails')).list.map(({ name }) => name)).toEqual(['after', 'failed']);
  gate.open();
  expect((await late).status).toBe(201);
  expect((await call('GET', '/guardrails')).list.map(({ name }) => name)).toEqual(['after', 'failed', 'late']);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('closing finishes the requests in flight', async () => {
  const [arrived, gate] = [createGate(), createGate()];
  const call = await withChaos(({ method }) => {
    if (method !== 'POST') return undefined;
    arrived.open();
    return { until: gate.passed };
  });
  const late = call('POST', '/guardrails', { body: { name: 'late' } });
  await arrived.passed;
  const closed = server?.close();
  gate.open();
  expect(await late).toMatchObject({ status: 201 });
  expect((await late).headers.get('Connection')).toBe('close');
  await closed;
  await expect(call('GET', '/guardrails')).rejects.toThrow('fetch failed');
});
