import { expect, test } from 'vitest';
import { answersFor } from '../../bench/fixture.js';
import { sharedAnswers, type SharedScene, writeShared } from '../../bench/shared-rules.js';
import { cpuTime } from '../../support/cpu-time.ts';
import { json, startFlakyServer } from '../../support/flaky-server.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, useProjects } from '../project.ts';

const makeProject = useProjects();
const env = { OSTIARY_TOKEN: 'token-of-the-tests' };

/** Plans a change of some rules that all connections share, and returns the CPU milliseconds. */
async function costOf(scene: SharedScene): Promise<number> {
  const bodies = { ...answersFor(0), ...sharedAnswers(scene) };
  const server = await startFlakyServer((response, { path }) => {
    const body: unknown = JSON.parse(bodies[path] ?? '[]');
    json(200, body)(response, { method: 'GET', path, headers: {}, body: '' });
  });
  const cwd = makeProject({ 'ostiary.yaml': config(server.url) });
  writeShared(cwd, scene);
  const started = cpuTime();
  const allowed = ['updates', 'lose-protection'].flatMap((limit) => ['--allow', `plan/too-many-${limit}=test`]);
  const { code, stdout } = await ostiaryInProcess(['plan', ...allowed], { cwd, env });
  const cost = cpuTime() - started;
  await server.close();
  expect({ code, summary: /^Plan: .*/m.exec(stdout)?.[0] }).toEqual({
    code: 0,
    summary: `Plan: ${scene.changed} to update, ${scene.connections + scene.rules - scene.changed} unchanged.`,
  });
  return cost;
}

test('sixteen times as many changed rules on the same connections cost less than three times as much', async () => {
  const scene = { by: 'selector', kind: 'GuardrailRule', connections: 300, rules: 64 };
  await costOf({ ...scene, connections: 20, changed: 4 });
  let ratio = Infinity;
  // Other processes and garbage collection only add: the least ratio of several pairs counts.
  for (let pair = 0; pair < 3 && ratio >= 3; pair += 1) {
    const many = await costOf({ ...scene, changed: 64 });
    const few = await costOf({ ...scene, changed: 4 });
    ratio = Math.min(ratio, many / few);
  }
  expect(ratio).toBeLessThan(3);
});
