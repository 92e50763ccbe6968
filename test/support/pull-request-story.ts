import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { playDrift } from './drift-story.ts';
import { playPull } from './pull-story.ts';
import {
  write,
  propose,
  push,
  plan,
  merge,
  apply,
  onlyComment,
  lastComment,
  namesOf,
  must,
  quote,
  type Scene,
  type Stage,
} from './story-scene.ts';
import { commitAll, git } from './workflow.ts';

/** Plays the life of a pull request on GitHub. Throws when a comment or a run differs from the story. */
export async function playPullRequests(stage: Stage): Promise<void> {
  const scene = await begin(stage);
  for (const chapter of [change, rename, playDrift, playPull]) await chapter(scene);
  must((await namesOf(scene)).join() === 'reports-db,sales-db', 'the gateway has the two connections');
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
  description: Refuses to drop a table by hand.
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

/** Applies the manifests of the main branch, the start of the story. */
async function begin(stage: Stage): Promise<Scene> {
  const origin = join(stage.folder, 'origin.git');
  const clone = join(stage.folder, 'access');
  for (const folder of [origin, clone]) mkdirSync(folder);
  git(origin, 'init --quiet --bare --initial-branch=main');
  const scene = { ...stage, clone };
  write(scene, {
    'ostiary.yaml': `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets: { production: { url: '${stage.gateway.url}', prune: true } }\n`,
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

/** Plays a pull request that changes protections: its comment, merge and apply. */
async function change(scene: Scene): Promise<void> {
  scene.title('A pull request: a new connection, and no reviewers on orders-db');
  const pull = await propose(scene, 'reports', 'Open a database for reports; let everyone read orders', () => {
    write(scene, {
      'access/reports-db.yaml': reports,
      'access/orders-db.yaml': orders('orders-db').replace('  reviewers: [dba-team]\n', ''),
    });
  });
  const planned = await plan(scene, pull);
  must(planned.code === 0 && planned.outputs['outcome'] === 'planned', 'the pull request is planned');
  const comment = await onlyComment(scene, pull);
  quote(scene, comment);
  must(comment.includes('1 to create') && comment.includes('reports-db'), 'the comment reports the new connection');
  must(/orders-db.*reviewer|reviewer.*orders-db/is.test(comment), 'the comment reports the lost reviewers');

  scene.title('The merge: apply, and the outcome on the pull request');
  const { digest = '' } = planned.outputs;
  scene.say('mode: apply with digest: comment applies only the plan that the comment showed.');
  scene.say('');
  const applied = await merge(scene, pull, { digest: 'comment' });
  must(applied.outputs['digest'] === digest, 'what was shown is what is applied');
  must(applied.code === 0 && applied.outputs['outcome'] === 'applied', 'the merge is applied');
  quote(scene, await lastComment(scene, pull));
  must((await namesOf(scene)).includes('reports-db'), 'the gateway has the new connection');
}

/** Plays a pull request that renames a connection: its comment asks for `replaces`, and the author adds it. */
async function rename(scene: Scene): Promise<void> {
  scene.title('A second pull request: orders-db gets the name sales-db');
  const pull = await propose(scene, 'rename', 'Call orders-db sales-db', () => {
    rmSync(join(scene.clone, 'access/orders-db.yaml'));
    write(scene, { 'access/sales-db.yaml': withoutReviewers(orders('sales-db')) });
  });
  const refused = await plan(scene, pull);
  must(refused.code === 6 && refused.outputs['outcome'] === 'refused', 'the plan is refused');
  const comment = await onlyComment(scene, pull);
  quote(scene, comment);
  must(comment.includes('plan/immutable-name') && comment.includes('replaces'), 'the comment states the cost of a rename');

  scene.title('The author states the intent: metadata.replaces');
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
