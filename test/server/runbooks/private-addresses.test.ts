import { existsSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostProblem, parseNetwork } from '../../../src/server/rules/runbooks/host-problem.ts';
import { commitFiles, installProgram, startGitServer, type GitServer } from '../../support/git-repository.ts';
import { createTestReader, failureOf, makeFolder, publicAddress } from './test-reader.ts';

const folder = makeFolder();
const tempFolder = makeFolder();
const read = createTestReader(tempFolder);
const login = { user: 'reader', password: 'canary' };
let server: GitServer;

function redirect(response: ServerResponse): boolean {
  response.writeHead(302, { Location: '/ops.git/info/refs?service=git-upload-pack' }).end();
  return true;
}

beforeAll(async () => {
  await commitFiles(join(folder, 'ops.git'), { 'a.runbook.sh': 'echo a' });
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

test.each(['10.0.0.0/33', 'host', '', '::1/129', '10.0.0.0/', '/8', '10.0.0.0/-1', '1.2.3.4/8/8'])('%j is no network', (text) => {
  expect(parseNetwork(text)).toBeUndefined();
});

/** Checks a host that has this address. */
function check(address: string, ...networks: readonly string[]): Promise<string | undefined> {
  const allowed = networks.flatMap((text) => {
    const network = parseNetwork(text);
    return network === undefined ? [] : [network];
  });
  return hostProblem('https://git.example', { resolve: () => Promise.resolve([address]), allowed, signal: new AbortController().signal });
}

describe('the host of a repository', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::127.0.0.1', 'loopback'],
    ['::7f00:1', 'ipv4Compatible'],
    ['::a9fe:a9fe', 'ipv4Compatible'],
    ['::ffff:7f00:1', 'loopback'],
    ['169.254.169.254', 'linkLocal'],
    ['::ffff:a9fe:a9fe', 'linkLocal'],
    ['168.63.129.16', 'metadata'],
    ['::ffff:a83f:8110', 'metadata'],
    ['fe80::1%eth0', 'linkLocal'],
    ['64:ff9b::127.0.0.1', 'rfc6052'],
    ['2002:7f00:1::', '6to4'],
    ['172.31.255.255', 'private'],
    ['fd00:ec2::254', 'uniqueLocal'],
    ['100.100.100.200', 'carrierGradeNat'],
    ['224.0.0.1', 'multicast'],
    ['0.0.0.0', 'unspecified'],
    ['255.255.255.255', 'broadcast'],
  ])('with the address %s is refused: %s', async (address, kind) => {
    expect(await check(address)).toContain(`the address ${address} of git.example is not public (${kind}); start the server with`);
  });

  test.each(['8.8.8.8', '172.15.255.255', '100.128.0.1', '169.253.0.1', '2606:4700::6810:85e5', '::ffff:8.8.8.8'])(
    'with the public address %s is read',
    async (address) => {
      expect(await check(address)).toBeUndefined();
    },
  );

  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '192.168.0.1', false],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', '10.1.2.3', false],
  ])('in the allowed network %s with %s: %s', async (network, address, isRead) => {
    expect((await check(address, network)) === undefined).toBe(isRead);
  });
});

describe('before git runs', () => {
  test.each([
    ['http://127.0.0.1:1/x', [], 'the address 127.0.0.1 is not public (loopback)'],
    ['https://[::1]/x', [], 'the address ::1 is not public (loopback)'],
    ['https://[::ffff:169.254.169.254]/x', [], 'is not public (linkLocal)'],
    ['https://2130706433/x', [], 'the address 127.0.0.1 is not public (loopback)'],
    ['https://both.example/x', [publicAddress, 'fe80::1%eth0'], 'the address fe80::1%eth0 of both.example is not public (linkLocal)'],
    ['ssh://git.corp:22/x', ['100.64.0.1'], 'the address 100.64.0.1 of git.corp is not public (carrierGradeNat)'],
    ['git@git.corp:x', ['192.168.0.1'], 'the address 192.168.0.1 of git.corp is not public (private)'],
    ['git://git.corp/x', ['224.0.0.1'], 'the address 224.0.0.1 of git.corp is not public (multicast)'],
  ])('%s with the addresses %j is refused', async (url, addresses, failure) => {
    const env = await installProgram(join(folder, 'never'), 'git', `touch '${folder}/ran'; exit 1`);
    const options = { env, allowedNetworks: [], resolve: () => Promise.resolve(addresses) };
    expect(failureOf(await read({ url }, options))).toContain(failure);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

test('a redirect is not followed, and the reason says what to do', async () => {
  expect(failureOf(await read({ url: `${server.url}/moved.git`, ...login }))).toMatch(
    /returned error: 302; use the address that it redirects to$/,
  );
});
