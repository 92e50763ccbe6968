import { expect, test } from 'vitest';
import { compilePattern } from '../../../../src/protection/pattern/compile.ts';

test.each<readonly [pattern: string, what: string, index: number]>([
  ['(?i)drop(?=\\s)', 'a look-ahead (?=', 8],
  ['a(?!b)', 'a negative look-ahead (?!', 1],
  ['(?<=a)b', 'a look-behind (?<=', 0],
  ['x(?<!a)b', 'a negative look-behind (?<!', 1],
  ['(?>a)', 'an atomic group (?>', 0],
  ['(a)\\1', 'the backreference \\1', 3],
  ['(?P<n>a)(?P=n)', 'a backreference (?P=', 8],
  ['(?<n>a)\\k<n>', 'a backreference', 7],
  ['\\w++x', 'a possessive quantifier ++', 2],
  ['a{2,3}+', 'a possessive quantifier {2,3}+', 1],
  ['a*+b', 'a possessive quantifier *+', 1],
  ['a**', 'a repeat of a repeat', 1],
  ['(?(1)a|b)', 'a condition (?(', 0],
  ['a(?R)', 'a recursion', 1],
  ['(?#x)', 'a comment (?#', 0],
  ['(?x)a', 'the flag x', 0],
  ['(?z)a', 'the flag z', 0],
  ['a\\Z', '\\Z', 1],
  ['\\hb', '\\h', 0],
  ['\\u0041', '\\u', 0],
  ['a{1001}', 'the repeat count {1001}, above 1000', 1],
  ['(a{500}){3}', 'nested repeat counts above 1000 in total', 0],
  ['a{3,2}', 'the repeat count {3,2}, whose start is after its end', 1],
  ['a(b', 'missing closing ")"', 1],
  ['ab)', 'missing opening "("', 2],
  ['[ab', 'missing closing "]"', 0],
  ['x[z-a]', 'the range z-a, whose start is after its end', 2],
  ['[[:nope:]]', 'the class [:nope:]', 1],
  ['*a', 'nothing to repeat before *', 0],
  ['a|+', 'nothing to repeat before +', 2],
  ['a\\', 'trailing \\', 1],
  ['a\\p{Nope}', 'the class \\p{Nope}', 1],
  // Unicode 16.0; Go 1.26 has Unicode 15.0.
  ['\\p{Garay}', 'the class \\p{Garay}', 0],
  ['[a\\p{Old_Italic}]', 'the class \\p{Old_Italic}', 2],
  ['\\P{}', 'the class \\P{}', 0],
  ['\\p{L', 'missing closing "}" of a character class', 0],
])('RE2 does not take %j: %s', (pattern, what, index) => {
  const compiled = compilePattern(pattern);
  expect('error' in compiled ? compiled.error : undefined).toMatchObject({ what, index });
});

test.each(['(?:a{1000}){1}', '[^]-]', '(?i-s:a)', '\\Q(?=\\E', '[(?=]', 'a{,5}', '\\x{10FFFF}', '(?U)a+?', '(?)', '((((((((((a))))))))))'])(
  'RE2 accepts %j',
  (pattern) => {
    expect(compilePattern(pattern)).toHaveProperty('pattern');
  },
);

test.each([
  '(?:a{1000}){1}(?:b{1000}){1}(?:c{1000}){1}(?:d{1000}){1}(?:e{1000}){1}',
  `(${'abc|'.repeat(3000)}d)`,
  '(?:(?:(?:a{10}){10}){10}bc){1}',
])('what is too large is not compiled: %#', (pattern) => {
  const compiled = compilePattern(pattern);
  expect('tooLarge' in compiled || ('pattern' in compiled && compiled.pattern.size <= 5000)).toBe(true);
});
