import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern } from '../../src/protection/pattern/compile.ts';
import { coversAllTexts, type TextMatcher } from '../../src/protection/pattern/coverage.ts';
import { runCount } from '../support/property-runs.ts';

/** Parts of patterns, most of which mean something else where case is ignored or lines count. */
const classes = '[ab] [^a] [^a-k] [^[:lower:]] [[:alpha:]] [[:^alpha:]] \\d \\w \\W [^\\W] [^\\d] \\s . (?s:.)'.split(' ');
const assertions = ['\\b', '\\B', '^', '$', '\\A', '\\z', '(?m:^)', '(?m:$)'];
const literals = ['a', 'K', 's', '0', ' ', '\\n', '(?i:k)', '(?-i:a)', '\\Qa.\\E', 'ab'];
const atom = fc.constantFrom(...classes, ...assertions, ...literals);
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: atom },
    { weight: 2, arbitrary: fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')) },
    { weight: 1, arbitrary: fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`) },
    {
      weight: 1,
      arbitrary: fc.tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,1}')).map(([one, count]) => `(?:${one})${count}`),
    },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('i', 'm', 's', 'im'), tie('pattern')).map(([flags, one]) => `(?${flags}:${one})`) },
  ),
}));
const matcher: fc.Arbitrary<TextMatcher> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ pattern }) },
  { weight: 1, arbitrary: fc.record({ word: fc.constantFrom('a', 'k', 'ab', 'S', ' ', '\n') }) },
);
/** A pattern, and one that is nearly the same. */
const related = fc
  .tuple(pattern, fc.constantFrom('(?i)', '(?m)', '^', ''), fc.constantFrom('', '$', 'a'))
  .map(([one, before, after]) => [{ pattern: one }, { pattern: `${before}${one}${after}` }] as const);
/** The last two are equal to s and k where case is ignored. */
const letters = ['a', 'b', 'A', 'k', 'K', 's', '0', '_', ' ', '\n', 'é', 'ſ', '\u212a'];
const longer = fc.string({ unit: fc.constantFrom(...letters), minLength: 2, maxLength: 5 });

function blocks(one: TextMatcher, text: string): boolean {
  if ('word' in one) return text.includes(one.word);
  const compiled = compilePattern(one.pattern);
  return 'pattern' in compiled && compiled.pattern.finds(text) === true;
}

test('words and patterns that cover a pattern block every text that it blocks', () => {
  const pair = fc.oneof(
    fc.tuple(matcher, fc.array(matcher, { minLength: 1, maxLength: 3 })),
    related.map(([one, other]) => [one, [other]] as const),
    related.map(([one, other]) => [other, [one]] as const),
  );
  fc.assert(
    fc.property(pair, fc.array(longer, { minLength: 10, maxLength: 10 }), ([one, others], texts) => {
      if (coversAllTexts(one, others) !== true) return;
      for (const text of ['', ...letters, ...texts]) {
        const isBlocked = !blocks(one, text) || others.some((other) => blocks(other, text));
        expect([text, isBlocked]).toEqual([text, true]);
      }
    }),
    { numRuns: runCount(300) },
  );
});

test.each([
  ['drop', '(?i)[^a-z ]'],
  ['s', '(?i)[^[:lower:]]'],
  ['A', '(?i)[^a]'],
])('the word %s is not blocked by %s, which excludes it in both cases', (word, excluding) => {
  expect(coversAllTexts({ word }, [{ pattern: excluding }])).toBe(false);
});

test.each([
  ['(?i)k', '[kK]', false],
  ['(?i)k', '[kK\u212a]', true],
  ['(?i)\\w', '\\w', false],
  ['\\W', '(?i)\\W', false],
  ['(?i)[a-r]', '[A-Ra-r\u212a]', true],
  ['(?i)drop', '[dD][rR][oO][pP]', true],
])('%s is covered by %s as in Go: %s', (one, other, expected) => {
  expect(coversAllTexts({ pattern: one }, [{ pattern: other }])).toBe(expected);
});
