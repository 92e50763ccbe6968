import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { createKey } from '../../server/client.ts';
import { config, connection, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway({ agents: ['default', 'other'] });
const project = useProjects();

const own = { type: 'custom', subtype: '', resource_name: 'shared-db', reviewers: ['dba'], command: ['bash'] };

function member(spec: JsonObject = {}, name = 'inherits'): Readonly<Record<string, string>> {
  return { [`access/${name}.yaml`]: connection(name, { ...own, ...spec }) };
}

const keys: Record<string, string> = {};

beforeAll(async () => {
  const folder = project({ 'ostiary.yaml': config(gateway.url()), ...member() });
  await gateway.run('apply --yes --quiet', folder);
  const { body } = await gateway.call('GET', '/resources/shared-db');
  const resource = { name: 'shared-db', type: body['type'] ?? '', subtype: body['subtype'] ?? '', agent_id: body['agent_id'] ?? '' };
  const env = { 'envvar:HOST': 'aA==', 'envvar:PASS': 'cA==' };
  await gateway.call('PUT', '/resources/shared-db', { body: { ...resource, env_vars: env } });
  keys['auditor'] = await createKey(gateway.call, 'looks', ['auditor']);
  keys['admin'] = await createKey(gateway.call, 'owns', ['admin']);
});

const rows: readonly (readonly [what: string, spec: JsonObject, name: string, headline: string])[] = [
  ...['HOST', 'PORT', 'REMOTE_URL'].map(
    (key) =>
      [
        `an own ${key}`,
        { secret: { [`envvar:${key}`]: { value: 'evil.example.com' } } },
        'inherits',
        '1 connection sends a kept credential to another endpoint',
      ] as const,
  ),
  ['another agent', { agent_id: 'other' }, 'inherits', '1 connection sends a kept credential to another agent'],
  ['another command', { command: ['sh', '-c', 'env'] }, 'inherits', '1 connection passes a kept credential to another command or type'],
  ['a new connection', {}, 'joins', '1 connection joins another resource, whose secrets the sessions inherit'],
];

test.each(rows.flatMap((row) => [['admin', ...row] as const, ['auditor', ...row] as const]))(
  'the key of an %s shows an inherited password that is sent elsewhere: %s',
  async (role, _, spec, name, headline) => {
    const folder = project({ 'ostiary.yaml': config(gateway.url()), ...member(), ...member(spec, name) });
    const plan = await gateway.run('plan --max-risk neutral', folder, { OSTIARY_TOKEN: keys[role] ?? '' });
    expect(plan).toMatchObject({ code: 6, stdout: expect.stringContaining(headline) });
    expect(plan.stdout).toContain('risk: reroutes (');
  },
);

test('an own password hides the inherited one, and its removal uses it', async () => {
  const password = member({ secret: { 'envvar:PASS': { value: 'own' } } }, 'hides');
  const folder = project({ 'ostiary.yaml': config(gateway.url()), ...password });
  expect(await gateway.run('plan --max-risk neutral', folder)).toMatchObject({ code: 6 });
  expect(await gateway.run('apply --yes --quiet', folder)).toMatchObject({ code: 0 });
  const moved = member({ secret: { 'envvar:PASS': { value: 'new' } }, agent_id: 'other' }, 'hides');
  expect(await gateway.run('plan --max-risk neutral', project({ 'ostiary.yaml': config(gateway.url()), ...moved }))).toMatchObject({
    code: 0,
  });
  const removed = project({ 'ostiary.yaml': config(gateway.url()), ...member({ secret: {} }, 'hides') });
  const plan = await gateway.run('plan --max-risk neutral', removed);
  expect(plan).toMatchObject({
    code: 6,
    stdout: expect.stringContaining('1 connection uses a credential of the resource instead of an own one'),
  });
});
