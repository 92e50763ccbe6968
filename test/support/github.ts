import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Octokit } from '@octokit/rest';
import { createEmulator } from 'emulate';
import { isObject, type JsonObject } from '../../src/model/json.ts';
import { createActionsCache, type ActionsCache, type Heard, type Reply } from './actions-cache.ts';

export const place = { owner: 'octo', repo: 'access' } as const;

/** Returns a response instead of GitHub's, or passes the request on. */
export type Interception = (heard: Heard) => Reply | undefined;

/** A GitHub with one repository: our own routes in front of the emulator. */
export type TestGitHub = {
  readonly url: string;
  /** The token of a workflow's job: what it writes comes from the account, by default from `github-actions[bot]`. */
  readonly token: string;
  /** The token of a person with all permissions. */
  readonly person: Octokit;
  /** The token of another person with write access, who opens no pull requests. */
  readonly reviewer: Octokit;
  /** The token of an account without write access. */
  readonly guest: Octokit;
  readonly heard: readonly Heard[];
  readonly deployments: readonly Deployment[];
  /** The cache between runs; `heard` does not list its requests. */
  readonly cache: ActionsCache;
  /** Gives a commit that the emulator made the hash of a commit of a real repository, in all requests and answers. */
  readonly useCommit: (made: string, real: string) => void;
  /** Sets the reply to all later requests; undefined removes it. */
  readonly intercept: (interception: Interception | undefined) => void;
  readonly close: () => Promise<void>;
};

type Deployment = { readonly id: number; readonly sha: string; readonly environment: string; readonly statuses: unknown[] };

const jobToken = 'ghs_of-the-job';
const personToken = 'ghp_of-a-person';
const reviewerToken = 'ghp_of-a-reviewer';
const guestToken = 'ghp_of-a-guest';

/** The account of an app that one workflow has the token of. */
export const appAccount = 'ostiary-acme[bot]';

/** Starts GitHub on a free port of this machine; the job has the token of the account. */
export async function startGitHub(bot = 'github-actions[bot]'): Promise<TestGitHub> {
  const heard: Heard[] = [];
  const deployments: Deployment[] = [];
  const cache = createActionsCache();
  const editors = new Map<string, string>();
  const commits = new Map<string, string>();
  const toReal = (text: string): string => text.replaceAll(hash, (found) => commits.get(found) ?? found);
  // The newest of several commits with one hash.
  const toMade = (text: string): string =>
    text.replaceAll(hash, (found) => [...commits].findLast(([, real]) => real === found)?.[0] ?? found);
  let interception: Interception | undefined;
  let behind = '';
  const server = createServer((request, response) => {
    void (async () => {
      const body = toMade(await bodyText(request));
      const { pathname, search, searchParams: query } = new URL(toMade(request.url ?? '/'), 'http://github');
      const one = { method: request.method ?? 'GET', path: pathname, query, body };
      const cached = cache.reply(one, request.headers, url);
      if (cached === undefined) heard.push(one);
      const reply =
        interception?.(one) ??
        cached ??
        (await graphqlReply(one, { editors, bot }, request.headers.authorization ?? '', (route) => ask(`${behind}${route}`, request))) ??
        ownReply(one, deployments, request.headers.authorization ?? '') ??
        (await laterReply(one, (route) => ask(`${behind}${route}`, request)));
      if (reply === undefined) await pass(request, response, { behind, path: `${pathname}${search}`, body, url, toReal });
      else send(response, reply, toReal);
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const emulator = await createEmulator({ service: 'github', port: 0, seed: seedFor(bot) });
  behind = emulator.url;
  const person = new Octokit({ auth: personToken, baseUrl: url });
  const reviewer = new Octokit({ auth: reviewerToken, baseUrl: url });
  const guest = new Octokit({ auth: guestToken, baseUrl: url });
  return {
    url,
    token: jobToken,
    person,
    reviewer,
    guest,
    heard,
    deployments,
    cache,
    useCommit: (made, real) => void commits.set(made, real),
    intercept: (next) => {
      interception = next;
    },
    async close() {
      await emulator.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

const seedFor = (bot: string) => ({
  tokens: {
    [jobToken]: { login: bot, scopes: ['repo'] },
    [personToken]: { login: place.owner, scopes: ['repo'] },
    [reviewerToken]: { login: 'grace', scopes: ['repo'] },
    [guestToken]: { login: 'guest', scopes: ['repo'] },
  },
  github: {
    users: [{ login: place.owner }, { login: bot }, { login: 'grace' }, { login: 'guest' }],
    repos: [{ owner: place.owner, name: place.repo, auto_init: true }],
  },
});

const forbidden: Reply = { status: 403, body: { message: 'Resource not accessible by integration' } };
const home = `/repos/${place.owner}/${place.repo}`;

/** The permission of each account; others may read. */
const permissions: Readonly<Record<string, string>> = { [place.owner]: 'admin', grace: 'write' };

/** Routes that the emulator lacks, or that differ from GitHub. */
function ownReply({ method, path, query, body }: Heard, deployments: Deployment[], authorization: string): Reply | undefined {
  const ofJob = authorization.includes(jobToken);
  if (path === '/user' && ofJob) return forbidden;
  const [, login] = new RegExp(`^${home}/collaborators/([^/]+)/permission$`).exec(path) ?? [];
  if (login !== undefined) return { status: 200, body: { permission: permissions[login] ?? 'read', role_name: 'custom' } };
  if (/\/comments(?:\/\d+)?$/.test(path) && (method === 'POST' || method === 'PATCH') && String(JSON.parse(body).body).length > 65_536)
    return { status: 422, body: { message: 'Validation Failed: body is too long (maximum is 65536 characters)' } };
  if (path === `${home}/deployments` && method === 'GET') {
    const asked = deployments.filter((one) => one.sha === query.get('sha') && one.environment === query.get('environment'));
    return { status: 200, body: asked.toReversed() };
  }
  if (path === `${home}/deployments`) {
    const { ref, environment } = JSON.parse(body);
    const made = { id: deployments.length + 1, sha: String(ref), environment: String(environment), statuses: [] };
    deployments.push(made);
    return { status: 201, body: made };
  }
  const [, id] = new RegExp(`^${home}/deployments/(\\d+)/statuses$`).exec(path) ?? [];
  if (id === undefined) return undefined;
  deployments.find((one) => one.id === Number(id))?.statuses.push(JSON.parse(body));
  return { status: 201, body: { id: 1 } };
}

/** Answers the GraphQL queries that the action sends: the viewer, and a comment with its last editor. */
async function graphqlReply(
  { method, path, body }: Heard,
  { editors, bot }: { readonly editors: Map<string, string>; readonly bot: string },
  authorization: string,
  askFor: Ask,
): Promise<Reply | undefined> {
  const who = authorization.includes(jobToken) ? bot : authorization.includes(reviewerToken) ? 'grace' : place.owner;
  const [, comment] = /\/issues\/comments\/(\d+)$/.exec(path) ?? [];
  if (comment !== undefined && method === 'PATCH') {
    const before = await askFor(path);
    // Nothing proves that GitHub records an edit that changes nothing.
    if (!isObject(before) || before['body'] !== JSON.parse(body).body) editors.set(comment, who);
  }
  if (path !== '/graphql') return undefined;
  const { variables } = JSON.parse(body);
  if (typeof variables?.id !== 'string') return { status: 200, body: { data: { viewer: { login: who } } } };
  const [id = ''] = /\d+$/.exec(Buffer.from(variables.id, 'base64').toString()) ?? [];
  const editor = editors.get(id);
  // GraphQL omits the `[bot]` suffix of logins.
  const actor = editor === bot ? { __typename: 'Bot', login: bot.replace('[bot]', '') } : { __typename: 'User', login: editor };
  const found = await askFor(`${home}/issues/comments/${id}`);
  const text = isObject(found) ? found['body'] : undefined;
  const node = text === undefined ? null : { body: text, editor: editor === undefined ? null : actor };
  return { status: 200, body: { data: { node } } };
}

type Ask = (route: string) => Promise<unknown>;

/** Routes built on the emulator: the pull requests of a commit, and a pull request whose branch has new commits. */
async function laterReply({ method, path }: Heard, askFor: Ask): Promise<Reply | undefined> {
  const [, commit] = new RegExp(`^${home}/commits/([0-9a-f]+)/pulls$`).exec(path) ?? [];
  if (commit !== undefined) {
    const all = await askFor(`${home}/pulls?state=all&per_page=100`);
    const found = Array.isArray(all) ? all.filter((one) => one.merge_commit_sha === commit) : [];
    return { status: 200, body: await Promise.all(found.map((one) => withHead(one, askFor))) };
  }
  if (method !== 'GET' || !new RegExp(`^${home}/pulls/\\d+$`).test(path)) return undefined;
  return { status: 200, body: await withHead(await askFor(path), askFor) };
}

/** Returns a pull request with the last commit of its branch as its head. */
async function withHead(pull: unknown, askFor: Ask): Promise<JsonObject> {
  const head = memberOf(pull, 'head');
  const { ref } = head;
  const branch = await askFor(`${home}/git/ref/heads/${typeof ref === 'string' ? ref : ''}`);
  const { sha = head['sha'] ?? '' } = memberOf(branch, 'object');
  return { ...(isObject(pull) ? pull : {}), head: { ...head, sha } };
}

function memberOf(value: unknown, name: string): JsonObject {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
}

async function ask(url: string, request: IncomingMessage): Promise<unknown> {
  const response = await fetch(url, { headers: { authorization: request.headers.authorization ?? '' } });
  return response.json();
}

async function bodyText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

const hash = /\b[0-9a-f]{40}\b/g;

function send(response: ServerResponse, { status, body, type, headers = {} }: Reply, toReal: (text: string) => string): void {
  response.writeHead(status, { 'content-type': type ?? 'application/json; charset=utf-8', ...headers });
  response.end(toReal(type === undefined ? JSON.stringify(body) : String(body)));
}

/** Passes a request on to the emulator. */
async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  {
    behind,
    path,
    body,
    url,
    toReal,
  }: Readonly<Record<'behind' | 'path' | 'body' | 'url', string>> & { readonly toReal: (text: string) => string },
): Promise<void> {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name) ? [[name, value]] : [],
  );
  const answer = await fetch(`${behind}${path}`, { method: request.method ?? 'GET', headers, ...(body === '' ? {} : { body }) });
  const link = answer.headers.get('link');
  response.writeHead(answer.status, {
    'content-type': answer.headers.get('content-type') ?? 'application/json',
    ...(link === null ? {} : { link: link.replaceAll(behind, url) }),
  });
  response.end(toReal(await answer.text()));
}
