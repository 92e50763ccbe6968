import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selfSigned } from '../../support/certificate.ts';
import { startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { startForwardProxy, type ForwardProxy } from '../../support/forward-proxy.ts';
import { place } from '../../support/github.ts';
import { commentsOn, commitAll, mergePullRequest, openPullRequest } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from '../action/use-action.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

const { key, cert } = selfSigned(new Date());
let secure: FlakyServer;
let proxy: ForwardProxy;
let strict: ForwardProxy;

beforeAll(async () => {
  // The gateway behind https.
  secure = await startFlakyServer(
    (response, { method, path, headers, body }) => {
      void (async () => {
        const sent = { authorization: headers.authorization ?? '', 'content-type': 'application/json' };
        const answer = await fetch(`${gateway.url()}${path}`, { method, headers: sent, ...(body === '' ? {} : { body }) });
        response.writeHead(answer.status, { 'content-type': 'application/json', server: answer.headers.get('server') ?? '' });
        response.end(await answer.text());
      })();
    },
    { tls: { key, cert } },
  );
  const hosts = { 'gateway.test': portOf(gateway.url()), 'api.github.test': portOf(bench.github().url) };
  proxy = await startForwardProxy({ hosts });
  strict = await startForwardProxy({ hosts, login: 'ada:pass-canary' });
});
afterAll(() => Promise.all([secure.close(), proxy.close(), strict.close()]));

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** Creates a project for the gateway at an address. */
function projectAt(url: string): string {
  return makeProject({ 'ostiary.yaml': config(url), 'access/a.yaml': connection('proxied'), 'ca.pem': cert });
}

function atSecure(): string {
  return `https://localhost:${portOf(secure.url)}`;
}

describe('the command line reaches the gateway', () => {
  test.each(['http_proxy'])('by http, through %s, which alone knows the host', async (variable) => {
    const before = proxy.seen.length;
    const ended = await gateway.process('plan', projectAt('http://gateway.test'), { [variable]: proxy.url });
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Connection/proxied') });
    expect(proxy.seen.slice(before)).toContainEqual(expect.stringMatching(/^GET http:\/\/gateway\.test\/connections/));
  });

  test.each(['SSL_CERT_FILE'])('by https, through a tunnel, with the certificate of %s', async (variable) => {
    const cwd = projectAt(atSecure());
    const env = { HTTPS_PROXY: proxy.url, [variable]: join(cwd, 'ca.pem') };
    const before = proxy.seen.length;
    expect(await gateway.process('plan', cwd, env)).toMatchObject({ code: 0 });
    expect(new Set(proxy.seen.slice(before))).toEqual(new Set([`CONNECT localhost:${portOf(secure.url)}`]));
    const untrusted = await gateway.process('plan', cwd, { HTTPS_PROXY: proxy.url });
    expect(untrusted).toMatchObject({ code: 4, stderr: expect.stringContaining('api/tls') });
  });

  test.each(['.example.com,localhost'])('without the proxy for NO_PROXY=%s', async (exceptions) => {
    const cwd = projectAt(atSecure());
    const env = { HTTPS_PROXY: proxy.url, NO_PROXY: exceptions, SSL_CERT_FILE: join(cwd, 'ca.pem') };
    const before = proxy.seen.length;
    expect(await gateway.process('plan', cwd, env)).toMatchObject({ code: 0 });
    expect(proxy.seen.length).toBe(before);
  });
});

describe('a proxy that wants a password', () => {
  test('gets it from its URL', async () => {
    expect(await gateway.process('plan', projectAt('http://gateway.test'), { HTTP_PROXY: strict.url })).toMatchObject({ code: 0 });
    const cwd = projectAt(atSecure());
    const env = { HTTPS_PROXY: strict.url, SSL_CERT_FILE: join(cwd, 'ca.pem') };
    expect(await gateway.process('plan', cwd, env)).toMatchObject({ code: 0 });
  });

  test.each(['HTTPS_PROXY'])('is named in the error without it (%s)', async (variable) => {
    const wrong = strict.url.replace('pass-canary', 'wrong-canary');
    const url = variable === 'HTTPS_PROXY' ? atSecure() : 'http://gateway.test';
    const { code, stdout, stderr } = await gateway.process('plan', projectAt(url), { [variable]: wrong });
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringMatching(/api\/proxy.*the proxy cannot connect[\s\S]*407/) });
    expect(`${stdout}${stderr}`).not.toContain('wrong-canary');
  });
});

test.each([
  ['a proxy that is down', { HTTPS_PROXY: 'http://127.0.0.1:9' }, 4, 'api/proxy'],
  ['another protocol', { HTTPS_PROXY: 'socks5://ada:pass-canary@127.0.0.1:9' }, 3, 'invalid URL in HTTPS_PROXY: expected http or https'],
  ['a missing certificate', { SSL_CERT_FILE: '/nowhere/ca.pem' }, 3, 'api/bad-ca-file'],
])('%s is an error that names the variable', async (_what, env, code, text) => {
  const ended = await gateway.process('plan', projectAt(atSecure()), env);
  expect(ended).toMatchObject({ code, stderr: expect.stringContaining(text) });
  expect(ended.stderr).toMatch(/HTTPS_PROXY|SSL_CERT_FILE/);
  expect(ended.stderr).not.toContain('canary');
});

test('the action reaches GitHub and the gateway through the proxy', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config('http://gateway.test'), 'access/a.yaml': connection('proxied-action') });
  commitAll(cwd);
  const { number } = await openPullRequest(bench.github(), 'proxied');
  const commit = await mergePullRequest(bench.github(), number);
  const before = proxy.seen.length;
  const api = 'http://api.github.test';
  const env = { ...gateway.env(), HTTP_PROXY: proxy.url, GITHUB_SHA: commit, GITHUB_API_URL: api, GITHUB_GRAPHQL_URL: `${api}/graphql` };
  const ended = await bench.bundled({ cwd, event: 'push', payload: {}, inputs: { mode: 'apply' }, env });
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  expect(await commentsOn(bench.github(), number)).toHaveLength(1);
  const seen = proxy.seen.slice(before);
  expect(seen).toContain('POST http://gateway.test/connections');
  expect(seen).toContain(`POST ${api}/repos/${place.owner}/${place.repo}/issues/${number}/comments`);
});
