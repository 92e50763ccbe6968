import { readFileSync } from 'node:fs';
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
  expect(stdout).toContain('1 connection loses reviewer group sre (a)');
  expect(stdout).toMatch(/~ Connection\/a {2}access\/a\.yaml:1\n {6}reviewers {2}- sre\n {6}by ada, \d{4}-\d\d-\d\d \d\d:\d\d UTC, from/);
  expect(stdout).toMatch(
    /~ Connection\/b {2}access\/b\.yaml:1 {2}held: left in place because it is stricter; apply --revert Connection\/b undoes it\n {6}reviewers {2}\+ security {2}\(held\)\n {6}by ada/,
  );
  expect(stdout).toMatch(
    /- Connection\/c {2}access\/c\.yaml:1 {2}deleted outside Ostiary\n {6}- GuardrailRule\/no-drop\n {6}by ada, .*\(DELETE \/connections\/c\)\n\n/,
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
  expect((await run('plan')).stdout).toContain(': 1 to update. Strengthens protection of 1 connection.');
});

test('a connection that was deleted with a secret that it kept is a drift like any other', async () => {
  const files = (pass: JsonObject): Readonly<Record<string, string>> => ({
    'ostiary.yaml': config(gateway.url()),
    'access/gone.yaml': connection('kept', { secret: { 'envvar:PASS': pass } }),
  });
  const repository = make(files({ value: 'canary-pass' }));
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  expect((await run('apply --yes')).code).toBe(0);
  repository.save(files({ keep: true }));
  expect((await run('apply --yes')).code).toBe(0);
  const { body } = await gateway.call('GET', '/connections/kept');
  await gateway.call('PUT', '/connections/kept', { body: { ...body, secret: {}, access_max_duration: 60 } });
  const taken = await run('drift');
  expect(taken.stdout).toMatch(
    /Drift on production: 1 object changed outside Ostiary[\s\S]*~ Connection\/kept[\s\S]*access_max_duration[\s\S]*secret envvar:PASS +removed/,
  );
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('warning plan/secret-deleted-outside')]);
  expect((await run('drift --format markdown')).stdout).toMatch(/^! access_max_duration \(held\): \(not set\) → 1 min$/m);
  expect((await run('explain Connection/kept secret')).stdout).toContain('the gateway owns the value, but has none');
  repository.write({ 'access/gone.yaml': connection('kept', { reviewers: ['dba'], secret: { 'envvar:PASS': { keep: true } } }) });
  expect((await run('drift')).stdout).toContain(
    'Drift on production: 1 object changed outside Ostiary, 1 held in part. Strengthens protection of 1 connection. 1 pending',
  );
  repository.git('checkout', '--quiet', '--', '.');
  expect((await run('drift --adopt --no-commit')).code).toBe(0);
  expect(readFileSync(`${repository.folder}/access/gone.yaml`, 'utf8')).not.toContain('envvar:PASS');
  repository.git('checkout', '--quiet', '--', '.');
  await gateway.call('DELETE', '/connections/kept');
  const { code, stdout, stderr } = await run('drift');
  expect(stdout).toMatch(/- Connection\/kept {2}access\/gone\.yaml:1 {2}deleted outside Ostiary/);
  expect([code, stderr]).toEqual([2, expect.stringContaining('warning plan/deleted-outside  Connection/kept was deleted')]);
  expect(`${stdout}${stderr}`).not.toContain('canary-pass');
  const reverted = await run('drift --revert --yes');
  expect(reverted).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/Connection\/kept was deleted outside Ostiary by \S+; its manifest/),
  });
});

test.each(['tomorrow', '2999-01-01', '5m', ''])('--since %j is no time that has passed', async (text) => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('z') });
  const { code, stderr } = await gateway.run(`drift --since=${text}`, repository.folder, gitEnv);
  expect([code, stderr]).toEqual([3, expect.stringContaining('for --since')]);
});

test('a drift can be reported without resolving secrets; a revert needs them', async () => {
  const secret = { 'envvar:PASS': { valueFrom: { env: 'OSTIARY_SECRET_PASS' } } };
  const repository = make({ 'ostiary.yaml': config(gateway.url()), 'access/sealed.yaml': connection('sealed', { secret }) });
  const run = (line: string, env = {}): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, { ...gitEnv, ...env });
  expect((await run('apply --yes', { OSTIARY_SECRET_PASS: 'canary-pass' })).code).toBe(0);
  for (const line of ['drift', 'plan'])
    expect(await run(line)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/secret\/undefined-variable[\s\S]*--secrets unresolved/),
    });
  expect((await run('apply --yes')).stderr).toMatch(/secret\/undefined-variable(?![\s\S]*--secrets unresolved)/);
  const unread = await run('drift --secrets unresolved');
  expect(unread).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('On production: No drift seen; 1 secret not compared (not resolved).'),
  });
  expectValid('drift', (await run('drift --secrets unresolved --format json --quiet')).stdout);
  const { body } = await gateway.call('GET', '/connections/sealed');
  await gateway.call('PUT', '/connections/sealed', { body: { ...body, secret: { 'envvar:MORE': 'eA==' } } });
  const { code, stdout } = await run('drift --secrets unresolved');
  expect([code, stdout]).toEqual([
    2,
    expect.stringMatching(/secret envvar:PASS {2}removed\n {6}secret envvar:MORE {2}added on the gateway/),
  ]);
  expect(await run('drift --revert --secrets unresolved')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('--revert needs the values of secrets'),
  });
});

test('the drift of a rule with a pending rename is reported and adopted; the rename stays pending', async () => {
  const repository = make({ 'ostiary.yaml': config(gateway.url()), 'access/rule.yaml': guardrail('before') });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  expect((await run('apply --yes')).code).toBe(0);
  const { list } = await gateway.call('GET', '/guardrails');
  const found = list.find(({ name }) => name === 'before') ?? {};
  await gateway.call('PUT', `/guardrails/${idOf({ body: found })}`, { body: { ...found, description: 'by hand' } });
  repository.save({ 'access/rule.yaml': guardrail('after', undefined, {}, { renamedFrom: 'before' }) });
  const adopted = await run('drift --adopt');
  expect([adopted.code, adopted.stdout]).toEqual([
    0,
    expect.stringMatching(/GuardrailRule\/after .* renamed from before\n {6}description .*by hand/),
  ]);
  repository.git('merge', '--quiet', 'ostiary/adopt/production');
  expect(await run('drift')).toMatchObject({ code: 0, stdout: expect.stringContaining('No drift on production. 1 pending') });
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
    /^apiVersion: [\s\S]* guardrail_rules: \[new-rule\]\n[\s\S]* secret: \{ "envvar:KEY": \{ keep: true \} \}\n {2}min_review_approvals: null$/,
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
  expect((await run('plan')).stdout).toContain(
    'Reroutes credentials or code of 2 connections. Nothing to write: 3 drifts accepted in the manifests, 4 unchanged.',
  );
  expect((await run('apply --yes')).code).toBe(0);
  expect(await run('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });
  expect((await run('drift --adopt --no-commit --new Connection/new-c')).code).toBe(2);
  expect(await run('drift --new Connection/new-b')).toMatchObject({ code: 3, stderr: expect.stringContaining('--new requires --adopt') });
});

test('the required number of approvals is planned, compared, kept and pulled if the gateway supports it', async () => {
  const spec = { reviewers: ['dba', 'sre', 'audit'], min_review_approvals: 2 };
  const repository = make({ 'ostiary.yaml': config(gateway.url()), 'access/few.yaml': connection('few', spec) });
  const run = (line: string): ReturnType<typeof gateway.run> => gateway.run(line, repository.folder, gitEnv);
  const needed = async (): Promise<unknown> => (await gateway.call('GET', '/connections/few')).body['min_review_approvals'];
  const applied = await run('apply --yes');
  expect(applied).toMatchObject({ code: 0, stderr: expect.not.stringContaining('plan/other-dialect-field') });
  expect(await needed()).toBe(2);
  expect((await run('plan')).stdout).toContain('No changes.');

  const { body } = await gateway.call('GET', '/connections/few');
  await gateway.call('PUT', '/connections/few', { body: { ...body, min_review_approvals: 1 } });
  expect(await run('drift')).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/~ Connection\/few[\s\S]*min_review_approvals +2 → 1/),
  });
  const raised = await run('plan --max-risk strengthens');
  expect(raised).toMatchObject({ code: 0, stdout: expect.stringMatching(/min_review_approvals +1 → 2/) });
  expect((await run('drift --revert --yes')).code).toBe(0);
  expect(await needed()).toBe(2);
  repository.save({ 'access/few.yaml': connection('few', { ...spec, min_review_approvals: 1 }) });
  expect(await run('plan --max-risk neutral')).toMatchObject({ code: 6, stdout: expect.stringContaining('risk/approvals-lowered') });

  repository.save({ 'access/few.yaml': connection('few', { reviewers: spec.reviewers, access_max_duration: 60 }) });
  expect((await run('apply --yes')).code).toBe(0);
  expect(await needed()).toBe(2);
  const unwatched = await run('drift --format json --quiet');
  expect(JSON.parse(unwatched.stdout)).toMatchObject({
    drifts: [{ plan: { unwatched: [{ id: 'Connection/few', path: '/min_review_approvals' }] } }],
  });
  repository.save({ 'access/few.yaml': '# Nothing any more.\n' });
  expect((await run('pull --only Connection/few')).code).toBe(0);
  expect(readFileSync(`${repository.folder}/access/connections/few.yaml`, 'utf8')).toContain('  min_review_approvals: 2\n');
});
