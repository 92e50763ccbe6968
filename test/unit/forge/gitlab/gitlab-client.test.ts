import { expect, onTestFinished, test } from 'vitest';
import type { Forge } from '../../../../src/forge/forge.ts';
import { openGitLab } from '../../../../src/forge/gitlab/gitlab-client.ts';
import { withoutQuickActions } from '../../../../src/forge/gitlab/quick-actions.ts';
import { json, reset, startFlakyServer, text, type FlakyServer, type Reply } from '../../../support/flaky-server.ts';
import { wrongParameters } from '../../../support/gitlab-endpoints.ts';

async function server(reply: Reply): Promise<FlakyServer> {
  const started = await startFlakyServer(reply);
  onTestFinished(() => started.close());
  return started;
}

const token = 'glpat-canary';

function gitLabAt({ url }: FlakyServer): Forge {
  const addresses = { apiUrl: `${url}/api/v4`, graphqlUrl: `${url}/api/graphql` };
  return openGitLab({ ...addresses, project: '42', token, version: '0.0.0', sleep: () => Promise.resolve() });
}

const note = (id: number, more: object = {}): object => ({ id, body: `text ${id}`, author: { username: 'bot' }, system: false, ...more });

test('notes come from every page, without those of GitLab itself', async () => {
  const there: FlakyServer = await server((response, seen) => {
    const next = { link: `<${there.url}/api/v4/projects/42/merge_requests/7/notes?page=2>; rel="next", <${there.url}/x>; rel="last"` };
    if (seen.path.includes('page=2')) json(200, [note(3)])(response, seen);
    else json(200, [note(1), note(2, { system: true })], next)(response, seen);
  });
  expect((await gitLabAt(there).comments(7)).map(({ id }) => id)).toEqual([1, 3]);
  expect(there.seen[0]).toMatchObject({ headers: { authorization: `Bearer ${token}` } });
});

test.each<readonly [string, Reply, string, number]>([
  ['a page of a proxy', text(200, '<html>Sign in</html>'), 'forge/unexpected-answer', 1],
  ['an object where a list belongs', json(200, { message: 'hello' }), 'forge/unexpected-answer', 1],
  ['a list of something else', json(200, [null]), 'forge/unexpected-answer', 1],
  ['an outage', json(502, {}), 'forge/unreachable', 3],
  ['a reset', reset, 'forge/unreachable', 3],
  ['a missing role', json(403, { message: '403 Forbidden' }), 'forge/forbidden', 1],
  ['too many requests', json(429, {}), 'forge/rate-limited', 3],
  ['another refusal', json(400, { message: { body: ['is too long'] } }), 'forge/refused', 1],
])('%s is no note, and no lack of notes', async (_, reply, code, requests) => {
  const there = await server(reply);
  await expect(gitLabAt(there).comments(7)).rejects.toMatchObject({ code });
  expect(there.seen).toHaveLength(requests);
});

test('no request goes to another server, whatever a redirect or a link contains', async () => {
  const other = await server(json(200, []));
  const moved = await server((response) => void response.writeHead(302, { location: `${other.url}/api/v4/user` }).end());
  await expect(gitLabAt(moved).whoAmI()).rejects.toMatchObject({ code: 'forge/unreachable' });
  const linked = await server(json(200, [note(1)], { link: `<${other.url}/notes>; rel="next"` }));
  await expect(gitLabAt(linked).comments(7)).rejects.toMatchObject({ code: 'forge/unreachable' });
  expect(other.seen).toEqual([]);
});

test.each([
  ['a merge commit', { merge_commit_sha: 'a', squash_commit_sha: 'b' }, 'a'],
  ['a squash without a merge commit', { merge_commit_sha: null, squash_commit_sha: 'b' }, 'b'],
  ['a fast-forward', { merge_commit_sha: null, squash_commit_sha: null }, 'head'],
])('the commit of a merge is found: %s', async (_, commits, mergeCommit) => {
  const one = {
    iid: 7,
    author: { username: 'ada' },
    state: 'merged',
    sha: 'head',
    target_branch: 'main',
    target_project_id: 42,
    ...commits,
  };
  // A commit is also in merge requests of forks.
  const there = await server(json(200, [one, { ...one, iid: 8, target_project_id: 43 }]));
  expect(await gitLabAt(there).pullRequestsOf('a'.repeat(40))).toEqual([expect.objectContaining({ number: 7, merged: true, mergeCommit })]);
});

test('no line of a text begins with a slash, in code and indented', () => {
  const body = ['/merge', 'a /merge', '````', '```', '  /approve', '````', '\t/close', '- /label'].join('\n');
  const written = withoutQuickActions(body);
  expect(written.split('\n').filter((line) => /^\s*\//.test(line))).toEqual([]);
  expect(written.replaceAll('\u{2060}', '')).toBe(body);
});

test('the emulated GitLab finds parameters that the documented one does not accept, or requires', () => {
  const wrong = wrongParameters('PUT /projects/:id/issues/:iid', { state_event: 'closed', body: 'text', title: 'Drift' });
  expect(wrong).toEqual([expect.stringMatching(/: state_event=closed$/), expect.stringMatching(/: body=text$/)]);
  expect(wrongParameters('POST /projects/:id/merge_requests', { title: 'Adopt', source_branch: 'a', labels: 'drift' })).toEqual([
    'POST /projects/:id/merge_requests: target_branch is missing',
  ]);
});
