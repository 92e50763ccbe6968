import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ostiary, startOstiary } from '../../support/cli.ts';
import { makeFolder } from '../../support/servers.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { agentId, callerOf, connectionBody, createKey } from '../../server/client.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const intruder: { change?: JsonObject | undefined } = {};
const gateway = useGateway({
  /** Changes an object between the read and the write of an apply. */
  chaos({ method, path }) {
    const { change } = intruder;
    if (change === undefined || method !== 'PUT' || !path.startsWith('/connections/')) return undefined;
    intruder.change = undefined;
    return { until: gateway.call('GET', path).then(({ body }) => gateway.call('PUT', path, { body: { ...body, ...change } })) };
  },
});

const files = {
  'access/a.yaml': connection('orders-db', { secret: { 'envvar:PASS': { value: 'canary-value' } } }),
  'access/b.yaml': guardrail('no-drop', ['DROP'], { connection_ids: ['orders-db'] }),
};

test('an auditor plans with unknown secrets, and is refused before the first write', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  const auditor = { OSTIARY_TOKEN: await createKey(gateway.call, 'auditor', ['auditor']) };
  const same = await gateway.run('plan --detailed-exitcode', cwd, auditor);
  expect([same.code, same.stdout]).toEqual([0, expect.stringContaining('No changes')]);
  writeFiles(cwd, { 'access/a.yaml': connection('orders-db', { reviewers: ['dba'], secret: { 'envvar:PASS': { value: 'other' } } }) });
  const planned = await gateway.run('plan', cwd, auditor);
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining('+ dba')]);
  expect(planned.stdout).not.toContain('secret envvar');
  const log = gateway.server().log.length;
  const applied = await gateway.run('apply --yes', cwd, auditor);
  expect([applied.code, applied.stderr]).toEqual([4, expect.stringContaining('api/read-only-role')]);
  const asked = gateway.server().log.slice(log);
  expect(asked.filter((line) => !line.startsWith('GET '))).toEqual([]);
});

test('a standard key sees only a part of the lists: Ostiary concludes nothing from it', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
  const standard = { OSTIARY_TOKEN: await createKey(gateway.call, 'standard', ['dba']) };
  const log = gateway.server().log.length;
  for (const line of ['plan', 'apply --yes']) {
    const { code, stderr } = await gateway.run(line, cwd, standard);
    expect([code, stderr]).toEqual([4, expect.stringContaining('role standard cannot see all objects')]);
  }
  expect(
    gateway
      .server()
      .log.slice(log)
      .map((line) => line.split(' ')[1]),
  ).toEqual(['/serverinfo', '/serverinfo']);
});

test.each<readonly [string, JsonObject, number, string, JsonObject]>([
  ['is not overwritten', { access_max_duration: 60 }, 5, 'apply/moved', { access_max_duration: 60, reviewers: [] }],
  ['stays next to the applied changes', { reviewers: ['sre'], tags: ['x'] }, 0, ': 1 updated', { reviewers: ['dba', 'sre'], tags: ['x'] }],
])('a change of another user between the read and the write %s', async (_case, change, code, says, found) => {
  const name = `raced-${code}`;
  const agent = await agentId(gateway.call);
  expect((await gateway.call('POST', '/connections', { body: connectionBody(name, agent, { subtype: 'postgres' }) })).status).toBe(201);
  const cwd = makeProject({
    'ostiary.yaml': config(gateway.url()),
    'access/c.yaml': connection(name, { reviewers: ['dba'], access_max_duration: 3600 }, { ignore: ['/tags'] }),
  });
  intruder.change = change;
  const applied = await gateway.run('apply --yes', cwd);
  expect([applied.code, applied.stdout]).toEqual([code, expect.stringContaining(says)]);
  expect(intruder.change).toBeUndefined();
  expect((await gateway.call('GET', `/connections/${name}`)).body).toMatchObject(found);
});

test('the first key is created once, printed only on stdout, and valid', async () => {
  const home = makeProject({});
  const folder = await makeFolder(join(home, 'db'));
  const made = await ostiary(['serve', '--init', '--database', folder], { cwd: home });
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' });
  expect(made.stdout).toMatch(/^ostk_[\w-]{43}\n$/);
  const again = await ostiary(['serve', '--init', '--database', folder], { cwd: home });
  expect([again.code, again.stdout, again.stderr]).toEqual([3, '', expect.stringContaining('error serve/initialized')]);
  const server = await startOstiary(['serve', '--port', '0', '--database', folder], { cwd: home });
  while (!server.printed().stderr.includes('http://')) await new Promise((resolve) => void setTimeout(resolve, 10));
  const [url = ''] = /http:\/\/\S+/.exec(server.printed().stderr) ?? [];
  const call = callerOf({ url, key: made.stdout.trim() });
  expect((await call('GET', '/userinfo')).body).toMatchObject({ name: 'admin', role: 'admin' });
  expect((await call('GET', '/audit/logs')).body['data']).toMatchObject([
    { actor_name: 'ostiary serve --init', resource_type: 'api_keys' },
  ]);
  server.child.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
});

test('a group without members is a warning if the gateway has users', async () => {
  const cwd = makeProject({
    'ostiary.yaml': config(gateway.url()),
    'access/c.yaml': connection('grouped', { reviewers: ['sre', 'unknown'] }),
  });
  await createKey(gateway.call, 'sre', ['sre']);
  const { code, stdout, stderr } = await gateway.run('plan', cwd);
  expect(code).toBe(0);
  expect(stdout).toContain('warning interface/unknown-group  unknown group "unknown" on the gateway');
  expect(`${stdout}${stderr}`).not.toContain('"sre"');
});
