import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** Where the story is played, and who hears it. */
export type Stage = {
  /** An empty folder. */
  readonly folder: string;
  /** A gateway with an agent `default`, and a key that may write. */
  readonly gateway: { readonly url: string; readonly key: string };
  readonly github: TestGitHub;
  /** Runs the action on GitHub's behalf. */
  readonly step: (options: StepOptions) => Promise<StepEnded>;
  readonly title: (text: string) => void;
  readonly say: (text: string) => void;
};

/** A repository with an origin, and what everybody in it may do. */
type Scene = Stage & { readonly clone: string };

/** Plays what a team sees of Ostiary on GitHub; throws where something is not as it is told. */
export async function playPullRequests(stage: Stage): Promise<void> {
  const scene = await begin(stage);
  for (const chapter of [change, rename]) await chapter(scene);
}

const orders = (name: string, metadata = ''): string => `apiVersion: ostiary/v1
kind: Connection
metadata:
  name: ${name}${metadata}
spec:
  type: database
  subtype: postgres
  agent_id: default
  access_mode_connect: enabled
  access_mode_exec: enabled
  access_mode_runbooks: disabled
  access_schema: enabled
  reviewers: [dba-team]
  guardrail_rules: [no-drop]
  connection_tags: { env: prod }
  secret:
    envvar:HOST: { value: orders.db.internal }
    envvar:PASS: { valueFrom: { env: OSTIARY_SECRET_ORDERS } }
`;

const noDrop = `apiVersion: ostiary/v1
kind: GuardrailRule
metadata:
  name: no-drop
spec:
  description: Nobody drops a table by hand.
  input:
    rules:
      - { name: ddl, type: deny_words_list, words: [DROP TABLE, TRUNCATE] }
`;

const reports = `apiVersion: ostiary/v1
kind: Connection
metadata:
  name: reports-db
spec:
  type: database
  subtype: postgres
  agent_id: default
  access_mode_connect: enabled
  access_mode_exec: enabled
  access_mode_runbooks: disabled
  access_schema: enabled
  access_max_duration: 3600
  reviewers: [analysts]
  guardrail_rules: [no-drop]
`;

/** What is there before the story: manifests on the main branch, applied. */
async function begin(stage: Stage): Promise<Scene> {
  const origin = join(stage.folder, 'origin.git');
  const clone = join(stage.folder, 'access');
  for (const folder of [origin, clone]) mkdirSync(folder);
  git(origin, 'init --quiet --bare --initial-branch=main');
  const scene = { ...stage, clone };
  write(scene, {
    'ostiary.yaml': `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets: { production: { url: '${stage.gateway.url}' } }\n`,
    'access/orders-db.yaml': orders('orders-db'),
    'access/no-drop.yaml': noDrop,
  });
  commitAll(clone, 'Keep orders-db in the repository');
  git(clone, ['remote', 'add', 'origin', `file://${origin}`]);
  git(clone, 'push --quiet origin main');
  stage.title('A repository, a gateway');
  stage.say('The main branch has two manifests: Connection/orders-db, GuardrailRule/no-drop.');
  const { code } = await apply(scene, git(clone, 'rev-parse HEAD'));
  must(code === 0, 'the first apply succeeds');
  stage.say('mode: apply created both, and recorded refs/ostiary/applied/production.');
  return scene;
}

/** A pull request changes protections, is merged, and is applied. */
async function change(scene: Scene): Promise<void> {
  scene.title('A pull request: reports, and no more waiting for the DBAs');
  const pull = await propose(scene, 'reports', 'Open a database for reports; let everybody read orders', () => {
    write(scene, {
      'access/reports-db.yaml': reports,
      'access/orders-db.yaml': orders('orders-db').replace('  reviewers: [dba-team]\n', ''),
    });
  });
  const planned = await plan(scene, pull);
  must(planned.code === 0 && planned.outputs['outcome'] === 'planned', 'the pull request is planned');
  const comment = await onlyComment(scene, pull);
  quote(scene, comment);
  must(comment.includes('1 to create') && comment.includes('reports-db'), 'the comment tells of the new connection');
  must(/orders-db.*reviewer|reviewer.*orders-db/is.test(comment), 'the comment tells of the lost reviewers');

  scene.title('It is merged: apply, and the outcome on the pull request');
  const { digest = '' } = planned.outputs;
  scene.say(`mode: apply, digest: ${digest.slice(0, 12)}\u2026: nothing but the plan that was shown.`);
  scene.say('');
  const applied = await merge(scene, pull, { digest });
  must(applied.code === 0 && applied.outputs['outcome'] === 'applied', 'the merge is applied');
  quote(scene, await lastComment(scene, pull));
  must((await namesOf(scene)).includes('reports-db'), 'the gateway has the new connection');
}

/** A pull request renames a connection, hears what that costs, and says what it means. */
async function rename(scene: Scene): Promise<void> {
  scene.title('A second pull request: orders-db shall be called sales-db');
  const pull = await propose(scene, 'rename', 'Call orders-db sales-db', () => {
    rmSync(join(scene.clone, 'access/orders-db.yaml'));
    write(scene, { 'access/sales-db.yaml': withoutReviewers(orders('sales-db')) });
  });
  const refused = await plan(scene, pull);
  must(refused.code === 6 && refused.outputs['outcome'] === 'refused', 'the plan is refused');
  const told = await onlyComment(scene, pull);
  quote(scene, told);
  must(told.includes('plan/immutable-name') && told.includes('replaces'), 'the comment tells what a rename costs');

  scene.title('The author says what is meant: metadata.replaces');
  const moved = await push(scene, pull, 'rename', 'Take the place of orders-db', () => {
    write(scene, { 'access/sales-db.yaml': withoutReviewers(orders('sales-db', '\n  replaces: orders-db')) });
  });
  must((await plan(scene, moved)).code === 0, 'the plan is possible now');
  quote(scene, await onlyComment(scene, moved));
  const applied = await merge(scene, moved);
  must(applied.code === 0, 'the merge is applied');
  quote(scene, await lastComment(scene, moved));
  must((await namesOf(scene)).includes('sales-db'), 'the gateway has the connection by its name');
}

function withoutReviewers(text: string): string {
  return text.replace('  reviewers: [dba-team]\n', '');
}

function write({ clone }: Scene, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  }
}

/** Opens a pull request of what is done on a branch; the checkout stays on it. */
async function propose(scene: Scene, branch: string, title: string, work: () => void): Promise<Proposal> {
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
async function push(scene: Scene, { number }: Proposal, branch: string, message: string, work: () => void): Promise<Proposal> {
  work();
  commitAll(scene.clone, message);
  git(scene.clone, `push --quiet origin ${branch}`);
  return { number, head: await pushTo(scene.github, branch, String(Math.random()).slice(2)) };
}

/** Runs `mode: plan` as the workflow of a pull request does. */
function plan(scene: Scene, pull: Proposal): Promise<StepEnded> {
  const base = git(scene.clone, 'rev-parse main');
  return scene.step({
    cwd: scene.clone,
    event: 'pull_request',
    payload: pullRequestPayload({ ...pull, base }),
    inputs: { mode: 'plan' },
    env: environment(scene),
  });
}

/** Merges, and runs `mode: apply` as the workflow of the push does. */
async function merge(scene: Scene, { number }: Proposal, inputs: StepOptions['inputs'] = {}): Promise<StepEnded> {
  const branch = git(scene.clone, 'branch --show-current');
  git(scene.clone, 'checkout --quiet main');
  git(scene.clone, ['merge', '--quiet', '--no-ff', `--message=Merge #${number}`, branch]);
  git(scene.clone, 'push --quiet origin main');
  return apply(scene, await mergePullRequest(scene.github, number), inputs);
}

function apply(scene: Scene, commit: string, inputs: StepOptions['inputs'] = {}): Promise<StepEnded> {
  const env = { ...environment(scene), GITHUB_SHA: commit };
  return scene.step({ cwd: scene.clone, event: 'push', payload: { after: commit }, inputs: { mode: 'apply', ...inputs }, env });
}

function environment({ gateway }: Scene): Readonly<Record<string, string>> {
  return { OSTIARY_TOKEN: gateway.key, OSTIARY_SECRET_ORDERS: 'correct-horse' };
}

async function onlyComment(scene: Scene, pull: Proposal): Promise<string> {
  const [comment, ...others] = await commentsOn(scene.github, pull.number);
  must(comment !== undefined && others.length === 0, 'there is one comment');
  return comment?.body ?? '';
}

async function lastComment({ github }: Scene, { number }: Proposal): Promise<string> {
  return (await commentsOn(github, number)).at(-1)?.body ?? '';
}

async function namesOf({ gateway }: Scene): Promise<readonly unknown[]> {
  const answer = await fetch(`${gateway.url}/connections`, { headers: { authorization: `Bearer ${gateway.key}` } });
  const list: unknown = await answer.json();
  return Array.isArray(list) ? list.map((one) => one.name) : [];
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the story went another way: it is not so that ${what}`);
}

/** Shows a comment as its readers see it, more or less: no marker, no addresses of links, prose in lines that fit. */
function quote({ say }: Scene, body: string): void {
  const shown = body.replace(/^<!-- .* -->\n/, '').replaceAll(/\[((?:[^\]\\]|\\.)*)\]\(https?:[^)\s]*\)/g, '$1');
  for (const line of shown.trimEnd().split('\n').flatMap(folded)) say(`  \u2502 ${line}`.trimEnd());
  say('');
}

/** A line of prose as lines of at most 76 characters; rows of tables and of code stay whole. */
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
