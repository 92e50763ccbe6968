import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import { ApiError } from '../../src/model/errors.ts';
import type { Gateway, WriteRequest } from '../../src/model/gateway.ts';
import type { LiveResource } from '../../src/model/live.ts';
import type { ChaosEffect } from '../support/chaos.ts';
import { startPostgresServer, type TestServer } from '../support/servers.ts';

const effects: readonly (readonly [string, readonly ChaosEffect[]])[] = [
  ['the answer is lost', [{ dropAfter: true }]],
  ['the request is lost', [{ dropBefore: true }]],
  ['500 comes after the commit', [{ status500AfterCommit: true }]],
  ['the gateway is busy twice, then the answer is lost', [{ status: 429 }, { status: 429, retryAfter: 0 }, { dropAfter: true }]],
  ['a proxy gives up after the commit', [{ status: 502 }, { dropAfter: true }]],
];

describe('a write happens exactly once where', () => {
  let server: TestServer;
  let gateway: Gateway;
  let pending: ChaosEffect[] = [];
  beforeAll(async () => {
    server = await startPostgresServer({ chaos: ({ method }) => (method === 'GET' ? undefined : pending.shift()) });
    gateway = await openGateway({ url: server.url, token: server.key, auth: 'auto', dialect: 'auto', registry, sleep: async () => {} });
  });
  afterAll(async () => {
    await gateway.close();
    await server.close();
  });

  async function all(): Promise<readonly LiveResource[]> {
    const { value } = await gateway.readAll([...registry.keys()]);
    return value?.resources ?? [];
  }

  it.each(effects)('%s', async (name, chaos) => {
    const before = await all();
    const request: WriteRequest = { id: `GuardrailRule/${name}`, spec: { description: 'one' }, secrets: {}, dropped: [], edges: {} };
    pending = [...chaos];
    const created = await gateway.create(request);
    expect(await all()).toHaveLength(before.length + 1);

    const fresh = await gateway.readOne(created);
    if (fresh === undefined) throw new Error('it is gone');
    pending = [...chaos];
    const updated = await gateway.update(fresh, { ...request, spec: { description: 'two' } });
    expect([updated.uid, updated.spec['description'], updated.version]).toEqual([created.uid, 'two', `"${created.uid}.2"`]);

    pending = [...chaos];
    await gateway.remove(updated);
    expect(await all()).toHaveLength(before.length);
    expect(pending).toEqual([]);
  });

  it('reports an uncertain outcome if no read can decide', async () => {
    pending = Array.from({ length: 3 }, () => ({ status: 500 }) as const);
    const request: WriteRequest = { id: 'GuardrailRule/never', spec: {}, secrets: {}, dropped: [], edges: {} };
    const error: unknown = await gateway.create(request).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'api/server-error', failure: { ambiguous: true } });
  });
});
