import { createHash, randomUUID } from 'node:crypto';
import {
  type CacheService,
  type CiRun,
  type JobEnvironment,
  type JobLog,
  plainUrl,
  type ProposedFor,
  type PullRequestMention,
  variableReader,
} from '../ci-system.ts';
import type { SendRequest } from '../forge.ts';
import { commitAt, commitPattern, loginIn, readPullRequest } from './pull-request.ts';
import { AppError } from '../../model/errors.ts';
import { asObject, asText, type Json, type JsonObject, isObject, parseJson } from '../../model/json.ts';

/** The run of a workflow: its repository, commit and event. */
type WorkflowRun = Omit<CiRun, 'openForge' | 'names' | 'isTokenless'> & {
  readonly owner: string;
  readonly repo: string;
  readonly apiUrl: string;
  readonly graphqlUrl: string;
};

/** Reads the run from the job's variables and the event's payload; throws AppError `forge/no-job` outside a workflow. */
export function readWorkflowRun(env: JobEnvironment, payload: string): WorkflowRun {
  const [owner = '', repo = ''] = variable(env, 'GITHUB_REPOSITORY', /^[\w.-]+\/[\w.-]+$/).split('/');
  const server = variable(env, 'GITHUB_SERVER_URL', plainUrl).replace(/\/+$/, '');
  const page = `${server}/${owner}/${repo}`;
  const event = parseEvent(payload);
  const name = variable(env, 'GITHUB_EVENT_NAME', /^\w+$/);
  const pullRequest = readPullRequest(event['pull_request'], commitAt(event, 'before'));
  const mention = mentionOf(name, event);
  const proposedFor =
    pullRequest === undefined ? groupTargetOf(event['merge_group']) : { commit: pullRequest.base, branch: pullRequest.baseBranch };
  const branch = branchOf(env['GITHUB_REF'] ?? '');
  const run = {
    owner,
    repo,
    event: name,
    commit: variable(env, 'GITHUB_SHA', commitPattern),
    branch,
    apiUrl: variable(env, 'GITHUB_API_URL', plainUrl),
    graphqlUrl: variable(env, 'GITHUB_GRAPHQL_URL', plainUrl),
    page,
    url: `${page}/actions/runs/${variable(env, 'GITHUB_RUN_ID', /^\d+$/)}${attemptOf(env)}`,
    ...startPageOf(env, page),
    workspace: variable(env, 'GITHUB_WORKSPACE', /^./),
    temp: variable(env, 'RUNNER_TEMP', /^./),
    pullRequest,
    mention,
    proposedFor,
    // A schedule runs on the default branch, and its payload names no repository.
    defaultBranch: defaultBranchOf(event['repository']) ?? (name === 'schedule' ? branch : undefined),
  };
  if (proposedFor === undefined && proposals.test(name)) throw incompleteEvent(name);
  return run;
}

/** Returns the path of a repeated attempt; the first one has the page of the run. */
function attemptOf({ GITHUB_RUN_ATTEMPT: attempt = '' }: JobEnvironment): string {
  return /^\d+$/.test(attempt) && attempt !== '1' ? `/attempts/${attempt}` : '';
}

/** Returns the page of the workflow, which has a button to run it; none for a workflow of another repository. */
function startPageOf(env: JobEnvironment, page: string): Pick<CiRun, 'startPage'> {
  const [, owner, file] = /^([\w.-]+\/[\w.-]+)\/\.github\/workflows\/([\w.-]+)@/.exec(env['GITHUB_WORKFLOW_REF'] ?? '') ?? [];
  return owner === env['GITHUB_REPOSITORY'] && file !== undefined ? { startPage: `${page}/actions/workflows/${file}` } : {};
}

function branchOf(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

function defaultBranchOf(repository: Json | undefined): string | undefined {
  if (!isObject(repository)) return undefined;
  const { default_branch: branch } = repository;
  return typeof branch === 'string' && branch !== '' ? branch : undefined;
}

function groupTargetOf(group: Json | undefined): ProposedFor | undefined {
  if (!isObject(group)) return undefined;
  const commit = commitAt(group, 'base_sha');
  const { base_ref: ref } = group;
  return commit === undefined ? undefined : { commit, branch: typeof ref === 'string' ? branchOf(ref) : '' };
}

/** The events of commits that are not merged, or were just merged. */
const proposals = /^(?:pull_request|merge_group)/;

function incompleteEvent(event: string): AppError {
  return new AppError('forge/no-job', 3, `the payload of this ${event} has no commits`, {
    hint: 'GITHUB_EVENT_PATH names the file that GitHub wrote for the event',
  });
}

const variable = variableReader('GitHub', 'the action requires a GitHub workflow; elsewhere, use the command line');

function parseEvent(payload: string): JsonObject {
  const event = parseJson(payload);
  if (isObject(event)) return event;
  throw new AppError('forge/no-job', 3, 'the payload of the event is not a JSON object', {
    hint: 'GitHub writes the payload to the file named by GITHUB_EVENT_PATH',
  });
}

function mentionOf(name: string, event: JsonObject): PullRequestMention | undefined {
  if (name === 'issue_comment') {
    const [issue, comment] = [asObject(event['issue']), asObject(event['comment'])];
    const { number } = issue;
    if (event['action'] !== 'created' || !isObject(issue['pull_request']) || typeof number !== 'number') return undefined;
    return { by: 'comment', number, body: asText(comment['body']), author: loginIn(comment) };
  }
  const run = asObject(event['workflow_run']);
  const head = commitAt(run, 'head_sha');
  if (name !== 'workflow_run' || head === undefined || !asText(run['event']).startsWith('pull_request')) return undefined;
  const owner = asText(asObject(asObject(run['head_repository'])['owner'])['login']);
  return { by: 'run', head, branch: asText(run['head_branch']), owner };
}

/** Opens the log on one stream; the secret `token` ends the parts in which the runner ignores commands. */
export function openJobLog(write: (text: string) => void, token: string): JobLog {
  let stopped = false;
  let atStart = true;
  const put = (text: string): void => {
    if (text === '') return;
    write(text);
    atStart = text.endsWith('\n');
  };
  const resume = (): void => {
    if (stopped) put(`${atStart ? '' : '\n'}::${token}::\n`);
    stopped = false;
  };
  return {
    text(text) {
      if (!stopped) put(`::stop-commands::${token}\n`);
      stopped = true;
      put(text);
    },
    command(commands) {
      resume();
      put(commands);
    },
    close: resume,
  };
}

/** Returns the commands that mask a secret in the log: the value, each of its lines, and its base64 form. */
export function maskCommands(secret: string | Uint8Array): string {
  const bytes = Buffer.from(secret);
  const text = bytes.toString();
  const values = new Set([text, bytes.toString('base64'), ...text.split(/\r\n|\r|\n/)].map((value) => value.trim()));
  return [...values].flatMap((value) => (value === '' ? [] : [`::add-mask::${escapeCommandValue(value)}\n`])).join('');
}

/** Escapes exactly what the runner decodes: any other escape would mask another text. */
function escapeCommandValue(value: string): string {
  return value.replace(/[%\r\n]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** Formats outputs for the runner's file; a random delimiter keeps a value from ending its entry. */
export function outputLines(outputs: Readonly<Record<string, string>>): string {
  const delimiter = `ostiary-${randomUUID()}`;
  return Object.entries(outputs)
    .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    .join('');
}

/** Of all entries of a repository, those that Ostiary wrote in this form. */
const version = createHash('sha256').update('ostiary/cache/v1').digest('hex');

const serviceName = 'github.actions.results.api.v1.CacheService';
const timeoutMs = 15_000;
const maxLength = 64 * 1024 * 1024;

/** Opens the cache of GitHub Actions; undefined where the runner offers none, such as on GitHub Enterprise Server and outside a workflow. */
export function openCacheService(env: JobEnvironment, send: SendRequest = fetch): CacheService | undefined {
  const { ACTIONS_RESULTS_URL: address = '', ACTIONS_RUNTIME_TOKEN: token = '' } = env;
  if (!URL.canParse(address) || token === '') return undefined;

  async function call(method: string, message: JsonObject): Promise<JsonObject> {
    const response = await send(new URL(`/twirp/${serviceName}/${method}`, address), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(message),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer: unknown = response.ok ? await response.json() : undefined;
    if (!isObject(answer)) throw new Error(`${method}: status ${response.status}`);
    return answer;
  }

  return {
    async restore(prefix) {
      const found = await call('GetCacheEntryDownloadURL', { key: prefix, restore_keys: [prefix], version });
      if (found['ok'] !== true) return undefined;
      const response = await send(blobUrl(found['signed_download_url']), { method: 'GET', signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) throw new Error(`the download ended with status ${response.status}`);
      if (Number(response.headers.get('content-length') ?? 0) > maxLength) throw new Error('the entry is larger than 64 MiB');
      return response.text();
    },
    async save(key, text) {
      if (text.length > maxLength) throw new Error('the entry is larger than 64 MiB');
      const made = await call('CreateCacheEntry', { key, version });
      if (made['ok'] !== true) throw new Error('another job has this key');
      const response = await send(blobUrl(made['signed_upload_url']), {
        method: 'PUT',
        headers: { 'x-ms-blob-type': 'BlockBlob' },
        body: text,
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response.ok) throw new Error(`the upload ended with status ${response.status}`);
      await call('FinalizeCacheEntryUpload', { key, version, size_bytes: String(Buffer.byteLength(text)) });
    },
  };
}

/** Returns the address of an entry's content; it carries its own permission, so no token is sent there. */
function blobUrl(value: unknown): URL {
  if (typeof value !== 'string' || !URL.canParse(value)) throw new Error('the service returned no address');
  return new URL(value);
}
