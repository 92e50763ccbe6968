import { describe, expect, it } from 'vitest';
import { json, text } from '../../support/flaky-server.ts';
import { agent, connectionId, entry, failure, kinds, open, ruleId, serve } from '../../support/typed-gateway.ts';

describe('opening', () => {
  it('requests the server info and identifies the gateway', async () => {
    const server = await serve({});
    const gateway = await open(`${server.url}/`);
    expect(await gateway.identify()).toEqual({
      url: server.url,
      dialect: 'interface',
      version: '1.2.3',
      organisation: 'acme',
      role: 'admin',
    });
    expect(server.seen).toHaveLength(1);
  });

  it('asks once for each list, also where the answer is null', async () => {
    const server = await serve({ 'GET /users/groups': json(200, null) });
    const { value } = await (await open(server.url)).readAll(kinds);
    expect(value?.groups).toBeUndefined();
    const paths = server.seen.map(({ path }) => path);
    expect(paths).toContain('/users/groups');
    expect(paths).toEqual([...new Set(paths)]);
  });

  it.each([
    ['its names', json(200, ['dba']), ['dba']],
    ['nothing, where there is none', json(404, {}), undefined],
    ['nothing, where the gateway has no users of its own', json(200, null), undefined],
    ['that it is not shown', json(403, {}), 'unreadable'],
    ['that it is not shown, where the answer is something else', json(200, { data: 1 }), 'unreadable'],
  ])('reads of the list of groups %s', async (_, answer, groups) => {
    const server = await serve({ 'GET /users/groups': answer });
    const { value } = await (await open(server.url)).readAll(kinds);
    expect(value?.groups).toEqual(groups);
  });

  it.each([
    ['the server info of hoop', { version: '1.148.0', license_info: {}, grpc_url: '' }, [], 'nginx', 'hoop'],
    ['the name of ostiary serve', { name: 'ostiary' }, [], 'hoopgateway', 'interface'],
    ['a role in the server info', { role: 'admin' }, [{ jira_issue_template_id: '' }], 'cloudflare', 'interface'],
    ['a connection of hoop', { version: '1' }, [{ jira_issue_template_id: '' }], 'nginx', 'hoop'],
    ['a connection of the interface', { version: '1' }, [{ issuetracker_issue_template_id: '' }], 'nginx', 'interface'],
    ['a connection, whatever the header says', {}, [{ jira_issue_template_id: '' }], 'ostiary/1', 'hoop'],
    [
      'a connection, where the server info has fields of both',
      { role: 'admin', license_info: {} },
      [{ jira_issue_template_id: '' }],
      'x',
      'hoop',
    ],
    ['the header, where the server info has fields of both', { role: 'admin', license_info: {} }, [], 'hoopgateway', 'hoop'],
    ['a server info that is a list', [], { pages: { page: 1, size: 1, total: 0 }, data: null }, 'cloudflare', 'interface'],
    ['nothing', {}, [], 'nginx', 'interface'],
  ])('detects the dialect by %s', async (_, info, rows, header, dialect) => {
    const replies = { 'GET /serverinfo': json(200, info), 'GET /userinfo': json(200, { role: 'admin' }) };
    const { url } = await serve({ ...replies, 'GET /connections?page=1&page_size=1': json(200, rows) }, header);
    expect((await (await open(url)).identify()).dialect).toBe(dialect);
  });

  it.each([
    [404, []],
    [405, { data: [], pages: { page: 1, size: 1, total: 0 } }],
    [501, { data: null, pages: { page: 1, size: 1, total: 0 } }],
  ])('takes a gateway without server info (%d) that lists connections to be one of the interface', async (status, rows) => {
    const { url } = await serve({ 'GET /serverinfo': text(status, ''), 'GET /connections?page=1&page_size=1': json(200, rows) }, 'nginx');
    expect((await (await open(url)).identify()).dialect).toBe('interface');
  });

  it.each([
    ['an unfamiliar server info and no connections', json(200, { version: '1' }), json(200, [])],
    ['an empty server info and an answer that is no list', json(200, {}), json(200, { ok: true })],
    ['no server info and an answer that is no list', text(404, ''), json(200, { ok: true })],
    ['a role that reads neither', text(403, ''), json(403, {})],
    ['fields of both', json(200, {}), json(200, [{ jira_issue_template_id: '', issuetracker_issue_template_id: '' }])],
  ])('names the setting where a gateway shows no dialect: %s', async (_, info, rows) => {
    const { url } = await serve({ 'GET /serverinfo': info, 'GET /connections?page=1&page_size=1': rows }, 'cloudflare');
    const error = await failure(open(url));
    expect([error.code, error.exitCode]).toEqual(['api/unknown-dialect', 4]);
    expect(error.hint).toContain('set dialect: interface or hoop in the config');
    expect((await (await open(url, { dialect: 'interface' })).identify()).dialect).toBe('interface');
  });

  it('reports a refused token, not the dialect', async () => {
    const refused = json(401, {});
    const { url } = await serve({
      'GET /serverinfo': text(404, ''),
      'GET /connections?page=1&page_size=1': refused,
      'GET /connections': refused,
    });
    expect((await failure((await open(url)).readAll(kinds))).code).toBe('api/unauthorized');
  });

  it('sends the key in the chosen header', async () => {
    const server = await serve({});
    await (await open(server.url, { auth: 'api-key' })).identify();
    expect(server.seen.at(-1)?.headers).toMatchObject({ 'api-key': 'canary-token-123' });
    expect(server.seen.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  it('reports a token that the gateway does not accept', async () => {
    const server = await serve({ 'GET /serverinfo': json(401, { message: 'unknown key' }) });
    const gateway = await open(server.url);
    expect((await failure(gateway.identify())).code).toBe('api/unauthorized');
  });

  it.each(['ftp://host', 'nonsense', 'https://user:canary@host', 'https://host/?token=canary', 'https://host/#canary'])(
    'refuses the url %s without repeating it',
    async (url) => {
      const error = await failure(open(url));
      expect([error.code, error.exitCode]).toEqual(['api/bad-url', 3]);
    },
  );
});

describe('reading all', () => {
  it('replaces ids by known names and keeps the other ids', async () => {
    const { url } = await serve({});
    const { value, diagnostics } = await (await open(url)).readAll(kinds);
    expect(diagnostics).toEqual([]);
    expect(value?.lookups).toEqual({ Agent: [{ uid: agent.id, name: 'prod' }] });
    const connection = value?.resources.find(({ id }) => id === 'Connection/orders');
    expect(connection).toMatchObject({
      uid: connectionId,
      unknown: [],
      spec: { agent_id: 'prod', reviewers: ['a', 'b'], access_max_duration: null, redact_types: [] },
      secrets: { '/secret/envvar:PASS': { state: 'value', source: 'live' } },
      edges: { guardrail_rules: ['GuardrailRule/44444444-4444-4444-8444-444444444444', 'GuardrailRule/no-drop'] },
    });
    expect(connection).not.toHaveProperty('managedBy');
    expect(connection).not.toHaveProperty('version');
    expect(Object.keys(connection?.spec ?? {})).not.toContain('vendor_extension');
    expect(value?.resources.find(({ id }) => id === 'GuardrailRule/no-drop')?.edges).toEqual({ connection_ids: ['Connection/orders'] });
  });

  it('keeps secrets out of everything that can be printed', async () => {
    const { url } = await serve({});
    const { value } = await (await open(url)).readAll(kinds);
    expect(JSON.stringify(value)).not.toMatch(/canary|Y2FuYXJ5/);
  });

  it('marks hidden values', async () => {
    const { url } = await serve({
      'GET /connections': json(200, [{ ...entry, secret: { 'envvar:PASS': null } }]),
      'GET /runbooks/configurations': json(200, [{ id: ruleId, git_url: 'https://git.test/a/b.git', git_password: null, ssh_key: '' }]),
    });
    const { value } = await (await open(url)).readAll(kinds);
    const [connection, , runbook] = value?.resources ?? [];
    expect(connection).toMatchObject({ unknown: ['/secret/envvar:PASS'], secrets: { '/secret/envvar:PASS': { state: 'hidden' } } });
    expect(runbook?.id).toBe('RunbookConfiguration/git.test/a/b');
    expect(runbook?.unknown).toEqual(['/git_password', '/ssh_keypass']);
    expect(runbook?.secrets).toEqual({ '/git_password': { state: 'hidden', source: 'live' } });
  });

  it('keeps the ids of agents if the gateway cannot list them or has two with one name', async () => {
    const without = await (await open((await serve({ 'GET /agents': text(404, '') })).url)).readAll(kinds);
    expect(without.value?.lookups).toEqual({});
    expect(without.value?.resources[0]?.spec['agent_id']).toBe(agent.id);
    const twins = [agent, { ...agent, id: ruleId }];
    const double = await (await open((await serve({ 'GET /agents': json(200, twins) })).url)).readAll(kinds);
    expect(double.value?.lookups['Agent']).toHaveLength(2);
    expect(double.value?.resources[0]?.spec['agent_id']).toBe(agent.id);
  });

  it('concludes nothing from the lists of a standard key', async () => {
    const { url } = await serve({ 'GET /serverinfo': json(200, { role: 'standard' }) });
    const { value, diagnostics } = await (await open(url)).readAll(kinds);
    expect(value).toBeUndefined();
    expect(diagnostics.map(({ code }) => code)).toEqual(['api/list-not-whole']);
  });
});
