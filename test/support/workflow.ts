import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../src/model/json.ts';
import { runtimeToken } from './actions-cache.ts';
import type { Ended, Running } from './cli.ts';
import { place, type TestGitHub } from './github.ts';
import { readRef } from './read-ref.ts';

/** The result of a step: its output, and the files that the runner reads afterwards. */
export type StepEnded = Pick<Ended, 'code' | 'stdout' | 'stderr'> & {
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
};

export type StepOptions = {
  readonly cwd: string;
  readonly event: string;
  readonly payload: object;
  readonly inputs: Readonly<Record<string, string | boolean>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Receives the process of a bundled step, to send it signals. */
  readonly onStart?: (running: Running) => void;
  /** Receives each wait for GitHub of a step in this process, in milliseconds. */
  readonly onWait?: (milliseconds: number) => void;
};

type Environment = Readonly<Record<string, string>>;

/** Runs the action once, in this process or in its own. */
export type Start = (cwd: string, env: Environment) => Promise<Pick<StepEnded, 'code' | 'stdout' | 'stderr'>>;

/** Emulates the GitHub runner: creates the files and variables of each step in the folder, and reads the files that the step wrote. */
export function openRunner(folder: string): (options: StepOptions, github: TestGitHub, began: Start) => Promise<StepEnded> {
  let steps = 0;
  return async (options, { url, token, useCommit }, began) => {
    steps += 1;
    const temp = join(folder, `step-${steps}`);
    mkdirSync(temp);
    const file = (name: string): string => join(temp, name);
    writeFileSync(file('event.json'), JSON.stringify({ ...(options.event === 'schedule' ? {} : { repository }), ...options.payload }));
    writeFileSync(file('output'), '');
    writeFileSync(file('summary'), '');
    // A workflow passes booleans as text.
    const given = Object.entries<string | boolean>({ 'github-token': token, comment: 'true', ...options.inputs });
    const ended = await began(options.cwd, {
      ...variablesOf(options, { url, temp }),
      GITHUB_EVENT_PATH: file('event.json'),
      GITHUB_OUTPUT: file('output'),
      GITHUB_STEP_SUMMARY: file('summary'),
      ...Object.fromEntries(given.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, String(value)])),
      ...options.env,
      ...checkedOut(options, useCommit),
    });
    return { ...ended, outputs: outputsOf(readFileSync(file('output'), 'utf8')), summary: readFileSync(file('summary'), 'utf8') };
  };
}

/** The commit of the run: one that the emulator made is the one that is checked out. */
function checkedOut({ cwd, env = {} }: StepOptions, useCommit: TestGitHub['useCommit']): Environment {
  const { GITHUB_SHA: made } = env;
  if (made === undefined || !existsSync(join(cwd, '.git')) || isCommit(cwd, made)) return {};
  const head = git(cwd, 'rev-parse HEAD');
  useCommit(made, head);
  return { GITHUB_SHA: head };
}

function isCommit(cwd: string, commit: string): boolean {
  try {
    git(cwd, ['cat-file', '-e', commit]);
    return true;
  } catch {
    return false;
  }
}

const here = `${place.owner}/${place.repo}`;
/** The repository in the payload of every event but a schedule. */
const repository = { full_name: here, default_branch: 'main' };

/** The variables that the runner sets for every step. */
function variablesOf({ cwd, event, payload }: StepOptions, { url, temp }: { readonly url: string; readonly temp: string }): Environment {
  const ref = event === 'pull_request' && !isMerged(payload) ? 'refs/pull/1/merge' : 'refs/heads/main';
  return {
    ACTIONS_RESULTS_URL: `${url}/`,
    ACTIONS_RUNTIME_TOKEN: runtimeToken(ref),
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: url,
    GITHUB_EVENT_NAME: event,
    GITHUB_GRAPHQL_URL: `${url}/graphql`,
    GITHUB_REF: ref,
    GITHUB_REPOSITORY: here,
    GITHUB_RUN_ID: '4711',
    GITHUB_SERVER_URL: 'https://github.test',
    GITHUB_WORKFLOW_REF: `${here}/.github/workflows/drift.yml@${ref}`,
    GITHUB_SHA: existsSync(join(cwd, '.git')) ? git(cwd, 'rev-parse HEAD') : '0'.repeat(40),
    GITHUB_WORKSPACE: cwd,
    RUNNER_TEMP: temp,
  };
}

function isMerged(payload: object): boolean {
  return 'pull_request' in payload && isObject(payload.pull_request) && payload.pull_request['merged'] === true;
}

/** Reads the outputs file as the runner does. */
function outputsOf(text: string): Readonly<Record<string, string>> {
  const found = text.matchAll(/^([\w-]+)<<(\S+)\n([\s\S]*?)\n\2\n/gm);
  return Object.fromEntries([...found].map(([, name = '', , value = '']) => [name, value]));
}

/** Runs git in a folder, as a person and without the user's settings; arguments that contain spaces are given as a list. */
export function git(cwd: string, line: string | readonly string[], login?: string): string {
  const args = typeof line === 'string' ? line.split(' ') : line;
  const [command, name = ''] = args;
  return (command === 'rev-parse' && args.length === 2 ? readRef(cwd, name) : undefined) ?? runIn(cwd, 'git', args, login);
}

/** Runs a script with several commands of git: starting a process takes longer than git itself. */
export function runShell(cwd: string, script: string, args: readonly string[] = [], login?: string): string {
  return runIn(cwd, 'sh', ['-ec', script, 'sh', ...args], login);
}

function runIn(cwd: string, program: 'git' | 'sh', args: readonly string[], login = 'ada'): string {
  const person = ['GIT_AUTHOR', 'GIT_COMMITTER'].flatMap((who) => [
    [`${who}_NAME`, `${login.slice(0, 1).toUpperCase()}${login.slice(1)}`],
    [`${who}_EMAIL`, `${login}@example.com`],
  ]);
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', ...Object.fromEntries(person) };
  return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

const commits = `if ! [ -e .git ]; then git init --quiet --template= --initial-branch=main; fi
git add --all
git -c maintenance.auto=false commit --quiet --allow-empty "--message=$1"`;

/** Turns the folder into a repository with one commit. */
export function commitAll(cwd: string, message = 'First', login?: string): string {
  runShell(cwd, commits, [message], login);
  return git(cwd, 'rev-parse HEAD');
}

/** Turns an empty folder into the origin of a checkout, pushes main to it, and returns the folder. */
export function pushToOrigin(cwd: string, origin: string): string {
  runShell(
    cwd,
    'git init --quiet --template= --bare --initial-branch=main "$1"; git remote add origin "file://$1"; git push --quiet origin main',
    [origin],
  );
  return origin;
}

/** A branch with files, and its pull request. */
export async function openPullRequest({ person }: TestGitHub, branch: string, title: string = branch): Promise<Proposal> {
  const { data: main } = await person.git.getRef({ ...place, ref: 'heads/main' });
  await person.git.createRef({ ...place, ref: `refs/heads/${branch}`, sha: main.object.sha });
  await pushTo({ person }, branch, 'one');
  const { data } = await person.pulls.create({ ...place, title, head: branch, base: 'main' });
  return { number: data.number, head: data.head.sha };
}

/** Adds a commit to a branch and returns its hash. */
export async function pushTo({ person }: Pick<TestGitHub, 'person'>, branch: string, name: string): Promise<string> {
  const content = Buffer.from(name).toString('base64');
  await person.repos.createOrUpdateFileContents({ ...place, path: `${branch}-${name}.txt`, message: name, content, branch });
  const { data } = await person.git.getRef({ ...place, ref: `heads/${branch}` });
  return data.object.sha;
}

/** Merges a pull request and returns the merge commit. */
export async function mergePullRequest({ person }: TestGitHub, number: number): Promise<string> {
  const { data } = await person.pulls.merge({ ...place, pull_number: number, merge_method: 'squash' });
  return data.sha;
}

/** A pull request of the emulated GitHub, and the head commit of its branch. */
export type Proposal = { readonly number: number; readonly head: string };

export type Payload = Proposal & {
  /** The commit of the checkout, used as the target branch. */
  readonly base: string;
  /** The repository of the branch. */
  readonly from?: string;
  readonly author?: string;
  readonly merged?: boolean;
  /** The target branch. */
  readonly into?: string;
};

/** Returns the payload of a pull request event. */
export function pullRequestPayload({ number, head, base, from = here, author = 'ada', merged = false, into = 'main' }: Payload): object {
  return {
    action: 'synchronize',
    number,
    pull_request: {
      number,
      state: merged ? 'closed' : 'open',
      merged,
      user: { login: author },
      head: { ref: 'feature', sha: head, repo: { full_name: from, fork: from !== here } },
      base: { ref: into, sha: base, repo: { full_name: here, fork: false } },
    },
    repository,
  };
}

/** Returns the bodies of a pull request's comments, oldest first. */
export async function commentsOn(
  { person }: TestGitHub,
  number: number,
): Promise<readonly { readonly id: number; readonly body: string }[]> {
  const { data } = await person.issues.listComments({ ...place, issue_number: number, per_page: 100 });
  return data.map(({ id, body }) => ({ id, body: body ?? '' }));
}
