import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callerOf } from '../../server/client.ts';
import { startOstiary } from '../../support/cli.ts';
import { commitFiles, startGitServer, type GitServer } from '../../support/git-repository.ts';
import { makeFolder } from '../../support/servers.ts';

const folder = mkdtempSync(join(tmpdir(), 'ostiary-runbooks-'));
const templates = '/plugins/runbooks/templates';
let git: GitServer;

beforeAll(async () => {
  await commitFiles(join(folder, 'ops.git'), { 'hello.runbook.sh': 'echo {{ .name | required "who?" }}' });
  const login = { user: 'reader', password: 'canary-password' };
  git = await startGitServer({ root: folder, login, intercept: ({ url }) => url?.startsWith('/hanging.git') === true });
});
afterAll(async () => {
  await git.close();
  rmSync(folder, { recursive: true });
});

test('ostiary serve lists runbooks, and stops at once while a repository does not answer', async () => {
  const database = await makeFolder(join(folder, 'db'));
  const env = { OSTIARY_SERVE_KEY: 'key', OSTIARY_SERVE_ENCRYPTION_KEY: '07'.repeat(32), HOME: folder };
  const running = await startOstiary(['serve', '--port', '0', '--database', database, '--allow-private-repositories', '127.0.0.1'], {
    cwd: folder,
    env,
  });
  const address = (): string => /serves on (\S+)/.exec(running.printed().stderr + running.printed().stdout)?.[1] ?? '';
  await expect.poll(address).not.toBe('');
  const call = callerOf({ url: address(), key: 'key' });
  const configuration = { git_user: 'reader', git_password: 'canary-password' };
  await call('POST', '/runbooks/configurations', { body: { ...configuration, git_url: `${git.url}/ops.git` } });
  const { body } = await call('GET', templates);
  expect(body['items']).toEqual([
    { name: 'hello.runbook.sh', metadata: { name: { type: 'text', required: true, description: '' } }, connections: [], error: null },
  ]);

  const other = `${git.url.replace('127.0.0.1', '127.0.0.2')}/ops.git`;
  await call('POST', '/runbooks/configurations', { body: { ...configuration, git_url: other } });
  expect((await call('GET', templates)).body['errors']).toEqual([
    `failed listing runbooks for repo ${other}, err=the address 127.0.0.2 is not public (loopback); start the server with --allow-private-repositories 127.0.0.2 to read repositories there`,
  ]);
  await call('POST', '/runbooks/configurations', { body: { ...configuration, git_url: `${git.url}/hanging.git` } });
  const hanging = call('GET', templates);
  await expect.poll(() => git.requests.some(({ path }) => path.includes('/hanging.git'))).toBe(true);
  running.child.kill('SIGTERM');
  // It is answered instead of cut off, so the stop did not wait for the repository.
  expect((await hanging).status).toBe(200);
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  expect(ended.stdout + ended.stderr).not.toContain('canary');
  await expect.poll(git.countConnections).toBe(0);
});
