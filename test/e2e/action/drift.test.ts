import { describe, expect, test } from 'vitest';
import type { Reply } from '../../support/actions-cache.ts';
import { adminToken, hoopProject } from '../../support/hoop-project.ts';
import { place } from '../../support/github.ts';
import { commitAll, git, pushToOrigin, type StepEnded } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, useProjects, writeFiles, type Files } from '../project.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

type Inputs = Readonly<Record<string, string>>;

/** A checkout whose manifests are applied, each file's tests with a target of their own. */
async function applied(target: string, files: Files): Promise<string> {
  const cwd = makeProject({ 'ostiary.yaml': config({ [target]: gateway.url() }), ...files });
  commitAll(cwd);
  expect((await gateway.run('apply --yes', cwd)).code).toBe(0);
  return cwd;
}

function drift(cwd: string, inputs: Inputs = {}, env: Inputs = gateway.env()): Promise<StepEnded> {
  return bench.step({ cwd, event: 'schedule', payload: {}, inputs: { mode: 'drift', ...inputs }, env });
}

async function change(name: string, spec: object): Promise<void> {
  const { body } = await gateway.call('GET', `/connections/${name}`);
  expect((await gateway.call('PUT', `/connections/${name}`, { body: { ...body, ...spec } })).status).toBe(200);
}

/** What a person sees of the issues about a target. */
async function issuesOf(target: string): Promise<readonly { number: number; state: string; body: string; labels: readonly string[] }[]> {
  const { data } = await bench.github().person.issues.listForRepo({ ...place, state: 'all', per_page: 100 });
  return data
    .filter(({ title }) => title.startsWith(`Drift on \`${target}\``))
    .map(({ number, state, body, labels }) => ({
      number,
      state,
      body: body ?? '',
      labels: labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
    }));
}

async function wordsOn(number: number): Promise<readonly string[]> {
  const { data } = await bench.github().person.issues.listComments({ ...place, issue_number: number });
  return data.map(({ body }) => body ?? '');
}

/** What was written to GitHub while something was done. */
async function writes(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = bench.github().heard.length;
  await work();
  const heard = bench.github().heard.slice(before);
  return heard.filter(({ method, path }) => method !== 'GET' && path !== '/graphql').map(({ method, path }) => `${method} ${path}`);
}

const home = `/repos/${place.owner}/${place.repo}`;

describe('the issue of a drift', () => {
  test('is opened, left unchanged, updated, closed with a comment, and reopened', async () => {
    const cwd = await applied('one', { 'access/a.yaml': connection('one-a', { reviewers: ['dba', 'sre'] }) });
    expect(await drift(cwd)).toMatchObject({ code: 0, outputs: { outcome: 'clean', changed: 'false' } });
    expect(await issuesOf('one')).toEqual([]);

    await change('one-a', { reviewers: ['dba'] });
    const first = await drift(cwd);
    expect(first).toMatchObject({ code: 0, outputs: { outcome: 'drifted', changed: 'true', 'protection-lost': 'true' } });
    expect(JSON.parse(first.outputs['counts'] ?? '')).toMatchObject({ changed: 1, held: 0, blocked: 0, pending: 0 });
    const [issue, ...others] = await issuesOf('one');
    expect([others, issue]).toEqual([
      [],
      { number: Number(first.outputs['issue']), state: 'open', labels: ['drift'], body: expect.any(String) },
    ]);
    expect(issue?.body).toMatch(/one-a loses reviewer group sre[\s\S]*`Connection\/one-a`[\s\S]* by admin, [^\n]*: `- reviewers: sre`\n/);
    expect(issue?.body).toContain('https://github.test/octo/access/blob/');
    expect(issue?.body).toContain('or start [the job](https://github.test/octo/access/actions/workflows/drift.yml) with `revert: true`');
    expect(first.summary).toContain('Drift on `one`');
    expect(first.stdout).toMatch(/^::warning file=access\/a\.yaml,line=17,col=7,title=drift Connection\/one-a::/m);

    commitAll(cwd, 'Another commit, the same drift');
    expect(await writes(() => drift(cwd))).toEqual([]);

    await change('one-a', { reviewers: ['dba'], access_max_duration: 60 });
    const number = issue?.number ?? 0;
    expect(await writes(() => drift(cwd))).toEqual([`PATCH ${home}/issues/${number}`, `POST ${home}/issues/${number}/comments`]);
    expect((await issuesOf('one'))[0]?.body).toContain('access_max_duration');
    const changed = expect.stringMatching(/The drift changed, as found by .* It is now about `Connection\/one-a`\./);
    expect(await wordsOn(number)).toEqual([changed]);

    await change('one-a', { reviewers: ['dba', 'sre'], access_max_duration: null });
    expect((await drift(cwd)).outputs).toMatchObject({ outcome: 'clean' });
    expect(await issuesOf('one')).toMatchObject([{ number, state: 'closed' }]);
    expect(await wordsOn(number)).toEqual([changed, expect.stringContaining('The drift is gone')]);
    expect(await writes(() => drift(cwd))).toEqual([]);

    await change('one-a', { reviewers: ['dba'], access_max_duration: 60 });
    expect((await drift(cwd)).outputs).toMatchObject({ outcome: 'drifted', issue: String(number) });
    expect(await issuesOf('one')).toMatchObject([{ number, state: 'open' }]);
  });

  test('is found by its author, also without its label; each target has one', async () => {
    const files = { 'access/a.yaml': connection('mine-a', { reviewers: ['dba'] }) };
    const cwd = await applied('mine', files);
    await change('mine-a', { reviewers: [] });
    const { outputs } = await drift(cwd, { labels: 'by hand\naccess\nurgent', assignees: 'octo' });
    const [issue] = await issuesOf('mine');
    expect(issue?.labels).toEqual(['by hand', 'access', 'urgent']);
    const { data: opened } = await bench.github().person.issues.get({ ...place, issue_number: issue?.number ?? 0 });
    expect(opened.assignees?.map(({ login }) => login)).toEqual(['octo']);
    const { person } = bench.github();
    const copy = await person.issues.create({ ...place, title: 'A copy', body: issue?.body ?? '', labels: ['by hand'] });
    await person.issues.update({ ...place, issue_number: issue?.number ?? 0, labels: [] });
    await change('mine-a', { reviewers: ['x'] });
    expect((await drift(cwd, { labels: 'by hand' })).outputs['issue']).toBe(outputs['issue']);
    const { data } = await person.issues.get({ ...place, issue_number: copy.data.number });
    expect(data.body).toBe(issue?.body);
    writeFiles(cwd, { 'ostiary.yaml': config({ mine: gateway.url(), other: gateway.url() }) });
    commitAll(cwd);
    const second = await drift(cwd, { labels: 'by hand', target: 'other' });
    expect([second.code, second.outputs['issue'] === outputs['issue']]).toEqual([0, false]);
  });

  test('is an error that fails the step for a missing permission', async () => {
    const target = 'denied';
    const [reply, code] = [{ status: 403, body: { message: 'Resource not accessible by integration' } }, 'forge/forbidden'];
    const cwd = await applied(target, { 'access/a.yaml': connection(`${target}-a`, { reviewers: ['dba'] }) });
    await change(`${target}-a`, { reviewers: [] });
    bench.github().intercept(({ path }) => (/\/(?:issues|labels)/.test(path) ? reply : undefined));
    const ended = await drift(cwd);
    expect(ended).toMatchObject({ code: 4, outputs: { outcome: 'drifted' } });
    expect(ended.stdout).toMatch(new RegExp(`^::error title=${code}::the issue about the drift was not written: `, 'm'));
    expect(ended.summary).toContain(code);
    expect(ended.summary).toMatch(/^### The report of the drift failed\n[^]*Drift on /);
    expect(await drift(cwd, { issue: 'false' })).toMatchObject({ code: 0 });
  });
});

test('a change of an object that no manifest declares keeps the issue open, also after a revert, until an apply records it', async () => {
  const hoop = await hoopProject();
  const cwd = makeProject({
    'ostiary.yaml': config({ rules: hoop.url }),
    'access/a.yaml': connection('orders-db', { reviewers: ['dba'] }),
  });
  commitAll(cwd);
  const env = { OSTIARY_TOKEN: adminToken };
  expect((await gateway.run('apply --yes', cwd, env)).code).toBe(0);
  const rule = { name: 'nightly', runbooks: [], connections: ['orders-db'], user_groups: ['sre'] };
  expect((await hoop.send('POST', '/runbooks/rules', rule)).status).toBe(201);
  const first = await drift(cwd, {}, env);
  expect(first).toMatchObject({ code: 0, outputs: { outcome: 'drifted', changed: 'true', 'protection-lost': 'false' } });
  expect(JSON.parse(first.outputs['counts'] ?? '')).toMatchObject({ changed: 0, outside: 1 });
  expect(first.stdout).toContain('RunbookRule/nightly: created');
  const number = Number(first.outputs['issue']);
  const about = { number, state: 'open', body: expect.stringContaining('RunbookRule/nightly: created') };
  expect(await issuesOf('rules')).toMatchObject([about]);
  expect(await writes(() => drift(cwd, {}, env))).toEqual([]);

  const { body } = await hoop.send('GET', '/connections/orders-db');
  await hoop.send('PUT', '/connections/orders-db', { ...Object(body), reviewers: ['sre'] });
  expect((await drift(cwd, { revert: 'true' }, env)).outputs).toMatchObject({ outcome: 'reverted' });
  expect(await issuesOf('rules')).toMatchObject([{ ...about, body: expect.not.stringContaining('Connection/orders-db') }]);
  expect((await gateway.run('apply --yes', cwd, env)).code).toBe(0);
  expect((await drift(cwd, {}, env)).outputs).toMatchObject({ outcome: 'clean' });
  expect(await issuesOf('rules')).toMatchObject([{ number, state: 'closed' }]);
});

/** What a person sees of the open pull requests. */
async function openRequests(): Promise<readonly { number: number; title: string; body: string | null; head: { ref: string } }[]> {
  const { data } = await bench.github().person.pulls.list({ ...place, state: 'open' });
  return data;
}

test('adopt: true opens one pull request, leaves it unchanged, updates it, and closes it without drift', async () => {
  const cwd = await applied('taken', {
    'access/a.yaml': connection('taken-a', { reviewers: ['dba'] }),
    'access/b.yaml': connection('taken-b'),
  });
  const origin = pushToOrigin(cwd, makeProject({}));
  const adopt = { adopt: 'true' };
  expect((await drift(cwd, adopt)).outputs).toMatchObject({ outcome: 'clean' });
  await change('taken-a', { reviewers: ['dba', '@octo fixes #1'] });
  const ended = await drift(cwd, adopt);
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'adopted', changed: 'true' } });
  const { issue, 'pull-request': number } = ended.outputs;
  const branch = 'ostiary/adopt/taken';
  expect(git(origin, `show ${branch}:access/a.yaml`)).toContain('@octo fixes #1');
  expect(git(origin, `show --no-patch --format=%B ${branch}`)).not.toContain('fixes');
  const [request] = (await openRequests()).filter(({ head }) => head.ref === branch);
  expect(request).toMatchObject({ number: Number(number), title: 'Accept drift on taken' });
  expect(request?.body).toMatch(
    /^(?:<!--.*-->\n)*### Accepts drift on `taken`: 1 object changed outside Ostiary\. taken-a gains reviewer group /,
  );
  expect(request?.body).toMatch(new RegExp(`Belongs to #${issue}\\.[\\s\\S]*\`Connection/taken-a\`[\\s\\S]* by admin`));
  expect((await issuesOf('taken'))[0]?.body).toContain(`**To accept it**, merge #${number}, or run \`ostiary drift --adopt\`, `);
  expect(await wordsOn(Number(issue))).toEqual([]);
  const outside = (request?.body ?? '').replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
  expect(outside).not.toMatch(/@octo|fixes/);

  expect(await writes(() => drift(cwd, adopt))).toEqual([]);
  await gateway.call('DELETE', '/connections/taken-b');
  expect(await writes(() => drift(cwd, adopt))).toEqual([
    `PATCH ${home}/issues/${issue}`,
    `POST ${home}/issues/${issue}/comments`,
    `PATCH ${home}/pulls/${number}`,
  ]);
  const body = (await openRequests()).find((one) => one.number === Number(number))?.body;
  expect(body).toMatch(/### Accepts .*, 1 part not accepted\. [\s\S]*1 part not accepted:[\s\S]*adopt\/removed/);

  const closed = { ...place, pull_number: Number(number), state: 'closed' } as const;
  await bench.github().person.pulls.update(closed);
  expect(await writes(() => drift(cwd, adopt))).toEqual([]);
  await change('taken-a', { reviewers: ['dba', 'sre'] });
  const again = (await drift(cwd, adopt)).outputs['pull-request'];
  expect((await openRequests()).filter(({ head }) => head.ref === branch).map((one) => String(one.number))).toEqual([again]);

  expect((await gateway.run('drift --revert --yes', cwd)).code).toBe(0);
  expect((await drift(cwd, adopt)).outputs).toMatchObject({ outcome: 'clean' });
  expect((await openRequests()).filter(({ head }) => head.ref === branch)).toEqual([]);
  expect(await wordsOn(Number(again))).toEqual([expect.stringContaining('The drift is gone')]);
  expect(await writes(() => drift(cwd, adopt))).toEqual([]);
  await change('taken-a', { reviewers: ['dba', 'sre'] });
  expect((await drift(cwd, adopt)).outputs['pull-request']).not.toBe(again);
});

test('a branch to which a person committed is left alone, and the issue says so', async () => {
  const cwd = await applied('helped', { 'access/a.yaml': connection('helped-a', { reviewers: ['dba'] }) });
  const origin = pushToOrigin(cwd, makeProject({}));
  await change('helped-a', { reviewers: ['dba', 'sre'] });
  const { outputs } = await drift(cwd, { adopt: 'true' });
  // As "Update branch" on the page of the pull request does.
  const branch = 'ostiary/adopt/helped';
  git(cwd, `fetch --quiet origin ${branch}:theirs`);
  commitAll(cwd, 'More');
  git(cwd, 'push --quiet origin main');
  git(cwd, 'checkout --quiet theirs');
  git(cwd, ['merge', '--quiet', '--no-ff', '-m', "Merge branch 'main'", 'main']);
  git(cwd, `push --quiet origin theirs:${branch}`);
  const theirs = git(cwd, 'rev-parse HEAD');
  git(cwd, 'checkout --quiet main');
  const ended = await drift(cwd, { adopt: 'true' });
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'drifted', issue: outputs['issue'] } });
  expect(ended.stdout).toMatch(/^::warning title=git\/branch-taken::/m);
  expect(git(origin, `rev-parse ${branch}`)).toBe(theirs);
  const [issue] = await issuesOf('helped');
  expect(issue?.body).toContain('has commits by other people, so Ostiary leaves it and its pull request alone.');
  const [word] = await wordsOn(Number(outputs['issue']));
  expect(word).toContain('The drift or its pull request changed');
  expect(await writes(() => drift(cwd, { adopt: 'true' }))).toEqual([]);
  expect(await drift(cwd, { adopt: 'true' })).toMatchObject({ code: 0, outputs: { changed: 'true' } });
  const [request] = (await openRequests()).filter(({ head }) => head.ref === branch);
  expect(String(request?.number)).toBe(outputs['pull-request']);
});

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
  const cwd = await applied('named', { 'access/a.yaml': connection('named-a', { reviewers: ['dba'] }) });
  await change('named-a', { reviewers: [] });
  const long = `team-${'x'.repeat(46)}`;
  refuse(['gone', 'left', long]);
  const ended = await drift(cwd, { labels: `drift, ${long}\naccess`, assignees: 'octo, gone\nleft' });
  expect(ended).toMatchObject({ code: 0, outputs: { outcome: 'drifted', issue: expect.any(String) } });
  const issue = { ...place, issue_number: Number(ended.outputs['issue']) };
  const { assignees } = (await bench.github().person.issues.get(issue)).data;
  expect([...((await issuesOf('named'))[0]?.labels ?? []), ...(assignees ?? []).map(({ login }) => login)]).toEqual([
    'drift',
    'access',
    'octo',
  ]);
  expect(ended.stdout).toMatch(
    /^::warning title=forge\/refused::issue \d+ was opened without the label "team-x+", .*the assignee "gone", the assignee "left": .* 422 /m,
  );
  const again = await drift(cwd, { labels: 'drift', assignees: 'gone' });
  expect(again.outputs).toEqual(ended.outputs);
  expect(again.stdout).not.toContain('forge/refused');
});
