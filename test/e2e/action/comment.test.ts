import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { place } from '../../support/github.ts';
import { outsideCode } from '../../unit/report/nasty-text.ts';
import { commentsOn, commitAll, openPullRequest, pushTo } from '../../support/workflow.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { connection, guardrail, useProjects } from '../project.ts';
import { usePullRequests } from './use-pull-requests.ts';

const makeProject = useProjects();
const gateway = useGateway();
const bench = useAction(makeProject);

const { checkout, plan, bodiesOn } = usePullRequests({ makeProject, gateway, bench });

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
    expect(comment?.body).toContain(' 2 to create');
    const link = 'https://github\\.test/octo/access/blob/[0-9a-f]{10}/access/orders\\.yaml#L1';
    expect(comment?.body).toMatch(new RegExp(`\\[\`access/orders\\.yaml:1\`\\]\\(${link}\\)`));
    expect(comment?.body).toContain(`Digest \`${planned.outputs['digest']}\``);
    expect(comment?.body).toContain(
      ` at commit \`${pull.head.slice(0, 12)}\`, in [this run](https://github.test/octo/access/actions/runs/4711)`,
    );
    expect(planned.summary).toContain(' 2 to create');

    const [id, words] = [comment?.id ?? 0, 'Please look at the rule!'];
    await github.person.issues.updateComment({ ...place, comment_id: id, body: `${words}\n\n${comment?.body}` });
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
    expect(updated?.body.startsWith(words)).toBe(true);

    await github.person.issues.updateComment({ ...place, comment_id: id, body: updated?.body.replace(/^<!-- ostiary .*$/m, '') ?? '' });
    expect((await plan(there, moved)).code).toBe(0);
    expect(await commentsOn(github, pull.number)).toEqual([updated]);

    const late = await plan(there, pull);
    expect(late.stdout).toContain('forge/newer-commit');
    expect(await commentsOn(github, pull.number)).toEqual([updated]);

    expect((await gateway.run('apply --yes --no-origin', there.cwd)).code).toBe(0);
    expect((await plan(there, moved)).outputs).toMatchObject({ outcome: 'planned', changed: 'false' });
    expect(await commentsOn(github, pull.number)).toEqual([{ id: comment?.id, body: expect.stringContaining('No changes.') }]);
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
    expect(await bodiesOn(pull.number)).toEqual([expect.stringContaining(' 1 to create')]);
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
