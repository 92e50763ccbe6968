import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connection, guardrail } from '../e2e/project.ts';
import { hoopProject, type CommandResult, type HoopProject } from '../support/hoop-project.ts';

const count = 1000;
const names: readonly string[] = Array.from({ length: count }, (_, index) => `connection-${String(index).padStart(4, '0')}`);

const secret = { 'envvar:PASS': { value: 'canary-value' }, 'envvar:HOST': { value: '10.0.0.5' } };

function detailReads({ requests }: CommandResult): readonly string[] {
  return requests.filter((request) => request.startsWith('GET /api/connections/'));
}

/** Expects a plan without changes in at most 25 requests, none of them for one connection. */
async function expectFewRequests(plan: Promise<CommandResult>): Promise<void> {
  const ended = await plan;
  expect([ended.code, ended.stderr, detailReads(ended)]).toEqual([0, '', []]);
  expect(ended.requests.length).toBeLessThanOrEqual(25);
}

const unchanged = ['plan', '--detailed-exitcode', '--quiet'] as const;

/** Runs a plan in a copy of the project that has nothing but its files and the cache, as a second job has. */
function planElsewhere(project: HoopProject): Promise<CommandResult> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-second-job-'));
  cpSync(project.folder, folder, { recursive: true });
  return project.runIn(folder, unchanged);
}

test('plans of 1,000 connections after an apply make at most 25 requests, none per object', { timeout: 120_000 }, async () => {
  const project = await hoopProject();
  project.write(Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { secret, reviewers: ['dba'] })])));
  project.write({ 'access/no-drop.yaml': guardrail('no-drop', ['DROP'], { connection_ids: names.slice(0, 500) }) });
  const applied = await project.ostiary(['apply', '--yes', '--quiet']);
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  expect(applied.requests.length).toBeLessThanOrEqual(count + 40);
  await expectFewRequests(project.ostiary(unchanged));
  await expectFewRequests(planElsewhere(project));
  const rotated = { ...secret, 'envvar:PASS': { value: 'canary-rotated' } };
  project.write(Object.fromEntries(names.slice(0, 30).map((name) => [`access/${name}.yaml`, connection(name, { secret: rotated })])));
  const second = await project.ostiary(['apply', '--yes', '--quiet', '--allow', 'plan/too-many-weaker=test']);
  expect([second.code, second.stderr]).toEqual([0, '']);
  await expectFewRequests(project.ostiary(unchanged));
});

test('plans of 1,000 connections after a pull make at most 25 requests, none per object', { timeout: 120_000 }, async () => {
  const project = await hoopProject();
  project.write(Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { secret })])));
  await project.ostiary(['apply', '--yes', '--quiet']);
  const pulled = mkdtempSync(join(tmpdir(), 'ostiary-pulled-'));
  const first = await project.runIn(pulled, ['pull', '--url', project.url, '--quiet']);
  expect([first.code, detailReads(first).length]).toEqual([0, count]);
  await expectFewRequests(project.runIn(pulled, unchanged));
});
