import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { config, manifest } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';
import { summaryOf, writes } from './expectations.ts';

const repositories = useHoopRepositories();

function blocking(message: string | undefined): string {
  const entry = { name: 'no-drop', type: 'deny_words_list', words: ['DROP', 'drop'] };
  return manifest('GuardrailRule', 'ddl', { input: { rules: [{ ...entry, ...(message === undefined ? {} : { message }) }] } });
}

/** Returns the entry that the gateway has. */
async function stored(project: HoopProject): Promise<unknown> {
  const { body } = await project.send('GET', '/guardrails');
  return Object(body)[0].input.rules[0];
}

test('the message of an entry is a field: it is written, changed, and taken away, and weakens nothing', async () => {
  const project = await hoopProject();
  const { run, commit, change } = await repositories.apply(project, { 'access/a.yaml': blocking(undefined) });
  expect(await stored(project)).not.toHaveProperty('message');
  commit({ 'access/a.yaml': blocking('Ask #dba.') });
  const planned = await run('plan --format json --max-risk neutral');
  expect([planned.code, summaryOf(planned)]).toEqual([0, { headlines: [], refusals: [] }]);
  expect((await run('plan')).stdout).toContain('input.rules.no-drop.message  "" → Ask #dba.');
  await change({});
  expect(await stored(project)).toMatchObject({ message: 'Ask #dba.', words: ['DROP', 'drop'] });
  await change({ 'access/a.yaml': blocking(undefined) });
  expect(await stored(project)).toMatchObject({ message: '' });
  expect(writes(await run('apply --yes'))).toEqual([]);
});

test('a message that was changed outside Ostiary is drift, and pull writes it', async () => {
  const project = await hoopProject();
  const { run } = await repositories.apply(project, { 'access/a.yaml': blocking('Ask #dba.') });
  const { body } = await project.send('GET', '/guardrails');
  const [{ id, ...rule }] = Object(body);
  const input = { rules: [{ ...rule.input.rules[0], message: 'Ask #ops.' }] };
  expect((await project.send('PUT', `/guardrails/${id}`, { ...rule, input })).status).toBe(200);
  const drifted = await run('drift');
  expect([drifted.code, drifted.stdout]).toEqual([2, expect.stringContaining('input.rules.no-drop.message  Ask #dba. → Ask #ops.')]);
  const folder = join(project.folder, 'pulled');
  project.write({ 'pulled/ostiary.yaml': config({ prod: project.url }) });
  expect((await project.runIn(folder, ['pull', '.'])).code).toBe(0);
  expect(readFileSync(join(folder, 'access/guardrail-rules/ddl.yaml'), 'utf8')).toContain('message: "Ask #ops."');
  expect((await project.runIn(folder, ['plan'])).stdout).toContain('No changes');
});
