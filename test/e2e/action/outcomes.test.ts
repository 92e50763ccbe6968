import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { type ChaosEffect, createGate } from '../../support/chaos.ts';
import type { Running } from '../../support/cli.ts';
import { startFlakyServer, json } from '../../support/flaky-server.ts';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pushToOrigin,
  type StepEnded,
  type StepOptions,
} from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, manyConnections, useProjects, writeFiles, type Files } from '../project.ts';

let chaos: ChaosEffect | undefined;
const gateway = useGateway({ chaos: ({ method }) => (method === 'GET' ? undefined : chaos) });
const makeProject = useProjects();
const bench = useAction(makeProject);
afterEach(() => {
  chaos = undefined;
});

function push(cwd: string, more: Partial<StepOptions> = {}): Promise<StepEnded> {
  const run = more.onStart === undefined ? bench.step : bench.bundled;
  return run({ cwd, event: 'push', payload: {}, inputs: { mode: 'apply' }, env: gateway.env(), ...more });
}

/** A clone whose commits are on origin's main branch. */
function clone(files: Files): string {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
  commitAll(cwd);
  pushToOrigin(cwd, makeProject({}));
  return cwd;
}

/** Commits files as the merge of a new pull request, and returns its number. */
async function merge(cwd: string, branch: string, files: Files): Promise<number> {
  writeFiles(cwd, files);
  const commit = commitAll(cwd, branch);
  git(cwd, 'push --quiet origin main');
  const { number } = await openPullRequest(bench.github(), branch);
  bench.github().useCommit(await mergePullRequest(bench.github(), number), commit);
  return number;
}

async function onlyCommentOn(number: number): Promise<string> {
  const [comment, ...others] = await commentsOn(bench.github(), number);
  expect(others).toEqual([]);
  return comment?.body ?? '';
}

test('every pull request since the last apply learns the outcome; a later success follows on a failure', async () => {
  const cwd = clone({ 'access/a.yaml': connection('since-a') });
  expect((await push(cwd)).code).toBe(0);
  const first = await merge(cwd, 'since-first', { 'access/b.yaml': connection('since-b') });
  const broken = { ...gateway.env(), OSTIARY_TOKEN: 'wrong' };
  expect(await push(cwd, { env: { ...broken, GITHUB_RUN_ID: '1' } })).toMatchObject({ code: 4, outputs: { outcome: 'unreachable' } });
  expect(await onlyCommentOn(first)).toContain('Not applied');
  // The run of the second merge is replaced by that of the third one.
  const second = await merge(cwd, 'since-second', { 'access/c.yaml': connection('since-c') });
  const third = await merge(cwd, 'since-third', { 'access/d.yaml': connection('since-d') });
  expect(await push(cwd, { env: { ...gateway.env(), GITHUB_RUN_ID: '3' } })).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  for (const number of [first, second, third]) expect(await onlyCommentOn(number)).toContain(': 3 created.');
  // A later merge concerns none of them.
  const fourth = await merge(cwd, 'since-fourth', { 'access/e.yaml': connection('since-e') });
  expect((await push(cwd, { env: { ...gateway.env(), GITHUB_RUN_ID: '4' } })).code).toBe(0);
  expect(await onlyCommentOn(fourth)).toContain(': 1 created.');
  expect(await onlyCommentOn(third)).toContain(': 3 created.');
});

test('a repeated run reports what it did, and one that has nothing to do leaves that', async () => {
  const { url } = gateway.server();
  let isBroken = true;
  const before = await startFlakyServer((response, seen) => {
    if (isBroken && seen.method === 'POST' && seen.body.includes('"retry-b"')) json(422, { message: 'not this one' })(response, seen);
    else {
      const headers = { authorization: seen.headers.authorization ?? '', 'content-type': 'application/json' };
      const body = seen.body === '' ? {} : { body: seen.body };
      void (async () => {
        const answer = await fetch(`${url}${seen.path}`, { method: seen.method, headers, ...body });
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(await answer.text());
      })();
    }
  });
  const cwd = clone({ 'ostiary.yaml': config(before.url) });
  const number = await merge(cwd, 'retry', { 'access/a.yaml': connection('retry-a'), 'access/b.yaml': connection('retry-b') });
  expect(await push(cwd)).toMatchObject({ code: 5, outputs: { outcome: 'unfinished' } });
  isBroken = false;
  for (const attempt of ['2', '2']) {
    const again = await push(cwd, { env: { ...gateway.env(), GITHUB_RUN_ATTEMPT: attempt } });
    expect(again).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  }
  await before.close();
  const body = await onlyCommentOn(number);
  expect(body).toContain('/actions/runs/4711/attempts/2');
  expect(body).toContain(': 1 created.');
});

/** Returns the signals that a process has not taken yet, as bits. */
function pendingSignals(running: Running | undefined): number {
  const [, bits = ''] = /^ShdPnd:\s*(\w+)$/m.exec(readFileSync(`/proc/${running?.child.pid}/status`, 'utf8')) ?? [];
  return Number.parseInt(bits, 16);
}

test('a canceled job counts every interrupted change, and reports in spite of the second signal', async () => {
  const gate = createGate();
  chaos = { until: gate.passed };
  const cwd = clone(manyConnections('cancel', 60));
  const number = await merge(cwd, 'canceled', { 'README.md': 'Sixty connections' });
  const before = bench.github().heard.length;
  const starting = createGate();
  let running: Running | undefined;
  const ending = push(cwd, {
    onStart(started) {
      running = started;
      starting.open();
    },
  });
  await starting.passed;
  const output = (): string => Object.values(running?.printed() ?? {}).join('');
  // The plan is printed before the first write.
  await expect.poll(output).toContain('60 to create');
  running?.child.kill('SIGINT');
  await expect.poll(() => pendingSignals(running)).toBe(0);
  running?.child.kill('SIGTERM');
  gate.open();
  const ended = await ending;
  expect(ended).toMatchObject({ code: 5, outputs: { outcome: 'unfinished' } });
  const counts = JSON.parse(ended.outputs['counts'] ?? '{}');
  expect(counts.interrupted).toBeGreaterThan(40);
  expect(counts.created + counts.interrupted).toBe(60);
  const text = `${counts.interrupted} not started. Interrupted: plan and apply again to finish.`;
  expect(await onlyCommentOn(number)).toContain(text);
  expect(ended.summary).toContain(text);
  expect(bench.github().heard.length).toBeGreaterThan(before);
});
