import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRemoteReader } from '../../src/git/read-remote.ts';
import { selfSigned } from '../support/certificate.ts';
import { commitFiles, installProgram, startGitServer, type GitServer, type GitServerOptions } from '../support/git-repository.ts';
import { failureOf, makeFolder, noSecrets, createTestReader } from './test-reader.ts';

const folder = makeFolder();
const scratch = makeFolder();
const read = createTestReader(scratch);
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
  rmSync(scratch, { recursive: true });
});

async function serving(options: Partial<GitServerOptions>, act: (server: GitServer) => Promise<void>): Promise<void> {
  const server = await startGitServer({ root: folder, ...options });
  await act(server).finally(() => server.close());
}

describe('a repository on the disk', () => {
  test('is refused unless that is allowed', async () => {
    expect(failureOf(await read({ url: `file://${folder}/ops.git` }))).toBe('this server reads no repositories of its own disk');
  });

  test('is read at its head: plain files that are wanted, no links, no submodules', async () => {
    const options = { allowLocal: true, limits: { maxFileBytes: 1000 } } as const;
    expect(await read({ url: `file://${folder}/ops.git` }, options)).toEqual({
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

  test('without a commit, or that is none, is told', async () => {
    execFileSync('git', ['init', '--quiet', '--bare', join(folder, 'empty.git')]);
    expect(failureOf(await read({ url: `file://${folder}/empty.git` }, { allowLocal: true }))).toContain("couldn't find remote ref HEAD");
    expect(failureOf(await read({ url: `file://${folder}/none.git` }, { allowLocal: true }))).toContain('none.git');
  });

  test.each([
    ['files', { maxFiles: 3 }, 'it has 4 files to read, more than 3'],
    ['bytes to read', { maxTotalBytes: 1000 }, 'its files to read have 2022 bytes, more than 1000'],
  ])('with too many %s is not read', async (_what, limits, failure) => {
    expect(failureOf(await read({ url: `file://${folder}/ops.git` }, { allowLocal: true, limits }))).toBe(failure);
  });
});

describe('a repository over http', () => {
  test('is read without a login where none is needed', async () => {
    await serving({}, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git` })).toMatchObject({ head: { commit } });
    });
  });

  test('is read with the user and the password, which no command line shows', async () => {
    const log = join(folder, 'commands');
    const env = await installProgram(join(folder, 'logged'), 'git', `echo "$0 $@" >> '${log}'; exec '${realGit()}' "$@"`);
    await serving({ login }, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git`, ...login }, { env })).toMatchObject({ head: { commit } });
      expect(readFileSync(log, 'utf8')).toContain(url);
      expect(readFileSync(log, 'utf8')).not.toMatch(/canary|reader/);
    });
  });

  test.each([['a@b.c'], ["o'neil"], ['é %41']])('takes the user %j', async (user) => {
    await serving({ login: { ...login, user } }, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git`, ...login, user })).toMatchObject({ head: { commit } });
    });
  });

  test('sends oauth2 as the user where only a password is given', async () => {
    await serving({ login: { ...login, user: 'oauth2' } }, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git`, password: login.password })).toMatchObject({ head: { commit } });
    });
  });

  test.each([
    ['a wrong password', { user: 'reader', password: 'canary-wrong' }, /Authentication failed/],
    ['no password', {}, /could not read Username/],
  ])('is not read with %s', async (_what, given, failure) => {
    await serving({ login }, async ({ url }) => {
      const told = failureOf(await read({ url: `${url}/ops.git`, ...given }));
      expect(told).toMatch(failure);
      expect(told).not.toContain('canary');
    });
  });

  test('that does not answer is given up, and its connection closed', async () => {
    await serving({ intercept: () => true }, async ({ url, countConnections: open }) => {
      const started = performance.now();
      expect(failureOf(await read({ url: `${url}/ops.git` }, { limits: { timeoutMs: 500 } }))).toBe('no answer in time');
      expect(performance.now() - started).toBeLessThan(5000);
      await expect.poll(open).toBe(0);
    });
  });

  test('that is being read when the reader closes is given up', async () => {
    await serving({ intercept: () => true }, async ({ url, requests: asked, countConnections: open }) => {
      const reader = createRemoteReader({ env: { PATH: process.env['PATH'] }, tempFolder: scratch, isWanted: () => true });
      const reading = reader.read({ ...noSecrets, url: `${url}/ops.git` });
      await expect.poll(() => asked.length).toBe(1);
      await reader.close();
      expect(failureOf(await reading)).toBe('no answer in time');
      await expect.poll(open).toBe(0);
    });
  });

  test('that leads elsewhere does not take the password along', async () => {
    await serving({ login }, async (other) => {
      await serving(
        {
          intercept: (request, response) => {
            response.writeHead(302, { Location: `${other.url}${request.url}` }).end();
            return true;
          },
        },
        async ({ url }) => {
          expect(failureOf(await read({ url: `${url}/ops.git`, ...login }))).toMatch(/could not read Username/);
          expect(other.requests.length).toBeGreaterThan(0);
          expect(other.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
        },
      );
    });
  });

  test('that says the password aloud is not quoted with it', async () => {
    const instead: GitServerOptions['intercept'] = ({ headers }, response) => {
      if (headers.authorization === undefined) return false;
      const said = `you sent ${headers.authorization} \u001b[31m${login.password} ${encodeURIComponent(login.password)}`;
      response.writeHead(403, { 'Content-Type': 'text/plain' }).end(said);
      return true;
    };
    await serving({ login, intercept: instead }, async ({ url }) => {
      const told = failureOf(await read({ url: `${url}/ops.git`, ...login }));
      expect(told).toContain('you sent Basic ***');
      expect(told).not.toContain('canary');
      expect(told).not.toContain('\u001b');
    });
  });

  test('is trusted over TLS only if its certificate is', async () => {
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

  test('is read whatever the settings of the user and the machine say', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    execFileSync('git', ['config', '--file', join(home, '.gitconfig'), 'http.proxy', 'http://127.0.0.1:1']);
    const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig'), GIT_DIR: home, GIT_TRACE: '1' };
    await serving({}, async ({ url }) => {
      expect(await read({ url: `${url}/ops.git` }, { env })).toMatchObject({ head: { commit } });
    });
  });
});

test('nothing is left on the disk', () => {
  expect(readdirSync(scratch)).toEqual([]);
});

test('a machine without git says so', async () => {
  expect(failureOf(await read({ url: 'https://host/x' }, { env: { PATH: folder } }))).toMatch(/^git cannot be run: /);
});

function realGit(): string {
  return execFileSync('which', ['git']).toString().trim();
}
