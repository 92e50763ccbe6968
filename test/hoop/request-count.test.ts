import { expect, test } from 'vitest';
import { connection, guardrail } from '../e2e/project.ts';
import { hoopProject } from '../support/hoop-project.ts';

const count = 1000;
const names: readonly string[] = Array.from({ length: count }, (_, index) => `connection-${String(index).padStart(4, '0')}`);

test('an unchanged plan of 1,000 connections makes at most 25 requests, none per object', { timeout: 120_000 }, async () => {
  const project = await hoopProject();
  const secret = { 'envvar:PASS': { value: 'canary-value' }, 'envvar:HOST': { value: '10.0.0.5' } };
  project.write(Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { secret, reviewers: ['dba'] })])));
  project.write({ 'access/no-drop.yaml': guardrail('no-drop', ['DROP'], { connection_ids: names.slice(0, 500) }) });
  const applied = await project.ostiary(['apply', '--yes', '--quiet']);
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  expect(applied.requests.length).toBeLessThanOrEqual(count + 40);
  const first = await project.ostiary(['plan', '--detailed-exitcode', '--quiet']);
  expect([first.code, first.requests.filter((request) => request.startsWith('GET /api/connections/')).length]).toEqual([0, count]);
  const again = await project.ostiary(['plan', '--detailed-exitcode', '--quiet']);
  expect(again.code).toBe(0);
  expect(again.requests.length).toBeLessThanOrEqual(25);
  expect(again.requests.filter((request) => request.startsWith('GET /api/connections/'))).toEqual([]);
});
