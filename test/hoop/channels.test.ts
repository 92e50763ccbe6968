import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { config, connection } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';
import { useHoopRepositories } from '../support/hoop-repository.ts';
import { refuse, summaryOf, writes } from './expectations.ts';

const repositories = useHoopRepositories();

const hearing = (...channels: readonly string[]): string => connection('orders-db', { reviewers: ['dba'], slack_channels: channels });

/** Returns the id of the connection. */
async function idOf(project: HoopProject): Promise<string> {
  const { body } = await project.send('GET', '/connections/orders-db');
  return Object(body).id;
}

/** Returns the channels that the gateway has. */
async function stored(project: HoopProject): Promise<unknown> {
  const { body } = await project.send('GET', `/plugins/slack/conn/${await idOf(project)}`);
  return Object(body).config;
}

test('the channels of a connection are a field with a write of its own, which changes no protection', async () => {
  const project = await hoopProject();
  const { run, commit, change } = await repositories.apply(project, { 'access/a.yaml': hearing('C2', 'C1') });
  expect(await stored(project)).toEqual(['C1', 'C2']);
  expect((await run('plan')).stdout).toContain('No changes');
  commit({ 'access/a.yaml': hearing('C1') });
  expect(summaryOf(await run('plan --format json --max-risk neutral'))).toEqual({ headlines: [], refusals: [] });
  const applied = await run('apply --yes');
  expect([applied.code, writes(applied)]).toEqual([0, [`PUT /api/plugins/slack/conn/${await idOf(project)}`]]);
  expect(await stored(project)).toEqual(['C1']);
  await change({ 'access/a.yaml': connection('orders-db', { reviewers: ['sre'] }) });
  expect(await stored(project)).toEqual(['C1']);
  const both = await change({ 'access/a.yaml': connection('orders-db', { reviewers: ['dba'], slack_channels: [] }) });
  expect(writes(both)).toEqual([`PUT /api/connections/${await idOf(project)}`, `PUT /api/plugins/slack/conn/${await idOf(project)}`]);
  expect(await stored(project)).toEqual([]);
});

test('channels that were changed outside Ostiary are drift without a known writer, and pull writes them', async () => {
  const project = await hoopProject();
  const { run } = await repositories.apply(project, { 'access/a.yaml': hearing() });
  await project.send('PUT', `/plugins/slack/conn/${await idOf(project)}`, { config: ['C9'] });
  const drifted = await run('drift');
  expect([drifted.code, drifted.stdout]).toEqual([2, expect.stringContaining('slack_channels  + C9')]);
  expect(drifted.stdout).not.toContain(' by ');
  const folder = join(project.folder, 'pulled');
  project.write({ 'pulled/ostiary.yaml': config({ prod: project.url }) });
  expect((await project.runIn(folder, ['pull', '.'])).code).toBe(0);
  expect(readFileSync(join(folder, 'access/connections/orders-db.yaml'), 'utf8')).toContain('slack_channels: [C9]');
  expect((await project.runIn(folder, ['plan'])).stdout).toContain('No changes');
});

test('a write whose response is lost happens once, and one that fails says what is missing', async () => {
  const project = await hoopProject();
  const { run, commit } = await repositories.apply(project, { 'access/a.yaml': hearing() });
  commit({ 'access/a.yaml': hearing('C1') });
  let isLost = false;
  project.model.setFault(({ method, path }) => {
    if (isLost || method !== 'PUT' || !path.includes('/plugins/slack/')) return undefined;
    isLost = true;
    return { kind: 'lost', when: 'after' };
  });
  const applied = await run('apply --yes');
  expect([applied.code, isLost, await stored(project)]).toEqual([0, true, ['C1']]);
  commit({ 'access/b.yaml': connection('sales-db', { slack_channels: ['C1'] }) });
  refuse(project, 'PUT /api/plugins/slack/', 500);
  const failed = await run('apply --yes');
  expect([failed.code, failed.stdout + failed.stderr]).toEqual([
    5,
    expect.stringContaining('it was created, but its slack_channels were not written'),
  ]);
  project.model.setFault(() => undefined);
  const again = await run('apply --yes');
  expect([again.code, again.stdout + again.stderr]).toEqual([0, expect.any(String)]);
  expect((await run('plan')).stdout).toContain('No changes');
});

test('a list of channels that cannot be read is not compared, and not written', async () => {
  const project = await hoopProject();
  const { run } = await repositories.apply(project, { 'access/a.yaml': hearing('C1') });
  refuse(project, '/plugins/slack', 403);
  const planned = await run('plan');
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining('No changes')]);
});
