import { expect, test } from 'vitest';
import { cpuTime } from '../../support/cpu-time.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { config, connection, useProjects } from '../project.ts';

const makeProject = useProjects();

/** Validates a file and returns the CPU milliseconds. */
async function costOf(text: string, expected: number): Promise<number> {
  const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:1'), 'access/many.yaml': text });
  const started = cpuTime();
  const { code, stdout, stderr } = await ostiaryInProcess(['validate'], { cwd });
  expect({ code, isShort: `${stdout}${stderr}`.split('\n').length < 1000 }).toEqual({ code: expected, isShort: true });
  return cpuTime() - started;
}

function repeat(count: number, textOf: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => textOf(index)).join('');
}

const fields = 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: a }\nspec:\n';
const rule = 'apiVersion: ostiary/v1\nkind: GuardrailRule\nmetadata: { name: a }\nspec:\n  connection_ids:\n';

test.each<readonly [what: string, textOf: (count: number) => string, code: number]>([
  ['unknown fields in one line', (count) => `${fields.trimEnd()} {${repeat(count, (index) => ` f${index}: 1,`)} }\n`, 3],
  ['duplicate connection_ids', (count) => rule + repeat(count, (index) => `  - c${index >> 1}\n`), 3],
  ['invalid secrets', (count) => `${fields}  secret:\n${repeat(count, (index) => `    A${index}: x\n`)}`, 3],
  ['duplicate manifests', (count) => repeat(count / 16, () => `---\n${connection('a')}`), 3],
])('60,000 %s cost per entry at most twice what 1,000 cost', async (_, textOf, code) => {
  // Other processes and garbage collection only add, and they come and go: the least ratio of several pairs counts. Compiled code is not compared.
  await costOf(textOf(1000), code);
  let ratio = Infinity;
  for (let pair = 0; pair < 5 && ratio >= 2; pair += 1) {
    const many = await costOf(textOf(60_000), code);
    const few = await leastCost(5, textOf(1000), code);
    ratio = Math.min(ratio, many / 60 / few);
  }
  expect(ratio).toBeLessThan(2);
});

async function leastCost(runs: number, text: string, code: number): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < runs; run += 1) least = Math.min(least, await costOf(text, code));
  return least;
}
