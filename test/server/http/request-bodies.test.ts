import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startPgliteServer } from '../../support/servers.ts';
import { createKey, rowsOf } from '../client.ts';
import { useServer } from '../use-server.ts';

const gateway = useServer(startPgliteServer);
const body = JSON.stringify({ name: 'coded' });

async function post(given: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(`${gateway.server.url}/guardrails`, {
    method: 'POST',
    body: given,
    headers: { 'Api-Key': gateway.server.key, ...headers },
  });
  return { status: answer.status };
}

test('a compressed body is refused, and nothing is written', async () => {
  for (const given of [gzipSync(body), brotliCompressSync(body)])
    expect((await post(given, { 'Content-Encoding': 'gzip' })).status).toBe(400);
  expect((await gateway.call('GET', '/guardrails')).list).toEqual([]);
});

describe('duplicate keys', () => {
  test.each([
    ['{"name":"a","name":"b"}', '/name'],
    ['{"name":"a","name":"a"}', '/name'],
    ['{"name":"a" , "n\\u0061me"\n:"b"}', '/name'],
    ['{"\\u006eame":"a","\\u006Eame":"b"}', '/name'],
    ['{"name":"a","input":{"rules":[],"rules":[]}}', '/input/rules'],
    ['{"name":"a","input":{"rules":[{"type":"x"},{"type":"x","words":[],"words":[]}]}}', '/input/rules/1/words'],
    ['{"name":"a","x":[[],[1,{"a/b":1,"a/b":2}]]}', '/x/1/1/a~1b'],
    ['{"__proto__":1,"name":"a","__proto__":2}', '/__proto__'],
    ['{"constructor":1,"constructor":2}', '/constructor'],
    ['{"":1,"":2}', '/'],
    ['{"a\\"b":1,"a\\u0022b":2}', '/a"b'],
    ['{"\\\\":1,"\\u005c":2}', '/\\'],
    ['{"\\ud83d\\ude00":1,"😀":2}', '/😀'],
  ])('%s is a 400 that names %s', async (text, field) => {
    const answer = await gateway.call('POST', '/guardrails', { text });
    expect([answer.status, answer.body]).toEqual([
      400,
      { message: `${field} is a duplicate key`, errors: [{ field, reason: 'is a duplicate key' }] },
    ]);
  });

  test.each([
    [
      'equal keys of different objects',
      '{"name":"o1","input":{"rules":[{"type":"a","words":["w"]},{"type":"a","words":["w"]}]},"output":{"rules":[]}}',
    ],
    ['values that equal keys', '{"name":"description","description":"name"}'],
    ['values that look like keys', '{"name":"o2","description":"\\"name\\":\\"x\\",\\"name\\":"}'],
    ['braces in texts', '{"name":"o3","description":"}{\\"[,","input":{"rules":[{"type":"{","words":["]","}"]}]}}'],
  ])('%s are none', async (_case, text) => {
    expect((await gateway.call('POST', '/guardrails', { text })).status).toBe(201);
  });

  test('keys that differ in case are different: the second is an unknown field', async () => {
    const { status, body: answer } = await gateway.call('POST', '/guardrails', { text: '{"name":"a","Name":"b"}' });
    expect([status, answer['message']]).toEqual([422, '/Name is an unknown field']);
  });

  test.each(['/connections', '/resources', '/reviews', '/api-keys', '/agents', '/runbooks/configurations', '/datamasking-rules'])(
    'they are a 400 for %s',
    async (path) => {
      const { status, body: answer } = await gateway.call('POST', path, { text: '{"secret":{"envvar:A":"YQ==","envvar:A":"Yg=="}}' });
      expect([status, answer['message']]).toEqual([400, '/secret/envvar:A is a duplicate key']);
    },
  );

  test('the audit log names the field alone: a nested key may be a secret', async () => {
    await gateway.call('POST', '/guardrails', { text: '{"name":"x","input":{"canary":1,"canary":2}}' });
    const [entry] = rowsOf(await gateway.call('GET', '/audit/logs?page_size=1'));
    expect(entry).toMatchObject({ http_status: 400, error_message: '/input is a duplicate key' });
    expect(gateway.server.log.join('\n')).not.toContain('canary');
  });

  test('a body of a million characters is checked', async () => {
    const members = Array.from({ length: 40_000 }, (_, n) => `"${'\\'.repeat(8)}${n}":[]`);
    expect((await gateway.call('POST', '/guardrails', { text: `{${members.join(',')}}` })).status).toBe(422);
    expect((await gateway.call('POST', '/guardrails', { text: `{"name":"${'\\\\'.repeat(500_000)}"}` })).status).toBe(422);
    expect((await gateway.call('POST', '/guardrails', { text: `{"x":${'['.repeat(5000)}${']'.repeat(5000)}}` })).status).toBe(422);
  });

  test('they are reported only to callers that may write', async () => {
    const key = await createKey(gateway.call, 'twice', ['auditor']);
    expect((await gateway.call('POST', '/guardrails', { key, text: '{"name":"a","name":"b"}' })).status).toBe(403);
  });
});
