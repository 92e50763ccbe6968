import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callerOf } from '../server/client.ts';
import { addressOf, type Ended, ostiary, startOstiary } from '../support/cli.ts';
import { gitEnv, useRepositories } from '../support/repository.ts';
import { makeFolder } from '../support/servers.ts';
import { config, connection, guardrail, useProjects, writeFiles } from './project.ts';

const { make, makeOrigin } = useRepositories();
const makeFolderFor = useProjects();

test('manifests are loaded, planned, applied, watched and restored by the built command on the embedded gateway', async () => {
  const home = makeFolderFor({});
  const token = 'canary-key-of-the-story';
  const args = ['serve', '--port', '0', '--database', await makeFolder(join(home, 'db'))];
  const server = await startOstiary(args, { cwd: home, patience: 300_000, env: { OSTIARY_SERVE_KEY: token } });
  const url = await addressOf(server);
  const { folder, commit, git, ...repository } = make({
    'ostiary.yaml': config(url),
    'access/orders.yaml': connection('orders', { reviewers: ['dba'], secret: { 'envvar:PASS': { value: 'canary-password' } } }),
    'access/rule.yaml': guardrail('no-drop', ['DROP'], { connection_ids: ['orders'] }),
  });
  const origin = makeOrigin({ folder, commit, git, ...repository });
  const printed: string[] = [];
  const run = async (line: string): Promise<Ended> => {
    const ended = await ostiary(line.split(' '), { cwd: folder, env: { ...gitEnv, OSTIARY_TOKEN: token } });
    printed.push(ended.stdout, ended.stderr);
    return ended;
  };
  expect(await run('validate')).toMatchObject({ code: 0, stdout: expect.stringContaining('Valid. 2 resources.') });
  expect(await run('plan --detailed-exitcode --out plan.json')).toMatchObject({ code: 2, stdout: expect.stringContaining('2 to create') });
  expect(await run('apply --yes --plan plan.json')).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created.') });
  expect(origin.git('rev-parse', 'refs/ostiary/applied/production^1')).toBe(git('rev-parse', 'HEAD'));
  expect(await run('plan --detailed-exitcode')).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });

  const call = callerOf({ url, key: token });
  const { body } = await call('GET', '/connections/orders');
  expect((await call('PUT', '/connections/orders', { body: { ...body, reviewers: [], guardrail_rules: [] } })).status).toBe(200);
  const drifted = await run('drift');
  expect([drifted.code, drifted.stdout]).toEqual([2, expect.stringContaining('loses review')]);
  expect(await run('drift --revert --yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('2 updated') });
  expect((await call('GET', '/connections/orders')).body).toMatchObject({ reviewers: ['dba'], guardrail_rules: [expect.any(String)] });
  expect(await run('drift')).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });

  git('rm', '--quiet', 'access/orders.yaml');
  writeFiles(folder, { 'access/rule.yaml': guardrail('no-drop', ['DROP', 'TRUNCATE']) });
  commit('Close orders');
  git('push', '--quiet', 'origin', 'HEAD');
  expect(await run('apply --yes --prune')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 deleted') });
  expect((await call('GET', '/connections/orders')).status).toBe(404);
  server.child.kill('SIGTERM');
  const { code, stdout, stderr } = await server.ended;
  expect(code).toBe(0);
  expect([...printed, stdout, stderr].join('')).not.toContain('canary');
});
