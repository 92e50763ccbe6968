import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { selfSigned } from '../../support/certificate.ts';
import { startGitLab, type TestGitLab } from '../../support/gitlab.ts';
import { type Pipeline, prepareJob } from '../../support/gitlab-job.ts';
import type { Ended } from '../../support/cli.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { commitAll, git, pushToOrigin } from '../../support/workflow.ts';
import { config, connection, useProjects, writeFiles, type Files } from '../project.ts';
import { useGateway } from '../use-gateway.ts';

const makeProject = useProjects();
const gateway = useGateway();
let gitlab: TestGitLab;
let origin = '';
let clone = '';

beforeAll(async () => {
  clone = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/first.yaml': connection('first', { reviewers: ['dba'] }) });
  commitAll(clone);
  origin = pushToOrigin(clone, makeProject({}));
  gitlab = await startGitLab(origin);
});
beforeEach(() => gitlab.intercept(undefined));
afterAll(() => gitlab.close());

type Options = { readonly env?: Readonly<Record<string, string>>; readonly checkout?: string };

/** Runs `ostiary ci` in a job of a pipeline. */
async function ci(line: string, pipeline: Pipeline, { env = {}, checkout }: Options = {}): Promise<Ended> {
  const job = prepareJob(makeProject({}), origin, gitlab, pipeline);
  if (checkout !== undefined) {
    git(job.cwd, ['fetch', '--quiet', 'origin', checkout]);
    git(job.cwd, 'checkout --quiet --detach FETCH_HEAD');
  }
  return ostiaryInProcess(['ci', ...line.split(' ')], { cwd: job.cwd, env: { ...job.env, ...gateway.env(), ...env } });
}

/** Commits files to a branch and pushes it. */
function push(branch: string, files: Files, message = branch): void {
  git(clone, 'fetch --quiet origin');
  const known = git(clone, 'branch --list --all').includes(`origin/${branch}`);
  git(clone, ['checkout', '--quiet', '-B', branch, known ? `origin/${branch}` : 'origin/main']);
  writeFiles(clone, files);
  commitAll(clone, message);
  git(clone, ['push', '--quiet', 'origin', branch]);
}

/** Plans a merge request as the webhook of its event starts it. */
function planRequest(iid: number, line = 'plan', options: Options = {}): Promise<Ended> {
  return ci(line, { source: 'trigger', iid }, { checkout: `refs/merge-requests/${iid}/head`, ...options });
}

function notesOn(iid: number): readonly string[] {
  return gitlab.requests.find((one) => one.iid === iid)?.notes.map(({ body }) => body) ?? [];
}

/** Opens a merge request of a new branch with one connection, and plans it. */
async function planned(name: string): Promise<number> {
  push(name, { [`access/${name}.yaml`]: connection(name, { reviewers: ['dba'] }) });
  const iid = gitlab.open(name);
  expect(await planRequest(iid)).toMatchObject({ code: 0 });
  return iid;
}

const digestOf = (note: string): string => /ostiary plan ([0-9a-f]{64})/.exec(note)?.[1] ?? '';

describe('the life of a merge request', () => {
  test('a first apply of main succeeds, with no merge request', async () => {
    const applied = await ci('apply', { source: 'push' });
    expect(applied).toMatchObject({ code: 0 });
    expect(await gateway.isLive('first')).toBe(true);
  });
});

describe('an approved plan', () => {
  test.each<readonly [string, (iid: number, note: { readonly id: number; readonly body: string }) => void, string]>([
    ['in a note that another member edited', (iid, { id, body }) => gitlab.edit(iid, id, body), 'was edited by ada'],
    [
      'of an older commit',
      (iid) => push(gitlab.requests[iid - 1]?.source ?? '', { 'access/late.yaml': connection('late', { reviewers: ['dba'] }) }, 'Late'),
      'shows the plan of commit',
    ],
    [
      'in a note that another member copied',
      (iid, { body }) => {
        gitlab.requests[iid - 1]?.notes.splice(0);
        gitlab.write(iid, body);
      },
      'has no comment by Ostiary',
    ],
  ])('%s applies nothing', async (name, change, reason) => {
    const iid = await planned(name.replaceAll(' ', '-'));
    const [note = { id: 0, body: '' }] = gitlab.requests[iid - 1]?.notes ?? [];
    expect(digestOf(note.body)).not.toBe('');
    change(iid, note);
    gitlab.merge(iid);
    const ended = await ci('apply --digest comment', { source: 'push' });
    expect(ended).toMatchObject({ code: 6, stderr: expect.stringContaining(reason) });
    // What is merged is applied for the next tests.
    expect(await ci('apply', { source: 'push' })).toMatchObject({ code: 0 });
  });
});

// security: gitlab
describe('a job of a ref that is not protected', () => {
  test('plans the merge request for its artifacts, writes no note and warns of no token', async () => {
    push('own', { 'access/own.yaml': connection('own', { reviewers: ['dba'] }) });
    const iid = gitlab.open('own');
    const ended = await ci('plan --report markdown=plan.md', { source: 'merge_request_event', iid });
    expect(ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('1 to create') });
    expect(notesOn(iid)).toEqual([]);
  });

  test('refuses a token that its author could read', async () => {
    const iid = gitlab.open('own');
    const ended = await ci('plan', { source: 'merge_request_event', iid }, { env: { OSTIARY_GITLAB_TOKEN: gitlab.token } });
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('forge/exposed-token') });
  });

  test('applies nothing, even of the default branch', async () => {
    const env = { CI_COMMIT_REF_PROTECTED: 'false', OSTIARY_GITLAB_TOKEN: '' };
    expect(await ci('apply', { source: 'push' }, { env })).toMatchObject({ code: 3, stdout: expect.stringContaining('is not protected') });
    const iid = gitlab.open('own');
    const applied = await ci('apply', { source: 'merge_request_event', iid });
    expect(applied).toMatchObject({ code: 3, stdout: expect.stringContaining('is not merged') });
  });
});

// security: fork
test('a merge request of a fork is only validated, because its jobs have no secrets', async () => {
  push('forked', { 'access/forked.yaml': connection('forked', { reviewers: ['dba'] }) });
  const iid = gitlab.open('forked', { fork: true });
  expect(await planRequest(iid)).toMatchObject({ code: 0, stdout: expect.stringContaining('Valid.') });
  expect(notesOn(iid)).toEqual([expect.stringContaining('comes from a fork')]);
});

test('text of manifests mentions no one and runs no quick action', async () => {
  const text = ['```', '/merge', '@everyone #1 !1 ~bug %v1', '````', '/approve'].join('\n');
  push('text', { 'access/text.yaml': connection('text', { reviewers: ['dba'], command: ['sh', '-c', text] }) });
  const iid = gitlab.open('text');
  expect(await planRequest(iid)).toMatchObject({ code: 0 });
  const [note = ''] = notesOn(iid);
  expect(note).toContain('everyone');
  expect(gitlab.actions).toEqual([]);
  expect(note.split('\n').filter((line) => /^\s*\//.test(line))).toEqual([]);
});

test('a self-managed GitLab with its own certificate is asked through CI_SERVER_TLS_CA_FILE', async () => {
  const certificate = selfSigned(new Date());
  const own = await startGitLab(origin, certificate);
  push('secure', { 'access/secure.yaml': connection('secure', { reviewers: ['dba'] }) });
  const iid = own.open('secure');
  const file = join(makeProject({ 'ca.pem': certificate.cert }), 'ca.pem');
  const job = prepareJob(makeProject({}), origin, own, { source: 'trigger', iid });
  git(job.cwd, ['fetch', '--quiet', 'origin', `refs/merge-requests/${iid}/head`]);
  git(job.cwd, 'checkout --quiet --detach FETCH_HEAD');
  const run = (env: Readonly<Record<string, string>>): Promise<Ended> =>
    ostiaryInProcess(['ci', 'plan'], { cwd: job.cwd, env: { ...job.env, ...gateway.env(), ...env } });
  expect(await run({})).toMatchObject({ code: 4, stdout: expect.stringContaining('forge/unreachable') });
  expect(await run({ CI_SERVER_TLS_CA_FILE: file })).toMatchObject({ code: 0 });
  expect(own.requests[0]?.notes).toHaveLength(1);
  await own.close();
});

describe('commands in notes', () => {
  // security: four-eyes
  test('a maintainer who did not write the change overrides a refusal; others do not', async () => {
    push('exposed', { 'access/exposed.yaml': connection('exposed') });
    const iid = gitlab.open('exposed');
    const line = 'plan --overrides --fail-on exposes';
    expect(await planRequest(iid, line)).toMatchObject({ code: 6 });
    const [, command = ''] = /(\/ostiary allow [0-9a-f]+ [a-z/-]+)=REASON/.exec((await planRequest(iid, line)).stderr) ?? [];
    for (const author of ['ada', 'dev', 'stranger', 'project_42_bot_f00']) gitlab.write(iid, `${command}=for ${author}`, author);
    gitlab.write(iid, `>>>\n${command}=quoted\n>>>`, 'grace');
    const refused = await planRequest(iid, line);
    expect(refused.code).toBe(6);
    for (const reason of [
      /by ada is ignored: ada is the author of the merge request/,
      /by dev is ignored: GitLab reports no role Maintainer/,
      /^  see docs\/how-to\/gitlab\.md, overrides$/m,
    ])
      expect(refused.stderr).toMatch(reason);
    gitlab.write(iid, `${command}=urgent`, 'grace');
    expect(await planRequest(iid, line)).toMatchObject({ code: 0 });
    expect(notesOn(iid)[0]).toMatch(/`grace`[^\n]*urgent[^\n]*\/-\/merge_requests\/\d+#note_\d+/);
    expect({ wrong: gitlab.wrong, actions: gitlab.actions }).toEqual({ wrong: [], actions: [] });
  });
});
