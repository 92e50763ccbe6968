import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { selfSigned } from '../../support/certificate.ts';
import { startGitLab } from '../../support/gitlab.ts';
import { prepareJob } from '../../support/gitlab-job.ts';
import type { Ended } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { git } from '../../support/workflow.ts';
import { config, connection, useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';
import { useGitLab } from './use-gitlab.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useGitLab(makeProject, gateway, () => ({
  'ostiary.yaml': config(gateway.url()),
  'access/first.yaml': connection('first', { reviewers: ['dba'] }),
}));
const { ci, push, planRequest, notesOn } = bench;

describe('the life of a merge request', () => {
  test('a first apply of main succeeds, with no merge request', async () => {
    const applied = await ci('apply', { source: 'push' });
    expect(applied).toMatchObject({ code: 0 });
    expect(await gateway.isLive('first')).toBe(true);
  });
});

// security: gitlab
describe('a job of a ref that is not protected', () => {
  test('plans the merge request for its artifacts, writes no note and warns of no token', async () => {
    push('own', { 'access/own.yaml': connection('own', { reviewers: ['dba'] }) });
    const iid = bench.gitlab().open('own');
    const ended = await ci('plan --report markdown=plan.md', { source: 'merge_request_event', iid });
    expect(ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('1 to create') });
    expect(notesOn(iid)).toEqual([]);
  });

  test('refuses a token that its author could read', async () => {
    const iid = bench.gitlab().open('own');
    const ended = await ci('plan', { source: 'merge_request_event', iid }, { env: { OSTIARY_GITLAB_TOKEN: bench.gitlab().token } });
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('forge/exposed-token') });
  });

  test('applies nothing, even of the default branch', async () => {
    const env = { CI_COMMIT_REF_PROTECTED: 'false', OSTIARY_GITLAB_TOKEN: '' };
    expect(await ci('apply', { source: 'push' }, { env })).toMatchObject({ code: 3, stdout: expect.stringContaining('is not protected') });
    const iid = bench.gitlab().open('own');
    const applied = await ci('apply', { source: 'merge_request_event', iid });
    expect(applied).toMatchObject({ code: 3, stdout: expect.stringContaining('is not merged') });
  });
});

// security: fork
test('a merge request of a fork is only validated, because its jobs have no secrets; with the key of a snapshot, it is planned', async () => {
  push('forked', { 'access/forked.yaml': connection('forked', { reviewers: ['dba'] }) });
  const iid = bench.gitlab().open('forked', { fork: true });
  expect(await planRequest(iid)).toMatchObject({ code: 0, stdout: expect.stringContaining('Valid.') });
  expect(notesOn(iid)).toEqual([expect.stringContaining('comes from a fork')]);
  const env = { OSTIARY_SNAPSHOT_KEY: 'a-random-text-of-enough-characters-0123' };
  const file = join(makeProject({}), 'snapshot.bin');
  expect(await ci(`drift --no-issue --snapshot ${file}`, { source: 'schedule' }, { env })).toMatchObject({ code: 0 });
  const planned = await planRequest(iid, `plan --snapshot ${file}`, { env: { ...env, OSTIARY_TOKEN: '' } });
  expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Plan for production from a snapshot .* old: .*1 to create/) });
  expect(notesOn(iid)).toEqual([expect.stringContaining('It approves no apply.')]);
});

test('a person who writes above a note and removes its first hidden line, or pastes that of another, causes no second one', async () => {
  push('noted', { 'access/noted.yaml': connection('noted', { reviewers: ['dba'] }) });
  const iid = bench.gitlab().open('noted');
  const mark = /^<!-- ostiary .*-->$/m;
  const noteOf = (): { readonly id: number; readonly body: string; readonly editor?: string | null } | undefined =>
    bench.gitlab().requests.find((one) => one.iid === iid)?.notes[0];
  for (const instead of ['', `<!-- ostiary ${'0'.repeat(32)} ${'0'.repeat(32)} -->`]) {
    expect(await planRequest(iid)).toMatchObject({ code: 0 });
    const note = noteOf();
    bench.gitlab().edit(iid, note?.id ?? 0, `Please look!\n\n${note?.body.replace(mark, instead)}`);
  }
  expect(await planRequest(iid)).toMatchObject({ code: 0 });
  expect(notesOn(iid)).toEqual([expect.stringMatching(/^(?:Please look!\n\n){2}### Plan for `production`: /)]);

  // What the next job writes is equal, and is written again: only then it approves a plan.
  bench.gitlab().edit(iid, noteOf()?.id ?? 0, noteOf()?.body ?? '');
  const person = noteOf()?.editor;
  expect(await planRequest(iid)).toMatchObject({ code: 0 });
  expect(noteOf()?.editor).toMatch(/^project_/);
  expect(person).not.toBe(noteOf()?.editor);
});

test('text of manifests mentions no one and runs no quick action', async () => {
  const text = ['```', '/merge', '@everyone #1 !1 ~bug %v1', '````', '/approve'].join('\n');
  push('text', { 'access/text.yaml': connection('text', { reviewers: ['dba'], command: ['sh', '-c', text] }) });
  const iid = bench.gitlab().open('text');
  expect(await planRequest(iid)).toMatchObject({ code: 0 });
  const [note = ''] = notesOn(iid);
  expect(note).toContain('everyone');
  expect(bench.gitlab().actions).toEqual([]);
  expect(note.split('\n').filter((line) => /^\s*\//.test(line))).toEqual([]);
});

test('a self-managed GitLab with its own certificate is asked through CI_SERVER_TLS_CA_FILE', async () => {
  const certificate = selfSigned(new Date());
  const own = await startGitLab(bench.origin(), certificate);
  push('secure', { 'access/secure.yaml': connection('secure', { reviewers: ['dba'] }) });
  const iid = own.open('secure');
  const file = join(makeProject({ 'ca.pem': certificate.cert }), 'ca.pem');
  const job = prepareJob(makeProject({}), bench.origin(), own, { source: 'trigger', iid });
  git(job.cwd, ['fetch', '--quiet', 'origin', `refs/merge-requests/${iid}/head`]);
  git(job.cwd, 'checkout --quiet --detach FETCH_HEAD');
  const run = (env: Readonly<Record<string, string>>): Promise<Ended> =>
    ostiaryInProcess(['ci', 'plan'], { cwd: job.cwd, env: { ...job.env, ...gateway.env(), ...env } });
  expect(await run({})).toMatchObject({ code: 4, stdout: expect.stringContaining('forge/unreachable') });
  expect(await run({ CI_SERVER_TLS_CA_FILE: file })).toMatchObject({ code: 0 });
  expect(own.requests[0]?.notes).toHaveLength(1);
  await own.close();
});
