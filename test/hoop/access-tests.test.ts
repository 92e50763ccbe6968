import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connection, manifest } from '../e2e/project.ts';
import { file, oneLine, open, useAccessProjects, type AccessProject } from '../support/access-project.ts';

const accessProject = useAccessProjects();

const rule = {
  access_type: 'jit_command',
  connection_names: ['orders-db'],
  reviewers_groups: ['dba', 'security'],
  min_approvals: 2,
  force_approval_groups: ['leads'],
  access_max_duration: 3600,
};

const orders = { ...open, access_mode_runbooks: 'disabled', access_groups: ['payments'], connection_tags: { env: 'prod' } };

const expectations = [
  '{ group: contractors, on: { match_tags: { env: prod } }, expect: denied }',
  '{ group: payments, on: [orders-db], verb: exec, expect: { approval: { from: [dba], at_least: 2 } } }',
  '{ group: payments, on: orders-*, expect: allowed, max_duration: 1h, blocked: ["DROP TABLE orders"] }',
];

function accessTest(...lines: readonly string[]): string {
  return [
    'apiVersion: ostiary/v1',
    'kind: AccessTest',
    'metadata: { name: people }',
    'spec:',
    ...lines.map((line) => `  - ${line}`),
    '',
  ].join('\n');
}

const files = {
  [file('orders-db')]: connection('orders-db', orders),
  'access/prod.yaml': manifest('AccessRequestRule', 'prod', rule),
  'access/no-drop.yaml': manifest('GuardrailRule', 'no-drop', {
    connection_ids: ['orders-db'],
    input: { rules: [{ type: 'pattern_match', pattern_regex: '(?i)drop\\s' }] },
  }),
  'access/people.yaml': accessTest(...expectations),
};

let access: AccessProject;

async function appliedProject(): Promise<AccessProject> {
  const project = await accessProject(files);
  await project.run('apply --yes --allow plan/access-control-on=test');
  return project;
}

beforeAll(async () => {
  access = await appliedProject();
});

afterEach(() => access.commit(files));

/** Commits one change, and returns what a command prints of it on one line. */
async function after(change: Readonly<Record<string, string>>, line: string): Promise<{ readonly code: number; readonly text: string }> {
  access.commit(change);
  const { code, stdout, stderr } = await access.run(line);
  return { code, text: oneLine(`${stdout}${stderr}`) };
}

const others = '{ group: others, on: { match_tags: { env: prod } }, expect: denied }';

describe('access tests', () => {
  test.each([
    ['min_approvals', 'prod', { [file('prod')]: manifest('AccessRequestRule', 'prod', { ...rule, min_approvals: 1 }) }],
    [
      'reviewers_groups',
      'prod',
      { [file('prod')]: manifest('AccessRequestRule', 'prod', { ...rule, reviewers_groups: ['sre', 'ops', 'qa'] }) },
    ],
    [
      'connection_tags',
      'orders-db',
      {
        [file('orders-db')]: connection('orders-db', { ...orders, connection_tags: { env: 'staging' } }),
        [file('prod')]: manifest('AccessRequestRule', 'prod', {
          ...rule,
          connection_names: [],
          connection_selector: { match_tags: { env: 'prod' } },
        }),
      },
    ],
  ])('a failure names the line of %s alone', async (field, name, change) => {
    for (const command of ['validate', 'plan']) {
      const { text } = await after(
        { [file('cards-db')]: connection('cards-db', orders), ...change, 'access/people.yaml': accessTest(expectations[1] ?? '') },
        command,
      );
      const [, path = '', line = ''] = /orders-db: exec: .*?decided by (\S+):(\d+)(?!, access)/.exec(text) ?? [];
      expect(path).toBe(file(name));
      expect(readFileSync(join(access.repository.folder, path), 'utf8').split('\n')[Number(line) - 1]).toContain(field);
    }
    access.repository.remove(file('cards-db'));
  });

  test('pass on what they describe', async () => {
    expect(await access.run('validate')).toMatchObject({ code: 0 });
    expect(await access.run('test')).toMatchObject({ code: 0, stdout: expect.stringContaining('3 passed') });
    expect(await access.run('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });

  const changes: readonly (readonly [string, Readonly<Record<string, string>>, string, RegExp])[] = [
    [
      'a group that must not get in gets in',
      { [file('orders-db')]: connection('orders-db', { ...orders, access_groups: ['payments', 'contractors'] }) },
      'contractors on env=prod: denied, but on orders-db: connect, exec allowed',
      /decided by access\/orders-db\.yaml:\d+/,
    ],
    [
      'one approval less',
      { 'access/prod.yaml': manifest('AccessRequestRule', 'prod', { ...rule, min_approvals: 1 }) },
      'payments on orders-db by exec: approval by at least 2, one of dba, but on orders-db: exec: approval by 1 of dba, security',
      /decided by access\/prod\.yaml:\d+/,
    ],
    [
      'a guardrail without the word',
      {
        'access/no-drop.yaml': manifest('GuardrailRule', 'no-drop', {
          connection_ids: ['orders-db'],
          input: { rules: [{ type: 'pattern_match', pattern_regex: '(?i)truncate\\s' }] },
        }),
      },
      '"DROP TABLE orders" not blocked',
      /decided by access\/no-drop\.yaml:\d+/,
    ],
  ];

  test.each(changes)('%s: validate, test and plan say where', async (_, change, message, hint) => {
    const validated = await after(change, 'validate');
    expect(validated).toMatchObject({ code: 3, text: expect.stringContaining(message) });
    expect(validated.text).toMatch(/access\/people\.yaml:[567]:\d+ error manifest\/access-test/);
    expect(validated.text).toMatch(hint);
    expect(await after({}, 'test')).toMatchObject({ code: 3, text: expect.stringMatching(/FAIL .*access\/people\.yaml:[567]/) });
    const planned = await after({}, 'plan');
    expect(planned).toMatchObject({ code: 6, text: expect.stringContaining('plan/access-test') });
    expect(planned.text).toContain(message);
    expect(await access.run('apply --yes')).toMatchObject({
      code: 6,
      requests: expect.not.arrayContaining([expect.stringMatching(/^(?:PUT|POST) /)]),
    });
    expect(await access.run('plan --allow plan/access-test=agreed')).toMatchObject({ code: 0 });
  });

  test.each([
    ['{ group: a, on: [nothing], expect: denied }', 'manifest/access-test', 'no such connection'],
    ['{ group: a, on: { match_tags: { env: dev } }, expect: denied }', 'manifest/access-test', 'env=dev: no such connection'],
    ['{ group: a, on: [orders-db], expect: deny }', 'manifest/not-allowed-value', 'invalid value "deny" of spec[0].expect'],
    ['{ group: "*", on: [orders-db], expect: denied }', 'manifest/not-allowed-value', 'a test is about people in one group'],
    [
      '{ group: [others, a], on: [orders-db], expect: denied }',
      'manifest/not-allowed-value',
      'others are in none of the groups that the test names, such as a',
    ],
    [
      '{ group: a, on: [orders-db], expect: denied, masked: [US_SSN] }',
      'manifest/not-allowed-value',
      'masked has no effect with expect: denied',
    ],
    [
      '{ group: a, on: [orders-db], verb: exec, expect: allowed, max_duration: 1h }',
      'manifest/',
      'max_duration has no effect without verb: connect',
    ],
    ['{ group: a, on: [orders-db], expect: allowed, max_duration: 1w }', 'manifest/', 'a number with s, m, h or d'],
  ])('%s is an error', async (line, code, message) => {
    const { code: exit, text } = await after({ 'access/people.yaml': accessTest(line) }, 'validate');
    expect([exit, text]).toEqual([3, expect.stringContaining(code)]);
    expect(text).toContain(message);
  });

  test('an expectation that only the reviewed commit has cannot be removed in silence', async () => {
    access = await appliedProject();
    const { repository, run } = access;
    const further = '{ group: interns, on: [orders-db], expect: denied }';
    access.commit({ 'access/people.yaml': accessTest(...expectations, further) });
    repository.git('branch', 'reviewed');
    access.commit({ ...files, [file('orders-db')]: connection('orders-db', { ...orders, access_groups: ['payments', 'interns'] }) });
    const line = 'Check removed (covered orders-db): access test people (interns on orders-db: denied)';
    expect(oneLine((await run('plan')).stdout)).not.toContain(line);
    const planned = await run('plan --config-ref reviewed');
    expect([planned.code, oneLine(planned.stdout)]).toEqual([0, expect.stringContaining(line)]);
    expect((await run('plan --config-ref reviewed --max-risk strengthens')).code).toBe(6);
  });

  test('what is wrong on the gateway already is a warning, and does not stop a plan', async () => {
    access = await appliedProject();
    await access.grant('orders-db', ['payments', 'contractors']);
    access.commit({ [file('orders-db')]: connection('orders-db', { ...orders, access_groups: ['payments', 'contractors'] }) });
    await access.run('apply --yes --allow plan/access-test=agreed');
    const planned = await after({ 'access/note.yaml': connection('notes', { ...open, access_groups: [] }) }, 'plan');
    expect(planned).toMatchObject({ code: 0, text: expect.stringContaining('plan/access-test-failing') });
  });
});

const withGroups = (...groups: readonly string[]): Readonly<Record<string, string>> => ({
  [file('orders-db')]: connection('orders-db', { ...orders, access_groups: ['payments', ...groups] }),
});
const failing = (who: string): string => `others on env=prod: denied, but ${who} on orders-db: connect, exec allowed`;

describe('others', () => {
  const tested = { ...files, 'access/people.yaml': accessTest(...expectations, others) };

  test('are every group that the test does not name: validate, test and plan say which, and where', async () => {
    access = await appliedProject();
    access.commit(tested);
    for (const line of ['validate', 'test', 'plan']) expect(await access.run(line)).toMatchObject({ code: 0 });
    const validated = await after(withGroups('interns', 'temps'), 'validate');
    expect(validated).toMatchObject({ code: 3, text: expect.stringContaining(failing('interns, temps')) });
    expect(validated.text).toMatch(/access\/people\.yaml:8:\d+ error manifest\/access-test/);
    expect(validated.text).toMatch(/decided by access\/orders-db\.yaml:\d+/);
    expect((await access.run('test')).stdout).toContain('interns, temps: connect, exec allowed');
    const planned = await access.run('plan');
    expect([planned.code, oneLine(planned.stdout)]).toEqual([6, expect.stringContaining(failing('interns, temps'))]);
    expect(await access.run('apply --yes')).toMatchObject({ code: 6 });
  });

  test('who get in already do not let another group in', async () => {
    access = await appliedProject();
    access.commit({ ...tested, ...withGroups('interns') });
    expect(await access.run('apply --yes --allow plan/access-test=agreed')).toMatchObject({ code: 0 });
    expect(await after({}, 'plan')).toMatchObject({ code: 0, text: expect.stringContaining('plan/access-test-failing') });
    const planned = await after(withGroups('interns', 'temps'), 'plan');
    expect([planned.code, planned.text]).toEqual([6, expect.stringMatching(/plan\/access-test .* but temps on orders-db/)]);
    expect(planned.text).toMatch(/plan\/access-test-failing .* but interns on orders-db/);
    // Who loses access is not refused.
    const [both, less] = [withGroups('interns', 'temps'), withGroups('temps')];
    access.commit({ ...tested, ...both });
    expect(await access.run('apply --yes --allow plan/access-test=agreed')).toMatchObject({ code: 0 });
    expect((await after(less, 'plan')).code).toBe(0);
  });
});

/** A connection that leads to a server. */
function leading(name: string, host: string, spec: Parameters<typeof connection>[1]): string {
  return connection(name, { ...spec, secret: { 'envvar:HOST': { value: host }, 'envvar:USER': { value: 'app' } } });
}

test('counts on another way to the same place, too', async () => {
  const project = await appliedProject();
  const sandbox = { ...open, access_mode_runbooks: 'disabled', access_groups: ['contractors', 'temps'] };
  const placed = {
    ...files,
    'access/people.yaml': accessTest(...expectations, others),
    [file('orders-db')]: leading('orders-db', 'orders.internal', orders),
  };
  project.commit({ ...placed, [file('sandbox')]: leading('sandbox', 'sandbox.internal', sandbox) });
  const applied = await project.run('apply --yes');
  expect([applied.code, applied.stderr]).toEqual([0, expect.any(String)]);
  project.commit({ ...placed, [file('sandbox')]: leading('sandbox', 'Orders.internal', sandbox) });
  const { code, stdout } = await project.run('plan');
  expect([code, oneLine(stdout)]).toEqual([
    6,
    expect.stringMatching(/plan\/access-test .* contractors on env=prod: denied, but on orders-db through sandbox: connect, exec allowed/),
  ]);
  expect(oneLine(stdout)).toContain('others on env=prod: denied, but temps on orders-db through sandbox: connect, exec allowed');
});

/** Applies a project with other expectations to a gateway that has a group of contractors. */
const projectWith = async (...lines: readonly string[]): Promise<AccessProject> => {
  const project = await accessProject({ ...files, 'access/people.yaml': accessTest(...lines) });
  project.project.model.store.groups.add('contractors');
  await project.run('apply --yes --allow plan/access-control-on=test');
  return project;
};

describe('a group that neither manifests nor gateway know', () => {
  const misspelled = '{ group: contractrs, on: [orders-db], expect: denied }';
  const warning =
    'unknown group "contractrs" in access test people: neither the manifests nor the gateway name it did you mean "contractors"?';

  test('is a warning of the plan at the line of the test, once', async () => {
    const { run } = await projectWith(misspelled, misspelled.replace('denied', 'denied, verb: exec'));
    const { code, stderr } = await run('plan');
    const text = oneLine(stderr);
    expect([code, text.split('plan/unknown-group').length, text]).toEqual([0, 2, expect.stringContaining(warning)]);
    expect(text).toMatch(/access\/people\.yaml:5:\d+ warning plan\/unknown-group/);
    expect((await run('validate')).stderr).not.toContain('unknown-group');
  });

  test('is no warning where the token may not read the groups, or the plan reads a part of the manifests', async () => {
    const { run, project } = await projectWith(misspelled);
    expect((await run('plan')).stderr).toContain('unknown-group');
    expect((await run('plan --only Connection/*')).stderr).not.toContain('unknown-group');
    project.model.setFault(({ path }) => (path === '/api/users/groups' ? { kind: 'answer', when: 'before', status: 403 } : undefined));
    expect((await run('plan')).stderr).not.toContain('unknown-group');
  });
});
