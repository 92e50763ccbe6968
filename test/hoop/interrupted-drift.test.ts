import { expect, test } from 'vitest';
import { connection, guardrail } from '../e2e/project.ts';
import { file, open, useAccessProjects, switchOn, grouped, type AccessProject } from '../support/access-project.ts';

const accessProject = useAccessProjects();
const usual = { access_type: 'jit', reviewers_groups: ['dba'], min_approvals: 1 };

function rule(name: string, named: readonly string[], spec: object = {}): string {
  return JSON.stringify({
    apiVersion: 'ostiary/v1',
    kind: 'AccessRequestRule',
    metadata: { name },
    spec: { ...usual, connection_names: named, ...spec },
  });
}

/** Changes an access-request rule by hand. */
async function setRule({ project }: AccessProject, name: string, spec: object): Promise<void> {
  const path = `/access-requests/rules/${name}`;
  const { body } = await project.send('GET', path);
  expect((await project.send('PUT', path, { ...Object(body), ...spec })).status).toBe(200);
}

/** Applies, and loses every request after the first write of a path. */
async function stopAfter({ project: { model }, run }: AccessProject, part: string): Promise<void> {
  let isStopped = false;
  model.setFault(({ method, path }) => {
    if (isStopped) return { kind: 'lost', when: 'before' };
    if (method === 'GET' || !path.includes(part)) return undefined;
    isStopped = true;
    return { kind: 'lost', when: 'after' };
  });
  expect((await run('apply --yes --concurrency 1')).code).toBe(5);
  expect(isStopped).toBe(true);
  model.setFault(undefined);
}

async function expectFinished({ run }: AccessProject): Promise<void> {
  const ended = await run('apply --yes');
  expect([ended.code, ended.stdout]).toEqual([0, expect.any(String)]);
  const left = await run('plan --detailed-exitcode');
  expect([left.code, left.stdout]).toEqual([0, expect.stringContaining('No changes.')]);
}

const files = {
  [file('a-db')]: connection('a-db', open),
  [file('b-db')]: connection('b-db', open),
  [file('c-db')]: connection('c-db', open),
};

test('drift that an interrupted apply had begun to revert is not held as stricter afterwards', async () => {
  const path = '/access-requests/rules/two';
  const [both, spec] = [{ access_type: 'jit_command' }, { approval_required_groups: ['sre'] }];
  const one = await accessProject({
    ...files,
    [file('one')]: rule('one', ['a-db'], both),
    [file('two')]: rule('two', ['b-db', 'c-db'], spec),
  });
  expect((await one.run('apply --yes')).code).toBe(0);
  await setRule(one, 'two', { access_type: 'command', approval_required_groups: [] });
  await setRule(one, 'one', { access_type: 'jit' });
  one.repository.save({ [file('one')]: rule('one', ['c-db'], both), [file('two')]: rule('two', ['a-db', 'b-db'], spec) });
  await stopAfter(one, path);
  expect((await one.project.send('GET', path)).body).toMatchObject({ approval_required_groups: [], connection_names: ['b-db'] });
  await expectFinished(one);
  expect((await one.project.send('GET', path)).body).toMatchObject({ ...spec, connection_names: ['a-db', 'b-db'] });
});

test('a connection that an interrupted apply closed keeps the access mode that was closed outside Ostiary', async () => {
  const one = await accessProject({ ...files, [file('one')]: rule('one', ['a-db', 'b-db']), [file('two')]: rule('two', ['c-db']) });
  const { project, repository } = one;
  expect((await one.run('apply --yes')).code).toBe(0);
  const { body } = await project.send('GET', '/connections/a-db');
  const closed = { ...Object(body), access_mode_runbooks: 'disabled' };
  expect((await project.send('PUT', '/connections/a-db', closed)).status).toBe(200);
  repository.save({ [file('one')]: rule('one', ['b-db']), [file('two')]: rule('two', ['a-db', 'c-db']) });
  await stopAfter(one, '/connections/');
  expect((await one.run('apply --yes')).code).toBe(0);
  expect((await project.send('GET', '/connections/a-db')).body).toMatchObject({ ...open, access_mode_runbooks: 'disabled' });
});

test('a connection that an interrupted apply closed to revert drift is opened again', async () => {
  const one = await accessProject({ ...files, [file('one')]: rule('one', ['a-db', 'b-db']), [file('two')]: rule('two', ['c-db']) });
  expect((await one.run('apply --yes')).code).toBe(0);
  await setRule(one, 'one', { connection_names: ['b-db'] });
  await setRule(one, 'two', { connection_names: ['a-db', 'c-db'] });
  await stopAfter(one, '/connections/');
  expect((await one.project.send('GET', '/connections/a-db')).body).toMatchObject({ access_mode_exec: 'disabled' });
  await expectFinished(one);
  expect((await one.project.send('GET', '/connections/a-db')).body).toMatchObject(open);
});

test('a connection that was deleted outside Ostiary has its groups although creating it again was interrupted', async () => {
  const one = await accessProject({ [file('a-db')]: grouped('a-db', ['dba']) });
  await switchOn(one);
  expect((await one.run('apply --yes')).code).toBe(0);
  expect((await one.project.send('DELETE', '/connections/a-db')).status).toBe(204);
  await stopAfter(one, '/connections');
  expect(one.rows()).toEqual({});
  await expectFinished(one);
  expect(one.rows()).toEqual({ 'a-db': ['dba'] });
});

function reviewed(reviewers: readonly string[], attributes: readonly string[], longest: number): string {
  const spec = { reviewers: [...reviewers], attributes: [...attributes], min_review_approvals: 2, access_max_duration: longest };
  return connection('a-db', { ...open, ...spec });
}

test('until a connection with a new attribute has other reviewers, all of both lists must approve', async () => {
  const [before, after] = [
    ['dba', 'sre'],
    ['dba', 'dev', 'sec'],
  ];
  const tagged = { [file('tagged')]: guardrail('tagged', ['DROP'], { attributes: ['tag'] }) };
  const { run, repository, project } = await accessProject({ ...tagged, [file('a-db')]: reviewed(before, [], 600) });
  expect((await run('apply --yes')).code).toBe(0);
  repository.save({ [file('a-db')]: reviewed(after, ['tag'], 3600) });
  expect((await run('plan')).stdout).toMatch(/min_review_approvals +2 again at the end/);
  let puts = 0;
  // The second write of the connection is rejected.
  project.model.setFault(({ method }) => {
    if (method === 'PUT') puts += 1;
    return puts > 1 ? { kind: 'answer', when: 'before', status: 422, message: 'no' } : undefined;
  });
  expect((await run('apply --yes')).code).toBe(5);
  project.model.setFault(undefined);
  const state = (): unknown => {
    const found = project.model.store.findConnection('a-db');
    return [found?.reviewers.toSorted(), found?.minReviewApprovals, project.model.store.connectionAttributes.leftsOf('a-db')];
  };
  expect(state()).toEqual([[...new Set([...before, ...after])].toSorted(), null, ['tag']]);
  expect([(await run('apply --yes')).code, state()]).toEqual([0, [after, 2, ['tag']]]);
});

test('a successor keeps what was attached to its predecessor outside Ostiary, although its replacement was interrupted', async () => {
  const one = await accessProject({ ...files, [file('one')]: rule('one', ['c-db']) });
  expect((await one.run('apply --yes')).code).toBe(0);
  await setRule(one, 'one', { connection_names: ['a-db', 'c-db'] });
  one.repository.save({ [file('a-db')]: connection('next-db', open, { replaces: 'a-db' }) });
  // The successor is open, and its predecessor too.
  await stopAfter(one, '/connections/');
  expect((await one.run('apply --yes')).code).toBe(0);
  const { body } = await one.project.send('GET', '/access-requests/rules/one');
  expect(body).toMatchObject({ connection_names: expect.arrayContaining(['c-db', 'next-db']) });
});

test('a successor is opened after an interrupted apply if its predecessor was deleted outside Ostiary', async () => {
  const one = await accessProject(files);
  expect((await one.run('apply --yes')).code).toBe(0);
  expect((await one.project.send('DELETE', '/connections/a-db')).status).toBeLessThan(300);
  one.repository.save({ [file('a-db')]: connection('next-db', { ...open, attributes: ['pii'] }, { replaces: 'a-db' }) });
  await stopAfter(one, '/connections');
  expect((await one.project.send('GET', '/connections/next-db')).body).toMatchObject({ access_mode_connect: 'disabled' });
  await expectFinished(one);
  expect((await one.project.send('GET', '/connections/next-db')).body).toMatchObject(open);
});

test('a move that was interrupted is finished, although a rule is stricter by then than before it', async () => {
  const some = { access_mode_connect: 'disabled', access_mode_exec: 'enabled', access_mode_runbooks: 'enabled' };
  const one = await accessProject({
    ...files,
    [file('b-db')]: connection('b-db', some),
    [file('d-db')]: connection('d-db', { ...some, access_mode_exec: 'disabled' }),
    [file('one')]: rule('one', ['c-db']),
    [file('two')]: rule('two', ['a-db', 'b-db', 'd-db'], { reviewers_groups: ['dev'] }),
  });
  expect((await one.run('apply --yes')).code).toBe(0);
  // After the stop, the rule would have to be written before d-db is opened, and after b-db is closed.
  one.repository.save({
    [file('b-db')]: connection('b-db', { ...some, access_mode_runbooks: 'disabled' }),
    [file('d-db')]: connection('d-db', some),
    [file('one')]: rule('one', ['a-db', 'c-db']),
    [file('two')]: rule('two', ['a-db', 'b-db', 'd-db'], { access_type: 'command', reviewers_groups: ['sre'] }),
  });
  await stopAfter(one, '/access-requests/rules/two');
  await expectFinished(one);
});
