import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the model of access imports nothing that it judges', () => {
  const imports = [...readFileSync('test/model/access-model.ts', 'utf8').matchAll(/from '([^']*)'/g)].map((match) => match[1]);
  expect(imports).toEqual([]);
});
