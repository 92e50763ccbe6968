import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestServer } from '../support/servers.ts';
import { agentId, callerOf, connectionBody, databases, idOf, idsIn, type Call } from './client.ts';

const numbers = Array.from({ length: 40 }, (_, index) => index);

describe.each(databases)('writes at once on %s', (_name, start) => {
  let server: TestServer;
  let call: Call;
  let agent: string;

  beforeAll(async () => {
    server = await start();
    call = callerOf(server);
    agent = await agentId(call);
  });
  afterAll(() => server.close());

  test('of one name, one is created', async () => {
    const answers = await Promise.all(numbers.map(() => call('POST', '/connections', { body: connectionBody('once', agent) })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(numbers.length - 1);
  });

  test('against one version, one is written', async () => {
    const created = await call('POST', '/connections', { body: connectionBody('version', agent) });
    const headers = { 'If-Match': created.headers.get('ETag') ?? '' };
    const writes = numbers.map((n) =>
      call('PUT', '/connections/version', { body: connectionBody('version', agent, { reviewers: [`r${n}`] }), headers }),
    );
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(numbers.length - 1);
  });

  test('on both ends of the same edges, neither end is lost and no write fails', async () => {
    const ids = await Promise.all(
      numbers.map(async (n) => idOf(await call('POST', '/connections', { body: connectionBody(`c${n}`, agent) }))),
    );
    const rule = idOf(await call('POST', '/guardrails', { body: { name: 'both' } }));
    const fromConnections = numbers.map((n) =>
      call('PUT', `/connections/c${n}`, { body: connectionBody(`c${n}`, agent, { guardrail_rules: [rule] }) }),
    );
    const fromRule = numbers.map(() => call('PUT', `/guardrails/${rule}`, { body: { name: 'both', connection_ids: ids } }));
    const answers = await Promise.all([...fromConnections, ...fromRule]);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(new Set(idsIn(await call('GET', `/guardrails/${rule}`), 'connection_ids'))).toEqual(new Set(ids));
    const { list } = await call('GET', '/connections');
    const held = list.filter(({ id }) => typeof id === 'string' && ids.includes(id)).map((body) => idsIn({ body }, 'guardrail_rules'));
    expect(held).toEqual(ids.map(() => [rule]));
  });

  test('an edge never points at what was deleted meanwhile', async () => {
    const rules = await Promise.all(numbers.map(async (n) => idOf(await call('POST', '/guardrails', { body: { name: `d${n}` } }))));
    const answers = await Promise.all(
      rules.flatMap((rule, n) => [
        call('POST', '/connections', { body: connectionBody(`on-d${n}`, agent, { guardrail_rules: [rule] }) }),
        call('DELETE', `/guardrails/${rule}`),
      ]),
    );
    expect(answers.map(({ status }) => status).filter((status) => ![201, 204, 422].includes(status))).toEqual([]);
    const { list } = await call('GET', '/connections');
    const left = list
      .filter(({ name }) => typeof name === 'string' && name.startsWith('on-d'))
      .flatMap((body) => idsIn({ body }, 'guardrail_rules'));
    expect(left).toEqual([]);
  });

  test('a list read meanwhile is whole', async () => {
    const before = (await call('GET', '/connections')).list.length;
    const writes = numbers.map((n) => call('PUT', `/connections/c${n}`, { body: connectionBody(`c${n}`, agent) }));
    const reads = await Promise.all(numbers.map(() => call('GET', '/connections')));
    await Promise.all(writes);
    expect(new Set(reads.map(({ list }) => list.length))).toEqual(new Set([before]));
  });
});
