import { expect, test } from 'vitest';
import { compilePattern } from '../../../../src/protection/pattern/compile.ts';
import type { Slowness, Unjudged } from '../../../../src/protection/pattern/slowness.ts';

function slowness(pattern: string): Slowness | Unjudged | undefined {
  const compiled = compilePattern(pattern);
  if (!('pattern' in compiled)) throw new Error(`${pattern} is not compiled`);
  return compiled.pattern.slowness();
}

test.each<readonly [string, number]>([
  ['.*a.*b', 2],
  ['\\w+\\d+x', 2],
  ['(?i)select.*from.*where', 2],
  ['^\\s*\\w+\\s*;?\\s*$', 2],
  ['x*y*x*y*z', 2],
  ['[\\s\\S]*union[\\s\\S]*select', 2],
  ['\\s*\\s*\\s*x', 3],
  ['.*a.*b.*c', 3],
  ['.*.*.*=.*', 3],
  ['^.*?,.*?,.*?,x', 3],
  ['a.*a.*a.*$', 3],
  ['(.*a){5}b', 5],
  ['(a+)+b', Number.POSITIVE_INFINITY],
  ['\\p{L}+\\p{L}+5', 2],
  ['^\\s*(.*)\\s*$', 3],
  ['^(.*)\\s*$', 2],
])('%s is slow to the power of %d', (pattern, power) => {
  const found = slowness(pattern);
  expect(found).toMatchObject({ power });
  const sample = found !== undefined && 'sample' in found ? found.sample : '';
  expect(new RegExp(`^(?:${pattern.replace('(?i)', '')})`, 'u').test(sample)).toBe(false);
});

test.each([
  '.*x',
  '.*.*',
  'a*a*',
  '(a*)*',
  '.+.+.+',
  'a+b+c+',
  '\\d+\\.\\d+',
  '^\\s+|\\s+$',
  '(\\w+\\.)+com',
  '"[^"]*"\\s*:\\s*"[^"]*"',
  '<script[^>]*>.*</script>',
  '[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}',
  '(?i)\\bdelete\\s+from\\s+\\S+\\s*(;|$)',
  '(?i)drop\\s+table\\s+(if\\s+exists\\s+)?\\w+',
  '\\bAKIA[0-9A-Z]{16}\\b',
  '\\p{L}+\\d+x',
  '^\\S+\\s*$',
  '^\\w+\\.(.*)$',
  '(\\p{Lu}\\p{Ll}+)+;',
])('nothing is said of %s', (pattern) => {
  expect(slowness(pattern)).toBeUndefined();
});

test('the reason is given where a pattern is not judged', () => {
  expect(slowness('x{0,50}x{0,50}y(abc){10}')).toEqual({
    reason: 'the search for slow texts is limited to 120 characters after expanding repeats',
  });
  const compiled = compilePattern('(\\w+,){30}', { work: 0, steps: 100, checks: 0 });
  expect('pattern' in compiled && compiled.pattern.slowness()).toEqual({ reason: 'the search for slow texts reached its limit' });
});

test('the search has one budget for all patterns', () => {
  const budget = { work: 0, steps: 100_000, checks: 0 };
  for (let index = 0; index < 300; index += 1) {
    const compiled = compilePattern(`(.*a){12}${index}`, budget);
    if ('pattern' in compiled) compiled.pattern.slowness();
  }
  expect(budget.steps).toBeLessThanOrEqual(0);
  expect(budget.steps).toBeGreaterThan(-500_000);
});
