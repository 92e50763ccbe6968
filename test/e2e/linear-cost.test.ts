import { expect, test } from 'vitest';
import { cpuTime } from '../support/cpu-time.ts';
import { ostiaryInProcess } from '../support/run-in-process.ts';
import { config, connection, useProjects } from './project.ts';

const makeProject = useProjects();

/** Validates a file and returns the CPU milliseconds for each of its entries. */
async function costOf(text: string, count: number): Promise<number> {
  const cwd = makeProject({ 'ostiary.yaml': config('http://127.0.0.1:1'), 'access/many.yaml': text });
  const started = cpuTime();
  const { code, stdout, stderr } = await ostiaryInProcess(['validate'], { cwd });
  expect({ code, isShort: `${stdout}${stderr}`.split('\n').length < 1000 }).toEqual({ code: 3, isShort: true });
  return (cpuTime() - started) / count;
}

function repeat(count: number, textOf: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => textOf(index)).join('');
}

const fields = 'apiVersion: ostiary/v1\nkind: Connection\nmetadata: { name: a }\nspec:\n';

// Quadratic cost would be 16 times as high. Garbage collection and other processes take up to three times.
test.each<readonly [string, (count: number) => string]>([
  ['unknown fields', (count) => fields + repeat(count, (index) => `  field${index}: 1\n`)],
  ['duplicate fields', (count) => fields + repeat(count, (index) => `  field${index >> 1}: 1\n`)],
  ['invalid secrets', (count) => `${fields}  secret:\n${repeat(count, (index) => `    envvar:A${index}: x\n`)}`],
  ['invalid ignore entries', (count) => connection('a', {}, { ignore: Array.from({ length: count }, (_, index) => `/spec/a${index}`) })],
  ['duplicate manifests', (count) => repeat(count / 16, () => `---\n${connection('a')}`)],
])('16,000 %s cost per entry about as much as 1,000', async (_, textOf) => {
  await costOf(textOf(1000), 1000);
  const few = await costOf(textOf(1000), 1000);
  expect((await costOf(textOf(16_000), 16_000)) / few).toBeLessThan(5);
});
