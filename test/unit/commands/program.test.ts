import { expect, test } from 'vitest';
import { helpOf } from '../../support/command-help.ts';

test('the list of commands shows the arguments of each command as its own help does', async () => {
  const general = await helpOf([], 200);
  const listed = [...general.slice(general.indexOf('Get started:')).matchAll(/^ {2}(([a-z]+)(?: \S+)*) {2,}/gm)];
  const usages = listed.flatMap(([, usage = '', name = '']) => (name === 'help' ? [] : [{ name, usage }]));
  expect(usages.length).toBeGreaterThan(10);
  for (const { name, usage } of usages) expect(await helpOf([name], 200)).toMatch(`Usage: ostiary ${usage}\n`);
});
