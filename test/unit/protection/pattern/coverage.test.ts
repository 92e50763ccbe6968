import { expect, test } from 'vitest';
import { coversAllTexts, type TextMatcher } from '../../../../src/protection/pattern/coverage.ts';

const pattern = (text: string): TextMatcher => ({ pattern: text });
const word = (text: string): TextMatcher => ({ word: text });
const many = Array.from({ length: 120 }, (_, index) => `word${index}`).join('|');

test.each<readonly [string, TextMatcher, readonly TextMatcher[], boolean | undefined]>([
  ['a pattern that another one covers', pattern('DROP'), [pattern('(?i)drop')], true],
  ['a pattern that shares nothing with another one', pattern('(?i)drop'), [pattern('zzzz')], false],
  ['a pattern with a class of Unicode', pattern('(?i)drop\\s+\\p{L}+'), [pattern('zzzz')], false],
  ['a pattern with a class of Unicode and a covering word', pattern('drop\\s+\\p{L}+'), [word('drop')], undefined],
  ['a pattern against a class of Unicode', pattern('drop table'), [pattern('\\p{Lu}+')], false],
  ['a pattern with many alternatives', pattern(many), [pattern(many.replace('|word77|', '|'))], undefined],
  ['a pattern with many alternatives of which one is lost', pattern(`${many}|last`), [pattern(many)], false],
  ['a pattern with assertions', pattern('(?m)^drop \\pL+\\b$'), [pattern('zzzz')], false],
  ['letters that the parser does not fold', pattern('drop'), [pattern('(?i)é')], undefined],
  ['a word and a class of Unicode', word('drop'), [pattern('x\\p{L}')], false],
  ['a pattern that is invalid', pattern('drop'), [pattern('(')], undefined],
])('covers all texts: %s', (_, one, others, expected) => {
  expect(coversAllTexts(one, others)).toBe(expected);
});
