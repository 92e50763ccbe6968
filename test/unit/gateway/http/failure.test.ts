import { describe, expect, it } from 'vitest';
import { defaultRetryLimits } from '../../../../src/gateway/http/transport.ts';
import { selfSigned } from '../../../support/certificate.ts';
import { json, silence, startFlakyServer, text } from '../../../support/flaky-server.ts';
import { closing, get, open, post, secret, serve, token } from '../../../support/flaky-client.ts';

describe('failures', () => {
  it.each([
    [401, 'api/unauthorized'],
    [403, 'api/forbidden'],
    [404, 'api/not-found'],
    [409, 'api/conflict'],
    [412, 'api/moved'],
    [418, 'api/refused'],
    [422, 'api/refused'],
    [429, 'api/rate-limited'],
    [500, 'api/server-error'],
  ])('%d is %s and quotes the message unless it contains a secret', async (status, code) => {
    for (const part of [secret, token, Buffer.from(secret).toString('base64'), secret.slice(3, 9)]) {
      const server = await serve(json(status, { message: `bad ${part}` }, { 'x-request-id': `r-1-${token}` }));
      const error = await open(server.url).fail(post);
      expect(error.code).toBe(code);
      expect(error.exitCode).toBe(4);
      expect(error.message).toContain(`(${status}, the gateway's message is not shown because it may contain a secret)`);
      expect(error.failure.requestId).toBeUndefined();
    }
    const server = await serve(json(status, { message: `bad \u001B[31m${secret.slice(3, 8)}` }, { 'x-request-id': 'r-1' }));
    const error = await open(server.url).fail(post);
    expect(error.message).toContain(`(${status}, "bad \\u{1b}[31m${secret.slice(3, 8)}")`);
    expect(error.failure.requestId).toBe('r-1');
  });

  it.each([
    ['a login page', text(200, '<html>Sign in</html>'), /not JSON but text\/html; charset=utf-8: "<html>Sign in<\/html>"/],
    [
      'a page with the token',
      text(200, `<html>Sign in ${token}</html>`),
      /not JSON but text\/html; charset=utf-8: the gateway's message is not/,
    ],
    ['half a JSON text', text(200, '[{"id":'), /not JSON but text\/html; charset=utf-8: "\[\{"id":"/],
    ['nothing', text(200, ''), /the gateway sent an empty response/],
  ])('an answer that is %s is api/not-json', async (_, reply, words) => {
    const error = await open((await serve(reply)).url).fail(get);
    expect(error.code).toBe('api/not-json');
    expect(error.message).toMatch(words);
    expect(error.hint).toContain('login page');
  });

  // security: apply-token
  it('a redirect to another origin is reported and not followed', async () => {
    const elsewhere = await serve(json(200, []));
    const server = await serve(text(302, '', { location: `${elsewhere.url}/login?token=${token}` }));
    const error = await open(server.url).fail(get);
    expect(error.code).toBe('api/redirected');
    expect(error.message).toContain(`redirects to ${elsewhere.url}/login, and Ostiary`);
    expect(elsewhere.seen).toHaveLength(0);
  });

  it.each([get, post])('a redirect within the origin is not followed, either: $method', async (request) => {
    const server = await serve(text(302, '', { location: '/things/' }));
    expect((await open(server.url).fail(request)).code).toBe('api/redirected');
    expect(server.seen).toHaveLength(1);
  });

  it('an unknown host is api/unreachable, without a retry', async () => {
    const { fail, pauses } = open('http://nowhere.invalid');
    const error = await fail(get);
    expect(error.code).toBe('api/unreachable');
    expect(pauses.length === 0 || error.message.includes('EAI_AGAIN')).toBe(true);
  });

  it('a gateway that never ends its response is api/timeout', async () => {
    const server = await serve((response) => {
      const blanks = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(blanks));
    });
    expect((await open(server.url, { idleMs: 500, limits: { ...defaultRetryLimits, attempts: 1 } }).fail(get)).code).toBe('api/timeout');
  });

  it('a gateway that does not respond is api/timeout', async () => {
    const { fail } = open((await serve(silence)).url, { idleMs: 500, limits: { ...defaultRetryLimits, attempts: 1 } });
    const error = await fail(get);
    expect(error.code).toBe('api/timeout');
    expect(error.message).toContain('timeout: no response from');
  });

  it('a response without an end is api/too-large', async () => {
    const server = await serve(text(200, `["${'x'.repeat(5000)}"]`));
    expect((await open(server.url, { maxBytes: 1000 }).fail(get)).code).toBe('api/too-large');
  });

  it('a self-signed certificate is api/tls, with a hint', async () => {
    const server = await startFlakyServer(json(200, []), { tls: selfSigned(new Date()) });
    closing.push(() => server.close());
    const error = await open(server.url).fail(get);
    expect(error.code).toBe('api/tls');
    expect(error.message).toContain('its certificate is self-signed');
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS');
  });

  it('https on a port that speaks http is api/tls', async () => {
    const server = await serve(json(200, []));
    expect((await open(server.url.replace('http:', 'https:')).fail(get)).code).toBe('api/tls');
  });

  it('http on a port with another protocol is api/unreachable', async () => {
    const server = await serve((response) => {
      response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n');
    });
    const { fail } = open(server.url, { limits: { ...defaultRetryLimits, attempts: 1 } });
    expect((await fail(get)).message).toContain('did not respond with HTTP');
  });

  it.each(['', ' ', 'two words', 'line\nbreak', 'emoji😀'])('a token that no header can carry is api/bad-token: %j', (bad) => {
    expect(() => open('http://127.0.0.1', { token: bad })).toThrow(expect.objectContaining({ code: 'api/bad-token' }));
  });
});
