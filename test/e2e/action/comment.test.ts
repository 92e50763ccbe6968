import { readFileSync, writeFileSync } from 'node:fs';
import { titlesIn } from '../fleet/use-fleet.ts';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { place } from '../../support/github.ts';
import { outsideCode } from '../../unit/report/nasty-text.ts';
import { commentsOn, commitAll, openPullRequest, pushTo } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { config, connection, guardrail, type Files, manyConnections, useProjects, writeFiles } from '../project.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { usePullRequests } from './use-pull-requests.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

const { checkout, plan, bodiesOn } = usePullRequests({ makeProject, gateway, bench });

/** Returns a rule that is attached to connections. */
function sharedRule(names: readonly string[]): Files {
  return { 'access/rule.yaml': guardrail('no-drop-300', ['DROP'], { connection_ids: [...names] }) };
}

describe('the comment', () => {
  test('is a single comment that is updated with the pull request until there are no changes', async () => {
    const github = bench.github();
    const there = checkout({ 'access/orders.yaml': connection('orders'), 'access/rule.yaml': guardrail('no-drop') });
    const pull = await openPullRequest(github, 'follow');
    const planned = await plan(there, pull, { bundled: true });
    expect(planned.code).toBe(0);
    expect(planned.outputs).toMatchObject({ outcome: 'planned', changed: 'true', digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(JSON.parse(planned.outputs['counts'] ?? '')).toMatchObject({ create: 2, update: 0, unchanged: 0 });
    const document = JSON.parse(readFileSync(planned.outputs['plan-path'] ?? '', 'utf8'));
    expect(document.plans[0].digest).toBe(planned.outputs['digest']);
    const [comment, ...others] = await commentsOn(github, pull.number);
    expect(others).toEqual([]);
    expect(comment?.body).toContain(' 2 to create.');
    const link = 'https://github\\.test/octo/access/blob/[0-9a-f]{10}/access/orders\\.yaml#L1';
    expect(comment?.body).toMatch(new RegExp(`\\[\`access/orders\\.yaml:1\`\\]\\(${link}\\)`));
    expect(comment?.body).toContain(`Digest \`${planned.outputs['digest']}\``);
    expect(comment?.body).toContain(
      ` at commit \`${pull.head.slice(0, 12)}\`, in [this run](https://github.test/octo/access/actions/runs/4711)`,
    );
    expect(planned.summary).toContain(' 2 to create.');

    writeFileSync(join(there.cwd, 'access', 'more.yaml'), connection('billing'));
    const commit = commitAll(there.cwd, 'More');
    await pushTo(github, 'follow', 'two');
    const { data } = await github.person.pulls.get({ ...place, pull_number: pull.number });
    const moved = { number: pull.number, head: data.head.sha };
    expect((await plan(there, moved)).code).toBe(0);
    const [updated, ...more] = await commentsOn(github, pull.number);
    expect(more).toEqual([]);
    expect(updated).toMatchObject({ id: comment?.id, body: expect.stringContaining(' 3 to create.') });
    expect(updated?.body).toContain(commit.slice(0, 10));

    const late = await plan(there, pull);
    expect(late.stdout).toContain('forge/newer-commit');
    expect(await commentsOn(github, pull.number)).toEqual([updated]);

    expect((await gateway.run('apply --yes --no-origin', there.cwd)).code).toBe(0);
    expect((await plan(there, moved)).outputs).toMatchObject({ outcome: 'planned', changed: 'false' });
    expect(await commentsOn(github, pull.number)).toEqual([{ id: comment?.id, body: expect.stringContaining('No changes.') }]);
  });

  test('is not created if there never was a change', async () => {
    const there = checkout({ 'access/quiet.yaml': connection('quiet') });
    const pull = await openPullRequest(bench.github(), 'quiet');
    expect((await gateway.run('apply --yes --no-origin', there.cwd)).code).toBe(0);
    expect(await plan(there, pull)).toMatchObject({ code: 0, summary: expect.stringContaining('No changes.') });
    expect(await bodiesOn(pull.number)).toEqual([]);
  });

  test('has a section per target', async () => {
    const there = checkout({ 'access/two.yaml': connection('two-targets') }, config({ one: gateway.url(), two: gateway.url() }));
    const pull = await openPullRequest(bench.github(), 'targets');
    for (const target of ['one', 'two', 'one']) expect((await plan(there, pull, { inputs: { target } })).code).toBe(0);
    const bodies = await bodiesOn(pull.number);
    expect(bodies.map(titlesIn)).toEqual([['Plan for `one`', 'Plan for `two`']]);
  });

  test('fits the limit for any plan, and states what it omits', async () => {
    const there = checkout(manyConnections('large', 150, { command: ['run', 'x'.repeat(500)] }));
    const pull = await openPullRequest(bench.github(), 'large');
    const planned = await plan(there, pull);
    const [body = ''] = await bodiesOn(pull.number);
    expect(planned.summary.length).toBeGreaterThan(70_000);
    expect(body.length).toBeLessThanOrEqual(65_536);
    expect(body).toContain('**Shortened to fit:**');
    expect(body).toContain('[The full report](https://github.test/octo/access/actions/runs/4711) has everything.');
    expect(body).toContain(' 150 to create.');
  });

  test('has a row with a link and the details of each of 300 changes', { timeout: 120_000 }, async () => {
    const names = Array.from({ length: 300 }, (_, index) => `orders-db-${index}`);
    const unlimited = config(gateway.url()).replace("' }", "', limits: { from: 1000 } }");
    const files = (of: (index: number) => JsonObject): Files =>
      Object.fromEntries(names.map((name, index) => [`access/connections/${name}.yaml`, connection(name, of(index))]));
    const there = checkout(
      { ...files((index) => ({ reviewers: ['dba', `team-${index}`], access_max_duration: 3600 })), ...sharedRule(names.slice(0, 2)) },
      unlimited,
    );
    expect((await gateway.run('apply --yes --no-origin', there.cwd)).code).toBe(0);
    writeFiles(there.cwd, { ...files((index) => ({ reviewers: ['dba'], access_max_duration: 60 * (index + 61) })), ...sharedRule([]) });
    commitAll(there.cwd, 'Change all');
    const pull = await openPullRequest(bench.github(), 'many');
    expect((await plan(there, pull)).code).toBe(0);
    const [body = ''] = await bodiesOn(pull.number);
    expect(body.length).toBeLessThanOrEqual(65_536);
    expect(body).not.toContain('Shortened');
    const rows = [
      ...body.matchAll(/^\| ~ \| \[`Connection\/([\w-]+)`\]\(\S+\/([\w-]+)\.yaml#L18\) \| weakens `! acc.*` `- reviewers: team-\d+` \|$/gm),
    ];
    expect(new Set(rows.map(([, id, file]) => `${id} ${file}`))).toEqual(new Set(names.map((name) => `${name} ${name}`)));
    // A headline about several connections is in no row.
    expect(body).toContain('- **2 connections lose guardrail `no-drop-300`**');
    expect(body).toMatch(/^- and \d+ more about one connection each, with its change below$/m);
    expect(body.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^### Plan for `production`: Weakens protection of 300 connections/),
      expect.stringMatching(/^<!-- ostiary [0-9a-f]{32} -->$/),
    ]);
  });

  test('states why there is no plan, and later shows the plan', async () => {
    const there = checkout({ 'access/broken.yaml': connection('broken', { reviewers: 7 }) });
    const pull = await openPullRequest(bench.github(), 'broken');
    const failed = await plan(there, pull);
    expect(failed).toMatchObject({ code: 3, outputs: { outcome: 'invalid' } });
    expect(failed.stdout).toMatch(/^::error file=access\/broken\.yaml,line=\d+,col=\d+,title=manifest\/wrong-type::/m);
    expect(await bodiesOn(pull.number)).toEqual([expect.stringMatching(/### No plan[\s\S]*manifest\/wrong-type/)]);
    writeFileSync(join(there.cwd, 'access', 'broken.yaml'), connection('broken'));
    expect((await plan(there, pull)).code).toBe(0);
    expect(await bodiesOn(pull.number)).toEqual([expect.stringContaining(' 1 to create.')]);
  });

  test('of another author is never edited, whatever its text', async () => {
    const github = bench.github();
    const there = checkout({ 'access/copied.yaml': connection('copied') });
    const pull = await openPullRequest(github, 'copied');
    await plan(there, pull);
    const [ours = ''] = await bodiesOn(pull.number);
    const other = await openPullRequest(github, 'copied-too');
    const copy = { ...place, issue_number: other.number, body: ours };
    await github.person.issues.createComment(copy);
    for (let index = 0; index < 120; index += 1) await github.person.issues.createComment({ ...copy, body: `talk ${index}` });
    await plan(there, other);
    await plan(there, other);
    const { data } = await github.person.issues.listComments({ ...place, issue_number: other.number, per_page: 100, page: 2 });
    expect((await bodiesOn(other.number))[0]).toBe(ours);
    expect(data.filter(({ body }) => body?.includes('<!-- ostiary '))).toHaveLength(1);
  });

  test('that GitHub rejects is a warning; the job summary has the full report', async () => {
    const there = checkout({ 'access/mute.yaml': connection('mute') });
    const pull = await openPullRequest(bench.github(), 'mute');
    bench
      .github()
      .intercept(({ method }) =>
        method === 'POST' ? { status: 403, body: { message: 'Resource not accessible by integration' } } : undefined,
      );
    const planned = await plan(there, pull);
    expect(planned).toMatchObject({ code: 0, outputs: { outcome: 'planned' }, summary: expect.stringContaining(' 1 to create.') });
    expect(planned.stdout).toMatch(/^::warning title=forge\/forbidden::/m);
    expect(planned.summary).toMatch(/warning `forge\/forbidden`[\s\S]*docs\/how-to\/github\.md/);
    expect(await bodiesOn(pull.number)).toEqual([]);
  });

  test('can be switched off', async () => {
    const there = checkout({ 'access/silent.yaml': connection('silent') });
    const pull = await openPullRequest(bench.github(), 'silent');
    expect((await plan(there, pull, { inputs: { comment: 'false' } })).code).toBe(0);
    expect(await bodiesOn(pull.number)).toEqual([]);
  });
});

test('text of manifests and gateways never becomes a command of GitHub or the runner', async () => {
  const evil =
    '@octo #1 GH-1 ![x](https://evil.test/x.png) <img src=x> </details> | `a` ``` \n::error::evil\n##[error]evil\n::set-output name=digest::evil';
  const there = checkout({
    'access/evil|@octo.yaml': guardrail('@octo/everyone', ['DROP'], { description: evil }),
    'access/mine.yaml': connection('evil-mine', { connection_tags: { env: '::add-mask::x' }, reviewers: ['@octo/everyone', '#12'] }),
  });
  const pull = await openPullRequest(bench.github(), 'evil');
  const planned = await plan(there, pull, { bundled: true });
  expect(planned.code).toBe(0);
  const [body = ''] = await bodiesOn(pull.number);
  for (const text of [body, planned.summary]) {
    const [, ...lines] = outsideCode(text)
      .replaceAll(/\]\(https:\/\/github\.test\/[\w./%#-]+\)|<summary><code>[^<>`]*<\/code><\/summary>|&#124;/g, '')
      .split('\n');
    expect(lines.join('\n')).not.toMatch(/[@#]\w|gh-1|!\[|evil\.test|<(?!\/?details>|\/?summary>|\/?code>|!-- ostiary)/i);
  }
  expect(commandsIn(planned.stdout).filter((line) => /evil|octo/.test(line) && !/^::(?:warning|notice) file=/.test(line))).toEqual([]);
  const names = ['changed', 'counts', 'digest', 'max-risk', 'not-compared', 'outcome', 'plan-path', 'protection-lost'];
  expect(Object.keys(planned.outputs).toSorted()).toEqual(names);
});

test.each<[string, Parameters<typeof connection>[1], number, string]>([
  ['exposed-db', {}, 6, 'exposes'],
  ['reviewed-db', { reviewers: ['dba'] }, 0, 'neutral'],
])('fail-on: exposes decides about the new connection %s', async (name, spec, code, risk) => {
  const there = checkout({ [`access/${name}.yaml`]: connection(name, spec) });
  const pull = await openPullRequest(bench.github(), name);
  const planned = await plan(there, pull, { inputs: { 'fail-on': 'exposes' } });
  expect(planned).toMatchObject({ code, outputs: { 'max-risk': risk } });
  expect(planned.stdout.includes('risk/exposed')).toBe(code === 6);
});

/** The lines of a log that the runner takes as commands. */
function commandsIn(log: string): readonly string[] {
  const commands: string[] = [];
  let stopped: string | undefined;
  for (const line of log.split('\n').map((one) => one.trimStart())) {
    if (stopped !== undefined) {
      if (line === `::${stopped}::`) stopped = undefined;
    } else if (line.startsWith('::stop-commands::')) stopped = line.slice('::stop-commands::'.length);
    else if (line.startsWith('::') || line.includes('##[')) commands.push(line);
  }
  expect(stopped).toBeUndefined();
  return commands;
}
