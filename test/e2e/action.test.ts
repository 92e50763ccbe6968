import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { place } from '../support/github.ts';
import { useGateway } from './gateway.ts';
import { commentsOn, commitAll, openPullRequest, pullRequestPayload, pushTo, useAction } from './github.ts';
import { config, connection, guardrail, workshop } from './project.ts';

const makeProject = workshop();
const gateway = useGateway();
const bench = useAction(makeProject);

/** A checkout with a config for the gateway and some manifests. */
function checkout(files: Readonly<Record<string, string>>): string {
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), ...files });
  commitAll(cwd);
  return cwd;
}

const plan = { mode: 'plan' } as const;

test('a pull request gets one comment, which follows it until there is nothing to do', async () => {
  const github = bench.github();
  const cwd = checkout({ 'access/orders.yaml': connection('orders'), 'access/rule.yaml': guardrail('no-drop') });
  const first = await openPullRequest(github, 'follow');
  const run = { cwd, event: 'pull_request', inputs: plan, env: gateway.env() };
  const planned = await bench.step({ ...run, payload: pullRequestPayload(first) });
  expect({ code: planned.code, stderr: planned.stderr }).toEqual({ code: 0, stderr: '' });
  expect(planned.outputs).toMatchObject({ outcome: 'planned', changed: 'true', digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(JSON.parse(planned.outputs['counts'] ?? '')).toMatchObject({ create: 2, update: 0, unchanged: 0 });
  const [comment, ...others] = await commentsOn(github, first.number);
  expect(others).toEqual([]);
  const commit = commitAll(cwd, 'Same');
  expect(comment?.body).toContain('**2 to create**');
  expect(comment?.body).toMatch(new RegExp(`\\[\`access/orders.yaml:1\`\\]\\(https://github.test/octo/access/blob/[0-9a-f]{40}/access/orders.yaml#L1\\)`));
  expect(comment?.body).toContain('[this run](https://github.test/octo/access/actions/runs/4711)');
  expect(planned.summary).toContain('**2 to create**');

  writeFileSync(join(cwd, 'access', 'more.yaml'), connection('billing'));
  await pushTo(github, 'follow', 'two');
  const { data } = await github.person.pulls.get({ ...place, pull_number: first.number });
  const second = { ...first, head: data.head.sha };
  expect((await bench.step({ ...run, payload: pullRequestPayload(second) })).code).toBe(0);
  const [updated, ...more] = await commentsOn(github, first.number);
  expect(more).toEqual([]);
  expect(updated).toMatchObject({ id: comment?.id, body: expect.stringContaining('**3 to create**') });
  expect(updated?.body).toContain(commit.slice(0, 12));

  // The run for an older commit comes too late.
  const late = await bench.step({ ...run, payload: pullRequestPayload(first) });
  expect(late.stdout).toContain('github/newer-commit');
  expect(await commentsOn(github, first.number)).toEqual([updated]);

  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  const quiet = await bench.step({ ...run, payload: pullRequestPayload(second) });
  expect(quiet.outputs).toMatchObject({ outcome: 'planned', changed: 'false' });
  const [last] = await commentsOn(github, first.number);
  expect(last).toMatchObject({ id: comment?.id, body: expect.stringContaining('No changes.') });
});
