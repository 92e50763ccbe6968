import { describe, expect, test } from 'vitest';
import { connectionBody, databases, idOf, idsIn } from '../client.ts';
import { useServer } from '../use-server.ts';

describe.each(databases)('edges on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  async function connection(name: string, key?: string): Promise<string> {
    return idOf(await call('POST', '/connections', { body: connectionBody(name, gateway.agent), ...(key === undefined ? {} : { key }) }));
  }

  async function tagOf(path: string): Promise<string | null> {
    return (await call('GET', path)).headers.get('ETag');
  }

  test('deleting an object deletes its edges', async () => {
    const id = await connection('d-a');
    const rule = await call('POST', '/guardrails', { body: { name: 'd', connection_ids: [id] } });
    const mask = await call('POST', '/datamasking-rules', { body: { name: 'd', connection_ids: [id] } });
    await call('DELETE', '/connections/d-a');
    for (const path of [`/guardrails/${idOf(rule)}`, `/datamasking-rules/${idOf(mask)}`]) {
      expect(idsIn(await call('GET', path), 'connection_ids')).toEqual([]);
    }
    await connection('d-b');
    await call('PUT', '/connections/d-b', { body: connectionBody('d-b', gateway.agent, { guardrail_rules: [idOf(rule)] }) });
    await call('DELETE', `/guardrails/${idOf(rule)}`);
    expect(idsIn(await call('GET', '/connections/d-b'), 'guardrail_rules')).toEqual([]);
  });

  test('the ETag changes exactly with every write of the object or its edges, from either end', async () => {
    const id = await connection('e-a');
    const rule = await call('POST', '/guardrails', { body: { name: 'e' } });
    const path = `/guardrails/${idOf(rule)}`;
    const seen = [rule.headers.get('ETag')];
    await call('PUT', '/connections/e-a', { body: connectionBody('e-a', gateway.agent, { guardrail_rules: [idOf(rule)] }) });
    seen.push(await tagOf(path));
    const connectionTag = await tagOf('/connections/e-a');
    await call('PUT', path, { body: { name: 'e', connection_ids: [id], description: 'more' } });
    seen.push(await tagOf(path));
    expect(await tagOf('/connections/e-a')).toBe(connectionTag);
    await call('PUT', path, { body: { name: 'e' } });
    expect(await tagOf('/connections/e-a')).not.toBe(connectionTag);
    await call('DELETE', '/connections/e-a');
    seen.push(await tagOf(path));
    expect(new Set(seen).size).toBe(4);
    expect(await tagOf(path)).toBe(seen.at(-1));
    expect(seen.at(-1)).toMatch(/^"[^"]+"$/);
  });

  test('an unmanaged rule cannot be detached from a managed connection or deleted while attached', async () => {
    const key = gateway.server.managerKey;
    const rule = await call('POST', '/guardrails', { body: { name: 'shared' } });
    const body = connectionBody('holds', gateway.agent, { guardrail_rules: [idOf(rule)] });
    const held = await call('POST', '/connections', { body, key });
    const path = `/guardrails/${idOf(rule)}`;
    expect((await call('PUT', path, { body: { name: 'shared' } })).status).toBe(409);
    expect((await call('DELETE', path)).status).toBe(409);
    const kept = await call('PUT', path, { body: { name: 'shared', description: 'more', connection_ids: [idOf(held)] } });
    expect(kept.status).toBe(200);
    expect((await call('DELETE', path, { key })).status).toBe(204);
  });
});
