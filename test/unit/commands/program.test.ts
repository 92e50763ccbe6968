import { expect, test } from 'vitest';
import { run } from '../../../src/program.ts';
import { createTestContext } from '../../support/cli-context.ts';

async function helpOf(...argv: readonly string[]): Promise<string> {
  const { context, printed } = createTestContext({ columns: 200 });
  expect(await run([...argv, '--help'], context)).toBe(0);
  return printed().stdout;
}

test('the list of commands shows the arguments of each command as its own help does', async () => {
  const general = await helpOf();
  const listed = [...general.slice(general.indexOf('Get started:')).matchAll(/^ {2}(([a-z]+)(?: \S+)*) {2,}/gm)];
  const usages = listed.flatMap(([, usage = '', name = '']) => (name === 'help' ? [] : [{ name, usage }]));
  expect(usages.length).toBeGreaterThan(10);
  for (const { name, usage } of usages) expect(await helpOf(name)).toMatch(`Usage: ostiary ${usage}\n`);
});
