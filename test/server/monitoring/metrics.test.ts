import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, startTestServer } from '../../support/servers.ts';
import { openDatabases, type OpenedServer } from '../open-databases.ts';
import { agentId, callerOf, type CallServer, connectionBody, createKey, idOf } from '../client.ts';

type Scrape = {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
  readonly values: ReadonlyMap<string, number>;
};

async function scrape({ url }: { readonly url: string }, key: string): Promise<Scrape> {
  const answer = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${key}` } });
  const text = await answer.text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const values = lines.map((line): [string, number] => [
    line.slice(0, line.lastIndexOf(' ')),
    Number(line.slice(line.lastIndexOf(' ') + 1)),
  ]);
  return { status: answer.status, type: answer.headers.get('Content-Type'), text, values: new Map(values) };
}

const requests = (method: string, route: string, status: number): string =>
  `ostiary_http_requests_total{method="${method}",route="${route}",status="${status}"}`;

describe.each(openDatabases)('metrics on %s', (_name, start) => {
  let place: OpenedServer;
  let call: CallServer;
  let now: Date;
  const values = async (): Promise<ReadonlyMap<string, number>> => (await scrape(place.server, place.server.key)).values;
  const counts = async (): Promise<readonly unknown[]> => {
    const found = await values();
    return ['database_up', 'reviews_waiting', 'agents_online'].map((name) => found.get(`ostiary_${name}`));
  };
  beforeAll(async () => {
    now = new Date('2026-11-26T12:00:00Z');
    place = await start({ now: () => now });
    call = callerOf(place.server);
  });
  afterAll(() => place.close());

  test('need a key of an admin or an auditor', async () => {
    expect((await fetch(`${place.server.url}/metrics`)).status).toBe(401);
    const keys = [await createKey(call, 'scraper', ['auditor']), await createKey(call, 'user', ['devs'])];
    const statuses = await Promise.all(keys.map(async (key) => (await scrape(place.server, key)).status));
    expect(statuses).toEqual([200, 403]);
  });

  test('have the text format of Prometheus', async () => {
    const { type, text } = await scrape(place.server, place.server.key);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    const [name, label] = ['[a-z_]+', String.raw`[a-z]+="[^"\\\n]*"`];
    for (const line of text.slice(0, -1).split('\n')) {
      expect(line).toMatch(
        new RegExp(String.raw`^(# HELP ${name} .+|# TYPE ${name} (counter|gauge|histogram)|${name}(\{${label}(,${label})*\})? [\d.e+-]+)$`),
      );
    }
    const declared = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
    expect(new Set(declared).size).toBe(declared.length);
    expect(text.endsWith('\n')).toBe(true);
  });

  test('count requests by route and status, without names', async () => {
    await call('GET', '/connections/canary');
    await call('GET', '/connections/canary-2');
    await call('HEAD', '/connections');
    await call('GET', '/canary');
    await call('PATCH', '/connections');
    await call('GET', '/connections', { key: 'wrong' });
    const { text, values: found } = await scrape(place.server, place.server.key);
    expect(found.get(requests('GET', '/connections/:id', 404))).toBe(2);
    expect(found.get(requests('HEAD', '/connections', 200))).toBe(1);
    expect(found.get(requests('GET', 'none', 404))).toBe(1);
    expect(found.get(requests('PATCH', 'none', 405))).toBe(1);
    expect(found.get(requests('GET', '/connections', 401))).toBe(1);
    expect(text).not.toContain('canary');
  });

  test('count reviews that wait, and agents that are online', async () => {
    expect(await counts()).toEqual([1, 0, 0]);
    await call('POST', '/connections', { body: connectionBody('reviewed', await agentId(call), { reviewers: ['dba'] }) });
    const reviews = [1, 2].map(() => call('POST', '/reviews', { body: { connection: 'reviewed', type: 'jit' } }));
    const { body } = await call('POST', '/agents', { body: { name: 'edge' } });
    const heartbeat = { key: String(JSON.parse(JSON.stringify(body['token']))) };
    expect((await call('POST', '/agents/heartbeat', heartbeat)).status).toBe(200);
    const [first] = await Promise.all(reviews);
    expect(await counts()).toEqual([1, 2, 1]);
    const dba = await createKey(call, 'dba', ['dba']);
    const id = first === undefined ? '' : idOf(first);
    expect((await call('PUT', `/reviews/${id}`, { key: dba, body: { status: 'APPROVED' } })).status).toBe(200);
    now = new Date(now.getTime() + 61_000);
    expect(await counts()).toEqual([1, 1, 0]);
  });
});

test('without the database, its values are left out', async () => {
  const { url, drop } = await createDatabase();
  const server = await startTestServer({ database: { url } });
  expect((await scrape(server, server.key)).values.get('ostiary_database_up')).toBe(1);
  await drop();
  const { status, text, values } = await scrape(server, server.key);
  expect([status, values.get('ostiary_database_up')]).toEqual([200, 0]);
  expect(text).not.toMatch(/ostiary_(?:reviews|agents)/);
  expect(text).toContain('ostiary_http_requests_total');
  await server.close();
});
