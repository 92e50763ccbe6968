import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService } from '../../src/gateway/service/open-service.ts';
import { ApiError } from '../../src/model/errors.ts';
import { compareText, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Decision, Service } from '../../src/model/service.ts';
import { startFlakyServer, type FlakyServer } from '../support/flaky-server.ts';
import { readRecording, recordingNames, type Exchange } from '../support/hoop/recordings.ts';

const all = recordingNames().flatMap((file) =>
  readRecording(file).exchanges.map((exchange) => ({ file, ...exchange, body: bodyOf(exchange) })),
);
/** The responses of the server, by method and path without the query. */
const answers = new Map<string, Pick<Exchange, 'status' | 'answer'>>();
let server: FlakyServer;
let service: Service;

beforeAll(async () => {
  server = await startFlakyServer((response, { method, path }) => {
    const found = answers.get(`${method} ${plain(path)}`) ?? { status: 200, answer: {} };
    response.writeHead(found.status, { server: 'hoopgateway/unknown', 'content-type': 'application/json' });
    response.end(JSON.stringify(found.answer));
  });
  service = await openService({ url: server.url, token: 'hpk_ci', auth: 'auto', dialect: 'auto', sleep: async () => {} });
});
afterAll(async () => {
  await service.close();
  await server.close();
});

function bodyOf({ path, sent }: Exchange): JsonObject {
  const body: unknown = path.startsWith('/reviews/') && sent !== undefined ? JSON.parse(sent) : {};
  return isObject(body) ? body : {};
}

function plain(path: string): string {
  return path.split('?')[0] ?? '';
}

function answer({ method, path, status, answer: body }: Pick<Exchange, 'method' | 'path' | 'status' | 'answer'>): void {
  answers.set(`${method} ${plain(path)}`, { status, answer: body });
}

/** An object of the gateway, in the form of the interface. */
function inOurWords(row: JsonObject): JsonObject {
  const groups = Array.isArray(row['review_groups_data']) ? row['review_groups_data'] : [];
  const { access_request_rule_name: _, min_approvals: __, force_approval_groups: ___, rejection_reason: ____, ...rest } = row;
  const window = isObject(row['time_window']) ? { configuration: row['time_window']['configuration'] ?? null } : null;
  return {
    ...rest,
    revoke_at: row['revoke_at'] ?? '',
    time_window: window,
    review_groups_data: groups.map((group: Json) => {
      const by = isObject(group) ? group['reviewed_by'] : null;
      if (!isObject(group) || !isObject(by)) return group;
      const { slack_id: chat, ...reviewer } = by;
      return { ...group, reviewed_by: { ...reviewer, chat_id: chat ?? '' } };
    }),
  };
}

const reviews = all.filter(({ path }) => /^\/reviews\/[0-9a-f-]{36}$/.test(path));
const idIn = (path: string): string => path.slice('/reviews/'.length);

describe('reviews', () => {
  const read = reviews.filter(({ method, status }) => method === 'GET' && status === 200);
  const decided = reviews.filter(({ method, body }) => method === 'PUT' && decisionIn(body) !== undefined);

  test.each(read)('$file: $why', async (exchange) => {
    answer(exchange);
    expect(await service.review(idIn(exchange.path))).toEqual(isObject(exchange.answer) ? inOurWords(exchange.answer) : undefined);
  });

  test.each(decided)('$file: $why', async (exchange) => {
    answer(exchange);
    const decision = decisionIn(exchange.body);
    if (decision === undefined) throw new Error('it is no decision');
    const result = await service.decide({ id: idIn(exchange.path) }, decision).catch((error: unknown) => error);
    const { rejection_reason: _, ...sent } = exchange.body;
    expect(JSON.parse(server.seen.findLast(({ method }) => method === 'PUT')?.body ?? '')).toEqual(sent);
    const wanted = exchange.status === 200 && isObject(exchange.answer) ? inOurWords(exchange.answer) : exchange.status;
    expect(result instanceof ApiError ? result.failure.status : result).toEqual(wanted);
  });

  test('the recordings include all reads and decisions that a reviewer can make', () => {
    expect([read.length, decided.length]).toEqual([5, 19]);
  });

  test('a list', async () => {
    const exchange = all.findLast(({ method, path }) => method === 'GET' && path === '/reviews');
    if (exchange === undefined || !Array.isArray(exchange.answer)) throw new Error('there is no list');
    answer(exchange);
    const { value = [] } = await service.reviews();
    const rows = exchange.answer.flatMap((row: Json) => (isObject(row) ? [inOurWords(row)] : []));
    expect(value.map(({ id }) => id)).toEqual(
      rows.toSorted((left, right) => compareText(createdAt(right), createdAt(left))).map(({ id }) => id),
    );
    for (const { time_window: _, ...row } of rows) expect(value).toContainEqual(row);
  });
});

function createdAt({ created_at: text }: JsonObject): string {
  return typeof text === 'string' ? text : '';
}

/** The decision that a recorded body is, where the command line could have asked for it. */
function decisionIn({ status, force_review: force, time_window: window }: JsonObject): Decision | undefined {
  const known = (['APPROVED', 'REJECTED', 'REVOKED'] as const).find((one) => one === status);
  const configuration = isObject(window) ? window['configuration'] : undefined;
  if (known === undefined) return undefined;
  if (!isObject(configuration)) return { status: known, force: force === true };
  const { start_time: start, end_time: end } = configuration;
  if (typeof start !== 'string' || typeof end !== 'string') return undefined;
  return { status: known, force: force === true, window: { configuration: { start_time: start, end_time: end } } };
}

test.each(all.filter(({ path, status }) => path.startsWith('/search?term=') && status === 200))('$file: $why', async (exchange) => {
  answer(exchange);
  const body = isObject(exchange.answer) ? exchange.answer : {};
  const found = await service.search('orders');
  expect(found.errors).toEqual(body['errors'] ?? []);
  expect(found.resources).toEqual(body['resources']);
  expect(found.runbooks).toEqual(body['runbooks'] ?? []);
  expect(found.connections).toHaveLength(Array.isArray(body['connections']) ? body['connections'].length : -1);
  for (const one of found.connections) expect(body['connections']).toContainEqual(expect.objectContaining(one));
});

test.each(all.filter(({ method, path, status }) => method === 'GET' && plain(path) === '/runbooks' && status === 200))(
  '$file: $why',
  async (exchange) => {
    answer(exchange);
    const body = isObject(exchange.answer) ? exchange.answer : {};
    const repositories = Array.isArray(body['repositories']) ? body['repositories'] : [];
    const { value = [], diagnostics } = await service.templates();
    const names = repositories.flatMap((one: Json) => (isObject(one) && Array.isArray(one['items']) ? one['items'] : []));
    expect(value.map(({ name }) => name)).toEqual(names.map((one: Json) => (isObject(one) ? one['name'] : '')));
    expect(diagnostics).toHaveLength(Array.isArray(body['errors']) ? body['errors'].length : 0);
  },
);
