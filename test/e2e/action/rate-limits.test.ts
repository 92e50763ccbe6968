import { expect, test } from 'vitest';
import type { Reply } from '../../support/actions-cache.ts';
import { commentsOn, commitAll, mergePullRequest, openPullRequest, pullRequestPayload, type StepEnded } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

/** Refuses requests that write comments, as often as there are replies; the last one is repeated if it has to be. */
function limit(replies: readonly Reply[], isRepeated = false): void {
  let at = 0;
  bench.github().intercept(({ method, path }) => {
    if (method !== 'POST' || !path.endsWith('/comments')) return undefined;
    at += 1;
    return replies[at - 1] ?? (isRepeated ? replies.at(-1) : undefined);
  });
}

const limited = (status: number, message: string, headers: Readonly<Record<string, string>>): Reply => ({
  status,
  body: { message },
  headers,
});
const soon = (seconds: number): string => String(Math.ceil(Date.now() / 1000) + seconds);
const retryAfter = (seconds: number): Reply => limited(429, 'Too many requests', { 'retry-after': String(seconds) });
const primary = (seconds: number): Reply =>
  limited(403, 'API rate limit exceeded for installation', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon(seconds) });
const secondary = limited(403, 'You have exceeded a secondary rate limit', {});

type Story = { readonly ended: StepEnded; readonly waits: readonly number[]; readonly comments: readonly string[] };

async function planned(name: string, settings: string, inputs: Readonly<Record<string, string>> = {}): Promise<Story> {
  const cwd = makeProject({ 'ostiary.yaml': settings });
  const base = commitAll(cwd);
  writeFiles(cwd, { 'access/a.yaml': connection(name) });
  commitAll(cwd);
  const pull = await openPullRequest(bench.github(), name);
  const waits: number[] = [];
  const ended = await bench.step({
    cwd,
    event: 'pull_request',
    payload: pullRequestPayload({ ...pull, base }),
    inputs: { mode: 'plan', ...inputs },
    env: gateway.env(),
    onWait: (milliseconds) => void waits.push(Math.round(milliseconds / 1000)),
  });
  bench.github().intercept(undefined);
  return { ended, waits, comments: (await commentsOn(bench.github(), pull.number)).map(({ body }) => body) };
}

test.each<readonly [string, () => Reply, number]>([
  ['Retry-After: 90', () => retryAfter(90), 90],
  ['the reset of the primary limit', () => primary(120), 120],
  ['a secondary limit without a time', () => secondary, 60],
])('waits for %s, then comments', async (name, reply, seconds) => {
  limit([reply()]);
  const { ended, waits, comments } = await planned(`limit-${seconds}`, config(gateway.url()));
  expect([name, ended.code, waits.length, comments.length]).toEqual([name, 0, 1, 1]);
  expect(Math.abs((waits[0] ?? 0) - seconds)).toBeLessThan(30);
  expect(ended.summary).not.toContain('rate-limited');
});

test.each<readonly [string, Reply, readonly number[]]>([
  ['an hour', retryAfter(3600), []],
  ['90 seconds each time', retryAfter(90), [90, 90]],
])('a limit of %s is reported on the job with what is missing, and never fails the step', async (name, reply, expected) => {
  limit([reply], true);
  const { ended, waits, comments } = await planned(`limited-${expected.length}`, config(gateway.url()));
  expect([name, ended.code, ended.outputs['outcome'], waits, comments]).toEqual([name, 0, 'planned', expected, []]);
  expect(ended.summary).toMatch(
    /warning `forge\/rate-limited` the comment on pull request \d+ was not written: POST .*429 Too many requests.*run the job again later/,
  );
  expect(ended.summary).toContain('### Plan for `production`');
  expect(ended.stdout).toMatch(/^::warning title=forge\/rate-limited::the comment on pull request \d+ was not written/m);
});

test('a job never waits more than five minutes in all, however many targets it has', async () => {
  limit([retryAfter(120)], true);
  const settings = config({ one: gateway.url(), two: gateway.url(), three: gateway.url() });
  const { ended, waits, comments } = await planned('limited-fleet', settings, { 'all-targets': 'true' });
  expect([ended.code, waits, comments]).toEqual([0, [120, 120], []]);
  expect(ended.summary.match(/warning `forge\/rate-limited` the comment on pull request \d+ was not written/g)).toHaveLength(3);
});

test('after an apply the job names every pull request without its outcome; the writes stay', async () => {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()) });
  commitAll(cwd);
  writeFiles(cwd, { 'access/a.yaml': connection('limited-apply') });
  commitAll(cwd);
  const { number } = await openPullRequest(bench.github(), 'limited-apply');
  const commit = await mergePullRequest(bench.github(), number);
  limit([retryAfter(3600)], true);
  const env = { ...gateway.env(), GITHUB_SHA: commit };
  const ended = await bench.step({ cwd, event: 'push', payload: { after: commit }, inputs: { mode: 'apply' }, env });
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'applied' } });
  expect(ended.summary).toMatch(new RegExp(`forge/rate-limited. the comment on pull request ${number} was not written`));
  expect(await gateway.names('/connections')).toContain('limited-apply');
});
