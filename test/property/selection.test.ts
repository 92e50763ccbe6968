import { array, assert, constantFrom, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { selectionMatcher } from '../../src/model/resource-selection.ts';

const characters = constantFrom('a', 'b', '/', '*', '?', '.', '(');
const texts = string({ unit: characters, maxLength: 12 });

function reference(text: string, pattern: string): boolean {
  const source = pattern
    .replaceAll(/[\\^$.|+()[\]{}]/g, String.raw`\$&`)
    .replaceAll('*', '[^]*')
    .replaceAll('?', '[^]');
  return new RegExp(`^${source}$`).test(text);
}

test('a pattern matches what the regular expression of the same meaning matches', () => {
  assert(
    property(texts, array(texts, { minLength: 1, maxLength: 3 }), (name, only) => {
      const id = `Kind/${name}` as const;
      const patterns = only.map((pattern) => `Kind/${pattern}`);
      const matches = selectionMatcher({ only: patterns })({ id, spec: {} });
      expect(matches).toBe(patterns.some((pattern) => pattern === id || reference(id, pattern)));
      expect(selectionMatcher({ exclude: patterns })({ id, spec: {} })).toBe(!matches);
    }),
  );
});

test('a pattern with many stars takes no time', () => {
  const id = `Kind/${'a'.repeat(2000)}` as const;
  expect(selectionMatcher({ only: [`${'*a'.repeat(500)}b`] })({ id, spec: {} })).toBe(false);
});
