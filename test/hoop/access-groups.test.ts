import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { connection } from '../e2e/project.ts';
import { file, grouped, oneLine, open, row, switchOn, useAccessProjects, writesIn } from '../support/access-project.ts';
import { refuse } from './expectations.ts';

const accessProject = useAccessProjects();

describe('while access control is on', () => {
  test('groups are planned, applied, compared, reverted and held', async () => {
    const access = await accessProject({ [file('payments-db')]: grouped('payments-db') });
    const { run, rows, grant, repository } = access;
    expect(await run('apply --yes')).toMatchObject({ code: 0 });
    await switchOn(access);
    const states: readonly (readonly [Json, readonly string[], string])[] = [
      [['dba', 'sre'], ['dba', 'sre'], 'dba and sre can reach payments-db'],
      [['sre', 'dba'], ['dba', 'sre'], 'No changes.'],
      [[], [], 'payments-db is visible to no group: dba and sre lose access'],
      [['dba'], ['dba'], 'dba can reach payments-db'],
      [['sre'], ['sre'], 'sre can reach payments-db'],
    ];
    for (const [groups, stored, headline] of states) {
      repository.save({ [file('payments-db')]: grouped('payments-db', groups) });
      expect(oneLine((await run('plan')).stdout)).toContain(headline);
      const applied = await run('apply --yes');
      expect([applied.code, rows()]).toEqual([0, { 'payments-db': stored }]);
      expect((await run('plan')).stdout).toContain('No changes.');
    }
    repository.save({ [file('payments-db')]: grouped('payments-db', ['dba', 'sre']) });
    expect(await run('apply --yes')).toMatchObject({ code: 0 });
    expect(await run('drift')).toMatchObject({ code: 0 });
    // Admins see every connection, so a row with them is the same.
    await grant('payments-db', ['admin', 'sre', 'dba', 'dba']);
    expect(await run('drift')).toMatchObject({ code: 0 });
    await grant('payments-db', ['dba']);
    expect(await run('drift')).toMatchObject({ code: 2, stdout: expect.stringMatching(/access_groups {2}- sre {2}\(held\)/) });
    expect(await run('drift')).toMatchObject({ stdout: expect.not.stringContaining('in no manifest') });
    expect((await run('explain Connection/payments-db')).stdout).toMatch(/access_groups/);
    expect((await run('list')).stdout).toContain('payments-db');
    await grant('payments-db', ['dba', 'sre', 'staff']);
    expect(await run('drift')).toMatchObject({ code: 2, stdout: expect.stringContaining('staff can reach payments-db') });
    const reverted = await run('apply --yes');
    expect([reverted.code, rows(), writesIn(reverted)]).toEqual([0, { 'payments-db': ['dba', 'sre'] }, [row]]);
    await grant('payments-db', []);
    expect(await run('apply --yes --revert Connection/payments-db')).toMatchObject({ code: 0 });
    expect(rows()).toEqual({ 'payments-db': ['dba', 'sre'] });
    await grant('payments-db', ['sre']);
    expect(await run('drift --adopt --no-commit')).toMatchObject({ stdout: expect.stringContaining('Accepted: 1 object') });
    expect((await run('plan')).stdout).toContain('1 drift accepted in the manifests');
  });

  test('a new connection is created closed, granted, and then opened', async () => {
    const access = await accessProject({ [file('old-db')]: grouped('old-db') });
    const { run, rows, repository, project } = access;
    await run('apply --yes');
    await switchOn(access);
    repository.save({ [file('new-db')]: grouped('new-db', ['dba']) });
    const applied = await run('apply --yes');
    expect([applied.code, writesIn(applied)]).toEqual([0, ['POST /api/connections', row, 'PUT /api/connections/ID']]);
    const [created] = project.model.log.writes().filter(({ path, body }) => path === '/api/connections' && body.includes('new-db'));
    expect(JSON.parse(created?.body ?? '{}')).toMatchObject({ access_mode_connect: 'disabled', access_mode_exec: 'disabled' });
    expect(rows()).toEqual({ 'new-db': ['dba'] });
    expect((await run('plan')).stdout).toContain('No changes.');
    repository.save({ [file('hidden-db')]: grouped('hidden-db', []) });
    const hidden = await run('apply --yes');
    expect([hidden.code, writesIn(hidden), rows()]).toEqual([0, ['POST /api/connections'], { 'new-db': ['dba'] }]);
    repository.remove(file('new-db'));
    repository.save({});
    const deleted = await run('apply --yes --prune');
    expect([deleted.code, rows()]).toEqual([0, {}]);
  });

  test('null is an error before anything is written', async () => {
    const access = await accessProject({ [file('a-db')]: grouped('a-db') });
    const { run, repository } = access;
    await run('apply --yes');
    await switchOn(access);
    repository.save({ [file('a-db')]: grouped('a-db', null, { reviewers: ['dba'] }), [file('b-db')]: grouped('b-db', null) });
    const applied = await run('apply --yes');
    expect([applied.code, writesIn(applied)]).toEqual([3, []]);
    const stderr = oneLine(applied.stderr);
    expect(stderr.split('access_groups: null is not possible while access control is on').length).toBe(3);
    expect(stderr).toContain('list the groups that may reach the connection; []: only admins');
  });
});

describe('switching access control on', () => {
  const base = { [file('a-db')]: grouped('a-db'), [file('b-db')]: grouped('b-db'), [file('c-db')]: grouped('c-db') };
  const allow = '--allow plan/access-control-on=reviewed';

  test('is refused, and lists every connection that only admins see then', async () => {
    const access = await accessProject(base);
    const { run, rows, repository, project } = access;
    await run('apply --yes');
    const { agent_id: agent } = Object((await project.send('GET', '/connections/a-db')).body);
    const body = {
      name: 'by-hand',
      type: 'database',
      subtype: 'postgres',
      agent_id: agent,
      ...open,
      access_schema: 'disabled',
      secret: {},
    };
    expect((await project.send('POST', '/connections', body)).status).toBe(201);
    repository.save({ [file('a-db')]: grouped('a-db', ['dba']), [file('d-db')]: grouped('d-db', ['sre']) });
    const planned = await run('plan');
    expect(planned.code).toBe(6);
    const refused = oneLine(planned.stdout + planned.stderr);
    expect(refused).toContain('plan/access-control-on');
    expect(refused).toContain('only admins see 3 connections without access_groups: b-db, by-hand, c-db');
    expect(refused).toContain('the API of the gateway cannot switch access control off again');
    expect(refused).toContain('3 connections are visible to no group: everybody loses access');
    expect(await run('apply --yes')).toMatchObject({ code: 6 });
    expect(rows()).toBeUndefined();
    const applied = await run(`apply --yes ${allow}`);
    expect(applied.code).toBe(0);
    expect(applied.stdout).toMatch(/1 created.*1 updated|1 updated.*1 created/);
    expect(writesIn(applied)).toEqual(['POST /api/plugins', 'POST /api/connections', row, 'PUT /api/connections/ID']);
    expect(rows()).toEqual({ 'a-db': ['dba'], 'd-db': ['sre'] });
    expect((await run('plan')).stdout).toContain('No changes.');
    expect(await run('drift')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('switched on') });
  });

  test('null beside groups is an error, and null alone changes nothing', async () => {
    const access = await accessProject({ [file('a-db')]: grouped('a-db', null), [file('b-db')]: grouped('b-db', null) });
    expect(await access.run('apply --yes')).toMatchObject({ code: 0 });
    expect((await access.run('plan')).stdout).toContain('No changes.');
    access.repository.save({ [file('b-db')]: grouped('b-db', ['dba']) });
    const planned = await access.run(`apply --yes ${allow}`);
    expect([planned.code, writesIn(planned)]).toEqual([3, []]);
    expect(oneLine(planned.stderr)).toContain('and this plan switches it on');
  });
});

test('groups are unknown and cannot be written while their list cannot be read', async () => {
  const access = await accessProject({ [file('a-db')]: grouped('a-db') });
  const { run, project, repository } = access;
  await switchOn(access);
  await run('apply --yes');
  refuse(project, '/api/plugins/access_control', 403);
  expect((await run('plan')).stdout).toContain('No changes.');
  repository.save({ [file('a-db')]: connection('a-db', { ...open, reviewers: ['dba'] }) });
  expect(await run('apply --yes')).toMatchObject({ code: 0 });
  repository.save({ [file('b-db')]: grouped('b-db', ['dba']) });
  const refused = await run('apply --yes');
  expect([refused.code, writesIn(refused)]).toEqual([3, []]);
  expect(refused.stderr).toContain('hoop/unreadable-rows');
});

test('rows are read with one list, and without access control no request is made for others', async () => {
  const access = await accessProject({ [file('a-db')]: grouped('a-db') });
  const list = 'GET /api/plugins/access_control';
  const readBy = async (line: string): Promise<readonly string[]> => {
    const { requests } = await access.run(line);
    return requests.filter((path) => path.includes('access_control')).map((path) => path.replace(/conn\/.*/, 'conn/ID'));
  };
  for (const line of ['plan', 'apply --yes', 'drift']) expect(await readBy(line)).toEqual([list]);
  await switchOn(access);
  for (const line of ['plan', 'drift', 'pull']) expect(await readBy(line)).toEqual([list]);
  access.repository.save({ [file('a-db')]: grouped('a-db', [], { reviewers: ['dba'] }) });
  // One object that is written, before its write; then all of them.
  expect(await readBy('apply --yes')).toEqual([list, 'GET /api/plugins/access_control/conn/ID', list]);
});
