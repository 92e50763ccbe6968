import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../src/model/json.ts';
import { pointer } from '../../../src/model/pointer.ts';
import { everyNth, runCount, seedOfRound } from '../../support/property-runs.ts';
import { anyJson, arbitraryOf } from '../../support/schema-arbitrary.ts';
import type { TestServer } from '../../support/servers.ts';
import { validatorsOf, type DocumentValidators } from './response-validators.ts';
import { databases } from '../client.ts';

type Operation = { readonly method: string; readonly path: string; readonly place: string; readonly spoken: JsonObject };

/** A generated request: values of the pool are chosen by number when it is sent, so that it shrinks. */
type Made = {
  readonly path: Readonly<Record<string, Json>>;
  readonly query: Readonly<Record<string, Json>>;
  readonly headers: Readonly<Record<string, Json>>;
  readonly body: Json | undefined;
  /** Text that is sent instead of the body. */
  readonly text: string | undefined;
  readonly pick: number;
};

const rounds = runCount(5);
/** Operations that random requests rarely complete: an execution waits for the right approvals of others. */
const rarely: ReadonlySet<string> = new Set(['/paths/~1reviews~1{id}~1execution/post']);

/** The files of every repository, so that responses about runbooks are not empty. */
const head = {
  commit: '0'.repeat(40),
  author: 'A <a@example.com>',
  message: 'm',
  files: [
    {
      path: 'a.runbook.sh',
      content: '{{ .a | required "r" | options "x" "y" | order 1 | minlength "2" | type "select" }}{{ .b | asenv "B" }}',
    },
    { path: 'b.runbook.sh', content: '{{' },
    { path: 'c.runbook.sh' },
  ],
};

// PostgreSQL takes two thirds of the time; with twice the cases, both are tried.
describe.each(everyNth(databases, 2, 1))('requests generated from the API document on %s', (_name, start) => {
  let server: TestServer;
  let document: JsonObject = {};
  let validators: DocumentValidators;
  /** The latest token of an agent. */
  let token: string | undefined;
  const reached = new Map<string, Set<number>>();
  const pool = new Map<string, readonly JsonObject[]>();

  beforeAll(async () => {
    server = await start({ runbooks: { read: () => Promise.resolve({ head }) } });
    document = JSON.parse(await fetch(`${server.url}/openapi.json`).then((response) => response.text()));
    validators = validatorsOf(document);
  });
  afterAll(() => server.close());

  test('valid and invalid requests never get a 5xx, and always a documented response; what succeeds is documented, and is read as it was created', async () => {
    const operations = operationsOf(document).toSorted((left, right) => turnOf(left) - turnOf(right));
    await tryAll(operations);
    // Tries the missing operations again, after all that create what they need.
    for (let more = 0; more < 8 && neverDone().length > 0; more += 1) {
      await tryAll(operations.filter((operation) => turnOf(operation) < 2 || neverDone().includes(operation.place)));
    }
    expect(neverDone()).toEqual([]);
  }, 300_000);

  let round = 0;
  async function tryAll(operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) {
      const send = async (made: Made): Promise<void> => {
        const seen = reached.get(operation.place) ?? new Set();
        reached.set(operation.place, seen.add(await exchange(operation, made)));
      };
      const settings = { numRuns: rounds, ...seedOfRound((round += 1)) };
      await fc.assert(fc.asyncProperty(valid(operation, document), send), settings);
      await fc.assert(fc.asyncProperty(invalid(operation, document), send), settings);
    }
  }

  /** Lists the operations that never succeeded, apart from the rare ones. */
  function neverDone(): readonly string[] {
    const failed = [...reached].filter(([, statuses]) => ![...statuses].some((status) => status < 300));
    return failed.map(([place]) => place).filter((place) => !rarely.has(place));
  }

  /** Sends a request, compares its response with the document, and remembers the objects in it. */
  async function exchange({ method, path, place, spoken }: Operation, made: Made): Promise<number> {
    const meant = rowOf(path, made.pick);
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(segmentOf(meant?.[name] ?? made.path[name])));
    const query = Object.entries(made.query).map(([name, value]): [string, string] => [name, wireText(value)]);
    const url = `${server.url}${target}?${new URLSearchParams(query).toString()}`;
    const body = made.text ?? (made.body === undefined ? undefined : JSON.stringify(sensible(made.body, meant, made.pick)));
    const response = await fetch(url, {
      method: method.toUpperCase(),
      headers: {
        Authorization: `Bearer ${byAgent(spoken) ? (token ?? '') : made.pick % 3 === 0 ? server.managerKey : server.key}`,
        ...headersOf(made.headers),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const summary = `${method} ${url} ${body ?? ''} → ${response.status} ${text.slice(0, 500)}`;
    const problems = [
      ...(response.status < 500 ? [] : ['it is the server that failed']),
      ...validators.problemsOf({ place, status: response.status, headers: response.headers, text }),
      ...(response.ok && body !== undefined && body !== '' && !validators.allows(place, JSON.parse(body))
        ? ['the document does not allow the body']
        : []),
      ...(response.status === 201 ? await unlikeLater(response.headers.get('Location'), JSON.parse(text)) : []),
    ];
    expect({ summary, problems }).toEqual({ summary, problems: [] });
    remember(path, text);
    return response.status;
  }

  /** Lists the fields that a created object has in a read of it, and had not in the response to its creation. */
  async function unlikeLater(location: string | null, created: JsonObject): Promise<readonly string[]> {
    // A client resolves a segment of dots itself.
    if (location === null || /\/\.+$/.test(location)) return [];
    const response = await fetch(`${server.url}${location}`, { headers: { Authorization: `Bearer ${server.key}` } });
    const read: JsonObject = JSON.parse(await response.text());
    return Object.keys(read).flatMap((field) =>
      isDeepStrictEqual(read[field], created[field]) ? [] : [`${field} is another one in ${location}`],
    );
  }

  function remember(path: string, text: string): void {
    if (!/^[[{]/.test(text)) return;
    const received: Json = JSON.parse(text);
    const one = rootOf(path);
    if (isObject(received) && typeof received['token'] === 'string') token = received['token'];
    const paged = isObject(received) ? (received['data'] ?? received) : received;
    const rows = (Array.isArray(paged) ? paged : [paged]).filter((row) => isObject(row) && typeof row['id'] === 'string');
    const known = (pool.get(one) ?? []).filter((row) => !rows.some((other) => isObject(other) && other['id'] === row['id']));
    pool.set(one, [...known, ...rows.filter((row) => isObject(row))]);
  }

  /** Returns one of the objects that a path may name; sometimes none. */
  function rowOf(path: string, pick: number): JsonObject | undefined {
    const rows = pool.get(rootOf(path)) ?? [];
    return rows[pick % (rows.length + 1)];
  }

  /** Mostly sets ids in references, the name in replace requests, base64 in secrets, and what a review needs. */
  function sensible(body: Json, meant: JsonObject | undefined, pick: number): Json {
    if (!isObject(body) || pick % 8 === 0) return body;
    const filled: Record<string, Json> = { ...body };
    for (const field of ['name', 'git_url']) {
      if (meant?.[field] !== undefined && field in body) filled[field] = meant[field];
    }
    for (const [field, kind] of [
      ['agent_id', 'agents'],
      ['guardrail_rules', 'guardrails'],
      ['connection_ids', 'connections'],
    ] as const) {
      const id = idOf(rowOf(`/${kind}`, pick)) ?? idOf(pool.get(`/${kind}`)?.[0]);
      if (typeof body[field] === 'string' && id !== undefined) filled[field] = id;
      if (Array.isArray(body[field])) filled[field] = id === undefined ? [] : [id];
    }
    if (Array.isArray(body['reviewers']) && pick % 2 === 0) filled['reviewers'] = ['admin'];
    if (typeof body['connection'] === 'string') {
      const reviewed = (pool.get('/connections') ?? []).filter(({ reviewers }) => Array.isArray(reviewers) && reviewers.length > 0);
      const row = pick % 2 === 0 ? reviewed[pick % reviewed.length] : rowOf('/connections', pick);
      filled['connection'] = row?.['name'] ?? body['connection'];
    }
    if (body['type'] === 'onetime' && pick % 2 === 0) delete filled['access_duration'];
    if (isObject(body['secret'])) {
      const entries = Object.entries(body['secret']).map(([key, value]) => [key, Buffer.from(wireText(value)).toString('base64')]);
      filled['secret'] = Object.fromEntries(entries);
    }
    return filled;
  }
});

function operationsOf(document: JsonObject): readonly Operation[] {
  return Object.entries(isObject(document['paths']) ? document['paths'] : {}).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).map(([method, spoken]) => ({
      method,
      path,
      place: pointer('paths', path, method),
      spoken: isObject(spoken) ? spoken : {},
    })),
  );
}

/** Sorts lists and creates first, deletes last, so that the others find objects. */
function turnOf({ method, path }: Operation): number {
  return ['get', 'post', 'put', 'delete'].indexOf(method) + (path.includes('{') ? 2 : 0);
}

function valid({ spoken }: Operation, document: JsonObject): Arbitrary<Made> {
  const parameters = parametersOf(spoken);
  const group = (place: string): Arbitrary<Readonly<Record<string, Json>>> => {
    const chosen = parameters.filter((parameter) => parameter['in'] === place);
    const fields = chosen.map((parameter) => [wireText(parameter['name'] ?? ''), arbitraryOf(parameter['schema'], document)] as const);
    return fc.record(Object.fromEntries(fields), {
      requiredKeys: chosen.flatMap((parameter) => (parameter['required'] === true ? [wireText(parameter['name'] ?? '')] : [])),
    });
  };
  const body = bodyOf(spoken);
  return fc.record({
    path: group('path'),
    query: group('query'),
    headers: fc.constant({}),
    body: body === undefined ? fc.constant(undefined) : arbitraryOf(body, document),
    text: fc.constant(undefined),
    pick: fc.nat(),
  });
}

/** Breaks a valid request in one place or everywhere. */
function invalid(operation: Operation, document: JsonObject): Arbitrary<Made> {
  const names = parametersOf(operation.spoken).flatMap((parameter) =>
    parameter['in'] === 'query' ? [wireText(parameter['name'] ?? '')] : [],
  );
  const hasBody = bodyOf(operation.spoken) !== undefined;
  const spoiled = fc.tuple(valid(operation, document), fc.string(), anyJson, fc.boolean()).map(([made, key, value, drop]) => {
    if (!isObject(made.body)) return made;
    const keys = Object.keys(made.body);
    const chosen = keys[key.length % (keys.length + 1)] ?? key;
    const others = Object.entries(made.body).filter(([name]) => name !== chosen);
    return { ...made, body: Object.fromEntries(drop ? others : [...others, [chosen, value]]) };
  });
  return fc
    .tuple(
      spoiled,
      fc.dictionary(fc.constantFrom(...names, 'unknown'), anyJson, { noNullPrototype: true }),
      fc.option(fc.record({ 'If-Match': fc.constantFrom<Json>('"x"', '*', 'W/"1"', ',,', '""') }), { nil: {} }),
      fc.option(anyJson, { nil: undefined, freq: 4 }),
      fc.option(fc.constantFrom('', '{', '[]', 'null', '"x"', '{"a":1}{', '\u0000', '{"name":"x","name":"y"}'), {
        nil: undefined,
        freq: 6,
      }),
      anyJson,
    )
    .map(([made, query, headers, body, text, id]) => ({
      ...made,
      path: Object.fromEntries(Object.keys(made.path).map((name) => [name, id])),
      query,
      headers,
      body: hasBody ? (body ?? made.body) : undefined,
      text: hasBody ? text : undefined,
    }));
}

function parametersOf(spoken: JsonObject): readonly JsonObject[] {
  return Array.isArray(spoken['parameters']) ? spoken['parameters'].filter((parameter: Json) => isObject(parameter)) : [];
}

function bodyOf(spoken: JsonObject): Json | undefined {
  const content = isObject(spoken['requestBody']) && isObject(spoken['requestBody']['content']) ? spoken['requestBody']['content'] : {};
  const media = content['application/json'];
  return isObject(media) ? media['schema'] : undefined;
}

/** Returns whether an operation takes the token of an agent instead of a key. */
function byAgent({ security }: JsonObject): boolean {
  return Array.isArray(security) && security.some((scheme) => isObject(scheme) && 'agent' in scheme);
}

/** Returns the path of the list that contains an object; a session has the id of its review, too. */
function rootOf(path: string): string {
  return path.replace(/\/\{.*$/, '').replace('/sessions', '/reviews');
}

function idOf(row: JsonObject | undefined): string | undefined {
  return typeof row?.['id'] === 'string' ? row['id'] : undefined;
}

/** Returns a segment of a path: not empty, and not one that a client would resolve itself. */
function segmentOf(value: Json | undefined): string {
  const text = wireText(value ?? '');
  return /^\.*$/.test(text) ? 'none' : text;
}

function wireText(value: Json): string {
  return typeof value === 'string' ? value.replaceAll(/\p{Surrogate}/gu, '?') : JSON.stringify(value);
}

function headersOf(headers: Readonly<Record<string, Json>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, wireText(value)]));
}
