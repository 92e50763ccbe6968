import { describe, expect, test } from 'vitest';
import { connectionBody, databases, idOf, idsIn } from '../client.ts';
import { useServer } from '../use-server.ts';

const numbers = Array.from({ length: 40 }, (_, index) => index);

describe.each(databases)('concurrent writes on %s', (_name, start) => {
  const gateway = useServer(start);
  const { call } = gateway;

  test('of concurrent creates with one name, one succeeds', async () => {
    const answers = await Promise.all(numbers.map(() => call('POST', '/connections', { body: connectionBody('once', gateway.agent) })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(numbers.length - 1);
  });

  test('of concurrent writes of one version, one succeeds', async () => {
    const created = await call('POST', '/connections', { body: connectionBody('version', gateway.agent) });
    const headers = { 'If-Match': created.headers.get('ETag') ?? '' };
    const writes = numbers.map((n) =>
      call('PUT', '/connections/version', { body: connectionBody('version', gateway.agent, { reviewers: [`r${n}`] }), headers }),
    );
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(numbers.length - 1);
  });

  test('concurrent writes of both ends of the same edges all succeed and stay consistent', async () => {
    const ids = await Promise.all(
      numbers.map(async (n) => idOf(await call('POST', '/connections', { body: connectionBody(`c${n}`, gateway.agent) }))),
    );
    const rule = idOf(await call('POST', '/guardrails', { body: { name: 'both' } }));
    const fromConnections = numbers.map((n) =>
      call('PUT', `/connections/c${n}`, { body: connectionBody(`c${n}`, gateway.agent, { guardrail_rules: [rule] }) }),
    );
    const fromRule = numbers.map(() => call('PUT', `/guardrails/${rule}`, { body: { name: 'both', connection_ids: ids } }));
    const answers = await Promise.all([...fromConnections, ...fromRule]);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(new Set(idsIn(await call('GET', `/guardrails/${rule}`), 'connection_ids'))).toEqual(new Set(ids));
    const { list } = await call('GET', '/connections');
    const held = list.filter(({ id }) => typeof id === 'string' && ids.includes(id)).map((body) => idsIn({ body }, 'guardrail_rules'));
    expect(held).toEqual(ids.map(() => [rule]));
  });

  test('an edge never refers to a deleted object', async () => {
    const rules = await Promise.all(numbers.map(async (n) => idOf(await call('POST', '/guardrails', { body: { name: `d${n}` } }))));
    const answers = await Promise.all(
      rules.flatMap((rule, n) => [
        call('POST', '/connections', { body: connectionBody(`on-d${n}`, gateway.agent, { guardrail_rules: [rule] }) }),
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

  test('a list during writes is consistent', async () => {
    const before = (await call('GET', '/connections')).list.length;
    const writes = numbers.map((n) => call('PUT', `/connections/c${n}`, { body: connectionBody(`c${n}`, gateway.agent) }));
    const reads = await Promise.all(numbers.map(() => call('GET', '/connections')));
    await Promise.all(writes);
    expect(new Set(reads.map(({ list }) => list.length))).toEqual(new Set([before]));
  });
});
