import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { idOf, createKey } from '../../server/client.ts';
import { expectValid } from '../../support/documents.ts';
import { gitEnv, useRepositories } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { config, connection, guardrail } from '../project.ts';

const gateway = useGateway();
const { make } = useRepositories();

test('a drift lists the change, its author and time; pending changes are no drift, and a revert leaves them', async () => {
  const secret = { 'envvar:HOST': { value: 'canary-host' } };
  const repository = make({
    'ostiary.yaml': config(gateway.url()),
    'access/a.yaml': connection('a', { reviewers: ['dba', 'sre'], secret }),
    'access/b.yaml': connection('b', { reviewers: ['dba'] }),
    'access/c.yaml': connection('c'),
    'access/rule.yaml': guardrail('no-drop', ['DROP TABLE'], { connection_ids: ['a', 'c'] }),
  });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  expect((await run('apply --yes')).code).toBe(0);
  const none = await run('drift');
  expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });

  const key = await createKey(gateway.call, 'ada', ['admin']);
  const [a, b] = [await gateway.call('GET', '/connections/a'), await gateway.call('GET', '/connections/b')];
  const loosened = { ...a.body, reviewers: ['dba'], guardrail_rules: [] };
  await gateway.call('PUT', `/connections/${idOf(a)}`, { key, body: loosened });
  await gateway.call('PUT', '/connections/b', { key, body: { ...b.body, reviewers: ['dba', 'security'] } });
  await gateway.call('DELETE', '/connections/c', { key });
  repository.save({ 'access/b.yaml': connection('b', { reviewers: ['dba', 'sre'], access_max_duration: 600 }) });

  const { code, stdout } = await run('drift');
  expect(code).toBe(2);
  expect(stdout).toContain('a loses reviewer group sre.');
  expect(stdout).toMatch(
    /~ Connection\/a {2}access\/a\.yaml:17 {2}by ada, \d{4}-\d\d-\d\d \d\d:\d\d UTC, from .*\n {6}reviewers {2}- sre\n/,
  );
  expect(stdout).toMatch(
    /~ Connection\/b {2}access\/b\.yaml:15 {2}held: left in place because it is stricter; apply --revert Connection\/b undoes it {2}by ada, .*\n {6}reviewers {2}\+ security {2}\(held\)\n/,
  );
  expect(stdout).toMatch(
    /- Connection\/c {2}access\/c\.yaml:1 {2}deleted outside Ostiary {2}by ada, .*\(DELETE \/connections\/c\)\n {6}- GuardrailRule\/no-drop\n/,
  );
  expect(stdout).not.toContain('access_max_duration');
  const json = await run('drift --format json --quiet');
  expectValid('drift', json.stdout);
  expect(`${stdout}${json.stdout}`).not.toContain('canary-host');

  const undone = await run('drift --revert --yes');
  expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining(': 1 created, 3 updated.') });
  expect(undone.stderr).not.toContain('git/applied-recorded');
  expect(await run('drift')).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on production. 1 pending') });
  expect((await gateway.call('GET', '/connections/b')).body).toMatchObject({ reviewers: ['dba'], access_max_duration: null });
  expect((await run('plan')).stdout).toContain(
    ': 1 to update. b gains reviewer group sre and allows only shorter access: 10 min (was 2 d).',
  );
});

test('--adopt --new adopts drift and writes manifests of unmanaged objects; a second run writes nothing; after the merge there are no changes', async () => {
  const repository = make({
    'ostiary.yaml': config(gateway.url()),
    'access/a.yaml': connection('new-a'),
    'access/rule.yaml': guardrail('new-rule', ['DROP']),
  });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  expect((await run('apply --yes')).code).toBe(0);
  const { body } = await gateway.call('GET', '/connections/new-a');
  const { id: _, ...rest } = { ...body };
  const { list } = await gateway.call('GET', '/guardrails');
  const rules = list.flatMap(({ id, name }) => (name === 'new-rule' && id !== undefined ? [id] : []));
  const there = { ...rest, guardrail_rules: rules, reviewers: ['dba'], secret: { 'envvar:KEY': 'Y2FuYXJ5' } };
  for (const name of ['new-b', 'New-b', 'new-c']) {
    const key = name === 'new-c' ? { key: gateway.server().managerKey } : {};
    expect((await gateway.call('POST', '/connections', { body: { ...there, name }, ...key })).status).toBe(201);
  }
  const branch = 'ostiary/adopt/production';
  const asked = 'drift --adopt --new Connection/new-b --new Connection/New-b --new Connection/new-a --new Connection/missing';
  const ended = await run(asked);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Accepted: 2 new manifests, in 2 files of the branch') });
  expect(ended.stderr).toMatch(/plan\/unknown-name {2}--new Connection\/missing has no effect/);
  const names = repository.git('diff', '--name-only', 'main', branch).split('\n');
  expect(names).toEqual([expect.stringMatching(/^access\/connections\/New-b-[0-9a-f]{8}\.yaml$/), 'access/connections/new-b.yaml']);
  const shown = repository.git('show', `${branch}:access/connections/new-b.yaml`);
  expect(shown).toMatch(
    /^apiVersion: [\s\S]* guardrail_rules: \[new-rule\]\n[\s\S]* secret: \{ envvar:KEY: \{ keep: true \} \}\n {2}min_review_approvals: null$/,
  );
  expect(`${shown}${ended.stdout}`).not.toMatch(/canary|Y2FuYXJ5/);
  const first = repository.git('rev-parse', branch);
  const { drifts }: { drifts: readonly { adoption: JsonObject }[] } = JSON.parse((await run(`${asked} --format json --quiet`)).stdout);
  expect([repository.git('rev-parse', branch), drifts[0]?.adoption['created']]).toEqual([
    first,
    [
      { id: 'Connection/New-b', file: names[0] },
      { id: 'Connection/new-b', file: names[1] },
    ],
  ]);
  await gateway.call('PUT', '/connections/new-a', { body: { ...rest, access_max_duration: 60 } });
  const more = await run(`${asked} --new Connection/new-c`);
  expect(more).toMatchObject({ code: 2, stdout: expect.stringMatching(/Accepted: 1 object and 2 new manifests, in 3 files/) });
  expect(more.stderr).toMatch(/adopt\/impossible[^\n]*Connection\/new-c[^\n]*managed by/);
  repository.git('merge', '--quiet', '--no-edit', branch);
  expect(await run('drift')).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on ') });
  expect((await run('plan')).stdout).toContain('(New-b, new-b). Nothing to write: 3 drifts accepted in the manifests, 4 unchanged.');
  expect((await run('apply --yes')).code).toBe(0);
  expect(await run('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });
  expect((await run('drift --adopt --no-commit --new Connection/new-c')).code).toBe(2);
  expect(await run('drift --new Connection/new-b')).toMatchObject({ code: 3, stderr: expect.stringContaining('--new requires --adopt') });
});
