import { expect, test } from 'vitest';
import type { Reply } from '../../support/actions-cache.ts';
import { place } from '../../support/github.ts';
import { commitAll, type StepEnded } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

type Inputs = Readonly<Record<string, string>>;

/** A target whose connections were changed outside Ostiary. */
async function drifted(target: string): Promise<(inputs?: Inputs) => Promise<StepEnded>> {
  const cwd = makeProject({
    'ostiary.yaml': config({ [target]: gateway.url() }),
    'access/a.yaml': connection(`${target}-a`, { reviewers: ['dba'] }),
    'access/b.yaml': connection(`${target}-b`, { reviewers: ['dba'] }),
  });
  commitAll(cwd);
  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  await change(`${target}-a`, []);
  const env = gateway.env();
  return (inputs = {}) => bench.step({ cwd, event: 'schedule', payload: {}, inputs: { mode: 'drift', ...inputs }, env });
}

async function change(name: string, reviewers: readonly string[]): Promise<void> {
  const { body } = await gateway.call('GET', `/connections/${name}`);
  expect((await gateway.call('PUT', `/connections/${name}`, { body: { ...body, reviewers } })).status).toBe(200);
}

async function issueOf(ended: StepEnded): Promise<{ readonly state: string; readonly body: string; readonly words: readonly string[] }> {
  const issue = { ...place, issue_number: Number(ended.outputs['issue']) };
  const { data } = await bench.github().person.issues.get(issue);
  const names = data.labels.map((one) => (typeof one === 'string' ? one : (one.name ?? '')));
  return { state: data.state, body: data.body ?? '', words: [...names, ...(data.assignees ?? []).map(({ login }) => login)] };
}

/** Refuses new issues as GitHub does, for names of a label or an assignee. */
function refuse(names: readonly string[]): void {
  bench.github().intercept(({ method, path, body }): Reply | undefined => {
    if (method !== 'POST' || !path.endsWith('/issues')) return undefined;
    const { labels, assignees } = JSON.parse(body);
    const name = names.find((one) => [...labels, ...assignees].includes(one));
    const errors = [{ value: name, resource: 'Issue', field: 'assignees', code: 'invalid' }];
    return name === undefined ? undefined : { status: 422, body: { message: 'Validation Failed', errors } };
  });
}

test('an issue is opened without labels and assignees that GitHub refuses', async () => {
  const drift = await drifted('named');
  const long = `team-${'x'.repeat(46)}`;
  refuse(['gone', 'left', long]);
  const ended = await drift({ labels: `drift, ${long}\naccess`, assignees: 'octo, gone\nleft' });
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'drifted', issue: expect.any(String) } });
  expect((await issueOf(ended)).words).toEqual(['drift', 'access', 'octo']);
  expect(ended.stdout).toMatch(
    /^::warning title=forge\/refused::issue \d+ was opened without the label "team-x+", .*the assignee "gone", the assignee "left": .* 422 /m,
  );
  const again = await drift({ labels: 'drift', assignees: 'gone' });
  expect(again.outputs).toEqual(ended.outputs);
  expect(again.stdout).not.toContain('forge/refused');
});
