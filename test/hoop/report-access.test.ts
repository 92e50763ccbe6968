import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { connection, guardrail, manifest } from '../e2e/project.ts';
import { file, grouped, open, switchOn, useAccessProjects, type AccessProject } from '../support/access-project.ts';

const accessProject = useAccessProjects();
let access: AccessProject;

const orders = { ...open, access_mode_runbooks: 'disabled', access_groups: ['payments', 'sre'], connection_tags: { env: 'prod' } };
const rule = {
  access_type: 'jit_command',
  connection_names: ['orders-db'],
  approval_required_groups: ['payments'],
  reviewers_groups: ['dba', 'security'],
  min_approvals: 2,
  access_max_duration: 3600,
};

beforeAll(async () => {
  access = await accessProject({
    [file('orders-db')]: connection('orders-db', orders),
    'access/prod.yaml': manifest('AccessRequestRule', 'prod', rule),
  });
});

test('report access names who can, after whose approval, by which line, and since which commit', async () => {
  const { code, stdout, stderr } = await access.run('report access --format json');
  const head = access.repository.git('rev-parse', 'HEAD').trim();
  const report = JSON.parse(stdout);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`SHA-256 ${report.digest}`)]);
  expect(report).toMatchObject({ source: 'manifests', commit: head });
  const [first, second] = report.rows;
  expect([first.groups, first.connect.text, first.exec.text, first.runbooks.text]).toEqual([
    ['payments'],
    'after dba and security, 1 h',
    'after dba and security',
    'no',
  ]);
  expect([second.groups, second.connect.text]).toEqual([['sre', 'admin', 'auditor'], 'yes']);
  expect(first.decidedBy).toEqual(expect.arrayContaining([expect.stringMatching(/^access\/prod\.yaml:\d+$/)]));
  expect(first.since).toMatchObject({ commit: head, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
  const csv = await access.run('report access --format csv');
  expect(csv.stdout.split('\r\n')[1]).toMatch(/^orders-db,payments,"after dba and security, 1 h",after dba and security,no,/);
});

test('the commit is the one that changed the answer last', async () => {
  // Git counts time in seconds.
  await new Promise((resolve) => void setTimeout(resolve, 1100));
  access.commit({ 'access/prod.yaml': manifest('AccessRequestRule', 'prod', { ...rule, min_approvals: 1, reviewers_groups: ['dba'] }) });
  const head = access.repository.git('rev-parse', 'HEAD').trim();
  const [first, second] = JSON.parse((await access.run('report access --format json')).stdout).rows;
  expect(first.since.commit).toBe(head);
  expect([head, undefined]).not.toContain(second.since.commit);
  // A line of the same rule that decides nothing for these people.
  const described = { ...rule, description: 'production', min_approvals: 1, reviewers_groups: ['dba'] };
  access.commit({ 'access/prod.yaml': `# why\n${manifest('AccessRequestRule', 'prod', described)}` });
  expect(JSON.parse((await access.run('report access --format json')).stdout).rows[0].since.commit).toBe(head);
});

test.each(['json', 'html'])('--verify finds a change of a report in %s', async (format) => {
  const { stdout } = await access.run(`report access --format ${format}`);
  access.repository.write({ out: stdout });
  expect(readFileSync(join(access.repository.folder, 'out'), 'utf8')).toBe(stdout);
  expect(await access.run('report access --verify out')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^unchanged: SHA-256 \w{64}/),
  });
  access.repository.write({ out: stdout.replace('payments', 'visitors') });
  expect(await access.run('report access --verify out')).toMatchObject({ code: 2, stdout: expect.stringContaining('changed: out') });
  access.repository.remove('out');
});

test('filters answer which people reach production without approval, since when and by whom', async () => {
  const { run, commit } = await accessProject({
    [file('orders-db')]: connection('orders-db', { ...orders, reviewers: ['dba'] }),
    [file('open-db')]: connection('open-db', orders),
    [file('dev-db')]: connection('dev-db', { ...orders, connection_tags: { env: 'dev' } }),
    [file('ruled-db')]: connection('ruled-db', orders),
    'access/prod.yaml': manifest('AccessRequestRule', 'prod', {
      ...rule,
      connection_names: ['ruled-db'],
      approval_required_groups: ['payments', 'sre'],
    }),
  });
  const asked = 'report access --tag env=prod --verb exec --without-approval';
  expect(JSON.parse((await run(`${asked} --format json`)).stdout)).toMatchObject({
    filters: ['--tag env=prod', '--verb exec', '--without-approval'],
    rows: [
      { connection: 'open-db', groups: ['payments', 'sre', 'admin', 'auditor'], exec: { text: 'yes' } },
      // Its rule asks no approval of them.
      { connection: 'ruled-db', groups: ['admin', 'auditor'], exec: { text: 'yes' } },
    ],
  });
  commit({ [file('orders-db')]: connection('orders-db', orders) });
  const { stdout } = await run(`${asked} --format text`);
  const reached = ['open-db | payments, sre, admin, auditor', 'orders-db | payments, sre, admin, auditor', 'ruled-db | admin, auditor'];
  const lines = reached.map((start) =>
    expect.stringMatching(new RegExp(`^${start.replaceAll('|', '\\|')} \\| yes \\| [\\d-]{10} \\| Ada \\| [0-9a-f]{10}$`)),
  );
  expect(stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
    'CONNECTION | GROUPS | EXEC | SINCE | BY | COMMIT',
    ...lines,
    '',
  ]);
  expect((await run(asked)).stdout).toContain(', only --tag env=prod --verb exec --without-approval.');
});

type ReportedRow = { readonly groups: unknown; readonly exec: { readonly text: string }; readonly isApplied: unknown };

test('the report says what is live since the recorded apply, and what is not applied yet', async () => {
  const { commit, run, repository, project } = await accessProject({
    [file('orders-db')]: connection('orders-db', { ...open, access_groups: ['payments', 'sre'] }),
    [file('old-db')]: connection('old-db', { ...open, access_groups: ['sre'] }),
  });
  const reported = async (): Promise<{ readonly applied: unknown; readonly rows: readonly ReportedRow[] }> =>
    JSON.parse((await run('report access --format json')).stdout);
  expect(await reported()).toMatchObject({ applied: { unknown: 'none' } });
  expect((await run('report access')).stdout).toContain('No apply is recorded, so it is not known what is live.');

  await switchOn({ project });
  expect((await run('apply --yes')).code).toBe(0);
  const first = repository.git('rev-parse', 'HEAD');
  const live = await reported();
  expect(live.applied).toEqual({ commit: first, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
  expect(live.rows.map(({ isApplied }) => isApplied)).toEqual([true, true, true, true]);

  // A new commit that changes nothing in effect is live.
  repository.save({ [file('orders-db')]: `# why\n${connection('orders-db', { ...open, access_groups: ['payments', 'sre'] })}` });
  expect((await reported()).rows.map(({ isApplied }) => isApplied)).toEqual([true, true, true, true]);

  commit({ [file('orders-db')]: connection('orders-db', { ...open, access_groups: ['sre', 'contractors'] }) }, [file('old-db')]);
  const { applied, rows } = await reported();
  expect(applied).toMatchObject({ commit: first, removed: ['old-db'] });
  expect(rows.map(({ groups, exec, isApplied }) => [groups, exec.text, isApplied])).toEqual([
    [['contractors'], 'yes', false],
    [['sre', 'admin'], 'yes', true],
    [['auditor'], 'yes', true],
    // The manifests take it away, and the gateway still grants it.
    [['payments'], 'no', false],
  ]);
  const page = await run('report access');
  expect(page.stdout).toContain('Removed from the manifests, not applied yet: old-db.');
  expect(page.stdout).toContain(', not applied yet</td>');
  expect((await run('report access --format csv')).stdout).toMatch(/orders-db,contractors,.*,not applied yet,[^,]*,\r\n/);
});

test('each row of the page names what its connection blocks, because the page filters rows by group', async () => {
  const { run } = await accessProject({
    [file('orders-db')]: connection('orders-db', orders),
    'access/prod.yaml': manifest('AccessRequestRule', 'prod', rule),
    'access/no-drop.yaml': guardrail('no-drop', ['DROP'], { connection_ids: ['orders-db'] }),
  });
  const rows = (await run('report access')).stdout.split('<tr').filter((row) => row.includes('data-connection="orders-db"'));
  expect(rows.map((row) => row.includes('>blocked DROP<'))).toEqual([true, true]);
});

test('the report says what is not committed, and what a shallow clone does not know', async () => {
  const { commit, run, repository } = await accessProject({ [file('orders-db')]: grouped('orders-db', ['payments']) });
  commit({ 'README.md': 'later\n' });
  repository.write({ [file('new-db')]: grouped('new-db', ['sre']) });
  const lines = (await run('report access --format csv')).stdout.split('\r\n');
  expect(lines[1]).toMatch(/^new-db,sre; admin,.*,not committed,,,,database\/postgres,$/);
  expect(lines[2]).toMatch(/^new-db,auditor,.*,not committed,/);
  expect(lines[3]).toMatch(/^orders-db,payments; admin,.*,\d{4}-\d\d-\d\dT[^,]*,Ada,[0-9a-f]{40},,database\/postgres,$/);
  expect((await run('report access')).stdout).toContain('>not committed</td>');

  repository.git('fetch', '--quiet', '--depth=1', `file://${repository.folder}`, 'HEAD');
  expect((await run('report access --format csv')).stdout.split('\r\n')[3]).toMatch(
    /^orders-db,payments; admin,.*,unknown \(shallow clone\),,,,database\/postgres,$/,
  );
});
