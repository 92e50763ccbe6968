import { Octokit } from '@octokit/rest';
import type { ForgeOptions } from '../forge/ci-system.ts';
import type { Comment, Forge, SendRequest } from '../forge/forge.ts';
import { AppError } from '../model/errors.ts';
import { asObject, asText, isObject, type JsonObject } from '../model/json.ts';
import {
  createPullRequestCalls,
  listIn,
  loginIn,
  numberIn,
  objectIn,
  readIfShown,
  textIn,
  throwUnexpected,
  createIssueCalls,
  type RepositoryName,
} from './calls.ts';
import { type FailedAnswer, failedAnswerOf } from './failed-answer.ts';

/** The wait after a rate limit without a time, and the longest that a job waits for GitHub in all, in milliseconds. */
const usualWait = 60_000;
const longestWait = 300_000;
const repeatable = new Set(['GET', 'PATCH', 'PUT', 'DELETE']);

/** Returns the milliseconds to wait before a request is sent again; undefined if it must not be repeated. */
function retryDelay(error: unknown, method: string, attempt: number): number | undefined {
  const answer = failedAnswerOf(error);
  if (answer === undefined) return undefined;
  if (answer.status >= 500) return repeatable.has(method) ? 250 * 2 ** attempt : undefined;
  const wait = rateLimitWait(answer);
  return wait === undefined || wait > longestWait ? undefined : wait;
}

/** Refusals that no permission of the job changes. */
const knownCauses: readonly { readonly matches: RegExp; readonly hint: string }[] = [
  { matches: /\blocked\b/i, hint: 'the conversation is locked: unlock it, then run the job again' },
  {
    matches: /not permitted to create or approve pull requests/i,
    hint: 'allow it in the settings of the repository and of its organization (Actions, General), or pass the token of an app as github-token',
  },
  { matches: /issues (?:has been|are) disabled/i, hint: 'enable issues in the settings of the repository, or write issue: false' },
];

/** Converts a failed request into an AppError with a hint; returns any other error unchanged. */
function githubError(error: unknown, request: string): unknown {
  const answer = failedAnswerOf(error);
  if (answer === undefined) return error;
  const { status, headers } = answer;
  const message = headers === undefined ? `${request}: no answer: ${answer.message}` : `${request}: ${status} ${answer.message}`;
  const failure = (code: AppError['code'], hint: string): AppError => new AppError(code, 4, message, { cause: error, hint });
  if (rateLimitWait(answer) !== undefined)
    return failure('github/rate-limited', 'the rate limit of this token is reached; run the job again later');
  const cause = knownCauses.find(({ matches }) => matches.test(answer.message));
  if (cause !== undefined) return failure('github/refused', cause.hint);
  if (status === 401 || status === 403 || status === 404)
    return failure('github/forbidden', 'grant the job the permissions listed in docs/how-to/github.md');
  if (status >= 500) return failure('github/unreachable', 'the result of the run is valid; run the job again to post the missing comments');
  return failure('github/refused', 'see the message of GitHub');
}

/** Returns the milliseconds of a rate limit: `retry-after`, the time until the reset, infinity or the usual wait; undefined if there is no rate limit. */
function rateLimitWait({ status, message, headers = {} }: FailedAnswer): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = headers['retry-after'];
  if (typeof after === 'string' && /^\d{1,9}$/.test(after)) return Number(after) * 1000;
  const reset = headers['x-ratelimit-reset'];
  if (headers['x-ratelimit-remaining'] === '0')
    return typeof reset === 'string' && /^\d{1,12}$/.test(reset)
      ? Math.max(1000, Number(reset) * 1000 - Date.now())
      : Number.POSITIVE_INFINITY;
  return status === 429 || /secondary rate limit/i.test(message) ? usualWait : undefined;
}

type GitHubOptions = RepositoryName & ForgeOptions & { readonly apiUrl: string; readonly graphqlUrl: string };

const attempts = 3;

/** Creates a client for one repository; it waits out short rate limits and repeats requests that GitHub itself failed. */
export function openGitHub(options: GitHubOptions): Forge {
  const {
    owner,
    repo,
    token,
    apiUrl,
    graphqlUrl,
    version,
    sleep,
    waits = { waited: 0 },
    timeoutMs: patience = 30_000,
    send = fetch,
  } = options;
  const octokit = new Octokit({
    auth: token,
    baseUrl: apiUrl,
    userAgent: `ostiary/${version}`,
    // Not in the hook below: changes that a hook makes to a request do not reach earlier hooks.
    request: { fetch: fetchWithin([apiUrl, graphqlUrl], patience, send) },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
  const place = { owner, repo };
  const asked = async (query: string, variables: JsonObject = {}): Promise<JsonObject> => {
    const { data } = await octokit.request<'POST /graphql'>({ method: 'POST', url: graphqlUrl, query, variables });
    const answer = isObject(data) ? data['data'] : undefined;
    return asObject(answer);
  };
  octokit.hook.wrap('request', async (request, asking) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await request(asking);
        return isObject(answer.data) || Array.isArray(answer.data) ? answer : throwUnexpected('JSON');
      } catch (error) {
        const wait = attempt < attempts ? retryDelay(error, asking.method, attempt) : undefined;
        if (wait === undefined || waits.waited + wait > longestWait)
          throw githubError(error, `${asking.method} ${new URL(octokit.request.endpoint(asking).url).pathname}`);
        waits.waited += wait;
        await sleep(wait);
      }
    }
  });
  return {
    ...createIssueCalls(octokit, place),
    ...createPullRequestCalls(octokit, place),
    async whoAmI() {
      // GitHub refuses /user for the tokens of jobs and apps.
      return loginOf(await asked('query { viewer { login } }'), 'viewer') ?? throwMissing('whose token this is');
    },
    async mayWrite(username) {
      const { data } = await octokit.repos.getCollaboratorPermissionLevel({ ...place, username });
      return ['admin', 'write'].includes(textIn(objectIn(data, 'a permission'), 'permission', 'a permission'));
    },
    async commitAuthors(commit) {
      const answer = await readIfShown(() => octokit.repos.getCommit({ ...place, ref: commit }));
      if (answer === undefined) return undefined;
      const { author, committer } = objectIn(answer.data, 'a commit');
      const [written, committed] = [loginIn({ user: author ?? null }), loginIn({ user: committer ?? null })];
      // The committer alone does not identify the author.
      return written === '' ? [] : [written, committed].filter((login) => login !== '' && login !== webCommitter);
    },
    async isTeamMember(org, team, username) {
      // GitHub answers 404 both for a person who is no member and for a team that the token may not read.
      const seen = await readIfShown(() => octokit.teams.getByName({ org, team_slug: team }));
      if (seen === undefined) return undefined;
      const answer = await readIfShown(() => octokit.teams.getMembershipForUserInOrg({ org, team_slug: team, username }));
      return answer !== undefined && objectIn(answer.data, 'a membership')['state'] === 'active';
    },
    async comments(number) {
      const found = await octokit.paginate(octokit.issues.listComments, { ...place, issue_number: number, per_page: 100 });
      return found.map(commentOf);
    },
    async editorOf({ node }) {
      const data = await asked('query ($id: ID!) { node(id: $id) { ... on IssueComment { editor { __typename login } } } }', { id: node });
      const comment = data['node'];
      return isObject(comment) ? loginOf(comment, 'editor') : throwMissing('who edited a comment');
    },
    async createComment(number, body) {
      await octokit.issues.createComment({ ...place, issue_number: number, body });
    },
    async updateComment(_, id, body) {
      await octokit.issues.updateComment({ ...place, comment_id: id, body });
    },
    async deployment(commit, environment) {
      const { data } = await octokit.repos.listDeployments({ ...place, sha: commit, environment, per_page: 1 });
      const [newest] = listIn(data, 'a deployment');
      if (newest !== undefined) return numberIn(objectIn(newest, 'a deployment'), 'id', 'a deployment');
      const made = await octokit.repos.createDeployment({ ...place, ref: commit, environment, auto_merge: false, required_contexts: [] });
      if ('id' in made.data) return made.data.id;
      throw new AppError('github/refused', 4, `GitHub created no deployment of ${commit}: ${made.data.message ?? ''}`);
    },
    async setStatus(commit, { url, ...status }) {
      await octokit.repos.createCommitStatus({ ...place, sha: commit, ...status, target_url: url });
    },
    async setDeploymentStatus(deployment, { state, description, logUrl }) {
      const status = { state, description, log_url: logUrl };
      await octokit.repos.createDeploymentStatus({ ...place, deployment_id: deployment, ...status });
    },
  };
}

function commentOf(raw: unknown): Comment {
  const one = objectIn(raw, 'a comment');
  const { body, created_at: created, updated_at: updated } = one;
  const author = loginIn(one);
  return {
    id: numberIn(one, 'id', 'a comment'),
    node: textIn(one, 'node_id', 'a comment'),
    author,
    isByBot: author.endsWith(robot) || asObject(one['user'])['type'] === 'Bot',
    // GitHub counts whole seconds; GraphQL names the editor of a faster edit.
    isEdited: Date.parse(asText(updated)) - Date.parse(asText(created)) >= 1000,
    body: asText(body),
  };
}

/** The account that commits what people merge and edit on GitHub's pages. */
const webCommitter = 'web-flow';

/** Keeps octokit's messages out of the job's log. */
function ignore(): void {}

const robot = '[bot]';

/** Returns the login of an account in an answer, as the rest of GitHub spells it; undefined if there is none. */
function loginOf(answer: JsonObject, field: string): string | undefined {
  const account = answer[field];
  if (!isObject(account) || typeof account['login'] !== 'string') return undefined;
  const { login, __typename: sort } = account;
  return sort === 'Bot' && !login.endsWith(robot) ? `${login}${robot}` : login;
}

function throwMissing(what: string): never {
  throw new AppError('github/refused', 4, `GitHub did not return ${what}`, { hint: 'pass another token as github-token' });
}

const mostHops = 5;
const redirects = new Set([301, 302, 307, 308]);

/**
 * Creates a fetch that stays on the servers of the given addresses: it follows redirects among them with the same method and body, as
 * GitHub documents, and fails on a redirect elsewhere, so neither the token nor a comment leaves them. The whole answer must arrive
 * within `timeoutMs`.
 */
function fetchWithin(
  addresses: readonly string[],
  patience: number,
  request: SendRequest = fetch,
): (address: string, init: RequestInit) => Promise<Response> {
  const origins = new Set(addresses.map((address) => new URL(address).origin));
  const send = async (url: URL, init: RequestInit, hops: number): Promise<Response> => {
    if (!origins.has(url.origin)) throw new Error(`it leads to another server, ${url.origin}`);
    const response = await request(url, init);
    const bytes = await response.arrayBuffer();
    const location = response.headers.get('location');
    const { status, headers } = response;
    if (!redirects.has(status) || location === null) return new Response(bytes.byteLength === 0 ? null : bytes, { status, headers });
    if (hops === mostHops) throw new Error(`it redirects more than ${mostHops} times`);
    return send(new URL(location, url), init, hops + 1);
  };
  return (address, init) => send(new URL(address), { ...init, redirect: 'manual', signal: AbortSignal.timeout(patience) }, 0);
}
