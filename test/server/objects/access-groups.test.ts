import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { asText, compareText, isObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import type { RunbookSource } from '../../../src/server/rules/runbooks/runbook-library.ts';
import { type ApiAnswer, callerOf, connectionBody, createKey, databases, idOf, rowsOf } from '../client.ts';
import { useServer } from '../use-server.ts';

const files = [{ path: 'count.runbook.sql', content: 'select 1' }];
const runbooks: RunbookSource = { read: async () => ({ head: { commit: 'a', author: 'b', message: 'c', files } }) };

describe.each(databases)('access groups on %s', (_name, start) => {
  const gateway = useServer(start, { runbooks });
  const { call } = gateway;

  async function create(name: string, more: JsonObject = {}): Promise<ApiAnswer> {
    return call('POST', '/connections', { body: connectionBody(name, gateway.agent, { access_mode_runbooks: 'enabled', ...more }) });
  }

  async function keyOf(...groups: readonly string[]): Promise<string> {
    return createKey(call, randomUUID().slice(1), groups);
  }

  test('an empty list is everybody, a list also means admins, and auditors see every connection', async () => {
    for (const [name, groups] of [
      ['open', []],
      ['paid', ['payments', 'sre']],
      ['closed', ['admin']],
    ] as const)
      expect((await create(name, { access_groups: [...groups] })).body).toMatchObject({ access_groups: groups });
    const seen: Readonly<Record<string, readonly string[]>> = {
      admin: ['closed', 'open', 'paid'],
      auditor: ['closed', 'open', 'paid'],
      payments: ['open', 'paid'],
      sre: ['open', 'paid'],
      others: ['open'],
    };
    for (const [group, names] of Object.entries(seen)) {
      const key = await keyOf(group);
      const { list } = await call('GET', '/connections', { key });
      const page = await call('GET', '/connections?page=1&page_size=1', { key });
      const read = await Promise.all(['closed', 'open', 'paid'].map((name) => call('GET', `/connections/${name}`, { key })));
      const found = await call('GET', '/resources', { key });
      expect({ group, names: list.map(({ name }) => name), total: page.body['pages'] }).toEqual({
        group,
        names,
        total: { page: 1, size: 1, total: names.length },
      });
      expect(rowsOf(page).map(({ name }) => name)).toEqual(names.slice(0, 1));
      expect(read.flatMap(({ status, body }) => (status === 200 ? [body['name']] : []))).toEqual(names);
      expect([group, rowsOf(found).map(({ name }) => name), found.body['pages']]).toEqual([
        group,
        names,
        { page: 1, size: 50, total: names.length },
      ]);
    }
    expect((await call('GET', '/connections', { key: await keyOf() })).list.map(({ name }) => name)).toEqual(['open']);
    for (const name of ['open', 'paid', 'closed']) {
      await call('DELETE', `/connections/${name}`);
      await call('DELETE', `/resources/${name}`);
    }
  });

  test('a replacement that omits the groups keeps them; null and an empty list mean everybody', async () => {
    const { access_groups: _, ...without } = (await create('kept', { access_groups: ['payments'] })).body;
    expect((await call('PUT', '/connections/kept', { body: without })).body).toMatchObject({ access_groups: ['payments'], revision: 2 });
    for (const groups of [null, []])
      expect((await call('PUT', '/connections/kept', { body: { ...without, access_groups: groups } })).body).toMatchObject({
        access_groups: [],
      });
    expect((await call('PUT', '/connections/kept', { body: without })).body).toMatchObject({ access_groups: [] });
    const changed = await call('PUT', '/connections/kept', { body: { ...without, access_groups: ['sre', 'admin'] } });
    expect(changed.body).toMatchObject({ access_groups: ['sre', 'admin'] });
    const [entry] = rowsOf(await call('GET', '/audit/logs?page_size=1'));
    expect(entry).toMatchObject({ changed_fields: ['access_groups'], request_payload_redacted: { access_groups: ['sre', 'admin'] } });
    await call('DELETE', '/connections/kept');
  });

  test('a resource is visible with one of its connections, or without any', async () => {
    await create('first', { resource_name: 'shared', access_groups: ['payments'] });
    const key = await keyOf('others');
    const isVisible = async (): Promise<readonly unknown[]> => {
      const [listed, read, found] = await Promise.all(
        ['/resources?name=shared', '/resources/shared', '/search?term=shared'].map((path) => call('GET', path, { key })),
      );
      return [rowsOf(listed ?? { body: {} }).length === 1, read?.status === 200, JSON.stringify(found?.body['resources']) !== '[]'];
    };
    expect(await isVisible()).toEqual([false, false, false]);
    await create('second', { resource_name: 'shared' });
    expect(await isVisible()).toEqual([true, true, true]);
    await call('DELETE', '/connections/second');
    expect(await isVisible()).toEqual([false, false, false]);
    await call('DELETE', '/connections/first');
    expect(await isVisible()).toEqual([true, true, true]);
  });

  test('reviewers decide about connections that they cannot use, and a requester who lost access sees nothing', async () => {
    const body = { reviewers: ['dba'], force_approve_groups: ['chief'], access_groups: ['payments', 'dual'] };
    const { access_groups: _, ...spec } = (await create('reviewed', body)).body;
    const [owner, both, dba, chief] = await Promise.all([keyOf('payments'), keyOf('dual', 'dba'), keyOf('dba'), keyOf('chief')]);
    const ask = async (key: string): Promise<ApiAnswer> =>
      call('POST', '/reviews', { key, body: { connection: 'reviewed', type: 'onetime', input: 'select 1' } });
    for (const key of [dba, chief]) expect((await ask(key)).status).toBe(422);
    const [first, second] = [await ask(owner), await ask(both)].map((answer) => `/reviews/${idOf(answer)}`);
    expect((await call('GET', '/reviews', { key: dba })).list).toHaveLength(2);
    expect((await call('GET', first?.replace('reviews', 'sessions') ?? '', { key: dba })).body).toMatchObject({ connection: 'reviewed' });
    expect((await call('PUT', first ?? '', { key: dba, body: { status: 'APPROVED' } })).body).toMatchObject({ status: 'APPROVED' });
    expect((await call('PUT', second ?? '', { key: chief, body: { status: 'APPROVED', force_review: true } })).status).toBe(200);
    await call('PUT', '/connections/reviewed', { body: { ...spec, access_groups: ['sre'] } });
    expect((await call('GET', first ?? '', { key: owner })).status).toBe(404);
    expect((await call('GET', '/reviews', { key: owner })).list).toEqual([]);
    // A reviewer still sees the own request.
    expect((await call('GET', second ?? '', { key: both })).status).toBe(200);
    await call('DELETE', '/connections/reviewed');
  });

  test('no route names a hidden connection to a user of other groups', async () => {
    const name = `hidden-${randomUUID()}`;
    const absent = `absent-${randomUUID()}`;
    const secret = { 'envvar:HOST': 'aG9zdA==' };
    const created = await create(name, { secret, reviewers: ['dba'], access_groups: ['payments'] });
    await call('POST', '/runbooks/configurations', { body: { git_url: 'https://git.test/ops' } });
    await call('POST', '/guardrails', { body: { name: 'g', connection_ids: [idOf(created)] } });
    const [inside, outside] = [await keyOf('payments'), await keyOf('others')];
    const review = await call('POST', '/reviews', { key: inside, body: { connection: name, type: 'onetime' } });
    const resource = await call('GET', `/resources/${name}`);
    const ids = [created, review, resource].map(idOf).concat(asText(review.body['session']));
    expect(ids.every((id) => /^[0-9a-f-]{36}$/.test(id))).toBe(true);

    /** Sends a request and returns everything of its answer that a caller reads, except what differs between two equal requests. */
    async function ask(route: string, key: string, body?: JsonObject): Promise<string> {
      const [method = '', path = ''] = route.split(' ');
      const sent = method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) };
      const response = await fetch(`${gateway.server.url}${path}`, { method, headers: { Authorization: `Bearer ${key}` }, ...sent });
      const headers = [...response.headers].filter(([header]) => !['x-request-id', 'date', 'content-length'].includes(header));
      return JSON.stringify([response.status, headers, await response.text()]);
    }

    const queries: Readonly<Record<string, readonly string[]>> = {
      '/connections': ['?page=1'],
      '/search': ['?term=hidden', '?term=database'],
      '/resources': ['?search=hidden', '?type=database'],
      '/reviews': ['?page=1', `?connection=${idOf(created)}`],
    };
    const routes = gateway.server.routes.filter((route) => !route.endsWith('/heartbeat'));
    const requests = routes.flatMap((route) => {
      const [, path = ''] = route.split(' ');
      const all = path.includes('/:') ? ids.map((id) => route.replace(/:\w+/, id)) : [route];
      return [...all, ...(route.startsWith('GET') ? (queries[path] ?? []).map((query) => `${route}${query}`) : [])];
    });
    const body: JsonObject = { connection: idOf(created), type: 'onetime' };
    const naming = async (key: string): Promise<readonly string[]> => {
      const answers = await Promise.all(requests.map(async (request) => [request, await ask(request, key, body)] as const));
      return answers.flatMap(([request, answer]) =>
        [name, ...ids].some((text) => answer.includes(text) && !`${request}${JSON.stringify(body)}`.includes(text)) ? [request] : [],
      );
    };
    expect(await naming(outside)).toEqual([]);
    const shown = new Set((await naming(inside)).map((request) => request.replaceAll(/[0-9a-f-]{36}/g, 'ID').split('?')[0] ?? ''));
    expect([...shown].toSorted(compareText)).toEqual([
      'GET /connections',
      'GET /connections/ID',
      'GET /plugins/runbooks/templates',
      'GET /resources',
      'GET /resources/ID',
      'GET /reviews',
      'GET /reviews/ID',
      'GET /search',
      'GET /sessions/ID',
    ]);

    /** Every request that says the name is answered as for a name that does not exist. */
    const byName = (text: string): readonly (readonly [string, JsonObject])[] => [
      ...routes.filter((route) => route.includes('/:')).map((route) => [route.replace(/:\w+/, text), body] as const),
      ...['/search?term=', '/resources?name=', '/resources?search=', '/reviews?connection='].map(
        (path) => [`GET ${path}${text}`, {}] as const,
      ),
      ['POST /reviews', { connection: text, type: 'onetime' }],
    ];
    const both = await Promise.all(
      [name, absent].map((text) =>
        Promise.all(
          byName(text).map(async ([request, sent]) =>
            [request, await ask(request, outside, sent)].map((one) => one.replaceAll(text, 'NAME')),
          ),
        ),
      ),
    );
    expect(both[0]).toEqual(both[1]);
    expect((both[0] ?? []).length).toBeGreaterThan(20);
    expect((await ask('POST /reviews', inside, { connection: name, type: 'jit' })).startsWith('[201')).toBe(true);
  });

  test('the document lists the field as one that the interface does not have', async () => {
    const document: Json = JSON.parse(await fetch(`${gateway.server.url}/openapi.json`).then((response) => response.text()));
    const text = JSON.stringify(isObject(document) ? document['components'] : {});
    expect(text).toContain('"access_groups":{"type":"array"');
    const { body } = await callerOf(gateway.server)('GET', '/serverinfo');
    expect(body['borrowed_fields']).toEqual(['Connection.access_groups', 'Connection.min_review_approvals']);
  });
});
