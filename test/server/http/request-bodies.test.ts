import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { asText } from '../../../src/model/json.ts';
import { startPgliteServer } from '../../support/servers.ts';
import { createKey, rowsOf } from '../client.ts';
import { useServer } from '../use-server.ts';

const gateway = useServer(startPgliteServer);
const body = JSON.stringify({ name: 'coded' });

async function post(given: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>, path = '/guardrails') {
  const answer = await fetch(`${gateway.server.url}${path}`, {
    method: 'POST',
    body: given,
    headers: { 'Api-Key': gateway.server.key, ...headers },
  });
  return { status: answer.status, accepts: answer.headers.get('Accept-Encoding'), text: await answer.text() };
}

describe('coded bodies', () => {
  test.each<readonly [string, string | Uint8Array<ArrayBuffer>]>([
    ['gzip', gzipSync(body)],
    ['GZIP', gzipSync(body)],
    ['x-gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['br', brotliCompressSync(body)],
    ['zstd', body],
    ['gzip', body],
    ['identity, gzip', gzipSync(body)],
    ['gzip, identity', gzipSync(body)],
    ['gzip', ''],
  ])('%s is a 415 that names what is accepted', async (coding, given) => {
    for (const path of ['/guardrails', '/connections', '/api-keys', '/agents', '/reviews', '/resources']) {
      const { status, accepts, text } = await post(given, { 'Content-Encoding': coding }, path);
      expect([path, status, accepts]).toEqual([path, 415, 'identity']);
      expect(text).toMatch(/"the content coding [a-z-]+ is not supported: send the body as it is"/);
    }
  });

  test('a coded body without a valid key is a 401, and a heartbeat with one a 415', async () => {
    expect((await post(gzipSync(body), { 'Content-Encoding': 'gzip', 'Api-Key': 'wrong' })).status).toBe(401);
    const { token } = (await gateway.call('POST', '/agents', { body: { name: 'gzips' } })).body;
    const headers = { Authorization: `Bearer ${asText(token)}`, 'Content-Encoding': 'gzip' };
    expect((await post(gzipSync('{}'), headers, '/agents/heartbeat')).status).toBe(415);
  });

  test.each(['identity', 'Identity', '', 'identity, identity'])('%j is accepted', async (coding) => {
    const name = `plain-${coding.length}-${coding.charCodeAt(0)}`;
    expect((await post(JSON.stringify({ name }), { 'Content-Encoding': coding })).status).toBe(201);
  });

  test.each([
    ['chunked', 201],
    ['Chunked', 201],
    ['gzip, chunked', 501],
  ])('the transfer coding %s is answered %d', async (coding, expected) => {
    const { hostname, port } = new URL(gateway.server.url);
    const given = JSON.stringify({ name: `transfer ${coding}` });
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.once('data', (part) => resolve(part.toString())).once('error', reject);
      socket.write(
        `POST /guardrails HTTP/1.1\r\nHost: x\r\nApi-Key: ${gateway.server.key}\r\nTransfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n${given.length.toString(16)}\r\n${given}\r\n0\r\n\r\n`,
      );
    });
    expect(answer).toContain(`HTTP/1.1 ${expected} `);
  });
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
