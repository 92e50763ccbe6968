import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { mayRevealSecret } from '../../../src/gateway/http/reveal-secrets.ts';
import { createRemoteReader } from '../../../src/server/rules/runbooks/read-remote.ts';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { isRunbookPath, type RunbookSource } from '../../../src/server/rules/runbooks/runbook-library.ts';
import { commitFiles, startGitServer, type GitServer } from '../../support/git-repository.ts';
import { loopback } from './test-reader.ts';
import type { TestServer } from '../../support/servers.ts';
import { agentId, callerOf, connectionBody, createKey, databases, idOf, type CallServer } from '../client.ts';

const folder = mkdtempSync(join(tmpdir(), 'runbooks-'));
const login = { user: 'reader', password: 'canary-password' };
const templates = '/plugins/runbooks/templates';
const path = '/runbooks/configurations';
let commit = '';
let git: GitServer;

beforeAll(async () => {
  commit = await commitFiles(join(folder, 'ops.git'), {
    'bad.runbook.sh': 'echo {{ .name\n',
    'hello.runbook.sh': 'echo hello',
    'ops/count.runbook.sql': 'select count(*) from {{ .table }}',
    'large.runbook.sql': 'x'.repeat(1_000_001),
    'README.md': '{{',
  });
  await commitFiles(join(folder, 'other.git'), { 'z.runbook.py': '' }, 'Other\n');
  git = await startGitServer({ root: folder, login });
});
afterAll(async () => {
  await git.close();
  rmSync(folder, { recursive: true });
});

describe.each(databases)('runbooks on %s', (_name, start) => {
  let server: TestServer;
  let call: CallServer;
  let now = new Date('2026-11-20T12:00:00Z');
  const reader = createRemoteReader({
    env: { PATH: process.env['PATH'] },
    isWanted: isRunbookPath,
    mayRevealSecret,
    tempFolder: folder,
    allowedNetworks: loopback,
  });

  beforeAll(async () => {
    server = await start({ now: () => now, runbooks: reader });
    call = callerOf(server);
  });
  afterEach(async () => {
    for (const collection of [path, '/connections']) {
      for (const row of (await call('GET', collection)).list) await call('DELETE', `${collection}/${idOf({ body: row })}`);
    }
  });
  afterAll(() => server.close());

  async function configure(name: string, more: JsonObject = {}): Promise<string> {
    const body = { git_url: `${git.url}/${name}.git`, git_user: login.user, git_password: login.password, ...more };
    return idOf(await call('POST', path, { body }));
  }

  test('are listed with commit, author, message, parameters, connections and errors', async () => {
    await configure('ops');
    const agent = await agentId(call);
    for (const name of ['b', 'a'])
      await call('POST', '/connections', { body: connectionBody(name, agent, { access_mode_runbooks: 'enabled' }) });
    await call('POST', '/connections', { body: connectionBody('closed', agent) });
    const connections = ['a', 'b'];
    const items = [
      {
        name: 'bad.runbook.sh',
        metadata: {},
        connections,
        error: 'template parse error: template: :1: unclosed action, or unexpected "end" in it',
      },
      { name: 'hello.runbook.sh', metadata: {}, connections, error: null },
      { name: 'large.runbook.sql', metadata: {}, connections, error: 'max template size [1000 KB] reached' },
      { name: 'ops/count.runbook.sql', metadata: { table: { type: 'text', required: false, description: '' } }, connections, error: null },
    ];
    const listed = { commit, commit_author: 'A <a@example.com>', commit_message: 'First runbooks\n', items };
    const { status, body } = await call('GET', templates);
    expect({ status, body }).toEqual({
      status: 200,
      body: { ...listed, errors: [], repositories: [{ repository: '127.0.0.1/ops', ...listed }] },
    });
  });

  test('without a configuration the list is empty', async () => {
    expect((await call('GET', templates)).body).toEqual({
      errors: [],
      repositories: [],
      items: [],
      commit: '',
      commit_author: '',
      commit_message: '',
    });
  });

  test('of several repositories are listed together; unreadable ones are reported without secrets', async () => {
    await configure('other');
    await configure('ops');
    await configure('none');
    await call('POST', path, { body: { git_url: 'git@-host.example:x', ssh_key: 'canary-key' } });
    await call('POST', path, { body: { git_url: `${git.url}/locked.git`, git_user: 'x', git_password: 'canary-wrong' } });
    const { status, body } = await call('GET', templates);
    expect(status).toBe(200);
    expect(textsIn(body['items'], 'name')).toEqual([
      'bad.runbook.sh',
      'hello.runbook.sh',
      'large.runbook.sql',
      'ops/count.runbook.sql',
      'z.runbook.py',
    ]);
    expect(textsIn(body['repositories'], 'repository')).toEqual(['127.0.0.1/ops', '127.0.0.1/other']);
    expect(body['commit']).toBe(commit);
    const errors = Array.isArray(body['errors']) ? body['errors'] : [];
    expect(errors).toEqual([
      'failed listing runbooks for repo git@-host.example:x, err=a part of the address begins with "-"',
      expect.stringMatching(/\/locked\.git, err=.*Authentication failed/),
      expect.stringMatching(/\/none\.git, err=.*not found/),
    ]);
    expect(JSON.stringify(body)).not.toContain('canary');
    expect(server.log.join('\n')).not.toContain('canary');
  });

  test('are cached for git_hook_ttl seconds, or five minutes', async () => {
    const before = fetches();
    await configure('ops', { git_hook_ttl: 20 });
    await configure('other');
    const after = async (seconds: number): Promise<number> => {
      now = new Date(now.getTime() + seconds * 1000);
      await Promise.all([call('GET', templates), call('GET', templates)]);
      return fetches() - before;
    };
    const first = await after(0);
    expect(await after(19)).toBe(first);
    const again = await after(2);
    expect(again).toBeGreaterThan(first);
    now = new Date(now.getTime() - 2000);
    expect(await after(2)).toBe(again);
    expect(await after(280)).toBeGreaterThan(again);
  });

  test('are read again when their configuration changes, and removed with it', async () => {
    const id = await configure('ops', { git_hook_ttl: 10_000, git_password: 'canary-wrong' });
    expect((await call('GET', templates)).body).toMatchObject({ items: [], errors: [expect.stringContaining('Authentication failed')] });
    const [auditor, standard] = [await createKey(call, 'reads all', ['auditor']), await createKey(call, 'reads little', [])];
    for (const route of [templates, '/search?term=o']) {
      expect((await call('GET', route, { key: auditor })).body['errors']).toEqual([expect.stringContaining('Authentication failed')]);
      const reason = 'failed listing runbooks for repo';
      expect((await call('GET', route, { key: standard })).body['errors']).toEqual([
        expect.stringMatching(new RegExp(`^${reason} \\S+, err=the reason is visible to admins and auditors$`)),
      ]);
    }
    for (const name of ['reads all', 'reads little']) await call('DELETE', `/api-keys/${encodeURIComponent(name)}`);
    const body = { git_url: `${git.url}/ops.git`, git_user: login.user, git_password: login.password };
    await call('PUT', `${path}/${id}`, { body });
    expect(textsIn((await call('GET', templates)).body['items'], 'name')).toHaveLength(4);
    await call('DELETE', `${path}/${id}`);
    expect((await call('GET', templates)).body).toMatchObject({ items: [], errors: [] });
  });

  test('that cannot be read are not read again immediately', async () => {
    await configure('none');
    const before = fetches();
    await call('GET', templates);
    const first = fetches() - before;
    await call('GET', templates);
    expect(fetches() - before).toBe(first);
    now = new Date(now.getTime() + 11_000);
    await call('GET', templates);
    expect(fetches() - before).toBeGreaterThan(first);
  });
});

describe.each(databases.slice(0, 1))('slow repositories on %s', (_name, start) => {
  test('a listing omits them until they are read', async () => {
    const waiting: ((read: { readonly failure: string }) => void)[] = [];
    const read: RunbookSource['read'] = () => new Promise((resolve) => waiting.push(resolve));
    const server = await start({ runbooks: { read, timeoutMs: 50 } });
    const call = callerOf(server);
    await call('POST', path, { body: { git_url: 'https://git.example.com/slow' } });
    const errors = async (): Promise<Json | undefined> => (await call('GET', templates)).body['errors'];
    const line = 'failed listing runbooks for repo https://git.example.com/slow, err=';
    expect(await errors()).toEqual([`${line}it is still being read`]);
    for (const answer of waiting) answer({ failure: 'it is broken' });
    await expect.poll(errors).toEqual([`${line}it is broken`]);
    await server.close();
  });

  test.each([
    ['was started without git', undefined, 'this server was started without git'],
    ['has no disk left', { read: () => Promise.reject(new Error('ENOSPC')) }, 'the server could not read it; see its log'],
  ])('reports a source that %s', async (_what, runbooks, failure) => {
    const server = await start(runbooks === undefined ? {} : { runbooks });
    const call = callerOf(server);
    await call('POST', path, { body: { git_url: 'https://git.example.com/r' } });
    const { body } = await call('GET', templates);
    expect(body['errors']).toEqual([`failed listing runbooks for repo https://git.example.com/r, err=${failure}`]);
    await server.close();
  });
});

function textsIn(rows: Json | undefined, field: string): readonly Json[] {
  return Array.isArray(rows) ? rows.map((row: Readonly<Record<string, Json>>) => row[field] ?? null) : [];
}

/** The number of started fetches. */
function fetches(): number {
  return git.requests.filter(({ path: asked }) => asked.includes('/info/refs')).length;
}
