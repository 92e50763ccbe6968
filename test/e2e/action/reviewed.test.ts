import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { json, startFlakyServer, type FlakyServer } from '../../support/flaky-server.ts';
import { place } from '../../support/github.ts';
import {
  commentsOn,
  commitAll,
  git,
  openPullRequest,
  pullRequestPayload,
  type StepEnded,
  type StepOptions,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

const page = `https://github.test/${place.owner}/${place.repo}`;

/** A gateway of an attacker: it must receive no request, because each has the token. */
let trap: FlakyServer;
let heard = 0;
beforeAll(async () => {
  trap = await startFlakyServer(json(200, {}));
});
beforeEach(() => {
  heard = trap.seen.length;
});
afterAll(() => trap.close());

/** A clone whose main branch is reviewed, with a branch whose config names the trap. */
function cloneWith(name: string, origin = page): { readonly cwd: string; readonly main: string; readonly topic: string } {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection(`${name}-main`) });
  const main = commitAll(cwd);
  git(cwd, ['remote', 'add', 'origin', origin]);
  git(cwd, `update-ref refs/remotes/origin/main ${main}`);
  git(cwd, 'checkout --quiet -b topic');
  writeFiles(cwd, { 'ostiary.yaml': config(trap.url), 'access/b.yaml': connection(`${name}-topic`) });
  const topic = commitAll(cwd, 'Topic');
  return { cwd, main, topic };
}

type Running = Partial<Omit<StepOptions, 'inputs'>> & Pick<StepOptions, 'cwd' | 'inputs'>;

function run({ env = {}, event = 'push', payload = {}, inputs, ...rest }: Running): Promise<StepEnded> {
  return bench.step({ event, payload, env: { ...gateway.env(), ...env }, inputs: { origin: 'false', ...inputs }, ...rest });
}

async function isOn(name: string): Promise<boolean> {
  return (await gateway.names('/connections')).includes(name);
}

const events: readonly (readonly [event: string, payload: object])[] = [
  ['workflow_run', { workflow_run: { head_sha: '1'.repeat(40) } }],
  ['event_of_next_year', {}],
];

test('a comment without the command plans nothing, whatever is checked out', async () => {
  const { cwd, main } = cloneWith('comment');
  const payload = { issue: { number: 1, pull_request: {} }, comment: { body: '/plan' } };
  const commented = { cwd, event: 'issue_comment', payload, env: { GITHUB_SHA: main } };
  expect(await run({ ...commented, inputs: { mode: 'apply' } })).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
  expect(await run({ ...commented, inputs: { mode: 'plan' } })).toMatchObject({ code: 0, outputs: { outcome: 'skipped' } });
  expect(trap.seen.length).toBe(heard);
});

describe.each(events)('%s with the checkout of a proposal', (event, payload) => {
  // security: push
  test('applies nothing, reports no drift, and plans with the config of the default branch', async () => {
    const { cwd, main } = cloneWith(event.replaceAll('_', '-'));
    // The run belongs to the default branch, and the workflow checked out something else.
    const onMain = { cwd, event, payload, env: { GITHUB_SHA: main } };
    for (const mode of ['apply', 'drift']) {
      const refused = await run({ ...onMain, inputs: { mode } });
      expect(refused).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
      expect(refused.summary).toMatch(/forge\/not-reviewed.*needs a commit of the default branch main/);
    }
    const planned = await run({ ...onMain, inputs: { mode: 'plan' } });
    expect(planned).toMatchObject({ code: 0, outputs: { outcome: 'planned', changed: 'true' } });
    expect(planned.summary).toContain('Changes its checks: ');
    expect(trap.seen.length).toBe(heard);
  });

  // security: reviewer
  test('applies a commit of the default branch', async () => {
    const name = `merged-${event.replaceAll('_', '-')}`;
    const { cwd, main } = cloneWith(name);
    git(cwd, 'checkout --quiet main');
    expect(await run({ cwd, event, payload, env: { GITHUB_SHA: main }, inputs: { mode: 'apply' } })).toMatchObject({ code: 0 });
    expect(await isOn(`${name}-main`)).toBe(true);
  });
});

test('a push to another branch applies only if config-ref names it', async () => {
  const { cwd } = cloneWith('release');
  writeFiles(cwd, { 'ostiary.yaml': config(gateway.url()) });
  const head = commitAll(cwd, 'Release');
  const pushed = { cwd, env: { GITHUB_REF: 'refs/heads/topic', GITHUB_SHA: head } };
  expect(await run({ ...pushed, inputs: { mode: 'apply' } })).toMatchObject({
    code: 3,
    summary: expect.stringMatching(/config-ref: .origin\/BRANCH/),
  });
  expect(await isOn('release-topic')).toBe(false);
  expect(await run({ ...pushed, inputs: { mode: 'apply', 'config-ref': 'topic' } })).toMatchObject({ code: 0 });
  expect(await isOn('release-topic')).toBe(true);
});

// security: fork
test('the default branch of a fork does not count as reviewed', async () => {
  const { cwd, main, topic } = cloneWith('forked', 'https://github.test/evil/access');
  git(cwd, `update-ref refs/remotes/origin/main ${topic}`);
  const dispatched = { cwd, event: 'repository_dispatch', env: { GITHUB_SHA: main } };
  expect(await run({ ...dispatched, inputs: { mode: 'apply' } })).toMatchObject({ code: 3 });
  expect(await run({ ...dispatched, inputs: { mode: 'plan' } })).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  const elsewhere = { ...dispatched, env: { GITHUB_SHA: topic, GITHUB_REF: 'refs/heads/topic' } };
  const unknown = await run({ ...elsewhere, inputs: { mode: 'plan' } });
  expect(unknown).toMatchObject({ code: 3, summary: expect.stringContaining('forge/not-reviewed') });
  expect(trap.seen.length).toBe(heard);
});

test('no tag or branch that a contributor pushes is the default branch, or that of config-ref', async () => {
  const { cwd, main, topic } = cloneWith('homonyms');
  const dispatched = { cwd, event: 'workflow_dispatch', env: { GITHUB_SHA: main } };
  for (const ref of ['refs/tags/origin/main', 'refs/heads/origin/main', 'refs/tags/main']) git(cwd, ['update-ref', ref, topic]);
  const planned = await run({ ...dispatched, inputs: { mode: 'plan' } });
  expect(planned).toMatchObject({ code: 0, summary: expect.stringContaining('Changes its checks: ') });
  for (const mode of ['plan', 'apply']) {
    const refused = await run({ ...dispatched, inputs: { mode, 'config-ref': 'origin/main' } });
    expect(refused).toMatchObject({ code: 3, summary: expect.stringMatching(/git\/ambiguous-name.*refs\/tags\/origin\/main/) });
  }
  const full = { mode: 'plan', 'config-ref': 'refs/remotes/origin/main' };
  expect(await run({ ...dispatched, inputs: full })).toMatchObject({ code: 0, summary: expect.stringContaining('Changes its checks: ') });
  // A job whose fetch of the branch failed.
  git(cwd, 'update-ref -d refs/remotes/origin/main');
  git(cwd, ['update-ref', 'refs/tags/refs/remotes/origin/main', topic]);
  const elsewhere = { ...dispatched, env: { GITHUB_SHA: topic, GITHUB_REF: 'refs/heads/topic' } };
  for (const inputs of [{ mode: 'apply' }, { mode: 'plan' }, { ...full }, { mode: 'apply', 'config-ref': 'origin/main' }])
    expect(await run({ ...elsewhere, inputs })).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
  expect(trap.seen.length).toBe(heard);
});

test('config-ref names no branch of a fork, whose author chose what it is', async () => {
  const { cwd, main, topic } = cloneWith('fork-names', 'https://github.test/evil/access');
  git(cwd, `update-ref refs/remotes/origin/release ${topic}`);
  const pull = await openPullRequest(bench.github(), 'fork-names');
  bench.github().useCommit(pull.head, topic);
  const payload = pullRequestPayload({ number: pull.number, head: topic, base: main, from: 'evil/access' });
  const onTarget = { cwd, event: 'pull_request_target', payload, env: { GITHUB_SHA: main } };
  for (const name of ['origin/release', 'topic', 'refs/remotes/origin/release', 'HEAD']) {
    const refused = await run({ ...onTarget, inputs: { mode: 'plan', 'config-ref': name } });
    expect(refused).toMatchObject({ code: 3, summary: expect.stringContaining('forge/not-reviewed') });
  }
  expect(await run({ ...onTarget, inputs: { mode: 'plan', 'config-ref': main } })).toMatchObject({ code: 0 });
  expect(trap.seen.length).toBe(heard);
});

// security: fork, proposal
test('a pull request for another branch is planned with the config of the default branch', async () => {
  const { cwd, topic } = cloneWith('stacked');
  git(cwd, 'checkout --quiet -b next');
  writeFiles(cwd, { 'access/c.yaml': connection('stacked-next') });
  const head = commitAll(cwd, 'Next');
  const pull = await openPullRequest(bench.github(), 'stacked');
  bench.github().useCommit(pull.head, head);
  const payload = pullRequestPayload({ number: pull.number, head, base: topic, into: 'topic' });
  const planned = await run({ cwd, event: 'pull_request', payload, inputs: { mode: 'plan' } });
  expect(planned).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  expect(trap.seen.length).toBe(heard);
  const [comment] = await commentsOn(bench.github(), pull.number);
  expect(comment?.body).toContain('Changes its checks: ');
  expect(comment?.body).toContain(`\n\n\`${gateway.url()}\`, `);
});

test('a checkout without the head of the pull request fails, and leaves its comment alone', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('target-a') });
  const base = commitAll(cwd);
  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  git(cwd, 'checkout --quiet -b topic');
  writeFiles(cwd, { 'access/b.yaml': connection('target-b') });
  const head = commitAll(cwd, 'Topic');
  const pull = await openPullRequest(bench.github(), 'target');
  bench.github().useCommit(pull.head, head);
  const payload = pullRequestPayload({ number: pull.number, head, base });
  const onTarget = { cwd, event: 'pull_request_target', payload, env: { GITHUB_SHA: base } };
  expect(await run({ ...onTarget, inputs: { mode: 'plan' } })).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  const before = await commentsOn(bench.github(), pull.number);
  expect(before).toEqual([expect.objectContaining({ body: expect.stringContaining(' 1 to create') })]);

  // The default checkout of pull_request_target is the target branch; a shallow one does not even have the commit.
  git(cwd, 'checkout --quiet main');
  for (const mode of ['plan', 'validate']) {
    const failed = await run({ ...onTarget, inputs: mode === 'plan' ? { mode } : { mode, origin: '' } });
    expect(failed).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
    expect(failed.stdout).toMatch(/^::error title=forge\/other-checkout::/m);
    expect(failed.summary).toContain(`refs/pull/${pull.number}/merge`);
  }
  expect(await commentsOn(bench.github(), pull.number)).toEqual(before);

  // The test merge of a shallow clone names the head as its parent.
  git(cwd, ['merge', '--quiet', '--no-ff', '--message=Test merge', 'topic']);
  const shallow = makeProject({});
  git(shallow, `clone --quiet --depth=1 file://${cwd} .`);
  expect(await run({ ...onTarget, cwd: shallow, inputs: { mode: 'validate', origin: '' } })).toMatchObject({ code: 0 });
  expect(await run({ ...onTarget, inputs: { mode: 'plan' } })).toMatchObject({ code: 0 });
  expect(await commentsOn(bench.github(), pull.number)).toHaveLength(1);
});

// security: push
describe('two checkouts in one job, main in the workspace', () => {
  const clone = 'clone --quiet --no-local';

  /** A workspace with main, and the branch of a pull request in `pr/`, which names the trap. */
  function twoCheckouts(name: string, how: 'clone' | 'worktree' | 'link' | 'files' | 'bare workspace'): { readonly cwd: string } {
    const { cwd, topic } = cloneWith(name);
    git(cwd, 'checkout --quiet main');
    if (how === 'worktree') git(cwd, ['worktree', 'add', '--quiet', 'pr', topic]);
    else git(cwd, [...clone.split(' '), '--branch=topic', `file://${cwd}`, 'pr']);
    const inside = join(cwd, 'pr');
    if (how !== 'worktree') git(inside, ['remote', 'set-url', 'origin', page]);
    if (how === 'files') rmSync(join(inside, '.git'), { recursive: true });
    if (how === 'bare workspace') rmSync(join(cwd, '.git'), { recursive: true });
    if (how === 'link') {
      symlinkSync('pr/ostiary.yaml', join(cwd, 'linked.yaml'));
      commitAll(cwd, 'A link');
      git(cwd, 'update-ref refs/remotes/origin/main HEAD');
    }
    return { cwd };
  }

  const layouts = [
    ['clone', 'pr/ostiary.yaml', 'config/other-checkout'],
    ['worktree', 'pr/ostiary.yaml', 'config/other-checkout'],
    ['link', 'linked.yaml', 'config/other-checkout'],
    ['bare workspace', 'pr/ostiary.yaml', 'config/other-checkout'],
    // Without its .git the folder is part of the workspace, and no commit has the file.
    ['files', 'pr/ostiary.yaml', 'forge/not-reviewed'],
  ] as const;

  test.each(layouts)('the config of the pull request (%s) decides nothing about main', async (how, file, code) => {
    const { cwd } = twoCheckouts(`two-${how.replace(' ', '-')}`, how);
    for (const mode of ['apply', 'drift']) {
      const refused = await run({ cwd, inputs: { mode, config: file } });
      expect(refused).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
      expect(refused.stdout).toContain(code);
    }
    await run({ cwd, inputs: { mode: 'plan', config: file } });
    expect(trap.seen.length).toBe(heard);
  });

  // security: apply-token
  test('a config that was edited in the workspace is a proposal', async () => {
    const { cwd } = cloneWith('two-edited');
    git(cwd, 'checkout --quiet main');
    git(cwd, 'checkout topic -- ostiary.yaml');
    const refused = await run({ cwd, inputs: { mode: 'apply' } });
    expect(refused).toMatchObject({ code: 3, summary: expect.stringMatching(/forge\/not-reviewed.*ostiary\.yaml.*differs from commit/) });
    const planned = await run({ cwd, inputs: { mode: 'plan' } });
    expect(planned).toMatchObject({ code: 0, summary: expect.stringContaining('Changes its checks: ') });
    expect(trap.seen.length).toBe(heard);
  });

  test('on the command line, --config-ref names a commit of the working directory', async () => {
    const { cwd } = twoCheckouts('two-command', 'clone');
    git(join(cwd, 'pr'), 'update-ref refs/remotes/origin/main HEAD');
    const refused = await gateway.run('plan --config pr/ostiary.yaml --config-ref origin/main --no-origin', cwd);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringMatching(/config\/other-checkout[^]*working directory/) });
    expect(trap.seen.length).toBe(heard);
    const beside = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('two-beside') });
    expect(await gateway.run(`plan --config ${join(beside, 'ostiary.yaml')}`, cwd)).toMatchObject({ code: 0 });
  });
});

// security: proposal
test('a pull request that accepts drift does not choose the gateway whose audit log its plan reads', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('audited', { reviewers: ['dba'] }) });
  commitAll(cwd);
  expect(await gateway.run('apply --yes --only Connection/audited', cwd)).toMatchObject({ code: 0 });
  const { body } = await gateway.call('GET', '/connections/audited');
  expect(await gateway.call('PUT', '/connections/audited', { body: { ...body, reviewers: [] } })).toMatchObject({ status: 200 });
  git(cwd, 'checkout --quiet -b topic');
  writeFiles(cwd, { 'ostiary.yaml': config(trap.url), 'access/a.yaml': connection('audited') });
  commitAll(cwd, 'Topic');
  const planned = await gateway.run('plan --config-ref main --base main --no-origin', cwd);
  expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/already has the change \(changed outside Ostiary/) });
  expect(trap.seen.length).toBe(heard);
});
