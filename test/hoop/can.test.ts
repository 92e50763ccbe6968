import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { connection, manifest } from '../e2e/project.ts';
import { file, oneLine, open, useAccessProjects, type AccessProject } from '../support/access-project.ts';

const accessProject = useAccessProjects();

const rule = {
  access_type: 'jit_command',
  connection_names: ['orders-db'],
  approval_required_groups: ['payments'],
  reviewers_groups: ['dba', 'security'],
  min_approvals: 1,
  force_approval_groups: ['leads'],
  access_max_duration: 3600,
};

let access: AccessProject;

/** Returns the exit code and the lines, with columns separated by `|`. */
async function can(line: string): Promise<{ readonly code: number; readonly lines: readonly string[]; readonly stderr: string }> {
  const { code, stdout, stderr } = await access.run(line);
  return {
    code,
    stderr,
    lines: stdout
      .trimEnd()
      .split('\n')
      .map((text) => text.trim().replaceAll(/ {2,}/g, ' | ')),
  };
}

beforeAll(async () => {
  access = await accessProject({
    [file('orders-db')]: connection('orders-db', {
      ...open,
      access_mode_runbooks: 'disabled',
      access_groups: ['payments', 'sre'],
      attributes: ['pci'],
    }),
    'access/prod.yaml': manifest('AccessRequestRule', 'prod', rule),
    'access/pci.yaml': manifest('Attribute', 'pci', { access_groups: ['audit'] }),
    'access/no-drop.yaml': manifest('GuardrailRule', 'no-drop', {
      connection_ids: ['orders-db'],
      input: { rules: [{ type: 'deny_words_list', words: ['DROP', 'drop'] }] },
    }),
  });
  await access.run('apply --yes --allow plan/access-control-on=test');
});

describe('can', () => {
  test('answers from the manifests alone, with the line that decides each fact', async () => {
    expect(await can('can payments connect orders-db')).toEqual({
      code: 0,
      stderr: expect.stringContaining('decided by the manifests alone'),
      lines: [
        'Yes: payments can use connect on orders-db after an approval.',
        '',
        'DECIDED BY',
        expect.stringMatching(/^sees it \| payments \| access\/orders-db\.yaml:\d+$/),
        expect.stringMatching(/^open \| connect is enabled \| access\/orders-db\.yaml:\d+$/),
        expect.stringMatching(/^approval \| 1 of dba, security; leads can force it \| (?:access\/prod\.yaml:\d+(?:, )?){3}$/),
        expect.stringMatching(/^longest \| 1 h \| access\/prod\.yaml:\d+$/),
        expect.stringMatching(/^blocked \| DROP, drop \| access\/no-drop\.yaml:\d+$/),
      ],
    });
    expect((await can('can sre exec orders-db')).lines).toContainEqual(
      expect.stringMatching(/^approval \| none: prod asks only payments \|/),
    );
    expect((await can('can audit exec orders-db')).lines).toContainEqual(
      expect.stringMatching(/^sees it \| audit \| access\/pci\.yaml:\d+$/),
    );
    expect((await can('can audit,payments exec orders-db')).lines[0]).toBe(
      'Yes: audit, payments can use exec on orders-db after an approval.',
    );
  });

  test.each([
    ['can contractors exec orders-db', 'No: contractors cannot use exec on orders-db.', 'sees it | only audit, payments, sre'],
    ['can payments runbooks orders-db', 'No: payments cannot use runbooks on orders-db.', 'open | runbooks is disabled'],
  ])('%s: exit 2, with what forbids it', async (line, answer, fact) => {
    const { code, lines } = await can(line);
    expect([code, lines[0], lines[3]]).toEqual([2, answer, expect.stringContaining(fact)]);
  });

  test('warns about a group that nothing names', async () => {
    expect(await can('can payment exec orders-db')).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "payments"?') });
    expect(oneLine((await can('can payments+audit exec orders-db')).stderr)).toContain('with commas: payments,audit');
    for (const reviewing of ['dba', 'leads', 'dba,payments'])
      expect((await can(`can ${reviewing} exec orders-db`)).stderr).not.toContain('nothing names');
  });

  test('asks the gateway as it is, and as the plan would leave it', async () => {
    const { repository, run, grant } = access;
    await grant('orders-db', ['payments', 'staff']);
    expect((await can('can staff exec orders-db')).code).toBe(2);
    expect(await can('can staff exec orders-db --live')).toMatchObject({ code: 0 });
    expect((await can('can sre exec orders-db --live')).code).toBe(2);
    expect((await can('can staff exec orders-db --plan')).code).toBe(2);
    // Held: the drift is stricter.
    expect((await can('can sre exec orders-db --plan')).code).toBe(2);
    repository.remove('access/prod.yaml');
    repository.commit();
    expect((await can('can payments exec orders-db --plan')).lines[0]).toMatch(/after an approval/);
    expect((await can('can payments exec orders-db')).lines[0]).toMatch(/without approval/);
    repository.git('revert', '--no-edit', '--quiet', 'HEAD');
    await run('apply --yes');
  });

  test('asks for a user of the gateway', async () => {
    await access.project.send('POST', '/users', { email: 'ana@example.com', name: 'Ana', groups: ['payments', 'staff'] });
    expect(await can('can --user ana@example.com exec orders-db')).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('nothing names'),
      lines: expect.arrayContaining(['Yes: payments, staff can use exec on orders-db after an approval.']),
    });
    const user = { email: 'ana@example.com', name: 'Ana', groups: ['payments', 'staff'], status: 'inactive' };
    await access.project.send('PUT', '/users/ana@example.com', user);
    const inactive = await can('can --user ana@example.com exec orders-db');
    expect([inactive.code, inactive.lines.join(' ')]).toEqual([
      2,
      expect.stringContaining('ana@example.com is not active, and cannot sign in'),
    ]);
    expect(await can('can --user anna@example.com exec orders-db')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('did you mean "ana@example.com"?'),
    });
    expect((await can('get user ana@example.com')).lines[1]).toBe('ana@example.com | payments staff | no');
  });
});

test('who and --matrix fold groups that need the same', async () => {
  const table = [
    'CONNECTION | GROUPS | CONNECT | EXEC | RUNBOOKS',
    'orders-db | audit, sre, admin, auditor | yes | yes | no',
    'orders-db | payments | after 1 of dba, security, 1 h | after 1 of dba, security | no',
  ];
  expect((await can('who orders-db')).lines).toEqual(table);
  expect((await can('can --matrix')).lines).toEqual(table);
  const rows = (await access.run('can --matrix --format csv')).stdout.split('\r\n');
  expect(rows).toContainEqual(expect.stringMatching(/^orders-db,payments,exec,yes,dba; security,1,leads,,DROP; drop,,access/));
  const document: readonly { readonly answer: string }[] = JSON.parse((await access.run('can --matrix --format json')).stdout);
  expect(document.filter(({ answer }) => answer === 'yes')).toHaveLength(10);
  const page = (await access.run('can --matrix --format html')).stdout;
  expect(page).toMatch(/^<!doctype html>.*<h1>Who can reach 1 connection of production<\/h1>/s);
  expect(page).toContain('<div>orders-db</div><div><span class="quiet">blocked DROP, drop</span></div>');
  expect(page).not.toContain('since');
});

test('access that has ended is no, a skipped review keeps the limit of its rule, and a list of values has no control characters', async () => {
  const groups = ['sre', '\u001B[31mred', { group: 'contractors', until: '2020-12-31' }];
  access = await accessProject({
    [file('orders-db')]: connection('orders-db', { ...open, access_groups: groups }),
    'access/prod.yaml': manifest('AccessRequestRule', 'prod', { ...rule, approval_required_groups: [], skip_review_groups: ['sre'] }),
  });
  expect(await can('can contractors exec orders-db')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the access of contractors ended on 2020-12-31'),
  });
  expect((await can('can sre connect orders-db')).lines).toContainEqual(
    expect.stringMatching(/^longest \| 1 h \| access\/prod\.yaml:\d+$/),
  );
  const { stdout } = await access.run('can --matrix --format csv');
  expect(stdout).toContain(String.raw`\u001b[31mred`);
  expect(stdout).not.toContain('\u001B');
});

test('the end of a grant, and its reason, are in every answer', async () => {
  const groups = ['payments', { group: 'sre', until: '2099-12-01', reason: 'the migration of orders' }];
  access = await accessProject({ [file('orders-db')]: connection('orders-db', { ...open, access_groups: groups }) });
  const until = 'until 2099-12-01 (the migration of orders)';
  const { lines } = await can('can sre exec orders-db');
  expect([lines[0], lines[3]]).toEqual([
    `Yes: sre can use exec on orders-db without approval ${until}.`,
    expect.stringMatching(/^sees it \| sre until 2099-12-01 \(the migration of orders\) \| access\/orders-db\.yaml:\d+$/),
  ]);
  const end = { until: '2099-12-01', reason: 'the migration of orders' };
  expect(JSON.parse((await access.run('can sre exec orders-db --format json')).stdout)).toMatchObject(end);
  expect((await access.run('can sre exec orders-db --format csv')).stdout).toMatch(/,2099-12-01,the migration of orders,,\r\n$/);
  expect((await can('can payments,sre exec orders-db')).lines[0]).toBe('Yes: payments, sre can use exec on orders-db without approval.');
  expect((await can('who orders-db')).lines).toContainEqual(expect.stringContaining(`orders-db | sre | yes ${until} | yes ${until}`));
  expect((await access.run('report access --format csv')).stdout).toContain(`sre,yes ${until},`);
  const [, row] = JSON.parse((await access.run('report access --format json')).stdout).rows;
  expect(row.exec).toMatchObject(end);
});

const kept = (secret: Json): string => connection('orders-db', { ...open, secret: { 'envvar:PASS': secret } });

test('--plan has no connection that was deleted outside, and that its manifest cannot recreate', async () => {
  access = await accessProject({ [file('orders-db')]: kept({ value: 'one' }), [file('other-db')]: connection('other-db', open) });
  const { repository, run, project } = access;
  expect((await run('apply --yes')).code).toBe(0);
  repository.write({ [file('orders-db')]: kept({ keep: true }) });
  repository.commit();
  expect((await run('apply --yes')).code).toBe(0);
  expect((await run('can payments exec orders-db --plan')).code).toBe(0);
  await project.send('DELETE', '/connections/orders-db');
  expect((await run('plan')).stdout).toContain('deleted outside Ostiary, not recreated');
  expect(await run('can payments exec orders-db --plan')).toMatchObject({ code: 3, stdout: '' });
  expect((await can('can payments exec other-db --plan')).lines[0]).toBe('Yes: payments can use exec on other-db without approval.');
});

test('who and the report state which runbooks people may run', async () => {
  const books = {
    connections: ['orders-db'],
    runbooks: [{ repository: 'github.com/acme/books', name: 'ops/' }],
    user_groups: ['payments'],
  };
  access = await accessProject({
    [file('orders-db')]: connection('orders-db', { ...open, access_groups: ['payments'] }),
    'access/books.yaml': manifest('RunbookRule', 'books', books),
  });
  const only = 'yes, only github.com/acme/books:ops/';
  expect((await can('who orders-db')).lines).toContainEqual(`orders-db | payments | yes | yes | ${only}`);
  const rows: readonly { readonly groups: readonly string[]; readonly runbooks: unknown }[] = JSON.parse(
    (await access.run('report access --format json')).stdout,
  ).rows;
  expect(rows.find(({ groups }) => groups.includes('payments'))?.runbooks).toMatchObject({ text: only, runbooks: books.runbooks });
  expect(JSON.parse((await access.run('can payments runbooks orders-db --format json')).stdout)).toMatchObject({
    runbooks: books.runbooks,
  });
  expect((await access.run('can payments runbooks orders-db --format csv')).stdout).toMatch(/,github\.com\/acme\/books:ops\/,\r\n$/);
});

describe('what a manifest ignores is not known without the gateway', () => {
  test.each([
    ['access_groups', 'payments exec', 4, 'Cannot be known: whether payments can use exec on orders-db.'],
    ['access_groups', 'audit exec', 0, 'Yes: audit can use exec on orders-db without approval.'],
    ['attributes', 'audit exec', 4, 'Cannot be known: whether audit can use exec on orders-db.'],
    ['access_mode_exec', 'payments exec', 4, 'Cannot be known: whether payments can use exec on orders-db.'],
    ['reviewers', 'audit exec', 0, 'Yes: audit can use exec on orders-db; the approval is not known.'],
    ['reviewers_groups', 'payments exec', 0, 'Yes: payments can use exec on orders-db; the approval is not known.'],
    ['approval_required_groups', 'audit exec', 0, 'Yes: audit can use exec on orders-db; the approval is not known.'],
    ['pci', 'audit exec', 4, 'Cannot be known: whether audit can use exec on orders-db.'],
    ['user_groups', 'payments runbooks', 4, 'Cannot be known: whether payments can use runbooks on orders-db.'],
  ])('%s: %s', async (field, question, code, answer) => {
    const ignoring = (...fields: readonly string[]): { readonly ignore?: string[] } =>
      fields.includes(field) ? { ignore: [`/${field === 'pci' ? 'access_groups' : field}`] } : {};
    access = await accessProject({
      [file('orders-db')]: connection(
        'orders-db',
        { ...open, access_groups: ['payments'], attributes: ['pci'] },
        ignoring('access_groups', 'attributes', 'access_mode_exec', 'reviewers'),
      ),
      'access/prod.yaml': manifest('AccessRequestRule', 'prod', rule, ignoring('reviewers_groups', 'approval_required_groups')),
      'access/pci.yaml': manifest('Attribute', 'pci', { access_groups: ['audit'] }, ignoring('pci')),
      'access/books.yaml': manifest(
        'RunbookRule',
        'books',
        { connections: ['orders-db'], runbooks: [], user_groups: ['payments'] },
        ignoring('user_groups'),
      ),
    });
    expect(await can(`can ${question} orders-db`)).toMatchObject({ code, lines: expect.arrayContaining([answer]) });
  });

  test('and what has ended there stays', async () => {
    const ended = [{ group: 'contractors', until: '2020-12-31' }];
    access = await accessProject({
      [file('orders-db')]: connection('orders-db', { ...open, access_groups: ended }, { ignore: ['/access_groups'] }),
    });
    const { code, stderr } = await can('can contractors exec orders-db');
    expect([code, oneLine(stderr)]).toEqual([4, expect.stringContaining('the manifest ignores access_groups, so nothing takes it away')]);
  });
});
