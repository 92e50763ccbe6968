import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { base64 } from '../../server/client.ts';
import { createPerson, reviewedConnection, type Person } from '../../server/reviews/review-people.ts';
import { config, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const gateway = useGateway();
const makeProject = useProjects();
const canary = 'canary-of-the-resource';
let folder: string;
let standard: Person;

beforeAll(async () => {
  folder = makeProject({ 'ostiary.yaml': config(gateway.url()) });
  await reviewedConnection(gateway.call, 'orders-db', {
    subtype: 'postgres',
    resource_name: 'orders',
    secret: { 'envvar:PASS': base64(canary) },
  });
  const { body } = await gateway.call('GET', '/resources/orders');
  const { name, type, subtype, agent_id: agent } = body;
  const variables = { 'envvar:HOST': base64(canary) };
  const whole = { name: name ?? '', type: type ?? '', subtype: subtype ?? '', agent_id: agent ?? '', env_vars: variables };
  await gateway.call('PUT', '/resources/orders', { body: whole });
  standard = await createPerson(gateway.server(), 'otto', ['devs']);
});

test('resources are listed with the names of their variables, for every role, and never with values', async () => {
  for (const key of [gateway.server().key, standard.key]) {
    for (const format of ['text', 'json', 'yaml']) {
      const { code, stdout, stderr } = await gateway.run(`get resources --format ${format}`, folder, { OSTIARY_TOKEN: key });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('envvar:HOST');
      for (const secret of [canary, base64(canary)]) expect(stdout).not.toContain(secret);
    }
  }
  const { stdout } = await gateway.run('get resources --format yaml', folder);
  expect(parse(stdout)).toMatchObject([{ name: 'orders', type: 'database', subtype: 'postgres', env_vars: { 'envvar:HOST': '***' } }]);
});

test('a search prints its results', async () => {
  const found = await gateway.run('search ORDERS --format json', folder);
  expect([found.code, found.stderr]).toEqual([0, '']);
  expect(JSON.parse(found.stdout)).toMatchObject({
    connections: [{ name: 'orders-db', resource_name: 'orders', subtype: 'postgres' }],
    resources: [{ name: 'orders' }],
    runbooks: [],
    errors: [],
  });
  const { stdout } = await gateway.run('search orders', folder);
  expect(stdout).toMatch(
    /^NAME +WHAT +TYPE +OF\norders-db +connection +database\/postgres +orders\norders +resource +database\/postgres\n$/,
  );
  const none = await gateway.run('search no-such-thing', folder);
  expect([none.code, none.stdout, none.stderr]).toEqual([0, '', 'no results for "no-such-thing"\n']);
});
