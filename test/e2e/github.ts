import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { action } from '../../src/commands/action/action.ts';
import type { World } from '../../src/commands/world.ts';
import { builtPackage, start, type Ended } from '../support/cli.ts';
import { place, startGitHub, type TestGitHub } from '../support/github.ts';
import type { Files } from './project.ts';

/** A step that ran: what it printed, and what the runner reads afterwards. */
export type StepEnded = Pick<Ended, 'code' | 'stdout' | 'milliseconds'> & {
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
};

export type StepOptions = {
  readonly cwd: string;
  readonly event: string;
  readonly payload: object;
  readonly inputs: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
};

/** The action as it is checked out by a runner, and a GitHub for it to tell. */
export type ActionBench = {
  readonly github: () => TestGitHub;
  /** Runs the action's source in this process: quick. */
  readonly step: (options: StepOptions) => Promise<StepEnded>;
  /** Runs the bundle in a process of its own, as a runner does. */
  readonly bundled: (options: StepOptions) => Promise<StepEnded>;
};

/** Sets up GitHub and the bundled action for the tests of one file: the bundle alone, without any package beside it. */
export function useAction(makeFolder: (files: Files) => string): ActionBench {
  let github: TestGitHub | undefined;
  let home = '';
  let steps = 0;
  const running = (): TestGitHub => {
    if (github === undefined) throw new Error('GitHub is not started yet');
    return github;
  };
  beforeAll(async () => {
    home = makeFolder({});
    const built = await builtPackage();
    for (const name of ['dist', 'package.json']) cpSync(join(built, name), join(home, name), { recursive: true });
    github = await startGitHub();
  });
  beforeEach(() => running().intercept(undefined));
  afterAll(() => github?.close());
  const run = async (options: StepOptions, began: Start): Promise<StepEnded> => {
    steps += 1;
    const temp = join(home, `step-${steps}`);
    mkdirSync(temp);
    const file = (name: string): string => join(temp, name);
    writeFileSync(file('event.json'), JSON.stringify(options.payload));
    writeFileSync(file('output'), '');
    writeFileSync(file('summary'), '');
    const { url, token } = running();
    const given = Object.entries({ 'github-token': token, comment: 'true', ...options.inputs });
    const ended = await began(options.cwd, {
      ...variablesOf(options, { url, temp }),
      GITHUB_EVENT_PATH: file('event.json'),
      GITHUB_OUTPUT: file('output'),
      GITHUB_STEP_SUMMARY: file('summary'),
      ...Object.fromEntries(given.map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
      ...options.env,
    });
    return { ...ended, outputs: outputsOf(readFileSync(file('output'), 'utf8')), summary: readFileSync(file('summary'), 'utf8') };
  };
  return {
    github: running,
    step: (options) => run(options, runHere),
    bundled: (options) => run(options, (cwd, env) => start(process.execPath, [join(home, 'dist', 'action.js')], { cwd, env }).ended),
  };
}

type Environment = Readonly<Record<string, string>>;
type Start = (cwd: string, env: Environment) => Promise<Pick<StepEnded, 'code' | 'stdout' | 'milliseconds'>>;

async function runHere(cwd: string, env: Environment): ReturnType<Start> {
  const began = performance.now();
  let stdout = '';
  const output = { write: (text: string) => void (stdout += text), isTTY: false, columns: undefined };
  const world: World = {
    env: { PATH: process.env['PATH'], ...env },
    cwd,
    interactive: false,
    stdout: output,
    stderr: output,
    now: () => new Date(),
    interrupts: () => new AbortController().signal,
    confirms: () => Promise.resolve(false),
  };
  const code = await action(world, () => Promise.resolve());
  return { code, stdout, milliseconds: performance.now() - began };
}

const here = `${place.owner}/${place.repo}`;

/** What the runner sets for every step. */
function variablesOf({ cwd, event }: StepOptions, { url, temp }: { readonly url: string; readonly temp: string }): Environment {
  return {
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: url,
    GITHUB_EVENT_NAME: event,
    GITHUB_GRAPHQL_URL: `${url}/graphql`,
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REPOSITORY: here,
    GITHUB_RUN_ID: '4711',
    GITHUB_SERVER_URL: 'https://github.test',
    GITHUB_SHA: existsSync(join(cwd, '.git')) ? git(cwd, 'rev-parse HEAD') : '0'.repeat(40),
    GITHUB_WORKSPACE: cwd,
    RUNNER_TEMP: temp,
  };
}

/** The file of outputs as the runner reads it. */
function outputsOf(text: string): Readonly<Record<string, string>> {
  const found = text.matchAll(/^([\w-]+)<<(\S+)\n([\s\S]*?)\n\2\n/gm);
  return Object.fromEntries([...found].map(([, name = '', , value = '']) => [name, value]));
}

/** Runs git in a folder, with an author and without anybody's settings. */
export function git(cwd: string, line: string): string {
  const person = ['GIT_AUTHOR', 'GIT_COMMITTER'].flatMap((who) => [
    [`${who}_NAME`, 'Ada'],
    [`${who}_EMAIL`, 'ada@example.com'],
  ]);
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', ...Object.fromEntries(person) };
  return execFileSync('git', line.split(' '), { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** Makes the folder a repository with one commit. */
export function commitAll(cwd: string, message = 'First'): string {
  if (!existsSync(join(cwd, '.git'))) git(cwd, 'init --quiet --initial-branch=main');
  git(cwd, 'add --all');
  git(cwd, `commit --quiet --allow-empty --message=${message}`);
  return git(cwd, 'rev-parse HEAD');
}

/** A branch with files, and its pull request. */
export async function openPullRequest({ person }: TestGitHub, branch: string): Promise<Proposal> {
  const { data: main } = await person.git.getRef({ ...place, ref: 'heads/main' });
  await person.git.createRef({ ...place, ref: `refs/heads/${branch}`, sha: main.object.sha });
  await pushTo({ person }, branch, 'one');
  const { data } = await person.pulls.create({ ...place, title: branch, head: branch, base: 'main' });
  return { number: data.number, head: data.head.sha };
}

/** Adds a commit to a branch. */
export async function pushTo({ person }: Pick<TestGitHub, 'person'>, branch: string, name: string): Promise<void> {
  const content = Buffer.from(name).toString('base64');
  await person.repos.createOrUpdateFileContents({ ...place, path: `${branch}-${name}.txt`, message: name, content, branch });
}

/** A pull request of the emulated GitHub, and the commit that its branch is at. */
type Proposal = { readonly number: number; readonly head: string };

export type Payload = Proposal & {
  /** The commit of the checkout that stands for the target branch. */
  readonly base: string;
  /** The repository that the branch lies in. */
  readonly from?: string;
  readonly author?: string;
  readonly merged?: boolean;
};

/** The payload of a pull request's event. */
export function pullRequestPayload({ number, head, base, from = here, author = 'ada', merged = false }: Payload): object {
  return {
    action: 'synchronize',
    number,
    pull_request: {
      number,
      state: merged ? 'closed' : 'open',
      merged,
      user: { login: author },
      head: { ref: 'feature', sha: head, repo: { full_name: from, fork: from !== here } },
      base: { ref: 'main', sha: base, repo: { full_name: here, fork: false } },
    },
    repository: { full_name: here },
  };
}

/** The bodies of a pull request's comments, oldest first. */
export async function commentsOn(
  { person }: TestGitHub,
  number: number,
): Promise<readonly { readonly id: number; readonly body: string }[]> {
  const { data } = await person.issues.listComments({ ...place, issue_number: number, per_page: 100 });
  return data.map(({ id, body }) => ({ id, body: body ?? '' }));
}
