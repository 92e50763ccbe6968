import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { config, connection, guardrail, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const make = useProjects();
const gateway = useGateway();
const url = 'http://127.0.0.1:8009';

const messy = `# yaml-language-server: $schema=../schemas/connection.schema.json
# Owner: team orders.
kind: Connection
apiVersion:   ostiary/v1
spec:
    # Nobody connects directly.
    access_mode_connect: disabled   # since the incident
    subtype: postgres

    # The reviewers of production.
    reviewers: [ security,dba ]
    type: "database"
    agent_id: default
    access_mode_exec: enabled
    access_mode_runbooks: disabled
    access_schema: enabled
    secret:
        envvar:PASS: {valueFrom: {env: OSTIARY_SECRET_X}}
        envvar:HOST: {value: "db"}
metadata: {name: orders-db}
# The end.
`;

const neat = `# yaml-language-server: $schema=../schemas/connection.schema.json
# Owner: team orders.
apiVersion: ostiary/v1
kind: Connection
metadata: { name: orders-db }
spec:
  type: "database"
  subtype: postgres
  agent_id: default
  # Nobody connects directly.
  access_mode_connect: disabled # since the incident
  access_mode_exec: enabled
  access_mode_runbooks: disabled
  access_schema: enabled

  # The reviewers of production.
  reviewers: [security, dba]
  secret:
    envvar:PASS: { valueFrom: { env: OSTIARY_SECRET_X } }
    envvar:HOST: { value: "db" }
# The end.
`;

const neatConfig = `apiVersion: ostiary/v1
kind: Config
manifests: [access/]
targets:
  production: { url: "${url}" }
`;

test('fields get the order of the schema, values and comments stay, and a second run changes nothing', async () => {
  const folder = make({ 'ostiary.yaml': neatConfig, 'access/orders.yaml': messy });
  expect(await gateway.run('fmt', folder)).toMatchObject({
    code: 0,
    stdout: 'access/orders.yaml\n',
    stderr: '2 files checked, 1 rewritten.\n',
  });
  expect(readFileSync(join(folder, 'access/orders.yaml'), 'utf8')).toBe(neat);
  const before = statSync(join(folder, 'access/orders.yaml')).mtimeMs;
  expect(await gateway.run('fmt', folder)).toMatchObject({ code: 0, stdout: '', stderr: '2 files checked, 0 rewritten.\n' });
  expect(statSync(join(folder, 'access/orders.yaml')).mtimeMs).toBe(before);
});

test('--check names the files, writes nothing and exits with 2', async () => {
  const folder = make({ 'ostiary.yaml': neatConfig, 'access/orders.yaml': messy });
  const checked = await gateway.run('fmt --check', folder);
  expect(checked).toMatchObject({ code: 2, stdout: 'access/orders.yaml\n', stderr: '2 files checked, 1 not formatted.\n' });
  expect(readFileSync(join(folder, 'access/orders.yaml'), 'utf8')).toBe(messy);
  expect(await gateway.run('fmt --check --quiet', folder)).toMatchObject({ code: 2, stdout: 'access/orders.yaml\n', stderr: '' });
  await gateway.run('fmt', folder);
  expect(await gateway.run('fmt --check', folder)).toMatchObject({ code: 0, stdout: '' });
});

test('without paths the config, the manifests and the overlays are formatted; with paths only those, without a config', async () => {
  const overlay = 'kind: Connection\napiVersion: ostiary/v1\nmetadata:\n    name: orders-db\n';
  const files = {
    'ostiary.yaml': `kind: Config\napiVersion: ostiary/v1\nmanifests: [access/]\ntargets:\n  p: { url: '${url}', overlays: [over/] }\n`,
    'access/orders.yaml': messy,
    'over/orders.yaml': overlay,
    'other/orders.yaml': messy,
  };
  const folder = make(files);
  expect((await gateway.run('fmt', folder)).stdout.split('\n')).toEqual(['access/orders.yaml', 'ostiary.yaml', 'over/orders.yaml', '']);
  expect((await gateway.run('fmt --check other/orders.yaml', folder)).stdout).toBe('other/orders.yaml\n');
  const plain = make({ 'orders.yaml': messy });
  expect(await gateway.run('fmt .', plain)).toMatchObject({ code: 0, stdout: 'orders.yaml\n' });
  expect(await gateway.run('fmt', make({}))).toMatchObject({ code: 3, stderr: expect.stringContaining('no config file') });
  expect(await gateway.run('fmt missing.yaml', plain)).toMatchObject({ code: 3, stderr: expect.stringContaining('does not exist') });
});

test('what init and pull write is formatted', async () => {
  const empty = make({});
  await gateway.run('init', empty);
  expect(await gateway.run('fmt --check', empty)).toMatchObject({ code: 0, stdout: '' });
  const spec = {
    reviewers: ['dba', 'security'],
    connection_tags: { team: 'orders', env: 'prod' },
    guardrail_rules: ['no-drop'],
    secret: { 'envvar:NOTE': { value: 'a: "b"\n# no comment\n  c' }, 'envvar:PORT': { value: '5432' } },
  };
  const folder = make({
    'ostiary.yaml': config(gateway.url()),
    'access/a.yaml': connection('orders-db', spec),
    'access/b.yaml': guardrail('no-drop', ['DROP', "it's", ': ']),
    'access/c.yaml': guardrail(`x-${'long-'.repeat(10)}name`, ['word '.repeat(40)]),
  });
  expect(await gateway.run('apply --yes --base none', folder)).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') });
  const pulled = make({});
  expect(await gateway.run(`pull . --url ${gateway.url()}`, pulled)).toMatchObject({ code: 0 });
  expect(await gateway.run('fmt --check', pulled)).toMatchObject({ code: 0, stdout: '' });
});
