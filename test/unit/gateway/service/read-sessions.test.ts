import { expect, test } from 'vitest';
import { readSessions } from '../../../../src/gateway/service/read-sessions.ts';
import { isObject, objectsIn, type JsonObject } from '../../../../src/model/json.ts';
import { readRecording } from '../../../support/hoop/recordings.ts';

/** Commands as a gateway of version 1.148 listed them, the newest first; the last one is `select 1`. */
const listed = readRecording('97-sessions.json').exchanges.find(({ why }) => why === 'sessions since a time, newest first')?.answer;
const recordedRows = isObject(listed) ? objectsIn(listed['data']) : [];
const recorded: JsonObject = recordedRows.at(-1) ?? {};

/** What a native session and a runbook have otherwise. */
const labels = { runbookRepository: 'github.com/acme/books', runbookFile: 'ops/restart.sh', runbookParameters: '{}' };

/** A gateway with these rows, which counts the requests. */
function gatewayWith(rows: readonly JsonObject[], requests: string[] = [], size = 100): Parameters<typeof readSessions>[0] {
  return {
    url: 'http://gateway.test',
    client: {
      send: ({ path }) => {
        requests.push(path);
        const offset = Number(new URLSearchParams(path.split('?')[1]).get('offset'));
        const body = { data: rows.slice(offset, offset + size), has_next_page: offset + size < rows.length };
        return Promise.resolve({ status: 200, header: () => undefined, body });
      },
    },
  };
}

const since = new Date('2026-11-01T00:00:00Z');
const limits = { most: 1000, isLate: () => false };

test('a session is read without its script', async () => {
  const native = { ...recorded, id: 'n', verb: 'connect', script_size: 0, identity_type: 'machine' };
  const runbook = { ...recorded, id: 'r', labels, guardrails_info: [{ rule_name: 'no-drop', direction: 'input', matched_words: ['x'] }] };
  const read = await readSessions(gatewayWith([recorded, native, runbook]), since, limits);
  const user = { id: 'dev@example.com', name: 'dev@example.com' };
  const common = { connection: 'orders-db', at: recorded['start_date'], user, isMachine: false, matched: [] };
  expect(read).toEqual({
    isWhole: true,
    sessions: [
      { ...common, id: recorded['id'], verb: 'exec', scriptSize: 8 },
      { ...common, id: 'n', verb: 'connect', scriptSize: 0, isMachine: true },
      {
        ...common,
        id: 'r',
        verb: 'runbooks',
        scriptSize: 8,
        matched: ['no-drop'],
        runbook: { repository: 'github.com/acme/books', name: 'ops/restart.sh' },
      },
    ],
  });
});

test('a script is as long as the gateway says, and an empty one is none', async () => {
  const read = await readSessions(gatewayWith(recordedRows), since, limits);
  expect(read?.sessions.map(({ user, scriptSize }) => [user.name, scriptSize])).toEqual([
    ['dev@example.com', 0],
    ['ops@example.com', 14],
    ['dev@example.com', 8],
  ]);
});

test('pages overlap while sessions begin, and a session counts once', async () => {
  const rows = Array.from({ length: 300 }, (_, index) => ({ ...recorded, id: String(Math.floor(index / 1.5)) }));
  const requests: string[] = [];
  const read = await readSessions(gatewayWith(rows, requests), since, limits);
  expect(read?.sessions).toHaveLength(200);
  expect(requests[0]).toBe('/sessions?start_date=2026-11-01T00%3A00%3A00Z&count=none&limit=100&offset=0');
  expect(await readSessions(gatewayWith(rows), since, { ...limits, most: 150 })).toMatchObject({
    isWhole: false,
    sessions: { length: 150 },
  });
});

test('a page that is shorter than asked for is not the last one where the gateway says so', async () => {
  const rows = Array.from({ length: 120 }, (_, index) => ({ ...recorded, id: String(index) }));
  expect(await readSessions(gatewayWith(rows, [], 50), since, limits)).toMatchObject({ isWhole: true, sessions: { length: 120 } });
});

test('the reading of sessions ends with the newest ones, when it takes too long, and at an answer that is no session', async () => {
  const rows = Array.from({ length: 1001 }, (_, index) => ({ ...recorded, id: String(index) }));
  const read = (count: number, more = {}): ReturnType<typeof readSessions> =>
    readSessions(gatewayWith(rows.slice(0, count)), since, { ...limits, ...more });
  expect(await read(1001)).toMatchObject({ isWhole: false, sessions: { length: 1000 } });
  expect(await read(1000)).toMatchObject({ isWhole: true, sessions: { length: 1000 } });
  expect(await read(0)).toEqual({ isWhole: true, sessions: [] });
  expect(await read(1001, { isLate: () => true })).toMatchObject({ isWhole: false, sessions: { length: 100 } });
  for (const row of [{}, { ...recorded, id: 7 }, { ...recorded, start_date: null }])
    await expect(readSessions(gatewayWith([row]), since, limits)).rejects.toMatchObject({ code: 'api/unexpected-shape' });
});
