import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, type JsonObject } from '../../src/model/json.ts';
import type { Ended, RunOptions } from './cli.ts';
import type { TestGitHub } from './github.ts';
import {
  commentsOn,
  commitAll,
  git,
  mergePullRequest,
  openPullRequest,
  pullRequestPayload,
  pushTo,
  type Proposal,
  type StepEnded,
  type StepOptions,
} from './workflow.ts';

/** The folder, gateway and GitHub of a story, and its output. */
export type Stage = {
  /** An empty folder. */
  readonly folder: string;
  /** A gateway with an agent `default`, and a key that may write. */
  readonly gateway: { readonly url: string; readonly key: string };
  readonly github: TestGitHub;
  /** Runs the action as GitHub does. */
  readonly step: (options: StepOptions) => Promise<StepEnded>;
  /** Runs a command line, as a user at a terminal does. */
  readonly ostiary: (args: readonly string[], options: RunOptions) => Promise<Pick<Ended, 'code' | 'stdout'>>;
  readonly title: (text: string) => void;
  readonly say: (text: string) => void;
};

/** A repository with an origin, and the steps of a story in it. */
export type Scene = Stage & { readonly clone: string };

export function write({ clone }: Scene, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  }
}

/** Opens a pull request for the edits on a new branch; the checkout stays on the branch. */
export async function propose(scene: Scene, branch: string, title: string, work: () => void): Promise<Proposal> {
  git(scene.clone, `checkout --quiet -b ${branch} main`);
  work();
  commitAll(scene.clone, title);
  git(scene.clone, `push --quiet origin ${branch}`);
  const pull = await openPullRequest(scene.github, branch, title);
  scene.say(`#${pull.number} ${title}`);
  scene.say('');
  return pull;
}

/** Adds a commit to a pull request. */
export async function push(scene: Scene, { number }: Proposal, branch: string, message: string, work: () => void): Promise<Proposal> {
  work();
  commitAll(scene.clone, message);
  git(scene.clone, `push --quiet origin ${branch}`);
  return { number, head: await pushTo(scene.github, branch, String(Math.random()).slice(2)) };
}

/** Runs `mode: plan` as the workflow of a pull request does. */
export function plan(scene: Scene, pull: Proposal): Promise<StepEnded> {
  const base = git(scene.clone, 'rev-parse main');
  return scene.step({
    cwd: scene.clone,
    event: 'pull_request',
    payload: pullRequestPayload({ ...pull, base }),
    inputs: { mode: 'plan' },
    env: environment(scene),
  });
}

/** The merged pull request; by default that of the checked-out branch. */
export type Merging = Pick<Proposal, 'number'> & { readonly branch?: string };

/** Merges a branch, and runs `mode: apply` as the workflow of the push does. */
export async function merge(scene: Scene, { number, branch }: Merging, inputs: StepOptions['inputs'] = {}): Promise<StepEnded> {
  const from = branch ?? git(scene.clone, 'branch --show-current');
  git(scene.clone, 'checkout --quiet main');
  git(scene.clone, ['merge', '--quiet', '--no-ff', `--message=Merge #${number}`, from]);
  git(scene.clone, 'push --quiet origin main');
  return apply(scene, await mergePullRequest(scene.github, number), inputs);
}

export function apply(scene: Scene, commit: string, inputs: StepOptions['inputs'] = {}): Promise<StepEnded> {
  const env = { ...environment(scene), GITHUB_SHA: commit };
  return scene.step({ cwd: scene.clone, event: 'push', payload: { after: commit }, inputs: { mode: 'apply', ...inputs }, env });
}

/** Runs `mode: drift` as the workflow of a schedule does. */
export function drift(scene: Scene, inputs: StepOptions['inputs'] = {}): Promise<StepEnded> {
  return scene.step({ cwd: scene.clone, event: 'schedule', payload: {}, inputs: { mode: 'drift', ...inputs }, env: environment(scene) });
}

/** Sends a request to the gateway, as a user who changes it by hand. */
export async function byHand({ gateway }: Scene, method: string, path: string, body?: object): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${gateway.url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const said: unknown = await answer.json();
  return isObject(said) ? said : {};
}

function environment({ gateway }: Scene): Readonly<Record<string, string>> {
  return { OSTIARY_TOKEN: gateway.key, OSTIARY_SECRET_ORDERS: 'correct-horse' };
}

export async function onlyComment(scene: Scene, pull: Proposal): Promise<string> {
  const [comment, ...others] = await commentsOn(scene.github, pull.number);
  must(comment !== undefined && others.length === 0, 'there is one comment');
  return comment?.body ?? '';
}

export async function lastComment({ github }: Scene, { number }: Proposal): Promise<string> {
  return (await commentsOn(github, number)).at(-1)?.body ?? '';
}

export async function namesOf({ gateway }: Scene): Promise<readonly unknown[]> {
  const answer = await fetch(`${gateway.url}/connections`, { headers: { authorization: `Bearer ${gateway.key}` } });
  const list: unknown = await answer.json();
  return Array.isArray(list) ? list.map((one) => one.name) : [];
}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the story fails: expected that ${what}`);
}

/** Renders a comment approximately as its readers see it: no marker, no link URLs, wrapped prose. */
export function quote({ say }: Scene, body: string): void {
  const shown = body.replace(/^(?:<!-- .* -->\n)+/, '').replaceAll(/\[((?:[^\]\\]|\\.)*)\]\(https?:[^)\s]*\)/g, '$1');
  for (const line of shown.trimEnd().split('\n').flatMap(folded)) say(`  \u2502 ${line}`.trimEnd());
  say('');
}

/** Wraps a line of prose at 76 characters; rows of tables and code stay whole. */
function folded(line: string): readonly string[] {
  if (/^[|+!~<]/.test(line)) return [line];
  const indent = line.startsWith('- ') ? '  ' : '';
  return line.split(/ (?=\S)/).reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    return last !== undefined && `${last} ${word}`.length <= 76
      ? [...lines.slice(0, -1), `${last} ${word}`]
      : [...lines, lines.length === 0 ? word : indent + word];
  }, []);
}
