import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selfSigned } from '../../support/certificate.ts';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { guardrail, useProjects } from '../project.ts';

const makeProject = useProjects();
const { make } = useRepositories();
const env = { OSTIARY_TOKEN: 'token-of-the-tests' };
const [own, client, other] = [selfSigned(new Date()), selfSigned(new Date()), selfSigned(new Date())];
let server: FlakyServer;
beforeAll(async () => {
  server = await startFlakyServer(json(200, []), { tls: { ...own, ca: client.cert } });
});
afterAll(() => server.close());

function configOf(lines: readonly string[], { url }: Pick<FlakyServer, 'url'> = server): string {
  const target = [`url: ${url.replace('127.0.0.1', 'localhost')}`, ...lines].map((line) => `    ${line}\n`);
  return `apiVersion: ostiary/v1\nkind: Config\ntargets:\n  production:\n${target.join('')}`;
}

const files = { 'certs/ca.pem': own.cert, 'certs/client.pem': client.cert, 'certs/client.key': client.key, 'empty.pem': '\n' };
const ca = 'ca: { file: certs/ca.pem }';
const pair = ['client_certificate: { file: certs/client.pem }', 'client_key: { env: CLIENT_KEY }'];

function agents(lines: readonly string[], more: Readonly<Record<string, string>> = {}): ReturnType<typeof ostiaryInProcess> {
  const cwd = makeProject({ ...files, 'ostiary.yaml': configOf(lines) });
  return ostiaryInProcess(['get', 'agents'], { cwd, env: { ...env, ...more } });
}

describe('a gateway that requires a client certificate', () => {
  test('answers with it, from a file and from a variable; its own authority is that of the target', async () => {
    expect(await agents([ca, ...pair], { CLIENT_KEY: client.key })).toMatchObject({ code: 0, stderr: '' });
    const variables = ['ca: { env: CA }', 'client_certificate: { env: CERT }', 'client_key: { file: certs/client.key }'];
    expect(await agents(variables, { CA: own.cert, CERT: client.cert })).toMatchObject({ code: 0, stderr: '' });
  });

  test('names what it demands', async () => {
    const theirs = ['client_certificate: { env: CERT }', 'client_key: { env: KEY }'];
    for (const [ended, why, hint] of [
      [await agents([ca]), 'requires a client certificate', 'set client_certificate and client_key of the target'],
      [
        await agents([ca, ...theirs], { CERT: other.cert, KEY: other.key }),
        'does not accept the client certificate',
        'check client_certificate and client_key of the target',
      ],
    ] as const) {
      expect(ended.code).toBe(4);
      expect(ended.stderr).toMatch(
        new RegExp(`GET \\S+: localhost:\\d+ closed the connection after the TLS handshake, perhaps because it ${why}`),
      );
      expect(ended.stderr).toContain(hint);
      expect(ended.stderr).not.toContain('PRIVATE KEY');
    }
    expect((await agents(pair, { CLIENT_KEY: client.key })).stderr).toContain('set ca of the target');
  });
});

describe('certificates that cannot be used', () => {
  test.each([
    ['a missing file', [ca.replace('ca.pem', 'no.pem')], 'certs/no.pem", ca of the target "production", cannot be read: it does not exist'],
    ['a device without an end', ['ca: { file: /dev/zero }'], 'ca of the target "production", cannot be read: it is larger than 1 MiB'],
    ['an empty authority', [ca.replace('certs/ca.pem', 'empty.pem')], 'empty.pem", ca of the target "production", is empty'],
    [
      'the key of another certificate',
      ['client_certificate: { file: certs/ca.pem }', 'client_key: { file: certs/client.key }'],
      'client_key of the target "production" is not the key of client_certificate',
    ],
  ])('%s: one error before the first request', async (_, lines, message) => {
    const { code, stderr } = await agents(lines);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^error api\/bad-pem {2}[^\n]*\n {2}hint: [^\n]*\n$/)]);
    expect(stderr).toContain(message);
  });

  test('a certificate that has ended, and a key with a passphrase', async () => {
    const ended = selfSigned(new Date('2020-02-02'));
    const variables = ['client_certificate: { env: CERT }', 'client_key: { env: KEY }'];
    expect(await agents(variables, { CERT: ended.cert, KEY: ended.key })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('api/bad-pem  client_certificate of the target "production" ended on 2020-03-03'),
    });
    const sealed = createPrivateKey(client.key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'canary' });
    expect(await agents(variables, { CERT: client.cert, KEY: String(sealed) })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('client_key of the target "production" has a passphrase\n  hint: openssl pkey'),
    });
  });

  test('a certificate without its key is an error of the config', async () => {
    expect(await agents([pair[0] ?? ''])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('ostiary.yaml:6:25 error config/incomplete-tls  client_certificate needs client_key'),
    });
  });
});

test('with --config-ref, files below the config are those of the commit', async () => {
  const repository = make({ ...files, 'ostiary.yaml': configOf([ca, ...pair]), 'access/rule.yaml': guardrail('no-drop') });
  const run = (): ReturnType<typeof ostiaryInProcess> =>
    ostiaryInProcess(['plan', '--config-ref', 'HEAD', '--no-origin'], {
      cwd: repository.folder,
      env: { ...env, ...gitEnv, CLIENT_KEY: client.key },
    });
  writeFileSync(join(repository.folder, 'certs/ca.pem'), other.cert);
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('GuardrailRule/no-drop') });
  repository.git('rm', '--quiet', '--cached', 'certs/ca.pem');
  repository.git('commit', '--quiet', '-m', 'no authority');
  expect(await run()).toMatchObject({ code: 3, stderr: expect.stringContaining('error api/bad-pem  "certs/ca.pem" is not in the commit') });
});
