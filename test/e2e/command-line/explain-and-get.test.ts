import { beforeAll, describe, expect, test } from 'vitest';
import { agentId, base64, connectionBody, idOf } from '../../server/client.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail, manifest, useProjects } from '../project.ts';

const gateway = useGateway();
const makeProject = useProjects();
let cwd: string;

beforeAll(async () => {
  cwd = makeProject({
    'ostiary.yaml': config(gateway.url()),
    'access/orders.yaml': connection(
      'orders',
      {
        reviewers: ['dba'],
        connection_tags: { env: 'prod' },
        guardrail_rules: ['no-drop'],
        secret: { 'envvar:HOST': { value: '10.0.0.5' }, 'envvar:USER': { value: 'orders' } },
      },
      { ignore: ['/access_max_duration'] },
    ),
    'access/rule.yaml': guardrail('no-drop'),
    'access/mask.yaml': manifest('DataMaskingRule', 'mask', { connection_ids: ['orders'] }),
    'access/books.yaml': manifest('RunbookConfiguration', 'books', { git_url: 'https://git.example.com/books.git', git_hook_ttl: 60 }),
  });
  const { code, stderr } = await gateway.run('apply --yes', cwd);
  if (code !== 0) throw new Error(stderr);
  const { call } = gateway;
  // A user changes fields and a secret by hand, and attaches another rule.
  const { body: live } = await call('GET', '/connections/orders');
  const secret = { 'envvar:HOST': base64('10.0.0.5'), 'envvar:USER': base64('canary-user') };
  await call('PUT', '/connections/orders', {
    body: { ...live, reviewers: ['unknown'], access_max_duration: 60, resource_name: 'shop', secret },
  });
  const theirs = await call('POST', '/connections', { body: connectionBody('theirs', await agentId(call)) });
  await call('POST', '/guardrails', { body: { name: 'foreign-rule', connection_ids: [idOf({ body: live }), idOf(theirs)] } });
  const managed = connectionBody('managed', await agentId(call), { reviewers: ['platform'] });
  await call('POST', '/connections', { body: managed, key: gateway.server().managerKey });
});

/** What explain says of one field: the columns of its row, then the lines below. */
async function row(field: string, resource = 'Connection/orders'): Promise<string> {
  const { code, stdout, stderr } = await gateway.run(`explain ${resource} ${field}`, cwd);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .slice(stdout.indexOf('STATUS') + 7)
    .replaceAll(/ {2,}/g, '  ')
    .trimEnd();
}

describe('explain', () => {
  test.concurrent('shows the sources of secrets, never their values', async () => {
    const text = await row('secret');
    expect(text).toMatch(
      /^secret\.envvar:HOST {2}\(secret inline\) {2}\(secret live\) {2}secret\n {2}access\/orders\.yaml:\d+ {2}the values are equal\n/,
    );
    expect(text).toMatch(
      /secret\.envvar:USER {2}\(secret inline\) {2}\(secret live\) {2}differs\n {2}access\/orders\.yaml:\d+ {2}the values differ$/,
    );
  });

  test.concurrent('prints JSON without secrets', async () => {
    const { stdout } = await gateway.run('explain Connection/orders --format json', cwd);
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'Connection/orders',
      at: { file: 'access/orders.yaml', line: 1, column: 1 },
      summary: 'apply updates it: differs',
      rows: expect.arrayContaining([
        expect.objectContaining({ path: '/guardrail_rules/foreign-rule', status: 'foreign' }),
        expect.objectContaining({ path: '/reviewers', desired: { value: ['dba'] }, live: { value: ['unknown'] }, status: 'differs' }),
      ]),
      rules: [
        { rule: 'DataMaskingRule/mask', after: { by: [{ how: 'direct' }] } },
        { rule: 'GuardrailRule/foreign-rule', before: { by: [{ how: 'edge' }] }, after: { by: [{ how: 'edge' }] } },
        {
          rule: 'GuardrailRule/no-drop',
          after: { by: [{ how: 'direct', place: expect.stringMatching(/^access\/orders\.yaml:\d+:\d+$/) }] },
        },
      ],
    });
    expect(stdout).not.toMatch(new RegExp(['10.0.0.5', 'canary-user', base64('10.0.0.5'), base64('canary-user')].join('|')));
  });

  test.concurrent.each([
    ['Connection/ordres', 'Connection/ordres exists neither in the manifests nor on the gateway', 'did you mean "Connection/orders"?'],
    ['GuardrailRule/forein-rule', 'GuardrailRule/forein-rule exists neither', 'did you mean "GuardrailRule/foreign-rule"?'],
  ])('rejects %s', async (resource, message, hint) => {
    const { code, stdout, stderr } = await gateway.run(`explain ${resource}`, cwd);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`error cli/usage  ${message}`);
    expect(stderr).toContain(`\n  hint: ${hint}\n`);
  });
});

/** A table as cells. */
async function table(what: string): Promise<readonly (readonly string[])[]> {
  const { code, stdout, stderr } = await gateway.run(`get ${what}`, cwd);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [header = '', ...lines] = stdout.trimEnd().split('\n');
  const starts = [...header.matchAll(/\S+(?: \S+)*/g)].map(({ index }) => index);
  return [header, ...lines].map((line) => starts.map((start, column) => line.slice(start, starts[column + 1]).trimEnd()));
}

describe('get', () => {
  test.concurrent('lists connections', async () => {
    expect(await table('connections')).toEqual([
      ['NAME', 'TYPE', 'AGENT', 'OPEN FOR', 'REVIEWERS', 'GUARDRAILS', 'MANAGED BY'],
      ['managed', 'database', 'default', 'connect exec', 'platform', '', 'platform'],
      ['orders', 'database/postgres', 'default', 'connect exec', 'unknown', 'foreign-rule no-drop', ''],
      ['theirs', 'database', 'default', 'connect exec', '', 'foreign-rule', ''],
    ]);
  });

  test.concurrent('the singular lists what the plural lists, and a name selects one', async () => {
    for (const asked of ['connection orders', 'connections orders'])
      expect((await table(asked)).slice(1)).toEqual([
        ['orders', 'database/postgres', 'default', 'connect exec', 'unknown', 'foreign-rule no-drop', ''],
      ]);
    expect(await table('rule')).toEqual(await table('rules'));
  });

  test.concurrent('prints JSON with only the keys of secrets', async () => {
    const { stdout } = await gateway.run('get connections --format json', cwd);
    const [, orders] = JSON.parse(stdout);
    expect(orders).toMatchObject({
      kind: 'Connection',
      name: 'orders',
      spec: { reviewers: ['unknown'], guardrail_rules: ['foreign-rule', 'no-drop'] },
      secrets: ['/secret/envvar:HOST', '/secret/envvar:USER'],
    });
  });
});
