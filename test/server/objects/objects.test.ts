import { describe, expect, test } from 'vitest';
import { type JsonObject } from '../../../src/model/json.ts';
import { registry } from '../../../src/kinds/index.ts';
import { base64, connectionBody, databases, idOf } from '../client.ts';
import { useServer } from '../use-server.ts';

describe.each(databases)('objects on %s', (_name, start) => {
  let at = new Date('2026-01-01T00:00:00.000Z');
  const gateway = useServer(start, { now: () => at });
  const { call } = gateway;

  test('a connection with only required fields gets every other field', async () => {
    const { status, body, headers } = await call('POST', '/connections', { body: connectionBody('least', gateway.agent) });
    expect(status).toBe(201);
    expect(headers.get('Location')).toBe(`/connections/${idOf({ body })}`);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...connectionBody('least', gateway.agent),
      subtype: '',
      access_groups: [],
      access_max_duration: null,
      command: [],
      connection_tags: {},
      force_approve_groups: [],
      min_review_approvals: null,
      guardrail_rules: [],
      issuetracker_issue_template_id: '',
      redact_enabled: false,
      redact_types: [],
      resource_name: 'least',
      reviewers: [],
      secret: {},
      tags: [],
      default_database: '',
      status: 'offline',
      secrets_updated_at: null,
      managed_by: '',
      revision: 1,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
    });
  });

  const secret = { 'envvar:DB': base64('orders'), 'envvar:PASS': '_cloudsecrets:orders:pass', 'filesystem:CA': base64('ca') };
  const whole: JsonObject = {
    subtype: 'postgres',
    access_max_duration: 3600,
    connection_tags: { env: 'prod', __proto__x: '1' },
    force_approve_groups: ['sre'],
    issuetracker_issue_template_id: 'T1',
    redact_types: ['EMAIL_ADDRESS'],
    resource_name: 'orders',
    reviewers: ['b', 'a'],
    tags: ['old'],
    secret,
  };

  test('a list, a single read and the response to a write are equal, including secrets', async () => {
    const created = await call('POST', '/connections', { body: connectionBody('whole', gateway.agent, whole) });
    expect(created.body).toMatchObject({ ...whole, default_database: 'orders', redact_enabled: true });
    expect(created.body['command']).toContain('psql');
    const { list } = await call('GET', '/connections');
    expect(list.find(({ name }) => name === 'whole')).toEqual(created.body);
    expect((await call('GET', '/connections/whole')).body).toEqual(created.body);
    expect((await call('GET', `/connections/${idOf(created)}`)).body).toEqual(created.body);
  });

  test('a replace empties omitted fields, including secrets, and keeps id and creation time', async () => {
    const created = await call('POST', '/connections', { body: connectionBody('replaced', gateway.agent, whole) });
    at = new Date('2026-01-02T00:00:00.000Z');
    const replaced = await call('PUT', '/connections/replaced', { body: connectionBody('replaced', gateway.agent, { command: ['sh'] }) });
    expect(replaced.status).toBe(200);
    expect(replaced.body).toMatchObject({ id: idOf(created), secret: {}, reviewers: [], command: ['sh'], resource_name: 'replaced' });
    expect(replaced.body).toMatchObject({ created_at: created.body['created_at'], updated_at: at.toISOString(), default_database: '' });
    expect(replaced.body['secrets_updated_at']).toBe(at.toISOString());
  });

  test('a replace without secret changes keeps their time', async () => {
    const created = await call('POST', '/connections', { body: connectionBody('kept', gateway.agent, { secret }) });
    at = new Date('2026-01-03T00:00:00.000Z');
    const kept = { 'envvar:DB': null, 'envvar:PASS': '_cloudsecrets:orders:pass', 'filesystem:CA': null };
    const replaced = await call('PUT', '/connections/kept', { body: connectionBody('kept', gateway.agent, { secret: kept }) });
    expect(replaced.body).toMatchObject({ secret, secrets_updated_at: created.body['secrets_updated_at'], default_database: 'orders' });
    const unknown = await call('PUT', '/connections/kept', {
      body: connectionBody('kept', gateway.agent, { secret: { 'envvar:NONE': null } }),
    });
    expect(unknown).toMatchObject({ status: 422, body: { errors: [{ field: '/secret/envvar:NONE' }] } });
  });

  test('a secret may be as large as the body limit', async () => {
    const large = { 'filesystem:CA': Buffer.alloc(750_000, 1).toString('base64') };
    await call('POST', '/connections', { body: connectionBody('large', gateway.agent, { secret: large }) });
    expect((await call('GET', '/connections/large')).body['secret']).toEqual(large);
    const broken = { 'filesystem:CA': `${large['filesystem:CA']}*` };
    expect((await call('PUT', '/connections/large', { body: connectionBody('large', gateway.agent, { secret: broken }) })).status).toBe(
      422,
    );
    expect((await call('DELETE', '/connections/large')).status).toBe(204);
  });

  test('a command is derived from the subtype only when omitted', async () => {
    const given = await call('POST', '/connections', { body: connectionBody('own', gateway.agent, { subtype: 'mysql', command: ['my'] }) });
    expect(given.body['command']).toEqual(['my']);
    const empty = await call('PUT', '/connections/own', { body: connectionBody('own', gateway.agent, { subtype: 'mysql', command: [] }) });
    expect(empty.body['command']).toContain('-D$DB');
  });

  test('redact_enabled follows redact_types, whatever the body contains', async () => {
    const body = connectionBody('redacts', gateway.agent, { redact_enabled: true });
    expect((await call('POST', '/connections', { body })).body['redact_enabled']).toBe(false);
    const types = { ...body, redact_enabled: false, redact_types: ['URL'] };
    expect((await call('PUT', '/connections/redacts', { body: types })).body['redact_enabled']).toBe(true);
  });

  test('secrets of a runbook configuration: omitted ones are emptied, null keeps them', async () => {
    const body = { git_url: 'https://git.example.com/ops/runbooks.git', git_user: 'oauth2', git_password: 'p w', ssh_key: 'k' };
    const created = await call('POST', '/runbooks/configurations', { body });
    expect(created).toMatchObject({ status: 201, body: { ...body, ssh_keypass: '', git_hook_ttl: 0 } });
    expect(created.body['repository']).toBe('git.example.com/ops/runbooks');
    const path = `/runbooks/configurations/${idOf(created)}`;
    const changed = { git_url: 'git@git.example.com:ops/runbooks', git_password: null };
    const replaced = await call('PUT', path, { body: changed });
    expect(replaced).toMatchObject({ status: 200, body: { git_url: changed.git_url, git_password: 'p w', ssh_key: '', git_user: '' } });
    const moved = await call('PUT', path, { body: { git_url: 'https://git.example.com/ops/other' } });
    expect(moved).toMatchObject({ status: 422, body: { errors: [{ field: '/git_url' }] } });
    expect((await call('POST', '/runbooks/configurations', { body: { git_url: changed.git_url } })).status).toBe(409);
  });

  const served = [...registry.values()].filter(({ dialect }) => dialect === undefined);

  test.each(served.map(({ name }) => name))('every response for a %s can be sent back unchanged', async (kind) => {
    const samples: Readonly<Record<string, readonly [path: string, body: JsonObject]>> = {
      Connection: ['/connections', connectionBody('back', gateway.agent, whole)],
      DataMaskingRule: ['/datamasking-rules', { name: 'back', custom_entity_types: [{ name: 'E', regex: 'E-[0-9]+', score: 0.5 }] }],
      GuardrailRule: ['/guardrails', { name: 'back', input: { rules: [{ type: 'pattern_match', pattern_regex: 'x' }] } }],
      RunbookConfiguration: ['/runbooks/configurations', { git_url: 'https://back.example.com/r' }],
    };
    const [path = '', body = {}] = samples[kind] ?? [];
    const created = await call('POST', path, { body });
    const replaced = await call('PUT', `${path}/${idOf(created)}`, { body: created.body });
    expect(replaced.status).toBe(200);
    expect(replaced.headers.get('ETag')).toBe(`"${idOf(replaced)}.2"`);
    expect((await call('GET', path)).list).toContainEqual(replaced.body);
    expect(replaced.body).toEqual({ ...created.body, revision: 2, updated_at: replaced.body['updated_at'] });
  });
});
