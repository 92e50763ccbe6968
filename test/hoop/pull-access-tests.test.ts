import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { asArray, asObject, asText, isObject, type JsonObject, textsIn } from '../../src/model/json.ts';
import { connection, manifest } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';
import { file, oneLine, open, useAccessProjects, type AccessProject } from '../support/access-project.ts';

const accessProject = useAccessProjects();

const written = 'access/access-tests.yaml';
const forTest = (name: string, team: string, more: JsonObject): string =>
  connection(name, { ...open, access_groups: [team, 'contractors'], connection_tags: { env: 'test', team }, ...more });

const approval = {
  access_type: 'jit_command',
  attributes: ['production'],
  approval_required_groups: ['orders', 'payments'],
  reviewers_groups: ['dba', 'security'],
  min_approvals: 2,
  force_approval_groups: ['leads'],
  access_max_duration: 3600,
};

const production = ['orders-1', 'orders-2', 'payments-1', 'payments-2'];

const files = {
  ...Object.fromEntries(
    production.map((name) => {
      const team = name.split('-')[0] ?? '';
      const spec = { ...open, access_mode_runbooks: 'disabled', access_groups: [team, 'sre'], connection_tags: { env: 'prod', team } };
      return [file(name), connection(name, { ...spec, attributes: ['production'] })];
    }),
  ),
  [file('orders-test')]: forTest('orders-test', 'orders', { access_mode_runbooks: 'disabled' }),
  [file('payments-test')]: forTest('payments-test', 'payments', {}),
  'access/production.yaml': manifest('Attribute', 'production', {}),
  'access/approval.yaml': manifest('AccessRequestRule', 'approval', approval),
};

let access: AccessProject;

beforeAll(async () => {
  access = await accessProject(files);
  await access.run('apply --yes --allow plan/access-control-on=test');
}, 60_000);

function readText(path: string): string {
  return readFileSync(join(access.repository.folder, path), 'utf8');
}

function expectationsIn(text: string): readonly JsonObject[] {
  return asArray(parse(text)['spec']).map(asObject);
}

/** The lines of what needs an approval. */
const approved = (team: string): readonly string[] => [
  `  - group: ${team}`,
  `    on: { match_tags: { env: prod, team: ${team} } }`,
  '    verb: [connect, exec]',
  '    expect: { approval: { from: [dba, security], at_least: 2, forced_by: [leads] } }',
  '    max_duration: 1h',
];

test('pull --tests writes a few lines for each group, and they pass at once', async () => {
  expect(await access.run('pull --tests')).toMatchObject({ code: 0, stdout: expect.stringContaining(`wrote ${written}`) });
  expect(readText(written).split('\n').slice(4)).toEqual([
    'spec:',
    '  - { group: contractors, on: { match_tags: { env: prod } }, expect: denied }',
    '  - { group: contractors, on: { match_tags: { env: test } }, verb: [connect, exec], expect: allowed }',
    '  - { group: contractors, on: [payments-test], verb: [runbooks], expect: allowed }',
    '  - { group: contractors, on: [orders-test], verb: [runbooks], expect: denied }',
    '  - { group: orders, on: { match_tags: { team: payments } }, expect: denied }',
    ...approved('orders'),
    '  - { group: orders, on: [orders-test], verb: [connect, exec], expect: allowed }',
    '  - { group: orders, on: "*", verb: [runbooks], expect: denied }',
    '  - { group: payments, on: { match_tags: { team: orders } }, expect: denied }',
    ...approved('payments'),
    '  - { group: payments, on: [payments-test], verb: [connect, exec, runbooks], expect: allowed }',
    '  - { group: payments, on: { match_tags: { env: prod } }, verb: [runbooks], expect: denied }',
    '  - { group: sre, on: { match_tags: { env: test } }, expect: denied }',
    '  - { group: sre, on: { match_tags: { env: prod } }, verb: [connect, exec], expect: allowed }',
    '  - { group: sre, on: "*", verb: [runbooks], expect: denied }',
    '',
  ]);
  access.commit({});
  expect(await access.run('fmt --check access/access-tests.yaml')).toMatchObject({ code: 0 });
  expect(await access.run('validate')).toMatchObject({ code: 0 });
  expect(await access.run('test')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^All \d+ samples pass|passed/) });
  expect(await access.run('plan --detailed-exitcode')).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
});

/** Returns one edit after which an expectation is wrong: of the connection that it is about, or of the rule. */
function breakingEdit({ group, on, verb, expect: expected }: JsonObject): readonly [path: string, text: string] {
  const wanted = isObject(on) ? Object.entries(asObject(on['match_tags'])) : [];
  const paths = Object.keys(files).filter((path) => {
    const { kind, metadata, spec } = parse(files[path] ?? '');
    if (kind !== 'Connection') return false;
    if (isObject(on)) return wanted.every(([key, value]) => spec.connection_tags[key] === value);
    return on === '*' || textsIn(on).includes(metadata.name);
  });
  const [path = ''] = paths;
  if (isObject(expected)) return ['access/approval.yaml', manifest('AccessRequestRule', 'approval', { ...approval, min_approvals: 1 })];
  const document = parse(files[path] ?? '');
  const groups = textsIn(document.spec.access_groups);
  const spec =
    expected === 'allowed'
      ? { access_groups: groups.filter((one) => one !== group) }
      : verb === undefined
        ? { access_groups: [...groups, asText(group)] }
        : { access_mode_runbooks: 'enabled', access_groups: [...new Set([...groups, asText(group)])] };
  return [path, stringify({ ...document, spec: { ...document.spec, ...spec } })];
}

test('each expectation fails after one edit that makes it wrong', { timeout: 120_000 }, async () => {
  const expectations = expectationsIn(readText(written));
  const lines = readText(written)
    .split('\n')
    .flatMap((line, index) => (line.startsWith('  - ') ? [index + 1] : []));
  for (const [index, one] of expectations.entries()) {
    const [path, text] = breakingEdit(one);
    access.repository.write({ [path]: text });
    const { code, stdout, stderr } = await access.run('validate');
    access.repository.write({ [path]: files[path] ?? '' });
    expect([JSON.stringify(one), code, oneLine(stdout + stderr)]).toEqual([
      JSON.stringify(one),
      3,
      expect.stringContaining(`${written}:${lines[index]}:`),
    ]);
  }
});

test.each(['connect', 'exec', 'runbooks'])('the tests notice that %s closes, although the other verbs stay open', async (verb) => {
  const path = file('payments-test');
  access.repository.write({ [path]: forTest('payments-test', 'payments', { [`access_mode_${verb}`]: 'disabled' }) });
  const { code, stdout, stderr } = await access.run('validate');
  access.repository.write({ [path]: files[path] ?? '' });
  expect([code, oneLine(stdout + stderr)]).toEqual([3, expect.stringMatching(/contractors.*payments-test/)]);
});

test('a second pull writes nothing, and one after a change replaces the file as it replaces manifests', async () => {
  expect((await access.run('pull --tests')).stdout).not.toContain('access-tests');
  await access.grant('orders-test', ['orders']);
  access.repository.write({ [written]: readText(written).replace('contractors', 'visitors') });
  const refused = await access.run('pull --tests');
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('pull would overwrite uncommitted changes') });
  expect(await access.run('pull --tests --yes')).toMatchObject({ code: 0, stdout: expect.stringContaining(written) });
  expect(readText(written)).toContain('{ group: contractors, on: [payments-test], verb: [connect, exec, runbooks], expect: allowed }');
  access.commit({});
  expect(await access.run('validate')).toMatchObject({ code: 0 });
  const planned = await access.run('plan');
  expect([planned.code, `${planned.stdout}${planned.stderr}`]).toEqual([0, expect.not.stringContaining('access-test')]);
});

test('a file that declares objects is not overwritten', async () => {
  access.repository.write({ [written]: manifest('Attribute', 'mine', {}) });
  const { code, stderr } = await access.run('pull --tests --yes');
  expect([code, oneLine(stderr)]).toEqual([3, expect.stringContaining('access/access-tests.yaml declares Attribute/mine')]);
});

test('what the free license of the gateway denies is not stated: it is not known without the gateway', async () => {
  const project = await hoopProject({ licence: 'oss' });
  const spec = { access_groups: ['payments'], reviewers: ['dba'], access_mode_connect: 'enabled', access_mode_exec: 'enabled' };
  project.write({
    'access/orders-db.yaml': connection('orders-db', spec),
    'access/free-db.yaml': connection('free-db', { ...spec, reviewers: [] }),
  });
  expect((await project.ostiary(['apply', '--yes', '--allow', 'plan/access-control-on=test'])).code).toBe(0);
  const pulled = await project.ostiary(['pull', '--tests']);
  expect(pulled).toMatchObject({ code: 0, stdout: expect.stringContaining(`wrote ${written}`) });
  const text = readFileSync(join(project.folder, written), 'utf8');
  expect(text).toContain('group: payments');
  expect((await project.ostiary(['validate'])).code).toBe(0);
  expect((await project.ostiary(['test'])).code).toBe(0);
  expect(await project.ostiary(['plan', '--detailed-exitcode'])).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
});
