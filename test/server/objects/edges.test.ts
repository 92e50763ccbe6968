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

  test('a guardrail edge is listed and replaced from both ends', async () => {
    const [a, b] = [await connection('g-a'), await connection('g-b')];
    const rule = await call('POST', '/guardrails', { body: { name: 'g', connection_ids: [a.toUpperCase(), a] } });
    expect(idsIn(rule, 'connection_ids')).toEqual([a]);
    const path = `/guardrails/${idOf(rule)}`;
    expect(idsIn(await call('GET', '/connections/g-a'), 'guardrail_rules')).toEqual([idOf(rule)]);
    await call('PUT', '/connections/g-b', { body: connectionBody('g-b', gateway.agent, { guardrail_rules: [idOf(rule)] }) });
    expect(idsIn(await call('GET', path), 'connection_ids')).toEqual([a, b].toSorted());
    await call('PUT', '/connections/g-a', { body: connectionBody('g-a', gateway.agent) });
    expect(idsIn(await call('GET', path), 'connection_ids')).toEqual([b]);
    await call('PUT', path, { body: { name: 'g' } });
    expect(idsIn(await call('GET', '/connections/g-b'), 'guardrail_rules')).toEqual([]);
  });

  test('a masking edge belongs to its rule and survives a replace of the connection', async () => {
    const id = await connection('m-a');
    const rule = await call('POST', '/datamasking-rules', { body: { name: 'm', connection_ids: [id] } });
    const path = `/datamasking-rules/${idOf(rule)}`;
    await call('PUT', '/connections/m-a', { body: connectionBody('m-a', gateway.agent, { reviewers: ['x'] }) });
    expect(idsIn(await call('GET', path), 'connection_ids')).toEqual([id]);
    await call('PUT', path, { body: { name: 'm' } });
    expect(idsIn(await call('GET', path), 'connection_ids')).toEqual([]);
  });

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

  test('a write with an unknown id is rejected and stores nothing', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    const id = await connection('u-a');
    const answer = await call('POST', '/guardrails', { body: { name: 'u', connection_ids: [id, unknown] } });
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ field: '/connection_ids/1' }] } });
    const { list } = await call('GET', '/guardrails');
    expect(list.map(({ name }) => name)).not.toContain('u');
    expect(idsIn(await call('GET', '/connections/u-a'), 'guardrail_rules')).toEqual([]);
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

  test('a write or delete of another version is rejected with 412', async () => {
    const created = await call('POST', '/connections', { body: connectionBody('v', gateway.agent) });
    const first = created.headers.get('ETag') ?? '';
    const body = connectionBody('v', gateway.agent, { reviewers: ['x'] });
    const second = await call('PUT', '/connections/v', { body, headers: { 'If-Match': first } });
    expect(second.status).toBe(200);
    expect((await call('PUT', '/connections/v', { body, headers: { 'If-Match': first } })).status).toBe(412);
    expect((await call('DELETE', '/connections/v', { headers: { 'If-Match': `W/${first}` } })).status).toBe(412);
    const either = { 'If-Match': `${first}, ${second.headers.get('ETag')}` };
    expect((await call('PUT', '/connections/v', { body, headers: either })).status).toBe(200);
    expect((await call('DELETE', '/connections/v', { headers: { 'If-Match': '*' } })).status).toBe(204);
  });

  test('only the manager of an object may write it', async () => {
    const key = gateway.server.managerKey;
    const id = await connection('managed', key);
    const body = connectionBody('managed', gateway.agent, { reviewers: ['x'] });
    const refused = { status: 409, body: { message: 'Connection managed is managed by platform' } };
    expect(await call('PUT', '/connections/managed', { body })).toMatchObject(refused);
    expect(await call('DELETE', '/connections/managed')).toMatchObject(refused);
    expect(await call('PUT', '/connections/managed', { body, key })).toMatchObject({ status: 200, body: { managed_by: 'platform' } });
    for (const path of ['/guardrails', '/datamasking-rules']) {
      expect(await call('POST', path, { body: { name: 'onto', connection_ids: [id] } })).toMatchObject(refused);
      const rule = await call('POST', path, { body: { name: 'onto', connection_ids: [id] }, key });
      await call('POST', path, { body: { name: 'free' } });
      expect(rule).toMatchObject({ status: 201, body: { managed_by: 'platform' } });
    }
    expect((await call('DELETE', '/connections/managed', { key })).status).toBe(204);
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
