import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connection } from '../e2e/project.ts';
import { hoopProject, type HoopProject } from '../support/hoop-project.ts';

const delay = 60;
const names = Array.from({ length: 6 }, (_, index) => `connection-${index}`);

/** Returns the most reads of single connections at the same time. */
async function mostReads(project: HoopProject, args: readonly string[]): Promise<number> {
  let [count, now, most] = [0, 0, 0];
  project.model.setFault(({ method, path }) => {
    if (method !== 'GET' || !/\/connections\/./.test(path)) return undefined;
    count += 1;
    now += 1;
    most = Math.max(most, now);
    // The same timer delays the response.
    setTimeout(() => (now -= 1), delay);
    return { kind: 'slow', milliseconds: delay };
  });
  const { code, stderr } = await project.ostiary(['plan', '--quiet', '--detailed-exitcode', '--cache', 'none', ...args]);
  project.model.setFault(undefined);
  expect([code, stderr, count]).toEqual([0, '', names.length]);
  return most;
}

async function applied(): Promise<HoopProject> {
  const project = await hoopProject();
  const secret = { 'envvar:PASS': { value: 'canary-value' } };
  project.write(Object.fromEntries(names.map((name) => [`access/${name}.yaml`, connection(name, { secret })])));
  await project.ostiary(['apply', '--yes']);
  return project;
}

test('--read-concurrency 1 reads one connection after the other', async () => {
  expect(await mostReads(await applied(), ['--read-concurrency', '1'])).toBe(1);
});

test('read_concurrency of the target does the same, and the flag overrides it', async () => {
  const project = await applied();
  const config = readFileSync(join(project.folder, 'ostiary.yaml'), 'utf8');
  project.write({ 'ostiary.yaml': config.replace("' }", "', read_concurrency: 1 }") });
  expect(await mostReads(project, [])).toBe(1);
  project.write({ 'ostiary.yaml': config.replace("' }", "', read_concurrency: 0 }") });
  const { code, stderr } = await project.ostiary(['plan']);
  expect([code, stderr]).toEqual([3, expect.stringContaining('read_concurrency')]);
});

test('a plan waits while the gateway answers 503, and finds the same', async () => {
  const project = await applied();
  let refusals = 0;
  project.model.setFault(({ method, path, routeIndex }) => {
    if (method !== 'GET' || !/\/connections\/./.test(path) || routeIndex % 3 !== 0) return undefined;
    refusals += 1;
    return { kind: 'answer', when: 'before', status: 503, headers: { 'retry-after': '0' } };
  });
  const { code } = await project.ostiary(['plan', '--detailed-exitcode', '--cache', 'none']);
  expect([code, refusals > 0]).toEqual([0, true]);
});
