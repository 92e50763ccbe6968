import { expect, test } from 'vitest';
import { commitAll, git, mergePullRequest, openPullRequest, pullRequestPayload } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

test('a pull request that accepts drift has an annotation and outputs; its apply ends it', { timeout: 60_000 }, async () => {
  const github = bench.github();
  const cwd = makeProject({ 'ostiary.yaml': config(gateway.url()), 'access/a.yaml': connection('orders', { reviewers: ['dba'] }) });
  const base = commitAll(cwd);
  expect((await gateway.run('apply --yes --no-origin', cwd)).code).toBe(0);
  const { body } = await gateway.call('GET', '/connections/orders');
  expect((await gateway.call('PUT', '/connections/orders', { body: { ...body, reviewers: [] } })).status).toBe(200);
  git(cwd, 'checkout --quiet -b topic');
  writeFiles(cwd, { 'access/a.yaml': connection('orders') });
  const head = commitAll(cwd, 'Say what is live');
  const { number, head: made } = await openPullRequest(github, 'orders');
  github.useCommit(made, head);
  const run = { cwd, env: gateway.env() };
  const payload = pullRequestPayload({ number, head, base });
  const plan = (inputs = {}): ReturnType<typeof bench.step> =>
    bench.step({ ...run, event: 'pull_request', payload, inputs: { mode: 'plan', ...inputs } });
  const planned = await plan();
  const outputs = { outcome: 'planned', changed: 'true', 'max-risk': 'weakens', 'protection-lost': 'true' };
  expect(planned).toMatchObject({ code: 0, outputs });
  expect(JSON.parse(planned.outputs['counts'] ?? '')).toMatchObject({ accepted: 1, update: 0, unchanged: 1 });
  expect(planned.stdout).toMatch(
    /::warning file=access\/a\.yaml,line=\d+,col=\d+,title=plan\/accepted-drift::.*the manifests accept drift: weakens/,
  );
  expect(await plan({ 'fail-on': 'weakens' })).toMatchObject({ code: 6, outputs: { outcome: 'refused' } });

  git(cwd, 'checkout --quiet main');
  git(cwd, ['merge', '--quiet', '--no-ff', '--message=Merge', 'topic']);
  github.useCommit(await mergePullRequest(github, number), git(cwd, 'rev-parse HEAD'));
  const apply = (): ReturnType<typeof bench.step> => bench.step({ ...run, event: 'push', payload: {}, inputs: { mode: 'apply' } });
  expect(await apply()).toMatchObject({ code: 0, outputs: { outcome: 'applied', 'max-risk': 'weakens' } });
  expect(await apply()).toMatchObject({ code: 0, outputs: { changed: 'false', 'max-risk': 'none' } });
});
