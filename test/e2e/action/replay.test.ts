import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditorToken, hoopProject } from '../../support/hoop-project.ts';
import { recordSessions, type StartedSession } from '../../support/record-sessions.ts';
import { commentsOn, commitAll, openPullRequest, pullRequestPayload } from '../../support/workflow.ts';
import { filesBelow, useProjects, writeFiles } from '../project.ts';
import { useAction } from './use-action.ts';

const makeProject = useProjects();
const bench = useAction(makeProject);
const example = join('examples', 'access');
const people = { amy: 'orders', ben: 'orders', cleo: 'data', dan: 'contractors', eve: 'payments' } as const;

const sessions = (count: number, user: keyof typeof people, connection: string, script: string): readonly StartedSession[] =>
  Array.from({ length: count }, () => ({
    user: `${user}@example.com`,
    connection,
    verb: script === '' ? 'connect' : 'exec',
    script,
  }));

const recorded = [
  ...sessions(18, 'amy', 'orders-db', 'select 1'),
  ...sessions(13, 'ben', 'orders-db', 'select 2'),
  ...sessions(2, 'amy', 'orders-db', 'DROP TABLE drafts'),
  ...sessions(4, 'cleo', 'warehouse-db', 'DROP TABLE staging'),
  ...sessions(9, 'amy', 'warehouse-db', 'select 3'),
  ...sessions(11, 'dan', 'orders-test-db', 'DROP TABLE tries'),
  ...sessions(7, 'dan', 'orders-db', ''),
  ...sessions(20, 'eve', 'ledger-db', 'select 4'),
];

/** The rows of a replay in Markdown, without links, and with one day for all. */
function replayRows(markdown: string): readonly string[] {
  const rows = markdown.split('\n').map((line) => line.replace(/^> /, '').replaceAll(/\[(`[^`]+`)\]\([^)]+\)/g, '$1'));
  return rows
    .filter((line) => /^- (Of |\*\*(Blocked|Refused|Need|Newly|Less|Not known))/.test(line))
    .map((line) => line.replace(/\d{4}-\d\d-\d\d/, 'DAY'));
}

test('the comment on a pull request has the replay of the example, and no one of those who started the sessions', async () => {
  const { url, model, send, runIn } = await hoopProject();
  for (const [name, group] of Object.entries(people)) {
    model.store.groups.add(group);
    await send('POST', '/users', { email: `${name}@example.com`, name, password: 'tries-everything', status: 'active', groups: [group] });
  }
  for (const group of ['oncall-leads', 'pci-auditors']) model.store.groups.add(group);
  const paths = filesBelow(example).filter((path) => path.endsWith('.yaml') && !/\/(?:tests|others)\.yaml$/.test(path));
  const read = (path: string): string => readFileSync(join(example, path), 'utf8').replace('https://gateway.example.com/api', url);
  const cwd = makeProject(Object.fromEntries(paths.map((path) => [path, read(path)])));
  const base = commitAll(cwd);
  const applied = await runIn(cwd, 'apply --yes --no-origin --target hoop --allow plan/access-control-on=agreed'.split(' '));
  expect([applied.code, applied.stdout]).toEqual([0, expect.any(String)]);
  recordSessions(model, recorded);

  writeFiles(cwd, {
    'rules/no-drop.yaml': `apiVersion: ostiary/v1
kind: GuardrailRule
metadata:
  name: no-drop
spec:
  connection_selector:
    match_tags: { env: prod }
  input:
    rules:
      - { name: tables, type: deny_words_list, words: [DROP TABLE] }
`,
    'rules/approval.yaml': read('rules/approval.yaml').replace('[contractors]', '[contractors, orders]'),
    'access/data.yaml': read('access/data.yaml').replace('[data, orders]', '[data]'),
  });
  commitAll(cwd);
  const pull = await openPullRequest(bench.github(), 'replay');
  const payload = pullRequestPayload({ ...pull, base });
  const inputs = { mode: 'plan', target: 'hoop', replay: '30d' };
  const planned = await bench.step({ cwd, event: 'pull_request', payload, inputs, env: { OSTIARY_TOKEN: auditorToken, CI: 'true' } });
  expect([planned.code, planned.stdout]).toEqual([0, expect.any(String)]);
  const [comment = { body: '' }] = await commentsOn(bench.github(), pull.number);
  const rows = replayRows(comment.body);
  expect(rows).toEqual(replayRows(readFileSync(join(example, 'README.md'), 'utf8')));
  expect([rows.length > 3, rows.length <= 6]).toEqual([true, true]);
  const document = readFileSync(planned.outputs['plan-path'] ?? '', 'utf8');
  for (const text of [comment.body, planned.summary, planned.stdout, document]) {
    expect(text).not.toContain('@example.com');
    expect(text).not.toMatch(/drafts|staging|tries/);
  }
});
