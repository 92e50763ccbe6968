import { existsSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressClass, parseNetworks } from '../../src/git/check-host.ts';
import type { ResolveHost } from '../../src/git/check-host.ts';
import { commitFiles, installProgram, startGitServer, type GitServer } from '../support/git-repository.ts';
import { allow, createTestReader, failureOf, makeFolder, publicAddress } from './test-reader.ts';

const folder = makeFolder();
const tempFolder = makeFolder();
const read = createTestReader(tempFolder);
const login = { user: 'reader', password: 'canary' };
let commit = '';
let target = '';
let server: GitServer;

function redirect(response: ServerResponse): boolean {
  response.writeHead(302, { Location: target }).end();
  return true;
}

function hintFor(address: string): string {
  return `start the server with --allow-private-repositories ${address} to read repositories there`;
}

async function readMoved(resolve?: ResolveHost): Promise<string> {
  const options = resolve === undefined ? {} : { resolve };
  return failureOf(await read({ url: `${server.url}/moved.git`, ...login }, options));
}

const resolvePrivately: ResolveHost = () => Promise.resolve(['10.9.8.7']);

beforeAll(async () => {
  commit = await commitFiles(join(folder, 'ops.git'), { 'a.runbook.sh': 'echo a' });
  server = await startGitServer({
    root: folder,
    login,
    intercept: ({ url = '' }, response) => url.startsWith('/moved') && redirect(response),
  });
});
afterAll(async () => {
  await server.close();
  for (const path of [folder, tempFolder]) rmSync(path, { recursive: true });
});

describe('addressClass', () => {
  test.each([
    ['127.0.0.1', 'a loopback address'],
    ['127.255.255.254', 'a loopback address'],
    ['::1', 'a loopback address'],
    ['::ffff:127.0.0.1', 'a loopback address'],
    ['::ffff:7f00:1', 'a loopback address'],
    ['::127.0.0.1', 'a loopback address'],
    ['64:ff9b::127.0.0.1', 'a loopback address'],
    ['2002:7f00:1::', 'a loopback address'],
    ['10.0.0.1', 'a private address'],
    ['172.16.0.1', 'a private address'],
    ['172.31.255.255', 'a private address'],
    ['192.168.1.1', 'a private address'],
    ['::ffff:10.1.2.3', 'a private address'],
    ['fd12:3456::1', 'a private address'],
    ['fec0::1', 'a private address'],
    ['169.254.1.1', 'a link-local address'],
    ['fe80::1', 'a link-local address'],
    ['169.254.169.254', 'a metadata address'],
    ['::ffff:a9fe:a9fe', 'a metadata address'],
    ['fd00:ec2::254', 'a metadata address'],
    ['100.100.100.200', 'a metadata address'],
    ['100.64.0.1', 'a shared address of a provider (CGNAT)'],
    ['100.127.255.255', 'a shared address of a provider (CGNAT)'],
    ['224.0.0.1', 'a multicast address'],
    ['ff02::1', 'a multicast address'],
    ['0.0.0.0', 'an unspecified address'],
    ['::', 'an unspecified address'],
    ['255.255.255.255', 'a reserved address'],
    ['198.18.0.1', 'a reserved address'],
    ['2001:db8::1', 'a reserved address'],
    ['8.8.8.8', undefined],
    ['172.15.255.255', undefined],
    ['172.32.0.1', undefined],
    ['100.63.255.255', undefined],
    ['100.128.0.1', undefined],
    ['169.253.0.1', undefined],
    ['192.167.1.1', undefined],
    ['2606:4700::6810:85e5', undefined],
    ['::ffff:8.8.8.8', undefined],
    ['64:ff9b::8.8.8.8', undefined],
    ['2002:808:808::1', undefined],
  ])('%s is %s', (address, kind) => {
    expect(addressClass(address)).toBe(kind);
  });
});

describe('parseNetworks', () => {
  test.each(['10.0.0.0/33', '10.0.0', 'host', '', '::1/129', '10.0.0.0/', '/8', '10.0.0.0/-1', '1.2.3.4/8/8'])(
    '%j is no network',
    (text) => {
      expect(parseNetworks(['::/0', text])).toEqual({ problem: text });
    },
  );

  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['fd00::/8', 'fd12::1', true],
    ['0.0.0.0/0', '10.1.2.3', true],
  ])('%s with %s: %s', (network, address, has) => {
    expect(allow(network).has(address)).toBe(has);
  });
});

describe('before git runs', () => {
  test.each([
    ['http://127.0.0.1:1/x', [], `the address 127.0.0.1 is a loopback address; ${hintFor('127.0.0.1')}`],
    ['https://[::1]/x', [], `the address ::1 is a loopback address; ${hintFor('::1')}`],
    [
      'https://[::ffff:169.254.169.254]/x',
      [],
      `the address ::ffff:169.254.169.254 is a metadata address; ${hintFor('::ffff:169.254.169.254')}`,
    ],
    ['https://git.corp/x', ['10.0.0.5'], `the address 10.0.0.5 of git.corp is a private address; ${hintFor('10.0.0.5')}`],
    ['https://2130706433/x', ['127.0.0.1'], `the address 127.0.0.1 of 2130706433 is a loopback address; ${hintFor('127.0.0.1')}`],
    [
      'https://both.example/x',
      [publicAddress, 'fe80::1%eth0'],
      `the address fe80::1 of both.example is a link-local address; ${hintFor('fe80::1')}`,
    ],
    [
      'ssh://git.corp:22/x',
      ['100.64.0.1'],
      `the address 100.64.0.1 of git.corp is a shared address of a provider (CGNAT); ${hintFor('100.64.0.1')}`,
    ],
    ['git@git.corp:x', ['192.168.0.1'], `the address 192.168.0.1 of git.corp is a private address; ${hintFor('192.168.0.1')}`],
    ['git://git.corp/x', ['224.0.0.1'], `the address 224.0.0.1 of git.corp is a multicast address; ${hintFor('224.0.0.1')}`],
    ['https://none.example/x', [], 'the host none.example cannot be resolved'],
  ])('%s with the addresses %j is refused', async (url, addresses, failure) => {
    const env = await installProgram(join(folder, 'never'), 'git', `touch '${folder}/ran'; exit 1`);
    const options = { env, allowedNetworks: allow(), resolve: () => Promise.resolve(addresses) };
    expect(failureOf(await read({ url }, options))).toBe(failure);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  test('a host that does not resolve in time is refused', async () => {
    const options = { limits: { timeoutMs: 50 }, resolve: () => new Promise<readonly string[]>(() => {}) };
    expect(failureOf(await read({ url: 'https://slow.example/x' }, options))).toBe('the host slow.example cannot be resolved');
  });
});

describe('the addresses that were checked are those that git connects to', () => {
  test('over http, also if the name changes its addresses', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const url = `${server.url.replace('127.0.0.1', 'git.example')}/ops.git`;
    const resolve: ResolveHost = () => Promise.resolve(answers.shift() ?? []);
    expect(await read({ url, ...login }, { resolve })).toMatchObject({ head: { commit } });
    expect(answers).toHaveLength(1);
  });

  test.each([
    ['ssh://git.example/x', 'HostName=8.8.4.4 -o HostKeyAlias=git.example git.example'],
    ['ssh://git.example:2222/x', 'HostName=8.8.4.4 -o HostKeyAlias=[git.example]:2222'],
    ['git@git.example:x', 'HostName=8.8.4.4 -o HostKeyAlias=git.example git@git.example'],
  ])('over ssh: %s', async (url, args) => {
    const log = join(folder, 'ssh-arguments');
    const env = await installProgram(join(folder, 'ssh-bin'), 'ssh', `echo "$@" > '${log}'; exit 255`);
    await read({ url }, { env });
    expect(readFileSync(log, 'utf8').replaceAll(/ -o SendEnv=\S+| -p \d+/g, '')).toContain(args);
  });

  test('over the git protocol', async () => {
    const log = join(folder, 'git-arguments');
    const env = await installProgram(join(folder, 'git-bin'), 'git', `echo "$@ $GIT_OVERRIDE_VIRTUAL_HOST" >> '${log}'; [ "$1" = init ]`);
    await read({ url: 'git://git.example:9419/x' }, { env });
    expect(readFileSync(log, 'utf8')).toContain('git://8.8.4.4:9419/x +HEAD:refs/heads/fetched git.example:9419');
  });
});

describe('a redirect', () => {
  const info = 'info/refs?service=git-upload-pack';

  test('on the same host is followed with the login', async () => {
    target = `/ops.git/${info}`;
    expect(await read({ url: `${server.url}/moved.git`, ...login })).toMatchObject({ head: { commit } });
  });

  test.each([
    [
      'a private address',
      `http://10.0.0.1/ops.git/${info}`,
      /^it redirects to http:\/\/10\.0\.0\.1: the address 10\.0\.0\.1 is a private address; .* --allow-private-repositories/,
    ],
    ['a metadata address', `http://169.254.169.254/latest/${info}`, /a metadata address/],
    ['an IPv4-mapped address', `http://[::ffff:10.0.0.1]/ops.git/${info}`, /a private address/],
    ['something else', 'http://127.0.0.1/latest/meta-data', /^it redirects to an address that is not of a repository$/],
    ['a file', `file:///etc/${info}`, /^it redirects: this server reads no repositories of its own disk$/],
    ['another protocol', `git://127.0.0.1/x/${info}`, /^it redirects from http to git$/],
    ['credentials', `http://a:b@127.0.0.1/x/${info}`, /^it redirects: the address contains credentials$/],
    ['itself', `/moved.git/${info}`, /^it redirects more than 5 times$/],
  ])('to %s is refused', async (_what, location, failure) => {
    target = location;
    expect(await readMoved()).toMatch(failure);
  });

  test('to a name is checked by the addresses of the name', async () => {
    target = `http://inner.example/x/${info}`;
    expect(await readMoved(resolvePrivately)).toContain(
      'it redirects to http://inner.example: the address 10.9.8.7 of inner.example is a private address',
    );
  });
});
