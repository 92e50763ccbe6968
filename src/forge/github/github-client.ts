import { Octokit } from '@octokit/rest';
import { listIn, numberIn, objectIn, textIn, throwUnexpected } from '../answers.ts';
import { unlessRefused } from '../forge-errors.ts';
import { fetchWithin, refusalOf, waitToRepeat } from '../requests.ts';
import type { ForgeOptions } from '../ci-system.ts';
import { type Comment, type DeploymentCalls, type Forge, goneAccount, type PeopleCalls } from '../forge.ts';
import type { AuthoredCommit } from '../../model/result/authored-commit.ts';
import { AppError } from '../../model/errors.ts';
import { asObject, asText, isObject, type JsonObject } from '../../model/json.ts';
import { createIssueCalls, createPullRequestCalls, type RepositoryName } from './calls.ts';
import { failedAnswerOf } from './failed-answer.ts';
import { isBot, loginIn, queriedLogin } from './pull-request.ts';

/** Refusals that no permission of the job changes. */
const knownCauses: readonly { readonly matches: RegExp; readonly hint: string }[] = [
  { matches: /\blocked\b/i, hint: 'the conversation is locked: unlock it, then run the job again' },
  {
    matches: /not permitted to create or approve pull requests/i,
    hint: 'allow it in the settings of the repository and of its organization (Actions, General), or pass the token of an app as github-token',
  },
  { matches: /issues (?:has been|are) disabled/i, hint: 'enable issues in the settings of the repository, or write issue: false' },
];

const hints = {
  limited: 'the rate limit of this token is reached; run the job again later',
  forbidden: 'grant the job the permissions listed in docs/how-to/github.md',
  unreachable: 'the result of the run is valid; run the job again to post the missing comments',
  refused: 'see the message of GitHub',
} as const;

type GitHubOptions = RepositoryName & ForgeOptions & { readonly apiUrl: string; readonly graphqlUrl: string };

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
  const asked: Query = async (query, variables = {}) => {
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
        const answer = failedAnswerOf(error);
        if (answer === undefined) throw error;
        if (await waitToRepeat(answer, { method: asking.method, attempt, waits, sleep })) continue;
        const sent = `${asking.method} ${new URL(octokit.request.endpoint(asking).url).pathname}`;
        throw refusalOf(answer, sent, {
          hints,
          known: knownCauses.find(({ matches }) => matches.test(answer.message))?.hint,
          cause: error,
        });
      }
    }
  });
  return {
    ...createIssueCalls(octokit, place),
    ...createPullRequestCalls(octokit, place),
    async whoAmI() {
      // GitHub refuses /user for the tokens of jobs and apps.
      const { viewer } = await asked('query { viewer { login } }');
      return queriedLogin(viewer) ?? throwMissing('whose token this is');
    },
    people: peopleCalls(octokit, place, asked),
    deployments: deploymentCalls(octokit, place),
    async comments(number) {
      const found = await octokit.paginate(octokit.issues.listComments, { ...place, issue_number: number, per_page: 100 });
      return found.map(commentOf);
    },
    async latestOf({ node, body: listed }) {
      const query = 'query ($id: ID!) { node(id: $id) { ... on IssueComment { body lastEditedAt editor { __typename login } } } }';
      const { node: comment } = await asked(query, { id: node });
      if (!isObject(comment)) return throwMissing('who edited a comment');
      const { body = listed, lastEditedAt, editor } = comment;
      return {
        body: asText(body),
        editor: queriedLogin(editor) ?? (isObject(editor) || asText(lastEditedAt) !== '' ? goneAccount : undefined),
      };
    },
    async createComment(number, body) {
      await octokit.issues.createComment({ ...place, issue_number: number, body });
    },
    async updateComment(_, id, body) {
      await octokit.issues.updateComment({ ...place, comment_id: id, body });
    },
    async deleteComment(_, id) {
      await octokit.issues.deleteComment({ ...place, comment_id: id });
    },
    async setStatus(commit, { url, ...status }) {
      await octokit.repos.createCommitStatus({ ...place, sha: commit, ...status, target_url: url });
    },
  };
}

function commentOf(raw: unknown): Comment {
  const one = objectIn(raw, 'a comment');
  const { body } = one;
  return { id: numberIn(one, 'id', 'a comment'), node: textIn(one, 'node_id', 'a comment'), author: loginIn(one), body: asText(body) };
}

/** Sends a query to GraphQL, and returns its data. */
type Query = (query: string, variables?: JsonObject) => Promise<JsonObject>;

/** Creates the requests on people. */
function peopleCalls(octokit: Octokit, place: RepositoryName, asked: Query): PeopleCalls {
  // REST names no co-authors.
  const query =
    'query ($owner: String!, $repo: String!, $id: GitObjectID!) { repository(owner: $owner, name: $repo) { object(oid: $id) { ... on Commit { authors(first: 100) { nodes { email user { login } } } } } } }';
  const coAuthorsOf = async ({ id, coAuthors }: AuthoredCommit): Promise<readonly (string | undefined)[]> => {
    if (coAuthors.length === 0) return [];
    const { repository } = await asked(query, { ...place, id });
    const { nodes } = asObject(asObject(asObject(repository)['object'])['authors']);
    const found = Array.isArray(nodes) ? nodes.map(asObject) : [];
    return coAuthors.map(({ email }) => {
      const account = found.find((one) => asText(one['email']).toLowerCase() === email.toLowerCase());
      return queriedLogin(account?.['user']) ?? loginInAddress(email);
    });
  };
  return {
    isBot,
    async mayWrite(username) {
      const { data } = await octokit.repos.getCollaboratorPermissionLevel({ ...place, username });
      return ['admin', 'write'].includes(textIn(objectIn(data, 'a permission'), 'permission', 'a permission'));
    },
    async accountsOf(commit) {
      const answer = await unlessRefused(() => octokit.repos.getCommit({ ...place, ref: commit.id }));
      const { author = null, committer = null } = answer === undefined ? {} : objectIn(answer.data, 'a commit');
      const made = [author, committer].map((user) => loginIn({ user }) || undefined);
      return [...made, ...(await coAuthorsOf(commit))];
    },
    async isTeamMember(org, team, username) {
      // GitHub answers 404 both for a person who is no member and for a team that the token may not read.
      const seen = await unlessRefused(() => octokit.teams.getByName({ org, team_slug: team }));
      if (seen === undefined) return undefined;
      const answer = await unlessRefused(() => octokit.teams.getMembershipForUserInOrg({ org, team_slug: team, username }));
      return answer !== undefined && objectIn(answer.data, 'a membership')['state'] === 'active';
    },
  };
}

/** Creates the requests on deployments. */
function deploymentCalls(octokit: Octokit, place: RepositoryName): DeploymentCalls {
  return {
    async deployment(commit, environment) {
      const { data } = await octokit.repos.listDeployments({ ...place, sha: commit, environment, per_page: 1 });
      const [newest] = listIn(data, 'a deployment');
      if (newest !== undefined) return numberIn(objectIn(newest, 'a deployment'), 'id', 'a deployment');
      const made = await octokit.repos.createDeployment({ ...place, ref: commit, environment, auto_merge: false, required_contexts: [] });
      if ('id' in made.data) return made.data.id;
      throw new AppError('forge/refused', 4, `GitHub created no deployment of ${commit}: ${made.data.message ?? ''}`);
    },
    async setDeploymentStatus(deployment, { state, description, logUrl }) {
      const status = { state, description, log_url: logUrl };
      await octokit.repos.createDeploymentStatus({ ...place, deployment_id: deployment, ...status });
    },
  };
}

/** Returns the login in an address that GitHub makes for an account that hides its own: `ID+LOGIN@users.noreply.HOST`. */
function loginInAddress(email: string): string | undefined {
  return /^(?:\d+\+)?([\w-]+)@users\.noreply\.[\w.-]+$/i.exec(email)?.[1];
}

/** Keeps octokit's messages out of the job's log. */
function ignore(): void {}

function throwMissing(what: string): never {
  throw new AppError('forge/refused', 4, `GitHub did not return ${what}`, { hint: 'pass another token as github-token' });
}
