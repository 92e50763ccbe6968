import { Octokit } from '@octokit/rest';
import { AppError } from '../model/errors.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { listIn, loginIn, numberIn, objectIn, textIn, unexpected } from './answer.ts';
import { failureOf, waitAfter } from './failure.ts';
import { fetchOn } from './fetch.ts';
import { issueCalls, type Issues, type Repository } from './issue-calls.ts';
import { pullCalls, type PullRequests } from './pull-calls.ts';

/** A comment below an issue or a pull request; `author` is a login, `node` its id in GraphQL. */
export type Comment = { readonly id: number; readonly node: string; readonly author: string; readonly body: string };

export type DeploymentStatus = {
  readonly state: 'success' | 'failure' | 'error';
  readonly description: string;
  readonly logUrl: string;
};

/** What Ostiary asks of GitHub; every failure is an AppError with a code `github/…`. */
export interface GitHub extends Issues, PullRequests {
  /** The login that writes with this token. */
  readonly whoAmI: () => Promise<string>;
  readonly comments: (number: number) => Promise<readonly Comment[]>;
  /** The login of who last edited a comment; undefined where nobody did. */
  readonly editorOf: (comment: Comment) => Promise<string | undefined>;
  readonly createComment: (number: number, body: string) => Promise<void>;
  readonly updateComment: (id: number, body: string) => Promise<void>;
  /** The newest deployment of a commit to an environment, made where there is none. */
  readonly deployment: (commit: string, environment: string) => Promise<number>;
  readonly setDeploymentStatus: (deployment: number, status: DeploymentStatus) => Promise<void>;
}

export type GitHubOptions = Repository & {
  readonly token: string;
  readonly apiUrl: string;
  readonly graphqlUrl: string;
  readonly version: string;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** How many milliseconds one answer may take. */
  readonly patience?: number;
};

const attempts = 3;

/** Speaks to GitHub about one repository; waits out a rate limit that is short, and asks again where GitHub itself failed. */
export function openGitHub(options: GitHubOptions): GitHub {
  const { owner, repo, token, apiUrl, graphqlUrl, version, sleep, patience = 30_000 } = options;
  const octokit = new Octokit({
    auth: token,
    baseUrl: apiUrl,
    userAgent: `ostiary/${version}`,
    // Not in the hook below: what a hook changes of a request does not reach those that were there before it.
    request: { fetch: fetchOn([apiUrl, graphqlUrl], patience) },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
  const place = { owner, repo };
  const asked = async (query: string, variables: JsonObject = {}): Promise<JsonObject> => {
    const { data } = await octokit.request<'POST /graphql'>({ method: 'POST', url: graphqlUrl, query, variables });
    const answer = isObject(data) ? data['data'] : undefined;
    return isObject(answer) ? answer : {};
  };
  octokit.hook.wrap('request', async (request, asking) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await request(asking);
        return isObject(answer.data) || Array.isArray(answer.data) ? answer : unexpected('JSON');
      } catch (error) {
        const wait = attempt < attempts ? waitAfter(error, asking.method, attempt) : undefined;
        if (wait === undefined) throw failureOf(error, `${asking.method} ${asking.url}`);
        await sleep(wait);
      }
    }
  });
  return {
    ...issueCalls(octokit, place),
    ...pullCalls(octokit, place),
    async whoAmI() {
      // The tokens of jobs and apps may not ask for /user.
      return loginOf(await asked('query { viewer { login } }'), 'viewer') ?? unsaid('whose token this is');
    },
    async comments(number) {
      const found = await octokit.paginate(octokit.issues.listComments, { ...place, issue_number: number, per_page: 100 });
      return found.map(commentOf);
    },
    async editorOf({ node }) {
      const data = await asked('query ($id: ID!) { node(id: $id) { ... on IssueComment { editor { __typename login } } } }', { id: node });
      const comment = data['node'];
      return isObject(comment) ? loginOf(comment, 'editor') : unsaid('who edited a comment');
    },
    async createComment(number, body) {
      await octokit.issues.createComment({ ...place, issue_number: number, body });
    },
    async updateComment(id, body) {
      await octokit.issues.updateComment({ ...place, comment_id: id, body });
    },
    async deployment(commit, environment) {
      const { data } = await octokit.repos.listDeployments({ ...place, sha: commit, environment, per_page: 1 });
      const [newest] = listIn(data, 'a deployment');
      if (newest !== undefined) return numberIn(objectIn(newest, 'a deployment'), 'id', 'a deployment');
      const made = await octokit.repos.createDeployment({ ...place, ref: commit, environment, auto_merge: false, required_contexts: [] });
      if ('id' in made.data) return made.data.id;
      throw new AppError('github/refused', 4, `GitHub makes no deployment of ${commit}: ${made.data.message ?? ''}`);
    },
    async setDeploymentStatus(deployment, { state, description, logUrl }) {
      const status = { state, description, log_url: logUrl };
      await octokit.repos.createDeploymentStatus({ ...place, deployment_id: deployment, ...status });
    },
  };
}

function commentOf(raw: unknown): Comment {
  const one = objectIn(raw, 'a comment');
  const { body } = one;
  return {
    id: numberIn(one, 'id', 'a comment'),
    node: textIn(one, 'node_id', 'a comment'),
    author: loginIn(one),
    body: typeof body === 'string' ? body : '',
  };
}

/** What octokit would print goes past the job's log. */
function ignore(): void {}

const robot = '[bot]';

/** The login of somebody in an answer, as the rest of GitHub spells it; undefined where there is nobody. */
function loginOf(answer: JsonObject, field: string): string | undefined {
  const somebody = answer[field];
  if (!isObject(somebody) || typeof somebody['login'] !== 'string') return undefined;
  const { login, __typename: sort } = somebody;
  return sort === 'Bot' && !login.endsWith(robot) ? `${login}${robot}` : login;
}

function unsaid(what: string): never {
  throw new AppError('github/refused', 4, `GitHub does not say ${what}`, { hint: 'give another token as github-token' });
}
