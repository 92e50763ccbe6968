import { once } from 'node:events';
import { connect } from 'node:net';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import { startPgliteServer, type TestServer } from '../../support/servers.ts';
import { callerOf, createKey } from '../client.ts';

let server: TestServer;
let document: JsonObject = {};

beforeAll(async () => {
  server = await startPgliteServer();
  document = JSON.parse(await fetch(`${server.url}/openapi.json`).then((response) => response.text()));
});
afterAll(() => server.close());

type Described = { readonly route: string; readonly operation: JsonObject };

function described(): readonly Described[] {
  return Object.entries(objectAt(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      operation: isObject(operation) ? operation : {},
    })),
  );
}

function objectAt(value: JsonObject, key: string): JsonObject {
  const found = value[key];
  return isObject(found) ? found : {};
}

function withoutTypes(value: Json): readonly string[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, schema]) => (isObject(schema) && Object.keys(schema).length > 0 ? [] : [name]));
}

test('an independent validator accepts the document', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
});

test('all of its schemas are schemas', () => {
  const ajv = new Ajv2020({ strict: false });
  const bodies = described().map(({ operation }) =>
    objectAt(objectAt(objectAt(objectAt(operation, 'requestBody'), 'content'), 'application/json'), 'schema'),
  );
  const named = Object.values(objectAt(objectAt(document, 'components'), 'schemas')).filter((schema) => isObject(schema));
  expect([...named, ...bodies].filter((schema) => ajv.validateSchema(schema) !== true)).toEqual([]);
});

test('every pattern is valid in engines with and without Unicode classes', () => {
  const patterns = [
    ...new Set(
      [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]): string => JSON.parse(text ?? '""')),
    ),
  ];
  expect(patterns.length).toBeGreaterThan(10);
  for (const pattern of patterns) for (const flags of ['', 'u']) expect(new RegExp(pattern, flags).flags).toBe(flags);
});

test('the document contains exactly the routes', () => {
  expect(
    described()
      .map(({ route }) => route)
      .toSorted(),
  ).toEqual(server.routes.toSorted());
});

test('every operation has its own id, words, and the parameters of its path', () => {
  const ids = described().map(({ operation }) => operation['operationId']);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { route, operation } of described()) {
    expect({ route, summary: operation['summary'] }).toEqual({ route, summary: expect.stringMatching(/^[A-Z].*[^.]$/) });
    const parameters = Array.isArray(operation['parameters']) ? operation['parameters'] : [];
    const inPath = parameters.flatMap((parameter: Json) => (isObject(parameter) && parameter['in'] === 'path' ? [parameter['name']] : []));
    expect({ route, inPath }).toEqual({ route, inPath: [...route.matchAll(/:(\w+)/g)].map((match) => match[1]) });
  }
});

test.each(['auditor', 'standard'])('the document contains the restrictions of the group %s', async (group) => {
  const call = callerOf(server);
  const key = await createKey(call, group, [group]);
  for (const { route, operation } of described()) {
    const [method = '', path = ''] = route.split(' ');
    // Reviews restrict callers further.
    if (operation['security'] !== undefined || path.startsWith('/reviews')) continue;
    const { status } = await call(method, path.replaceAll(/:\w+/g, 'none'), { key });
    const { description } = operation;
    const named = typeof description === 'string' ? /Roles: (.*)\.$/.exec(description)?.[1] : undefined;
    const isRestricted = named !== undefined && '403' in objectAt(operation, 'responses');
    const refused = isRestricted && !named.split(', ').includes(group);
    expect({ route, refused }).toEqual({ route, refused: status === 403 });
  }
});

test.each(['GET /userinfo', 'POST /agents/heartbeat'])(
  'the document contains the response of %s to unauthenticated requests',
  async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const statuses = new Set<number>();
    const fresh = await startPgliteServer({ now: () => new Date(0) });
    for (let tries = 0; tries < 30; tries += 1) statuses.add((await callerOf(fresh)(method, path, { key: 'unknown' })).status);
    await fresh.close();
    expect([...statuses]).toEqual([401, 429]);
    const responses = described().find((one) => one.route === route)?.operation['responses'];
    expect(responses).toMatchObject({ 401: {}, 429: {} });
  },
);

test('every field on the wire has a schema', () => {
  const schemas = objectAt(objectAt(document, 'components'), 'schemas');
  const wanting = Object.entries(schemas).flatMap(([name, schema]) =>
    withoutTypes(objectAt(isObject(schema) ? schema : {}, 'properties')).map((field) => `${name}.${field}`),
  );
  expect(wanting).toEqual([]);
});

test('the document contains no field that only manifests have', () => {
  const found = JSON.stringify(document).match(/x-ostiary|\.schema\.json|valueFrom|connection_selector|Omitted|by name or id|manifest/g);
  expect(found).toEqual(null);
});

test('every route that needs a key or a token refuses a request without reading its body', async () => {
  const { port } = new URL(server.url);
  const guarded = described().filter(({ operation }) => !(Array.isArray(operation['security']) && operation['security'].length === 0));
  expect(guarded.length).toBeGreaterThan(40);
  const statuses = await Promise.all(
    guarded.map(async ({ route }) => {
      const [method, path = ''] = route.split(' ');
      const socket = connect(Number(port), '127.0.0.1');
      // The body is announced and never sent.
      socket.write(
        `${method} ${path.replaceAll(/:\w+/g, 'x')} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\nAuthorization: Bearer wrong\r\n\r\n`,
      );
      const [text] = await once(socket, 'data');
      socket.destroy();
      return [route, /^HTTP\/1\.1 (401|429) /.test(String(text))];
    }),
  );
  expect(statuses.filter(([, isRefused]) => isRefused !== true)).toEqual([]);
});

test.each([
  ['/agents/heartbeat', 32 * 1024],
  ['/agents', 32 * 1024],
  ['/reviews', 32 * 1024],
  ['/api-keys', 128 * 1024],
  ['/guardrails', 1024 * 1024],
])('a body for %s has at most %d bytes', async (path, limit) => {
  const call = callerOf(server);
  const agent = (await call('POST', '/agents', { body: { name: `limit ${limit} ${path.length}` } })).body['token'];
  const key = path === '/agents/heartbeat' && typeof agent === 'string' ? agent : server.key;
  expect((await call('POST', path, { key, text: bodyOf(limit) })).status).toBe(422);
  expect((await call('POST', path, { key, text: bodyOf(limit + 1) })).status).toBe(413);
});

/** Returns a JSON object of this many bytes. */
function bodyOf(length: number): string {
  return `{"x":"${'x'.repeat(length - 8)}"}`;
}
