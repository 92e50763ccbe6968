import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/model/errors.ts';
import type { Gateway, WriteRequest } from '../../../../src/model/gateway.ts';
import { seal } from '../../../../src/model/secret.ts';
import { json, reset, text, type FlakyServer, type Seen } from '../../../support/flaky-server.ts';
import { agent, connectionId, entry, failure, kinds, open, request, ruleId, serve } from '../../../support/typed-gateway.ts';

function posts(server: FlakyServer): readonly Seen[] {
  return server.seen.filter(({ method }) => method === 'POST');
}

describe('creating', () => {
  const created = json(201, { ...entry, name: 'fresh' }, { etag: '"1"' });
  const listed = json(200, [
    entry,
    { ...entry, id: ruleId, name: 'fresh', reviewers: ['a'], guardrail_rules: [ruleId], secret: { 'envvar:PASS': 'Y2FuYXJ5LWdpdmVu' } },
  ]);

  async function prepared(replies: Parameters<typeof serve>[0]): Promise<{ readonly server: FlakyServer; readonly gateway: Gateway }> {
    const server = await serve({ 'GET /connections': [json(200, [entry]), json(200, [entry]), listed], ...replies });
    const gateway = await open(server.url);
    await gateway.readAll(kinds);
    return { server, gateway };
  }

  it('sends names as ids and omits what the request does not state', async () => {
    const { server, gateway } = await prepared({ 'POST /connections': created });
    expect(await gateway.create(request)).toMatchObject({ id: 'Connection/fresh', version: '"1"' });
    const body: unknown = JSON.parse(posts(server)[0]?.body ?? '');
    expect(body).toMatchObject({
      name: 'fresh',
      agent_id: agent.id,
      guardrail_rules: [ruleId],
      secret: { 'envvar:PASS': 'Y2FuYXJ5LWdpdmVu' },
    });
    expect(body).not.toHaveProperty('resource_name');
  });

  it.each([
    ['a reset', reset],
    ['500 after the commit', json(500, { message: 'Y2FuYXJ5LWdpdmVu canary-given' })],
    ['an unreadable answer', text(201, '<html>')],
  ])('looks after %s, and asks again only where nothing happened', async (_, reply) => {
    const again = await prepared({ 'POST /connections': [reply, created] });
    expect((await again.gateway.create(request)).id).toBe('Connection/fresh');
    expect(posts(again.server)).toHaveLength(2);
    const once = await prepared({ 'POST /connections': reply, 'GET /connections': [json(200, [entry]), listed] });
    expect((await once.gateway.create(request)).uid).toBe(ruleId);
    expect(posts(once.server)).toHaveLength(1);
  });

  it('accepts a conflict after a lost response as its own write, if the object has the requested values', async () => {
    const { gateway } = await prepared({ 'POST /connections': [reset, json(409, { message: 'exists' })] });
    expect((await gateway.create(request)).uid).toBe(ruleId);
  });

  it('does not accept an object that another client created', async () => {
    const other = json(200, [{ ...entry, id: ruleId, name: 'fresh', reviewers: [] }]);
    const { gateway } = await prepared({ 'POST /connections': reset, 'GET /connections': [json(200, [entry]), other] });
    expect((await failure(gateway.create(request))).code).toBe('api/unreachable');
  });

  it('reports a conflict of the first attempt', async () => {
    const { gateway, server } = await prepared({ 'POST /connections': json(409, { message: 'exists' }) });
    expect((await failure(gateway.create(request))).code).toBe('api/conflict');
    expect(posts(server)).toHaveLength(1);
  });

  it('gives up after three attempts, and hides secrets', async () => {
    const { gateway, server } = await prepared({
      'POST /connections': json(500, { message: 'secret canary-given (Y2FuYXJ5LWdpdmVu) of canary-token-123' }),
      'GET /connections': json(200, [entry]),
    });
    const error = await failure(gateway.create(request));
    expect(error).toBeInstanceOf(ApiError);
    expect(error.message).toContain("(500, the gateway's message is not shown because it may contain a secret)");
    expect(posts(server)).toHaveLength(3);
  });

  it.each([502, 503])('waits as long as a %d asks, after it looked whether the write happened, and tries again', async (status) => {
    const busy = json(status, { message: 'busy' }, { 'retry-after': '5' });
    const server = await serve({ 'GET /connections': json(200, [entry]), 'POST /connections': [busy, busy, busy, busy, created] });
    const pauses: number[] = [];
    const gateway = await open(server.url, { random: () => 0, sleep: async (milliseconds) => void pauses.push(milliseconds) });
    await gateway.readAll(kinds);
    expect((await gateway.create(request)).id).toBe('Connection/fresh');
    expect(pauses).toEqual([5000, 5000, 5000, 5000]);
    expect(server.seen.map(({ method, path }) => `${method} ${path}`).slice(-9)).toEqual([
      ...[1, 2, 3, 4].flatMap(() => ['POST /connections', 'GET /connections']),
      'POST /connections',
    ]);
  });

  it('does not repeat a create that happened although the answer was a 503', async () => {
    const { gateway, server } = await prepared({
      'POST /connections': json(503, {}, { 'retry-after': '5' }),
      'GET /connections': [json(200, [entry]), listed],
    });
    expect((await gateway.create(request)).uid).toBe(ruleId);
    expect(posts(server)).toHaveLength(1);
  });

  it('refuses references to missing objects before it writes', async () => {
    const { gateway, server } = await prepared({});
    expect((await failure(gateway.create({ ...request, spec: { ...request.spec, agent_id: 'missing' } }))).code).toBe(
      'api/unknown-reference',
    );
    expect((await failure(gateway.create({ ...request, edges: { guardrail_rules: ['GuardrailRule/none'] } }))).code).toBe(
      'api/unknown-reference',
    );
    expect(posts(server)).toHaveLength(0);
  });
});

describe('replacing', () => {
  const at = `/connections/${connectionId}`;
  const change: WriteRequest = { ...request, id: 'Connection/orders', edges: {}, secrets: {} };

  async function prepared(
    replies: Parameters<typeof serve>[0],
    server?: string,
  ): Promise<{ readonly server: FlakyServer; readonly gateway: Gateway }> {
    const flaky = await serve(
      { [`GET ${at}`]: json(200, entry, { etag: '"7"' }), [`PUT ${at}`]: json(200, entry, { etag: '"8"' }), ...replies },
      server,
    );
    const gateway = await open(flaky.url);
    await gateway.readAll(kinds);
    return { server: flaky, gateway };
  }

  async function putBody(change_: WriteRequest): Promise<unknown> {
    const { server, gateway } = await prepared({});
    const fresh = await gateway.readOne({ id: 'Connection/orders', uid: connectionId });
    if (fresh === undefined) throw new Error('gone');
    expect((await gateway.update(fresh, change_)).version).toBe('"8"');
    const sent = server.seen.find(({ method }) => method === 'PUT');
    expect(sent?.headers['if-match']).toBe('"7"');
    return JSON.parse(sent?.body ?? '');
  }

  it('carries unknown fields, and edges and secrets that the request does not state', async () => {
    const body = await putBody(change);
    expect(body).toMatchObject({
      vendor_extension: { keep: 1 },
      reviewers: ['a'],
      secret: entry.secret,
      guardrail_rules: entry['guardrail_rules'],
    });
    expect(body).not.toHaveProperty('created_at');
    expect(body).not.toHaveProperty('default_database');
  });

  it('sets, adds and drops secrets', async () => {
    const added = await putBody({ ...change, secrets: { '/secret/envvar:A~1B': seal('inline', 'QQ==') } });
    expect(added).toMatchObject({ secret: { ...entry.secret, 'envvar:A/B': 'QQ==' } });
    const dropped = await putBody({ ...change, dropped: ['/secret/envvar:PASS'] });
    expect(dropped).toMatchObject({ secret: {} });
    expect(JSON.stringify(dropped)).not.toContain('Y2FuYXJ5');
  });

  it('replaces the given edges', async () => {
    expect(await putBody({ ...change, edges: { guardrail_rules: ['GuardrailRule/no-drop'] } })).toMatchObject({
      guardrail_rules: [ruleId],
    });
  });

  it('refuses to wipe a secret that it may not see, unless the gateway keeps it or the request sets it', async () => {
    const hidden = { [`GET ${at}`]: json(200, { ...entry, secret: { 'envvar:PASS': null } }) };
    const foreign = await prepared(hidden);
    const fresh = await foreign.gateway.readOne({ id: 'Connection/orders', uid: connectionId });
    if (fresh === undefined) throw new Error('gone');
    const error = await failure(foreign.gateway.update(fresh, change));
    expect([error.code, error.exitCode]).toEqual(['plan/would-lose-secret', 6]);
    await foreign.gateway.update(fresh, { ...change, secrets: request.secrets });
    const own = await prepared(hidden, 'ostiary/0.1.0');
    await own.gateway.update(fresh, change);
    expect(JSON.parse(own.server.seen.at(-1)?.body ?? '')).toMatchObject({ secret: { 'envvar:PASS': null } });
  });

  it('reports that another client wrote first', async () => {
    const { gateway } = await prepared({ [`PUT ${at}`]: json(412, { message: 'moved' }) });
    const fresh = await gateway.readOne({ id: 'Connection/orders', uid: connectionId });
    if (fresh === undefined) throw new Error('gone');
    expect((await failure(gateway.update(fresh, change))).code).toBe('api/moved');
  });

  it.each([
    ['a lost answer and its own new version', [reset, json(412, {})]],
    ['500 after the commit', [json(500, {})]],
  ])('finds its own write after %s', async (_, puts) => {
    const after = json(200, { ...entry, reviewers: ['a'] }, { etag: '"8"' });
    const { gateway } = await prepared({ [`PUT ${at}`]: puts, [`GET ${at}`]: [json(200, entry, { etag: '"7"' }), after] });
    const fresh = await gateway.readOne({ id: 'Connection/orders', uid: connectionId });
    if (fresh === undefined) throw new Error('gone');
    expect((await gateway.update(fresh, change)).version).toBe('"8"');
  });

  it('does not mistake the earlier state for its write', async () => {
    const { gateway } = await prepared({ [`PUT ${at}`]: json(500, {}) });
    const fresh = await gateway.readOne({ id: 'Connection/orders', uid: connectionId });
    if (fresh === undefined) throw new Error('gone');
    expect((await failure(gateway.update(fresh, change))).code).toBe('api/server-error');
  });

  it('reads a deleted object as undefined, and deletes it again without an error', async () => {
    const { gateway } = await prepared({
      'GET /connections': [json(200, [entry]), json(200, [entry]), json(200, [])],
      [`GET ${at}`]: json(404, {}),
      [`DELETE ${at}`]: json(404, {}),
    });
    const { value } = await gateway.readAll(['Connection']);
    const [listed] = value?.resources ?? [];
    if (listed === undefined) throw new Error('gone');
    expect(await gateway.readOne({ id: 'Connection/orders', uid: connectionId })).toBeUndefined();
    await expect(gateway.remove(listed)).resolves.toBeUndefined();
  });
});
