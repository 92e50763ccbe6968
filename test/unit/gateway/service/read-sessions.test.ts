import { expect, test } from 'vitest';
import { readSessions } from '../../../../src/gateway/service/read-sessions.ts';
import type { JsonObject } from '../../../../src/model/json.ts';

/** A command as a gateway of version 1.148 listed it, and what a native session and a runbook have otherwise. */
const recorded: JsonObject = {
  id: '96036481-140d-4a50-8ea0-1bf82b916678',
  org_id: '709253a6-8707-4756-b007-df7b900551bb',
  script: null,
  script_size: 8,
  labels: null,
  integrations_metadata: null,
  metadata: null,
  metrics: null,
  user: 'ana@example.com',
  user_id: 'ana@example.com',
  user_name: 'Ana',
  type: 'database',
  connection_subtype: 'postgres',
  connection: 'orders-db',
  resource_name: '',
  role_name: 'orders-db',
  connection_tags: {},
  review: null,
  verb: 'exec',
  status: 'open',
  exit_code: null,
  event_size: 0,
  start_date: '2026-11-30T00:12:04.979898Z',
  end_date: null,
  ai_analysis: null,
  guardrails_info: null,
  identity_type: 'user',
};
const labels = { runbookRepository: 'github.com/acme/books', runbookFile: 'ops/restart.sh', runbookParameters: '{}' };

/** A gateway with these rows, which counts the requests. */
function gatewayWith(rows: readonly JsonObject[], requests: string[] = []): Parameters<typeof readSessions>[0] {
  return {
    url: 'http://gateway.test',
    client: {
      send: ({ path }) => {
        requests.push(path);
        const offset = Number(new URLSearchParams(path.split('?')[1]).get('offset'));
        return Promise.resolve({ status: 200, header: () => undefined, body: { data: rows.slice(offset, offset + 100) } });
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
  const user = { id: 'ana@example.com', name: 'ana@example.com' };
  const common = { connection: 'orders-db', at: '2026-11-30T00:12:04.979898Z', user, isMachine: false, matched: [] };
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
