import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGateway } from '../../src/gateway/open-gateway.ts';
import { registry } from '../../src/kinds/index.ts';
import { ApiError } from '../../src/model/errors.ts';
import type { Gateway, WriteRequest } from '../../src/model/gateway.ts';
import { asText, isObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { LiveResource } from '../../src/model/live.ts';
import { nameOf, resourceId, type ResourceId } from '../../src/model/resource.ts';
import { startFlakyServer, type FlakyServer } from '../support/flaky-server.ts';
import { readRecording, recordingNames, type Exchange } from '../support/hoop/recordings.ts';

/** What the server answers, by method and path; everything else is an empty list. */
const answers = new Map<string, Pick<Exchange, 'status' | 'answer'>>();
let server: FlakyServer;
let gateway: Gateway;

const all = recordingNames().flatMap((file) => readRecording(file).exchanges.map((exchange, index) => ({ file, index, ...exchange })));
type Recorded = (typeof all)[number];

function recorded(file: string, index: number): Recorded {
  const found = all.find((one) => one.file === file && one.index === index);
  if (found === undefined) throw new Error(`there is no exchange ${index} in ${file}`);
  return found;
}

beforeAll(async () => {
  server = await startFlakyServer((response, { method, path }) => {
    const [plain = ''] = path.split('?');
    const found = answers.get(`${method} ${plain}`) ?? (plain === '/resources' ? noResources : { status: 200, answer: [] });
    response.writeHead(found.status, { server: 'hoopgateway/unknown', 'content-type': 'application/json' });
    response.end(found.status === 204 ? undefined : JSON.stringify(found.answer));
  });
  for (const index of [0, 1, 2]) answer(recorded('00-preflight.json', index));
  gateway = await openGateway({ url: server.url, token: 'hpk_ci', auth: 'auto', dialect: 'auto', registry, sleep: async () => {} });
  await gateway.readAll([]);
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

const noResources = { status: 200, answer: { pages: { total: 0, page: 1, size: 100 }, data: null } };

function answer(exchange: Pick<Exchange, 'method' | 'path' | 'status' | 'answer'>, path = exchange.path): void {
  answers.set(`${exchange.method} ${path.split('?')[0]}`, exchange);
}

const roots: Readonly<Record<string, string>> = {
  '/connections': 'Connection',
  '/guardrails': 'GuardrailRule',
  '/datamasking-rules': 'DataMaskingRule',
  '/runbooks/configurations': 'RunbookConfiguration',
};

function kindAt(path: string): string | undefined {
  const [plain = ''] = path.split('?');
  return Object.entries(roots).find(
    ([root]) => plain === root || (/^\/[\w.-]+$/.test(plain.slice(root.length)) && plain.startsWith(`${root}/`)),
  )?.[1];
}

const readOnly =
  'id status managed_by default_database managed_attributes effective_features jit_access_duration_sec secrets_updated_at created_at updated_at'.split(
    ' ',
  );

const details = all.filter(
  ({ method, path, status, answer: body }) =>
    method === 'GET' &&
    status === 200 &&
    isObject(body) &&
    typeof body['id'] === 'string' &&
    kindAt(path) !== undefined &&
    body['repositories'] === undefined,
);

async function readBack(exchange: Recorded): Promise<LiveResource> {
  const kind = kindAt(exchange.path) ?? '';
  const body = isObject(exchange.answer) ? exchange.answer : {};
  const uid = asText(body['id']);
  const root = exchange.path.slice(0, exchange.path.lastIndexOf('/'));
  answer(exchange, `${root}/${uid}`);
  const read = await gateway.readOne({ id: resourceId(kind, asText(body['name'])), uid });
  if (read === undefined) throw new Error(`${exchange.path} is not there`);
  return read;
}

describe('every recorded object', () => {
  test.each(details.map((one) => ({ ...one, title: `${one.file} ${one.index} ${one.path}` })))(
    '$title is carried whole',
    async (exchange) => {
      const recordedBody = isObject(exchange.answer) ? exchange.answer : {};
      const read = await readBack(exchange);
      if (read.managedBy !== undefined) return;
      const seesAll = !exchange.file.startsWith('70');
      if (!seesAll) return;
      const root = exchange.path.slice(0, exchange.path.lastIndexOf('/'));
      answers.set(`PUT ${root}/${read.uid}`, exchange);
      await gateway.update(read, { id: read.id, spec: read.spec, secrets: {}, dropped: [], edges: read.edges });
      const sent: unknown = JSON.parse(server.seen.findLast(({ method }) => method === 'PUT')?.body ?? '');
      expect(sorted(sent)).toEqual(sorted(Object.fromEntries(Object.entries(recordedBody).filter(([field]) => !readOnly.includes(field)))));
    },
  );
});

function order(list: Json | undefined): Json {
  return Array.isArray(list) ? list.map((entry: Json) => asText(entry)).toSorted() : [];
}

/** Sorts unordered lists. */
function sorted(value: unknown): unknown {
  if (!isObject(value)) return value;
  return {
    ...value,
    attributes: order(value['attributes']),
    guardrail_rules: order(value['guardrail_rules']),
    connection_ids: order(value['connection_ids']),
  };
}

test('the two bulk reads together equal the detail', async () => {
  const detail = await readBack(recorded('15-connection-reads.json', 1));
  answer(recorded('15-connection-reads.json', 2));
  answer(recorded('15-connection-reads.json', 4));
  const { value } = await gateway.readAll(['Connection']);
  expect(value?.resources.map(({ uid, spec, edges }) => ({ uid, spec, edges }))).toEqual([
    { uid: detail.uid, spec: detail.spec, edges: detail.edges },
  ]);
  expect(value?.resources[0]?.secretsVersion).toBe(detail.secretsVersion);
});

test.each([
  ['20-guardrails.json', 3, 2],
  ['30-datamasking.json', 3, 2],
])('a list of %s is its details', async (file, list, one) => {
  const detail = await readBack(recorded(file, one));
  const listed = recorded(file, list);
  answer(listed);
  const { value } = await gateway.readAll([kindAt(listed.path) ?? '']);
  expect(value?.resources.map(({ uid, spec }) => ({ uid, spec }))).toEqual([{ uid: detail.uid, spec: detail.spec }]);
});

test.each(all.filter(({ path, method, status }) => path === '/runbooks/configurations' && method === 'GET' && status === 200))(
  'runbook configurations of $file $index have ids, and their secrets sealed',
  async (exchange) => {
    answer(exchange);
    const { value } = await gateway.readAll(['RunbookConfiguration']);
    const entries = isObject(exchange.answer) && Array.isArray(exchange.answer['repositories']) ? exchange.answer['repositories'] : [];
    expect(value?.resources.map(({ id }) => nameOf(id)).toSorted()).toEqual(
      entries.map((entry: JsonObject) => asText(entry['repository'])).toSorted(),
    );
    expect(value?.resources.every(({ uid }) => /^[0-9a-f]{8}-[0-9a-f]{4}-5/.test(uid))).toBe(true);
    expect(JSON.stringify(value)).not.toContain('p4ss');
  },
);

const failures = all.filter(
  ({ method, path, status, answer: body }) =>
    ['POST', 'PUT'].includes(method) &&
    status >= 400 &&
    kindAt(path) !== undefined &&
    isObject(body) &&
    typeof body['message'] === 'string',
);

const subjects: Readonly<Record<string, readonly [string, number]>> = {
  Connection: ['15-connection-reads.json', 1],
  GuardrailRule: ['20-guardrails.json', 2],
  DataMaskingRule: ['30-datamasking.json', 2],
};

describe('every recorded refusal of a write', () => {
  test.each(failures.map((one) => ({ ...one, title: `${one.file} ${one.index}: ${one.method} ${one.why}` })))(
    '$title becomes a sentence',
    async (exchange) => {
      const kind = kindAt(exchange.path) ?? '';
      const message = isObject(exchange.answer) ? asText(exchange.answer['message']) : '';
      const error = await refusal(kind, exchange);
      expect(error.message).toContain(exchange.method);
      expect(error.message).toContain(`(${exchange.status}`);
      expect(error.message).toContain(message.replaceAll(/\s+/g, ' ').slice(0, 60));
    },
  );
});

async function refusal(kind: string, exchange: Recorded): Promise<ApiError> {
  const thrown: unknown = await attempt(kind, exchange).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw new Error('it succeeded', { cause: thrown });
  return thrown;
}

function request(id: ResourceId): WriteRequest {
  return { id, spec: {}, secrets: {}, dropped: [], edges: {} };
}

async function attempt(kind: string, exchange: Recorded): Promise<LiveResource> {
  if (exchange.method === 'POST') {
    for (const root of Object.keys(roots)) answers.delete(`GET ${root}`);
    answers.set('GET /runbooks/configurations', { status: 404, answer: { message: 'runbook configuration not found' } });
    answers.set('GET /resources', noResources);
    answer(exchange);
    return gateway.create({ ...request(resourceId(kind, 'fresh')), spec: { git_url: 'https://git.test/fresh' } });
  }
  const fresh = await subjectOf(kind);
  answer(exchange, `${exchange.path.slice(0, exchange.path.lastIndexOf('/'))}/${fresh.uid}`);
  return gateway.update(fresh, { ...request(fresh.id), spec: { ...fresh.spec, description: 'another' } });
}

async function subjectOf(kind: string): Promise<LiveResource> {
  const [file, index] = subjects[kind] ?? ['40-runbooks.json', 10];
  const exchange = recorded(file, index);
  if (subjects[kind] !== undefined) return readBack(exchange);
  answer(exchange);
  const { value } = await gateway.readAll([kind]);
  const [first] = value?.resources ?? [];
  if (first === undefined) throw new Error('there is no configuration');
  return first;
}
