import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mayRevealSecret } from '../../../src/gateway/http/reveal-secrets.ts';
import { createRemoteReader, type RemoteOptions, type RemoteRead } from '../../../src/server/rules/runbooks/read-remote.ts';
import { selfSigned } from '../../support/certificate.ts';
import { commitFiles, installProgram, startGitServer, type GitServer, type GitServerOptions } from '../../support/git-repository.ts';
import { failureOf, loopback, makeFolder, noSecrets, createTestReader } from './test-reader.ts';

const folder = makeFolder();
const tempFolder = makeFolder();
const read = createTestReader(tempFolder);
const login = { user: 'reader', password: 'canary p@ss/w%rd' };
let commit = '';

beforeAll(async () => {
  commit = await commitFiles(join(folder, 'ops.git'), {
    'README.md': 'no runbook',
    'b.runbook.sh': 'echo b',
    'a/ä.runbook.sql': 'select 1',
    'link.runbook.sh': { mode: '120000', content: '/etc/passwd' },
    'run.runbook.sh': { mode: '100755', content: 'echo run' },
    'large.runbook.sh': 'x'.repeat(2000),
    module: { mode: '160000', content: '1'.repeat(40) },
  });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(tempFolder, { recursive: true });
});

async function serving(options: Partial<GitServerOptions>, act: (server: GitServer) => Promise<void>): Promise<void> {
  const server = await startGitServer({ root: folder, ...options });
  await act(server).finally(() => server.close());
}

async function readServed(name: string, limits: RemoteOptions['limits'] = {}): Promise<RemoteRead> {
  const server = await startGitServer({ root: folder });
  return read({ url: `${server.url}/${name}.git` }, { limits }).finally(() => server.close());
}

describe('a repository', () => {
  test('is read at its head: selected plain files, no links, no submodules', async () => {
    expect(await readServed('ops', { maxFileBytes: 1000 })).toEqual({
      head: {
        commit,
        author: 'A <a@example.com>',
        message: 'First runbooks\n',
        files: [
          { path: 'a/ä.runbook.sql', content: 'select 1' },
          { path: 'b.runbook.sh', content: 'echo b' },
          { path: 'large.runbook.sh' },
          { path: 'run.runbook.sh', content: 'echo run' },
        ],
      },
    });
  });

  test('without a commit, or that does not exist, is reported', async () => {
    execFileSync('git', ['init', '--quiet', '--bare', join(folder, 'empty.git')]);
    expect(failureOf(await readServed('empty'))).toContain("couldn't find remote ref HEAD");
    expect(failureOf(await readServed('none'))).toContain('none.git');
  });

  test.each([
    ['files', { maxFiles: 3 }, 'it has 4 files to read, more than 3'],
    ['bytes to read', { maxTotalBytes: 1000 }, 'its files to read have 2022 bytes, more than 1000'],
  ])('with too many %s is not read', async (_, limits, failure) => {
    expect(failureOf(await readServed('ops', limits))).toBe(failure);
  });
});

describe('a repository over http', () => {
  test('is read without a login if none is required', async () => {
    await serving({}, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git` })).toMatchObject({ head: { commit } });
    });
  });

  test('is read with the user and the password, which appear in no command line', async () => {
    const log = join(folder, 'commands');
    const env = await installProgram(join(folder, 'logged'), 'git', `echo "$0 $@" >> '${log}'; exec '${realGit()}' "$@"`);
    await serving({ login }, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git`, ...login }, { env })).toMatchObject({ head: { commit } });
      expect(readFileSync(log, 'utf8')).toContain(url);
      expect(readFileSync(log, 'utf8')).not.toMatch(/canary|reader/);
    });
  });

  test.each([['a@b.c'], ["o'neil"], ['é %41']])('accepts the user %j', async (user) => {
    await serving({ login: { ...login, user } }, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git`, ...login, user })).toMatchObject({ head: { commit } });
    });
  });

  test('sends oauth2 as the user if only a password is given', async () => {
    await serving({ login: { ...login, user: 'oauth2' } }, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git`, password: login.password })).toMatchObject({ head: { commit } });
    });
  });

  test.each([
    ['a wrong password', { user: 'reader', password: 'canary-wrong' }, /Authentication failed/],
    ['no password', {}, /could not read Username/],
  ])('is not read with %s', async (_, given, failure) => {
    await serving({ login }, async ({ url }) => {
      const failureText = failureOf(await read({ url: `${url}/ops.git`, ...given }));
      expect(failureText).toMatch(failure);
      expect(failureText).not.toContain('canary');
    });
  });

  test('that does not respond times out, and its connection is closed', async () => {
    await serving({ intercept: () => true }, async ({ url, countConnections }) => {
      expect(failureOf(await read({ url: `${url}/ops.git` }, { limits: { timeoutMs: 500 } }))).toBe('no answer in time');
      await expect.poll(countConnections).toBe(0);
    });
  });

  test('is no longer read when the reader closes', async () => {
    await serving({ intercept: () => true }, async ({ url, requests, countConnections }) => {
      const reader = createRemoteReader({
        env: { PATH: process.env['PATH'] },
        tempFolder,
        isWanted: () => true,
        mayRevealSecret,
        allowedNetworks: loopback,
      });
      const reading = reader.read({ ...noSecrets, url: `${url}/ops.git` });
      await expect.poll(() => requests.length).toBe(1);
      await reader.close();
      expect(failureOf(await reading)).toBe('no answer in time');
      await expect.poll(countConnections).toBe(0);
    });
  });

  test('that redirects to another host does not ask that host', async () => {
    await serving({ login }, async (other) => {
      await serving(
        {
          intercept: (request, response) => {
            response.writeHead(302, { Location: `${other.url}${request.url}` }).end();
            return true;
          },
        },
        async ({ url }) => {
          expect(failureOf(await read({ url: `${url}/ops.git`, ...login }))).toMatch(/use the address that it redirects to$/);
          expect(other.requests).toEqual([]);
        },
      );
    });
  });

  test('that returns the password is quoted without it', async () => {
    const instead: GitServerOptions['intercept'] = ({ headers }, response) => {
      if (headers.authorization === undefined) return false;
      const text = `you sent ${headers.authorization} \u001b[31m${login.password} ${encodeURIComponent(login.password)}`;
      response.writeHead(403, { 'Content-Type': 'text/plain' }).end(text);
      return true;
    };
    await serving({ login, intercept: instead }, async ({ url }) => {
      const failureText = failureOf(await read({ url: `${url}/ops.git`, ...login }));
      expect(failureText).toContain('you sent Basic ***');
      expect(failureText).not.toContain('canary');
      expect(failureText).not.toContain('\u001b');
    });
  });

  test.each<[string, (password: string) => string]>([
    ['hexadecimal', (password) => Buffer.from(password).toString('hex')],
    ['HTML entities', (password) => password.replaceAll(/./gsu, (one) => `&#${one.codePointAt(0)};`)],
    ['base64 without the user', (password) => Buffer.from(password).toString('base64url')],
    ['a part', (password) => `it begins with ${password.slice(0, 8)}`],
  ])('that returns the password as %s is not quoted', async (_, encode) => {
    const instead: GitServerOptions['intercept'] = ({ headers }, response) => {
      if (headers.authorization === undefined) return false;
      response.writeHead(403, { 'Content-Type': 'text/plain' }).end(`you sent ${encode(login.password)}`);
      return true;
    };
    await serving({ login, intercept: instead }, async ({ url }) => {
      expect(failureOf(await read({ url: `${url}/ops.git`, ...login }))).toBe('the reason is not shown because it may contain a secret');
    });
  });

  test('never sends its password to a proxy that has a user', async () => {
    const sent: (string | undefined)[] = [];
    const proxy: GitServerOptions['intercept'] = ({ headers }, response) => {
      sent.push(headers['proxy-authorization']);
      response.writeHead(407, { 'Proxy-Authenticate': 'Basic realm="proxy"' }).end();
      return true;
    };
    await serving({ intercept: proxy }, async ({ url }) => {
      const env = { PATH: process.env['PATH'], http_proxy: url.replace('://', '://proxy-user@') };
      expect(failureOf(await read({ url: 'http://git.example.com/ops.git', ...login }, { env }))).toMatch(/could not read Password/);
      expect(sent).toEqual([]);
    });
  });

  test('is trusted over TLS only if its certificate is trusted', async () => {
    const tls = selfSigned(new Date());
    const { PATH } = process.env;
    const authority = join(folder, 'authority.pem');
    execFileSync('tee', [authority], { input: tls.cert });
    await serving({ tls, login }, async ({ url }) => {
      expect(failureOf(await read({ url: `${url}/ops.git`, ...login }))).toMatch(/certificate/);
      expect(await read({ url: `${url}/ops.git`, ...login }, { env: { PATH, GIT_SSL_CAINFO: authority } })).toMatchObject({
        head: { commit },
      });
    });
  });

  test('is read independently of the settings of the user and the machine', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    execFileSync('git', ['config', '--file', join(home, '.gitconfig'), 'http.proxy', 'http://127.0.0.1:1']);
    const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig'), GIT_DIR: home, GIT_TRACE: '1' };
    await serving({}, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git` }, { env })).toMatchObject({ head: { commit } });
    });
  });
});

test('no temporary files remain', () => {
  expect(readdirSync(tempFolder)).toEqual([]);
});

test('a missing git is reported', async () => {
  expect(failureOf(await read({ url: 'https://host/x' }, { env: { PATH: folder } }))).toMatch(/^git cannot be run: /);
});

function realGit(): string {
  return execFileSync('which', ['git']).toString().trim();
}
