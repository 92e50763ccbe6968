import { expect, onTestFinished, test } from 'vitest';
import { AppError } from '../../../../src/model/errors.ts';
import type { Forge } from '../../../../src/forge/forge.ts';
import { openGitHub } from '../../../../src/forge/github/github-client.ts';
import { json, reset, silence, stall, startFlakyServer, text, type FlakyServer, type Reply } from '../../../support/flaky-server.ts';

async function server(replies: readonly Reply[] | Reply): Promise<FlakyServer> {
  const started = await startFlakyServer(replies);
  onTestFinished(() => started.close());
  return started;
}

const token = 'ghs_canary-of-the-job';

function gitHubAt({ url }: FlakyServer, timeoutMs = 60_000): Forge {
  return openGitHub({
    owner: 'octo',
    repo: 'access',
    token,
    apiUrl: url,
    graphqlUrl: `${url}/graphql`,
    version: '0.0.0',
    sleep: () => Promise.resolve(),
    timeoutMs,
  });
}

const comment = (id: number): object => ({ id, node_id: `node-${id}`, user: { login: 'octo' }, body: `text ${id}` });
const stalled = stall('[');
const page = text(200, '<html>Sign in</html>');
const broken: Reply = (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":');

test.each<readonly [string, Reply, string, number]>([
  ['a page of a proxy', page, 'forge/unexpected-answer', 1],
  ['JSON that ends early', broken, 'forge/unexpected-answer', 1],
  ['nothing', (response) => void response.writeHead(204).end(), 'forge/unexpected-answer', 1],
  ['null', json(200, null), 'forge/unexpected-answer', 1],
  ['a list of something else', json(200, [null]), 'forge/unexpected-answer', 1],
  ['an object where a list belongs', json(200, { message: 'hello' }), 'forge/unexpected-answer', 1],
  ['a page of a proxy that failed', text(502, '<html>Bad gateway</html>'), 'forge/unreachable', 3],
  ['a reset', reset, 'forge/unreachable', 3],
  ['silence', silence, 'forge/unreachable', 3],
  ['an answer that stops in the middle', stalled, 'forge/unreachable', 3],
  ['a circle', (response) => void response.writeHead(301, { location: '/again' }).end(), 'forge/unreachable', 18],
  ['404, as for a private repository', json(404, { message: 'Not Found' }), 'forge/forbidden', 1],
  ['403', json(403, { message: 'Resource not accessible by integration' }), 'forge/forbidden', 1],
  ['403 for too much', json(403, { message: 'You have exceeded a secondary rate limit.' }), 'forge/rate-limited', 3],
])('%s is no comment, and no lack of comments', async (_, reply, code, requests) => {
  const there = await server(reply);
  await expect(gitHubAt(there, [silence, stalled].includes(reply) ? 500 : undefined).comments(7)).rejects.toMatchObject({ code });
  expect(there.seen).toHaveLength(requests);
});

/** Two pages of comments; asking for the second one fails so often. */
async function pages(failing: number): Promise<FlakyServer> {
  let failed = 0;
  const there: FlakyServer = await server((response, seen) => {
    const next = { link: `<${there.url}/repos/octo/access/issues/7/comments?page=2>; rel="next"` };
    if (!seen.path.includes('page=2')) json(200, [comment(1)], next)(response, seen);
    else if (failed < failing) {
      failed += 1;
      json(500, { message: 'Server Error' })(response, seen);
    } else json(200, [comment(2)])(response, seen);
  });
  return there;
}

test('a page that fails once is read again, and one that keeps failing is given up', async () => {
  expect(await gitHubAt(await pages(1)).comments(7)).toMatchObject([{ id: 1 }, { id: 2 }]);
  await expect(gitHubAt(await pages(9)).comments(7)).rejects.toMatchObject({ code: 'forge/unreachable' });
});

test('no request goes to another server, whatever a redirect or a link contains', async () => {
  const elsewhere = await server(json(200, [comment(1)]));
  const to = `${elsewhere.url}/repos`;
  for (const reply of [
    (response: Parameters<Reply>[0]) => void response.writeHead(307, { location: to }).end(),
    json(200, [comment(1)], { link: `<${to}>; rel="next"` }),
  ]) {
    const there = await server(reply);
    await expect(gitHubAt(there).comments(7)).rejects.toMatchObject({
      code: 'forge/unreachable',
      message: expect.stringContaining(elsewhere.url),
    });
    await expect(
      gitHubAt(await server(reply))
        .createComment(7, 'body')
        .then(() => gitHubAt(there).comments(7)),
    ).rejects.toMatchObject({
      code: 'forge/unreachable',
    });
  }
  expect(elsewhere.seen).toEqual([]);
});

test('a repository that was renamed is followed on the same server, with method, body and token', async () => {
  const there = await server((response, seen) => {
    if (seen.path.startsWith('/repositories/')) json(201, comment(1))(response, seen);
    else response.writeHead(307, { location: '/repositories/1/issues/7/comments' }).end();
  });
  await gitHubAt(there).createComment(7, 'hello');
  expect(there.seen.at(-1)).toMatchObject({ method: 'POST', headers: { authorization: `token ${token}` }, body: '{"body":"hello"}' });
});

test.each<readonly [string, (github: Forge) => Promise<unknown> | undefined, unknown]>([
  ['a pull request', (github) => github.pullRequest(7), {}],
  ['a pull request without a branch', (github) => github.pullRequest(7), { number: 7, head: null, base: {} }],
  ['pull requests of a commit', (github) => github.pullRequestsOf('a'.repeat(40)), {}],
  ['issues', (github) => github.labeledIssues('drift'), [{ number: 'seven' }]],
  ['an issue that was made', (github) => github.openIssue({ title: 'a', body: 'b', labels: ['c'], assignees: [] }), {}],
  ['a deployment', (github) => github.deployments?.deployment('a'.repeat(40), 'production'), [{}]],
  ['a deployment that was made', (github) => github.deployments?.deployment('a'.repeat(40), 'production'), { message: 'queued' }],
])('%s that is none ends in words', async (_, ask, body) => {
  await expect(ask(gitHubAt(await server(json(200, body))))).rejects.toMatchObject({
    code: expect.stringMatching(/^forge\/(?:unexpected-answer|refused)$/),
  });
});

/** A client that records its waits. */
function waitingAt({ url }: FlakyServer): { readonly github: Forge; readonly waits: readonly number[] } {
  const waits: number[] = [];
  const sleep = (milliseconds: number): Promise<void> => Promise.resolve(void waits.push(milliseconds));
  const place = { owner: 'octo', repo: 'access', token, apiUrl: url, graphqlUrl: `${url}/graphql`, version: '0.0.0' };
  return { github: openGitHub({ ...place, sleep }), waits };
}

const soon = (seconds: number): string => String(Math.ceil(Date.now() / 1000) + seconds);

test.each<readonly [string, Readonly<Record<string, string>>, number | undefined]>([
  ['Retry-After: 90', { 'retry-after': '90' }, 90_000],
  ['Retry-After: 299', { 'retry-after': '299' }, 299_000],
  ['Retry-After: 301', { 'retry-after': '301' }, undefined],
  ['a reset in two minutes', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon(120) }, 120_000],
  ['a reset in an hour', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon(3600) }, undefined],
])('waits out a rate limit within its bound: %s', async (_, headers, wait) => {
  const there = await server([json(403, { message: 'API rate limit exceeded' }, headers), json(200, [comment(1)])]);
  const { github, waits } = waitingAt(there);
  const ended = await github.comments(7).then(
    () => 'read',
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );
  expect(ended).toBe(wait === undefined ? 'forge/rate-limited' : 'read');
  expect(waits).toHaveLength(wait === undefined ? 0 : 1);
  expect(Math.abs((waits[0] ?? 0) - (wait ?? 0))).toBeLessThan(60_000);
});

test('all waits together have a bound', async () => {
  const there = await server(json(403, { message: 'secondary rate limit' }, { 'retry-after': '120' }));
  const { github, waits } = waitingAt(there);
  for (const number of [7, 8, 9]) await expect(github.comments(number)).rejects.toMatchObject({ code: 'forge/rate-limited' });
  expect(waits).toEqual([120_000, 120_000]);
});

test.each([
  ['Unable to create comment because issue is locked.', /conversation is locked: unlock it/],
  ['GitHub Actions is not permitted to create or approve pull requests.', /settings of the repository and of its organization/],
  ['Resource not accessible by integration', /permissions listed in docs\/how-to\/github\.md/],
])('names the cause of %s', async (message, hint) => {
  const there = await server(json(403, { message }));
  await expect(gitHubAt(there).createComment(7, 'hello')).rejects.toMatchObject({
    message: expect.stringContaining('POST /repos/octo/access/issues/7/comments: 403'),
    hint: expect.stringMatching(hint),
  });
});
