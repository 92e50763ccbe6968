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

test('what people write around the report stays', async () => {
  const drift = await drifted('notes');
  const first = await drift();
  const { person } = bench.github();
  const issue = { ...place, issue_number: Number(first.outputs['issue']) };
  const { body } = await issueOf(first);
  await person.issues.update({ ...issue, body: `**Ann** asks the vendor.\r\n\r\n${body.replaceAll('\n', '\r\n')}\r\n\r\nSee also #1.` });
  expect((await drift()).outputs['issue']).toBe(first.outputs['issue']);
  await change('notes-b', []);
  expect((await drift()).outputs['issue']).toBe(first.outputs['issue']);
  const changed = (await issueOf(first)).body;
  expect(changed).toMatch(/^\*\*Ann\*\* asks the vendor\.\n\n### Drift on `\w+`[^\n]*\n<!-- ostiary [^]*notes-b[^]*\n\nSee also #1\.$/);
  expect(changed.match(/<!-- |### Drift on/g)).toHaveLength(4);
  await change('notes-a', ['dba']);
  await change('notes-b', ['dba']);
  await drift();
  expect(await issueOf(first)).toMatchObject({ state: 'closed', body: expect.stringMatching(/^\*\*Ann[^]*See also #1\.$/) });
});

test('a name on the gateway that looks like the mark of another issue is only text', async () => {
  const drift = await drifted('mark');
  const [other = ''] = /<!-- ostiary [0-9a-f]{32} -->/.exec((await issueOf(await drift())).body) ?? [];
  expect(other).not.toBe('');
  const drift2 = await drifted('copy');
  await change('copy-a', [other, '<!-- ostiary end -->']);
  const { outputs } = await drift2();
  await change('mark-b', []);
  expect((await drift()).outputs['issue']).not.toBe(outputs['issue']);
  await change('copy-b', []);
  const copied = await drift2();
  expect(copied.outputs['issue']).toBe(outputs['issue']);
  expect((await issueOf(copied)).body.match(/Drift on/g)).toHaveLength(1);
});
