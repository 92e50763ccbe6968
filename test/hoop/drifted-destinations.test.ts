import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { type AccessProject, file, oneLine, open, useAccessProjects } from '../support/access-project.ts';

const accessProject = useAccessProjects();

function leading(name: string, host: string, more: Parameters<typeof connection>[1]): Readonly<Record<string, string>> {
  const secret = { 'envvar:HOST': { value: host }, 'envvar:USER': { value: 'app' }, 'envvar:PASS': { value: name } };
  return { [file(name)]: connection(name, { ...open, ...more, secret }) };
}

/** Applies a guarded connection and an open one that leads elsewhere. */
async function appliedProject(): Promise<AccessProject> {
  const access = await accessProject({
    ...leading('ledger', 'ledger.internal', { access_groups: ['payments'], reviewers: ['dba'] }),
    ...leading('sandbox', 'sandbox.internal', { access_groups: ['contractors'] }),
  });
  expect((await access.run('apply --yes --allow plan/access-control-on=test')).code).toBe(0);
  return access;
}

/** Changes the open connection by hand. */
async function edit({ project }: AccessProject, body: object): Promise<void> {
  const { body: found } = await project.send('GET', '/connections/sandbox');
  expect((await project.send('PUT', '/connections/sandbox', { ...Object(found), ...body })).status).toBe(200);
}

test('drift says first that people reach a guarded destination through a connection that was led there by hand', async () => {
  const access = await appliedProject();
  const secret = { 'envvar:HOST': 'ledger.internal', 'envvar:USER': 'app', 'envvar:PASS': 'sandbox' };
  const encoded = Object.fromEntries(Object.entries(secret).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
  await edit(access, { secret: encoded });
  const { code, stdout } = await access.run('drift');
  const alarm = 'contractors can reach what ledger leads to, without approval, through sandbox';
  expect([code, oneLine(stdout)]).toEqual([
    2,
    expect.stringMatching(new RegExp(`^Drift on \\S+: ${alarm}; sandbox sends a kept credential`)),
  ]);
  expect((await access.run('drift --revert --yes')).code).toBe(0);
  expect((await access.run('drift')).code).toBe(0);
});

test('other drift has no such headline', async () => {
  const access = await appliedProject();
  await edit(access, { access_max_duration: 7200, reviewers: ['contractors'] });
  await access.grant('sandbox', ['contractors', 'temps']);
  const { code, stdout } = await access.run('drift');
  expect([code, stdout]).toEqual([2, expect.not.stringContaining('can reach what')]);
});
