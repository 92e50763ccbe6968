import { expect, test } from 'vitest';
import { compilePattern } from '../../../../src/protection/pattern/compile.ts';
import { findExponential } from '../../../../src/protection/pattern/exponential.ts';
import { parsePattern } from '../../../../src/protection/pattern/parse.ts';

function explosion(pattern: string): string | undefined {
  const read = parsePattern(pattern);
  if ('error' in read) throw new Error(read.error.what);
  return findExponential(read.node);
}

const explosive = [
  '(a+)+$',
  '(a*)*b',
  '(a|a)*b',
  '(a|aa)+$',
  '^(\\w+\\s?)*$',
  '(\\w+\\s*)+;',
  '(a?b?)*c',
  '((a|aa)+b)+',
  '(x+x+)+y',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(.+)+x',
  '(a|b|ab)*c',
  '(?:\\s*a\\s*)*b',
  '(\\s|\\n)+x',
  '(?i)(a|A)*b',
  '\\b(a+)+\\b!',
  '(\\pL|é)+$',
  '(\\p{Lu}|[A-Z])*x',
  '(\\P{N}+)+5',
];

test.each(explosive)('%s is exponential', (pattern) => {
  const text = explosion(pattern);
  expect(text).toBeDefined();
});

test.each(explosive)('the sample for %s takes twice the time with each repeat', (pattern) => {
  const text = explosion(pattern) ?? '';
  // The text is a beginning, three times its middle, and an end that fails: longer middles show the growth.
  const regex = new RegExp(pattern.replace('(?i)', '').replace('\\pL', '\\p{L}'), pattern.startsWith('(?i)') ? 'iu' : 'u');
  const found = periods(text).some((period) => {
    const longer = (times: number): string => text.slice(0, -1 - period) + text.slice(-1 - period, -1).repeat(times) + text.slice(-1);
    let before = 0;
    for (let times = 1; times < 40; times += 1) {
      const began = performance.now();
      regex.test(longer(times));
      const took = performance.now() - began;
      if (took > 5 && before > 1 && took / before > 1.3) return true;
      before = took;
    }
    return false;
  });
  expect(found).toBe(true);
});

/** Returns the lengths of all middles that occur three times before the last character. */
function periods(text: string): readonly number[] {
  const stem = text.slice(0, -1);
  const lengths = Array.from({ length: Math.floor(stem.length / 3) }, (_, index) => index + 1);
  return lengths.filter((length) => stem.slice(-length).repeat(3) === stem.slice(-3 * length));
}

test.each([
  'a+b+',
  '(a+)+',
  '(a|aa)+',
  '(.*a){12}b',
  '(a+)+[\\s\\S]*$',
  'a|(a|aa)+b',
  '(\\w+\\b)+!',
  '(ab*)*c',
  '(?:[ -]?[0-9]{4}){3}\\b',
  '(?i)\\bdelete\\s+from\\s+\\S+\\s*(;|$)',
  '(curl|wget)\\s[^|;]*\\|\\s*(ba|z|da)?sh\\b',
  '.*.*.*=.*',
  '(a?)*b',
  '^(a|b)*c',
  '\\p{L}+x',
  '(\\p{Lu}|\\p{Ll})+$',
  '(\\pL|\\d)+$',
  // Their time is polynomial, which counts only where texts are very long.
  '\\s*\\s*\\s*x',
  '.*a.*b.*c',
  '^\\s*(.*)\\s*$',
])('%s does not explode', (pattern) => {
  expect(explosion(pattern)).toBeUndefined();
});

test('the search has one budget for all patterns', () => {
  const budget = { work: 0, steps: 100_000, checks: 0 };
  for (let index = 0; index < 300; index += 1) {
    const compiled = compilePattern(`(.*a){12}${index}`, budget);
    if ('pattern' in compiled) compiled.pattern.slowText();
  }
  expect(budget.steps).toBeLessThanOrEqual(0);
  expect(budget.steps).toBeGreaterThan(-500_000);
});
