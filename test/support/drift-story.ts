import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { place } from './github.ts';
import { byHand, drift, merge, must, propose, quote, write, type Scene } from './story-scene.ts';
import { git, pushTo } from './workflow.ts';

/** Plays a drift: on-call tightens a connection, an issue reports it, a merge leaves it in place, a pull request adopts it. */
export async function playDrift(scene: Scene): Promise<void> {
  scene.title('At night, outside Ostiary: reports-db gets a second reviewer group');
  const reports = await byHand(scene, 'GET', '/connections/reports-db');
  const tightened = { ...reports, reviewers: ['analysts', 'security'], access_max_duration: 900 };
  await byHand(scene, 'PUT', '/connections/reports-db', tightened);
  git(scene.clone, 'checkout --quiet main');
  const found = await drift(scene);
  must(found.code === 0 && found.outputs['outcome'] === 'drifted', 'mode: drift finds it');
  const issue = Number(found.outputs['issue']);
  scene.say(`#${issue} ${(await issueAt(scene, issue)).title}`);
  scene.say('');
  quote(scene, (await issueAt(scene, issue)).body);

  scene.title('The next morning, another merge: the stricter values are held');
  const rule = join('access', 'no-drop.yaml');
  const pull = await propose(scene, 'alter', 'Also refuse to alter a table by hand', () => {
    write(scene, { [rule]: readFileSync(join(scene.clone, rule), 'utf8').replace('TRUNCATE]', 'TRUNCATE, ALTER TABLE]') });
  });
  must((await merge(scene, pull)).code === 0, 'the merge is applied');
  must(await isTightened(scene), 'the stricter values are held');
  scene.say('Applied: the rule has the new word, and reports-db still requires security.');

  scene.title('The team accepts it: adopt: true opens a pull request');
  const adopted = await drift(scene, { adopt: true });
  must(adopted.code === 0 && adopted.outputs['outcome'] === 'adopted', 'the drift is accepted');
  const number = Number(adopted.outputs['pull-request']);
  const { data: request } = await scene.github.person.pulls.get({ ...place, pull_number: number });
  must(/ by admin, /.test(request.body ?? ''), 'the pull request names the author');
  scene.say(`#${number} ${request.title}`);
  scene.say('');
  quote(scene, request.body ?? '');
  const branch = 'ostiary/adopt/production';
  for (const line of git(scene.clone, `diff --unified=0 main ${branch}`)
    .split('\n')
    .filter((one) => /^[+-] /.test(one)))
    scene.say(`  ${line}`);

  scene.title('The merge: nothing is written, there is no drift, and the issue is closed');
  await pushTo(scene.github, branch, 'edits');
  const applied = await merge(scene, { number, branch });
  must(applied.code === 0 && applied.outputs['changed'] === 'true', 'the apply records the accepted drift');
  must(await isTightened(scene), 'the stricter values stay');
  const last = await drift(scene, { adopt: true });
  must(last.outputs['outcome'] === 'clean', 'there is no drift');
  must((await issueAt(scene, issue)).state === 'closed', 'the issue is closed');
  scene.say(`Nothing was written; #${issue} is closed.`);
}

async function isTightened(scene: Scene): Promise<boolean> {
  const { reviewers } = await byHand(scene, 'GET', '/connections/reports-db');
  return Array.isArray(reviewers) && reviewers.includes('security');
}

type Shown = { readonly title: string; readonly body: string; readonly state: string };

/** Renders an issue as its readers see it. */
async function issueAt({ github }: Scene, number: number): Promise<Shown> {
  const { data } = await github.person.issues.get({ ...place, issue_number: number });
  return { title: data.title, body: data.body ?? '', state: data.state };
}
